/*
 * rows.c - an index of a few rows to reconcile.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "reconcile/rows.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "reconcile/kind_tables.h"

static void add_finding(void *context, const struct finding *f)
{
    struct rows *r = context;

    assert_true(r->n < 8);
    (void)snprintf(r->found[r->n++], sizeof *r->found, "%s %s %llu %llu",
                   f->class, f->request, (unsigned long long)f->expected,
                   (unsigned long long)f->seen);
    memcpy(r->object, f->object, sizeof r->object);
}

int rows_set_up(void **state)
{
    struct rows *r = calloc(1, sizeof *r);

    assert_non_null(r);
    r->db = kind_tables_open();
    r->options = (struct reconcile_options){true, SECOND, add_finding, r};
    *state = r;
    return 0;
}

int rows_tear_down(void **state)
{
    struct rows *r = *state;

    sqlite3_close(r->db);
    free(r);
    return 0;
}

void rows_run(struct rows *r, char *sql)
{
    assert_non_null(sql);
    assert_int_equal(sqlite3_exec(r->db, sql, NULL, NULL, NULL), SQLITE_OK);
    sqlite3_free(sql);
}

void rows_exchange(struct rows *r, int seq, const char *id, int out,
                   struct seconds when)
{
    rows_run(r,
             sqlite3_mprintf(
                 "INSERT INTO exchange(seq,unit,api,api_id,status,tokens_in,"
                 "tokens_out,tokens_from,choices,complete,req_first_ns,"
                 "resp_last_ns) VALUES(%d,zeroblob(31)||char(%d),'openai.chat',"
                 "%Q,200,4,%d,'usage',1,1,%lld,%lld)",
                 seq, seq, id, out, (long long)when.from * SECOND,
                 (long long)when.to * SECOND));
}

void rows_step(struct rows *r, int seq, int second)
{
    rows_run(
        r, sqlite3_mprintf("INSERT INTO batch_step(seq,unit,engine,step,"
                           "step_ns) VALUES(%d,zeroblob(31)||char(%d),'e0',%d,"
                           "%lld)",
                           seq, seq, seq, (long long)second * SECOND));
}

void rows_member(struct rows *r, int seq, const char *id, int start, int n)
{
    rows_run(
        r, sqlite3_mprintf(
               "INSERT INTO batch_step_member SELECT %d,count(*),%Q,0,%d,%d,0,"
               "%d,zeroblob(32) FROM batch_step_member WHERE seq=%d",
               seq, id, start, n, start == 0 ? 4 : 0, seq));
}

void rows_pass(struct rows *r, int seq, const char *id, int start, int n)
{
    rows_step(r, seq, seq);
    rows_member(r, seq, id, start, n);
}

void rows_reconcile(struct rows *r, uint64_t first, uint64_t end)
{
    r->n = 0;
    assert_int_equal(
        reconcile_epoch(r->db, first, end, &r->options, &r->counts), 0);
    assert_int_equal(r->counts.findings, r->n);
}

void rows_expect(struct rows *r, const char *finding)
{
    assert_int_equal(r->n, 1);
    assert_string_equal(r->found[0], finding);
}
