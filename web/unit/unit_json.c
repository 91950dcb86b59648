/*
 * unit_json.c - all that the record says about a unit, as JSON: the rows of
 * its records, column by column, under the names of docs/records.md. Hashes
 * are hex; no stored content.
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdlib.h>

#include "store/utf8.h"
#include "unit/unit.h"

static json_t *hex(struct span s)
{
    char *text = malloc(2 * s.n + 1);
    json_t *v;

    if (text == NULL)
        return NULL;
    for (size_t i = 0; i < s.n; i++)
        (void)sprintf(text + 2 * i, "%02x", s.p[i]);
    v = json_stringn(text, 2 * s.n);
    free(text);
    return v;
}

/* Text that is no UTF-8 goes as hex, too: JSON holds nothing else. */
static json_t *value(const struct query *q, int i)
{
    struct span s;

    switch (sqlite3_column_type(q->stmt, i)) {
    case SQLITE_INTEGER:
        return json_integer((json_int_t)query_u64(q, i));
    case SQLITE_NULL:
        return json_null();
    case SQLITE_TEXT:
        s = query_span(q, i);
        if (s.n == 0)
            return json_string("");
        return utf8_whole(s) ? json_stringn((const char *)s.p, s.n) : hex(s);
    default:
        return hex(query_span(q, i));
    }
}

static json_t *rows(struct unit *u, const char *sql)
{
    struct query q = db_query(&u->page->db, sql);
    json_t *list = json_array();

    query_bind_bytes(&q, 1, unit_hash(u));
    while (query_next(&q)) {
        json_t *row = json_object();

        for (int i = 0; i < sqlite3_column_count(q.stmt); i++)
            (void)json_object_set_new(row, sqlite3_column_name(q.stmt, i),
                                      value(&q, i));
        (void)json_array_append_new(list, row);
    }
    query_close(&q);
    return list;
}

void unit_json(struct unit *u)
{
    u->page->json = json_pack(
        "{s:s,s:o,s:o,s:o,s:o,s:o,s:o}", "schema", "assay.unit/1", "exchange",
        rows(u, "SELECT * FROM exchange WHERE unit = ?"), "drawn",
        rows(u, "SELECT d.epoch, m.* FROM draw_drawn m JOIN draw d ON d.seq = "
                "m.seq WHERE m.object = ?"),
        "verdicts",
        rows(u, "SELECT * FROM verdict WHERE object = ? ORDER BY seq"),
        "reproduced",
        rows(u, "SELECT * FROM reproduced WHERE object = ? ORDER BY seq"),
        "findings",
        rows(u, "SELECT * FROM finding WHERE object = ? ORDER BY seq"),
        "reviews",
        rows(u, "SELECT * FROM review WHERE object = ? ORDER BY seq"));
}
