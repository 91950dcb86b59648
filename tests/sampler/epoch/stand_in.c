/*
 * stand_in.c - stands in for tap, worker and compare before a running
 * assay-store:
 *     stand_in exchanges RUN_DIR FIRST N       N exchanges, numbered from FIRST
 *     stand_in answers STATE RUN_DIR EPOCH LEFT
 *         a result and a verdict for each job of the epoch that has none, but
 *         for LEFT of them; the first of the epoch is a mismatch
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "store/client.h"
#include "store/exchange.h"
#include "store/index.h"
#include "store/record.h"
#include "store/sha256.h"
#include "store/verdict.h"

enum { WAIT_MS = 120000 };

static void die(const char *what, int err)
{
    fprintf(stderr, "stand_in: %s: %s\n", what, strerror(-err));
    exit(1);
}

static struct store_client *connected(const char *run_dir, const char *role)
{
    struct store_client *c;
    int err = store_connect(run_dir, role, WAIT_MS, &c);

    if (err != 0)
        die(role, err);
    return c;
}

static void add(struct store_client *c, const char *kind, struct record *r)
{
    const struct put p = {.kind = kind, .record = r};
    int err = store_send(c, &p, 0);

    if (err != 0)
        die(kind, err);
}

static void settle(struct store_client *c)
{
    struct put_ack ack;

    while (store_unacked(c) > 0) {
        int err = store_next_ack(c, WAIT_MS, &ack);

        if (err != 0)
            die("acknowledgement", err);
    }
}

static void exchanges(const char *run_dir, unsigned first, unsigned n)
{
    struct store_client *c = connected(run_dir, "tap");
    struct record r;

    for (unsigned i = first; i < first + n; i++) {
        char id[32];
        struct exchange x = {
            .tap = span_str("t0"),
            .source = span_str("live:eth0"),
            .client = span_str("10.1.2.3:50123"),
            .server = span_str("10.1.2.4:8000"),
            .stream = i,
            .method = span_str("POST"),
            .target = span_str("/v1/completions"),
            .status = 200,
            .api = span_str("openai.completions"),
            .model = span_str("stories260k"),
            .tokens_in = 17,
            .tokens_out = i % 64,
            .complete = i % 17 != 16,
            .cause = span_str(i % 17 != 16 ? "" : "gap"),
            .req = {.first_ns = 1764417600000000000 + i},
        };

        snprintf(id, sizeof id, "cmpl-%08x", i);
        x.api_id = span_str(id);
        if (!exchange_record(&x, &r))
            die("exchange", -EMSGSIZE);
        add(c, "exchange", &r);
    }
    settle(c);
    store_close(c);
}

struct job_row {
    unsigned long long epoch;
    uint8_t unit[32], nonce[16], digest[32];
};

static void result(struct store_client *c, const struct job_row *j)
{
    struct record r;

    record_init(&r);
    record_u64(&r, "epoch", j->epoch);
    record_hex(&r, "object", span_of(j->unit, 32));
    record_hex(&r, "nonce", span_of(j->nonce, 16));
    record_u64(&r, "run", 1);
    record_text(&r, "worker", span_str("w0"));
    record_text(&r, "status", span_str("ok"));
    record_text(&r, "reason", span_str(""));
    record_hex(&r, "manifest", span_of(j->digest, 32));
    record_hex(&r, "digest", span_of(j->digest, 32));
    record_u64(&r, "tokens", 16);
    record_u64(&r, "elapsed_ns", 1);
    add(c, "result", &r);
}

static void counts(struct record *r, bool bad)
{
    record_u64(r, "runs", 1);
    record_u64(r, "runs_differ", 0);
    record_u64(r, "choices", 1);
    record_u64(r, "tokens", 16);
    record_u64(r, "tokens_differ", bad ? 2 : 0);
    record_u64(r, "logprobs", 16);
    record_u64(r, "logprobs_differ", bad ? 1 : 0);
    record_u64(r, "length_differ", 0);
    record_u64(r, "envelope_differ", 0);
    record_text(r, "envelope", span_str(""));
    record_u64(r, "choice", bad ? 0 : NO_POSITION);
    record_u64(r, "position", bad ? 5 : NO_POSITION);
}

static void verdict(struct store_client *c, const struct job_row *j, bool bad)
{
    struct record r;

    record_init(&r);
    record_u64(&r, "epoch", j->epoch);
    record_hex(&r, "object", span_of(j->unit, 32));
    record_text(&r, "verdict", span_str(bad ? "MISMATCH" : "MATCH"));
    record_text(&r, "class", span_str(bad ? "token" : ""));
    record_text(&r, "reason", span_str(""));
    record_text(&r, "route", span_str("invariant"));
    record_text(&r, "level", span_str(""));
    record_hex(&r, "manifest", span_of(j->digest, 32));
    record_hex(&r, "result_digest", span_of(j->digest, 32));
    counts(&r, bad);
    record_text(&r, "claimed_token", span_str(""));
    record_text(&r, "recomputed_token", span_str(""));
    record_text(&r, "claimed_bits", span_str(""));
    record_text(&r, "recomputed_bits", span_str(""));
    record_u64(&r, "evidence_bits", 0);
    record_u64(&r, "forward_runs", 0);
    record_text(&r, "detail", span_str(""));
    add(c, "verdict", &r);
}

/* The epoch's jobs without a verdict, at most n. */
static size_t open_jobs(sqlite3 *db, unsigned long long epoch,
                        struct job_row *rows, size_t n)
{
    sqlite3_stmt *s;
    size_t i = 0;

    if (sqlite3_prepare_v2(db,
                           "SELECT object, nonce FROM job j WHERE epoch = ?1"
                           " AND NOT EXISTS (SELECT 1 FROM verdict v WHERE"
                           " v.object = j.object AND v.epoch = ?1)"
                           " ORDER BY seq",
                           -1, &s, NULL) != SQLITE_OK)
        die("index", -EIO);
    sqlite3_bind_int64(s, 1, (sqlite3_int64)epoch);
    for (; i < n && sqlite3_step(s) == SQLITE_ROW; i++) {
        rows[i].epoch = epoch;
        memcpy(rows[i].unit, sqlite3_column_blob(s, 0), 32);
        memcpy(rows[i].nonce, sqlite3_column_blob(s, 1), 16);
        sha256(span_of(rows[i].unit, 32), rows[i].digest);
    }
    sqlite3_finalize(s);
    return i;
}

static void answers(const char *state, const char *run_dir,
                    unsigned long long epoch, size_t left)
{
    static struct job_row rows[10000];
    struct store_client *worker = connected(run_dir, "recompute");
    struct store_client *compare = connected(run_dir, "compare");
    sqlite3 *db;
    size_t n;
    int err = index_open_readonly(state, &db);

    if (err != 0)
        die("index", err);
    n = open_jobs(db, epoch, rows, 10000);
    sqlite3_close(db);
    n = n > left ? n - left : 0;
    for (size_t i = 0; i < n; i++)
        result(worker, &rows[i]);
    settle(worker);
    for (size_t i = 0; i < n; i++)
        verdict(compare, &rows[i], i == 0);
    settle(compare);
    store_close(worker);
    store_close(compare);
    printf("%zu\n", n);
}

int main(int argc, char **argv)
{
    if (argc == 5 && strcmp(argv[1], "exchanges") == 0)
        exchanges(argv[2], (unsigned)atoi(argv[3]), (unsigned)atoi(argv[4]));
    else if (argc == 6 && strcmp(argv[1], "answers") == 0)
        answers(argv[2], argv[3], strtoull(argv[4], NULL, 10),
                (size_t)atoi(argv[5]));
    else
        return 2;
    return 0;
}
