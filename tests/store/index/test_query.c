/*
 * test_query.c - a question to the index: its first error stays, and nothing
 * is asked after it.
 * SPDX-License-Identifier: Apache-2.0
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <errno.h>

#include "store/query.h"

static sqlite3 *db_of(const char *sql)
{
    sqlite3 *db;

    assert_int_equal(sqlite3_open(":memory:", &db), SQLITE_OK);
    assert_int_equal(sqlite3_exec(db, sql, NULL, NULL, NULL), SQLITE_OK);
    return db;
}

static sqlite3 *rows(void)
{
    return db_of("CREATE TABLE t(n INTEGER, s TEXT, b BLOB);"
                 "INSERT INTO t VALUES(1,'one',x'01'),(2,'two',x'0202'),"
                 "(3,NULL,NULL),(9223372036854775807,'',x'')");
}

static void rows_come_with_their_columns(void **state)
{
    sqlite3 *db = rows();
    int rc = 0;
    struct query q = query_open(db, "SELECT n,s,b FROM t ORDER BY n", &rc);

    (void)state;
    assert_true(query_next(&q));
    assert_int_equal(query_u64(&q, 0), 1);
    assert_string_equal(query_text(&q, 1), "one");
    assert_true(query_next(&q));
    assert_true(span_eq_str(query_span(&q, 1), "two"));
    assert_true(span_eq_str(query_span(&q, 2), "\2\2"));
    assert_true(query_next(&q));
    assert_true(query_null(&q, 1));
    assert_string_equal(query_text(&q, 1), "");
    assert_int_equal(query_span(&q, 2).n, 0);
    assert_int_equal(query_u64(&q, 2), 0);
    assert_true(query_next(&q));
    assert_false(query_next(&q));
    query_close(&q);
    assert_int_equal(rc, 0);
    sqlite3_close(db);
}

static uint64_t count_where(sqlite3 *db, const char *sql, uint64_t n,
                            struct span text, struct span bytes)
{
    int rc = 0;
    struct query q = query_open(db, sql, &rc);
    uint64_t v = 0;

    query_bind_u64(&q, 1, n);
    query_bind_text(&q, 2, text);
    query_bind_bytes(&q, 3, bytes);
    assert_int_equal(query_one(&q, &v), 0);
    return v;
}

static void parameters_have_the_type_of_their_column(void **state)
{
    static const char sql[] =
        "SELECT count(*) FROM t WHERE n=?1 AND s=?2 AND b=?3";
    struct span nothing = span_of(NULL, 0);
    sqlite3 *db = rows();

    (void)state;
    assert_int_equal(
        count_where(db, sql, 2, span_str("two"), span_of("\2\2", 2)), 1);
    assert_int_equal(
        count_where(db, sql, 2, span_str("twoo"), span_of("\2\2", 2)), 0);
    /* The largest number, of all that are larger; empty is not NULL. */
    assert_int_equal(count_where(db, sql, UINT64_MAX, nothing, nothing), 1);
    assert_int_equal(count_where(db, sql, 3, nothing, nothing), 0);
    sqlite3_close(db);
}

static void a_question_is_asked_again_with_other_parameters(void **state)
{
    sqlite3 *db = rows();
    int rc = 0;
    struct query q = query_open(db, "SELECT s FROM t WHERE n=?1", &rc);

    (void)state;
    query_bind_u64(&q, 1, 1);
    assert_true(query_next(&q));
    assert_string_equal(query_text(&q, 0), "one");
    query_again(&q);
    query_bind_u64(&q, 1, 2);
    assert_true(query_next(&q));
    assert_string_equal(query_text(&q, 0), "two");
    query_close(&q);
    assert_int_equal(rc, 0);
    sqlite3_close(db);
}

static void numbers_below_zero_are_bound_as_they_are(void **state)
{
    sqlite3 *db = rows();
    uint64_t v = 0;
    int rc = 0;
    struct query q = query_open(db, "SELECT count(*) FROM t WHERE n>?1", &rc);

    (void)state;
    query_bind_i64(&q, 1, -1);
    assert_int_equal(query_one(&q, &v), 0);
    assert_int_equal(v, 4);
    sqlite3_close(db);
}

static void one_number_or_none(void **state)
{
    sqlite3 *db = rows();
    uint64_t v = 7;
    int rc = 0;
    struct query q = query_open(db, "SELECT n FROM t WHERE n=2", &rc);

    (void)state;
    assert_int_equal(query_one(&q, &v), 0);
    assert_int_equal(v, 2);
    q = query_open(db, "SELECT n FROM t WHERE n=4", &rc);
    assert_int_equal(query_one(&q, &v), -ENOENT);
    q = query_open(db, "SELECT max(n) FROM t WHERE n=4", &rc);
    assert_int_equal(query_one(&q, &v), -ENOENT);
    assert_int_equal(v, 2);
    assert_int_equal(rc, 0);
    sqlite3_close(db);
}

static void the_first_error_stays(void **state)
{
    sqlite3 *db = rows();
    uint64_t v = 7;
    int rc = 0;
    struct query q = query_open(db, "SELECT n FROM no_table", &rc);

    (void)state;
    query_bind_u64(&q, 1, 1);
    query_bind_text(&q, 2, span_str("x"));
    query_bind_bytes(&q, 3, span_str("x"));
    assert_false(query_next(&q));
    assert_int_equal(query_one(&q, &v), -EIO);
    q = query_open(db, "SELECT n FROM t", &rc);
    assert_null(q.stmt);
    assert_int_equal(query_one(&q, &v), -EIO);
    assert_int_equal(v, 7);
    rc = 0;
    q = query_open(db, "SELECT n FROM t", &rc);
    query_bind_u64(&q, 1, 1); /* it has no parameter */
    assert_int_equal(query_one(&q, &v), -EIO);
    rc = 0;
    q = query_open(db, NULL, &rc);
    assert_int_equal(query_one(&q, &v), -ENOMEM);
    sqlite3_close(db);
}

static void an_error_of_the_loop_ends_it(void **state)
{
    sqlite3 *db = rows();
    size_t n = 0;
    int rc = 0;
    struct query q = query_open(db, "SELECT n FROM t", &rc);

    (void)state;
    while (query_next(&q))
        rc = ++n == 2 ? -EBADMSG : 0;
    query_close(&q);
    assert_int_equal(n, 2);
    assert_int_equal(rc, -EBADMSG);
    sqlite3_close(db);
}

static int stop(void *arg)
{
    (void)arg;
    return 1;
}

static void who_stops_it_finds_that(void **state)
{
    static const char sql[] =
        "WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL SELECT n+1 FROM c) "
        "SELECT count(*) FROM c";
    sqlite3 *db = rows();
    uint64_t v;
    int rc = 0;
    struct query q = query_open(db, sql, &rc);

    (void)state;
    sqlite3_progress_handler(db, 1000, stop, NULL);
    assert_int_equal(query_one(&q, &v), -EINTR);
    sqlite3_close(db);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_come_with_their_columns),
        cmocka_unit_test(parameters_have_the_type_of_their_column),
        cmocka_unit_test(numbers_below_zero_are_bound_as_they_are),
        cmocka_unit_test(a_question_is_asked_again_with_other_parameters),
        cmocka_unit_test(one_number_or_none),
        cmocka_unit_test(the_first_error_stays),
        cmocka_unit_test(an_error_of_the_loop_ends_it),
        cmocka_unit_test(who_stops_it_finds_that),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
