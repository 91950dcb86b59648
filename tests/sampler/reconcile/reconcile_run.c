/*
 * reconcile_run.c - reconciliation over tables that a script fills. Comes in,
 * a line each on stdin: "base SQL" is run once and stays; "case NAME|SQL" is
 * run, reconciled over all leaves and undone. Goes out, a line a case:
 * {"case","findings":[{class,request,expected,seen,detail,step}],counts}.
 * SPDX-License-Identifier: Apache-2.0
 */
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "reconcile/kind_tables.h"
#include "sampler/reconcile.h"

static void run(sqlite3 *db, const char *sql)
{
    char *why = NULL;

    if (sqlite3_exec(db, sql, NULL, NULL, &why) != SQLITE_OK) {
        (void)fprintf(stderr, "%s: %s\n", sql, why);
        exit(1);
    }
}

static void add_finding(void *context, const struct finding *f)
{
    json_array_append_new(
        context,
        json_pack("{ss ss sI sI ss ss sI}", "class", f->class, "request",
                  f->request, "expected", (json_int_t)f->expected, "seen",
                  (json_int_t)f->seen, "detail", f->detail, "engine", f->engine,
                  "step", (json_int_t)f->step));
}

static void run_case(sqlite3 *db, char *text)
{
    char *sql = strchr(text, '|');
    json_t *findings = json_array(), *line;
    struct reconcile_options options = {true, 2000000000, add_finding,
                                        findings};
    struct reconcile_counts n;
    int rc;

    if (sql == NULL)
        exit(1);
    *sql++ = '\0';
    run(db, "SAVEPOINT c");
    run(db, sql);
    rc = reconcile_epoch(db, 0, 1 << 30, &options, &n);
    run(db, "ROLLBACK TO c; RELEASE c");
    if (rc != 0) {
        (void)fprintf(stderr, "%s: %s\n", text, strerror(-rc));
        exit(1);
    }
    line = json_pack("{ss so sI sI sI}", "case", text, "findings", findings,
                     "exchanges", (json_int_t)n.exchanges, "matched",
                     (json_int_t)n.matched, "by_shape", (json_int_t)n.by_shape);
    json_dumpf(line, stdout, JSON_COMPACT);
    putchar('\n');
    json_decref(line);
}

int main(void)
{
    sqlite3 *db = kind_tables_open();
    char *line = NULL;
    size_t size = 0;
    ssize_t n;

    while ((n = getline(&line, &size, stdin)) > 0) {
        line[n - 1] = '\0';
        if (strncmp(line, "base ", 5) == 0)
            run(db, line + 5);
        else if (strncmp(line, "case ", 5) == 0)
            run_case(db, line + 5);
    }
    free(line);
    sqlite3_close(db);
    return 0;
}
