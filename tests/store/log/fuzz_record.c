/*
 * fuzz_record.c - any bytes as a leaf: what the grammar accepts is walked to
 * its end, every value has one spelling, and the index takes its rows.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "fuzz.h"

#include <stdlib.h>
#include <string.h>

#include "index/index_row.h"
#include "index/index_schema.h"
#include "store/kind.h"
#include "store/record.h"

static void check(bool good)
{
    if (!good)
        abort();
}

/* Decoding and encoding again gives the same characters. */
static void one_spelling(struct span value)
{
    static struct record r;
    char out[RECORD_MAX];
    struct span again;
    uint64_t v;
    size_t n;

    record_init(&r);
    if (record_parse_u64(value, &v) == PARSE_OK)
        record_u64(&r, "k", v);
    else if (record_parse_text(value, out, sizeof(out), &n) == PARSE_OK)
        record_text(&r, "k", span_of(out, n));
    else
        return; /* columns */
    again = record_find(span_of(r.text, r.n), "k");
    check(!r.full && span_eq(again, value));
}

static void walk(struct span leaf, const struct kind *k)
{
    struct cursor lines = cursor_of(leaf);
    struct field f;
    bool bad;

    check(record_next(&lines, &f, &bad) && span_eq_str(f.value, k->name));
    do
        one_spelling(f.value);
    while (record_next(&lines, &f, &bad));
    check(!bad);
}

static struct index_rows *open_rows(sqlite3 **ret_db)
{
    static struct index_rows *rows;
    static sqlite3 *db;
    char *sql;

    if (rows == NULL) {
        sql = index_schema();
        check(sqlite3_open(":memory:", &db) == SQLITE_OK && sql != NULL &&
              sqlite3_exec(db, sql, NULL, NULL, NULL) == SQLITE_OK &&
              index_rows_open(db, &rows) == 0);
        sqlite3_free(sql);
    }
    *ret_db = db;
    return rows;
}

static void index_it(struct span leaf)
{
    struct index_payload payloads[INDEX_PAYLOADS];
    struct leaf l = {.bytes = leaf};
    sqlite3 *db;
    struct index_rows *rows = open_rows(&db);
    size_t n;

    check(record_parse_u64(record_find(leaf, "seq"), &l.seq) == PARSE_OK);
    check(sqlite3_exec(db, "BEGIN", NULL, NULL, NULL) == SQLITE_OK);
    check(index_rows_insert(rows, &l, payloads, &n) == 0);
    check(sqlite3_exec(db, "ROLLBACK", NULL, NULL, NULL) == SQLITE_OK);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    struct span leaf = span_of(data, n);
    const char *why = NULL;
    const struct kind *k = record_check(leaf, &why);

    if (k == NULL) {
        check(why != NULL);
        return 0;
    }
    walk(leaf, k);
    index_it(leaf);
    return 0;
}
