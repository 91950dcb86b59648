/*
 * test_refusals.c - how every kind of refusal is answered: web/site.h.
 * SPDX-License-Identifier: Apache-2.0
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "fixture.h"

static int open_world(void **state)
{
    struct world *w = malloc(sizeof *w);

    world_open(w, NULL);
    *state = w;
    return 0;
}

static int close_world(void **state)
{
    world_close(*state);
    free(*state);
    return 0;
}

static struct answer page(void **state, const char *path)
{
    const struct world *w = *state;

    return fetch(&w->f.site, path);
}

#define FORM_TYPE "CONTENT_TYPE=application/x-www-form-urlencoded"

static bool has(const struct answer *a, const char *text)
{
    return strstr(a->body, text) != NULL;
}

#define assert_has(a, text)                                      \
    do {                                                         \
        if (!has(&(a), text))                                    \
            fail_msg("not on the page: %s\n%s", text, (a).body); \
    } while (0)
#define assert_lacks(a, text) assert_false(has(&(a), text))

static void refuses_what_it_does_not_know(void **state)
{
    static const struct {
        const char *path;
        int status;
    } cases[] = {
        {"/nowhere", 404},
        {"/m/", 404},
        {"/m/17", 404},
        {"/m/0000000000000000000000000000000000000000000000000000000000000000",
         404},
        {"/m/..%2f..", 404},
        {"/epochs/abc", 404},
        {"/epochs/-1", 404},
        {"/epochs/99", 404},
        {"/help.csv", 404},
        {"/exchanges?result=BEST", 400},
        {"/exchanges?epoch=x", 400},
        {"/exchanges?from=tomorrow", 400},
        {"/exchanges?after=zz", 400},
        {"/exchanges?after=ffffffffffffffffffffffffffffffff", 400},
        {"/exchanges?a=1&a=2", 400},
        {"/exchanges?a=%zz", 400},
        {"/m/x/review", 405},
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct answer a = page(state, cases[i].path);

        if (a.status != cases[i].status)
            fail_msg("%s: %d", cases[i].path, a.status);
        assert_has(a, "<h1>");
        assert_string_equal(answer_field(&a, "Cache-Control"), "no-store");
        free(a.all);
    }
}

static void says_which_methods_a_page_takes(void **state)
{
    const struct world *w = *state;
    struct answer a = page(state, "/m/x/review");

    assert_string_equal(answer_field(&a, "Allow"), "POST");
    free(a.all);
    a = serve(&w->f.site,
              (const char *const[]){"REQUEST_METHOD=POST", "PATH_INFO=/",
                                    "CONTENT_LENGTH=0", FORM_TYPE, NULL},
              "");
    assert_int_equal(a.status, 405);
    assert_string_equal(answer_field(&a, "Allow"), "GET, HEAD");
    free(a.all);
    a = serve(&w->f.site, (const char *const[]){"REQUEST_METHOD=TRACE", NULL},
              "");
    assert_int_equal(a.status, 405);
    assert_string_equal(answer_field(&a, "Allow"), "GET, HEAD, POST");
    free(a.all);
}

static struct {
    enum method method;
    int times;
} confined;

static void confine(enum method method)
{
    confined.method = method;
    confined.times++;
}

/* A request that takes nothing of the record needs no rights to give up. */
static void rights_are_given_up_once_a_page_is_found(void **state)
{
    static const struct {
        const char *method, *path;
        int times;
        enum method seen;
    } cases[] = {{"GET", "/exchanges", 1, METHOD_GET},
                 {"HEAD", "/", 1, METHOD_HEAD},
                 {"POST", "/m/x/review", 1, METHOD_POST},
                 {"GET", "/nowhere", 0, METHOD_GET},
                 {"POST", "/", 0, METHOD_GET}};
    const struct world *w = *state;

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char method[32], path[64];
        char length[] = "CONTENT_LENGTH=0", type[] = FORM_TYPE;
        char *vars[] = {method, path, length, type, NULL};
        FILE *out = fopen("/dev/null", "w"), *in = tmpfile();

        (void)snprintf(method, sizeof method, "REQUEST_METHOD=%s",
                       cases[i].method);
        (void)snprintf(path, sizeof path, "PATH_INFO=%s", cases[i].path);
        memset(&confined, 0, sizeof confined);
        assert_true(out != NULL && in != NULL);
        assert_true(site_serve(&w->f.site, vars, fileno(in), out, confine));
        assert_int_equal(confined.times, cases[i].times);
        assert_int_equal(confined.method, cases[i].seen);
        fclose(out);
        fclose(in);
    }
}

static void json_refusals_are_json(void **state)
{
    struct answer a = page(state, "/exchanges.json?epoch=x");

    assert_int_equal(a.status, 400);
    assert_string_equal(answer_field(&a, "Content-Type"), "application/json");
    assert_has(a, "\"status\": 400");
    assert_has(a, "A number is wanted there.");
    free(a.all);
}

static void no_index_is_a_clear_503(void **state)
{
    struct site site = {.state_dir = "/nonexistent",
                        .run_dir = "/nonexistent",
                        .static_url = "/static",
                        .actor = "",
                        .deadline_ms = 120000};
    struct answer a = fetch(&site, "/");

    (void)state;
    assert_int_equal(a.status, 503);
    assert_has(a, "There is no index: assay-store has not run here yet.");
    free(a.all);
}

static void a_query_past_its_deadline_is_a_clear_503(void **state)
{
    struct fixture f;
    struct answer a;

    (void)state;
    fixture_open(&f, NULL);
    sqlite3_exec(f.db,
                 "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 "
                 "FROM n WHERE i < 50000) INSERT INTO loss SELECT i, i, "
                 "zeroblob(32), 't', 'c' || i, 'o', 1, 1, 1, 1 FROM n",
                 NULL, NULL, NULL);
    fixture_commit(&f);
    f.site.deadline_ms = 0;
    a = fetch(&f.site, "/coverage");
    assert_int_equal(a.status, 503);
    assert_has(a, "The query took too long; narrow it down.");
    assert_lacks(a, "Byte account");
    free(a.all);
    fixture_close(&f);
}

static void a_broken_index_is_a_clear_503(void **state)
{
    struct fixture f;
    struct answer a;

    (void)state;
    fixture_open(&f, NULL);
    sqlite3_exec(f.db, "DROP TABLE verdict", NULL, NULL, NULL);
    fixture_commit(&f);
    a = fetch(&f.site, "/");
    assert_int_equal(a.status, 503);
    assert_has(a, "The index could not be read.");
    free(a.all);
    fixture_close(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(refuses_what_it_does_not_know),
        cmocka_unit_test(says_which_methods_a_page_takes),
        cmocka_unit_test(rights_are_given_up_once_a_page_is_found),
        cmocka_unit_test(json_refusals_are_json),
        cmocka_unit_test(no_index_is_a_clear_503),
        cmocka_unit_test(a_query_past_its_deadline_is_a_clear_503),
        cmocka_unit_test(a_broken_index_is_a_clear_503),
    };

    return cmocka_run_group_tests(tests, open_world, close_world);
}
