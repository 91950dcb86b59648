/*
 * jobs.c - from draws to job packets. Comes in: the index's draws, claimed ids
 * and results. Goes out: files under jobs/, claims/, results/ and `job`
 * records.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "job/jobs.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "config/array.h"
#include "config/log.h"
#include "job/neighbours.h"
#include "job/unit.h"
#include "store/layout.h"
#include "store/query.h"
#include "store/record.h"
#include "store/sha256.h"

/* A drawn unit, a result of one, or one that is to be tried again. */
enum task_kind { TASK_UNIT, TASK_RESULT, TASK_AGAIN };
struct task {
    enum task_kind kind;
    uint64_t seq; /* of the result */
    uint64_t epoch, run;
    uint8_t unit[MERKLE_HASH];
};

struct jobs {
    struct ledger *ledger;
    struct jobs_config config;
    uint64_t seen; /* leaves whose draws and results are in the queue */
    struct task *task;
    size_t at, n, size;
};

int jobs_open(struct ledger *l, const struct jobs_config *config,
              struct jobs **ret_j)
{
    static const char *const dirs[] = {LAYOUT_JOBS, LAYOUT_CLAIMS,
                                       LAYOUT_RESULTS};
    struct jobs *j = calloc(1, sizeof *j);
    int rc = 0;

    if (j == NULL)
        return -ENOMEM;
    for (size_t i = 0; i < 3 && rc == 0; i++)
        rc = file_make_dir(layout_path(ledger_dir(l), dirs[i]).text, 0750);
    if (rc != 0) {
        free(j);
        return rc;
    }
    j->ledger = l;
    j->config = *config;
    *ret_j = j;
    return 0;
}

void jobs_close(struct jobs *j)
{
    if (j == NULL)
        return;
    free(j->task);
    free(j);
}

static int add_task(struct jobs *j, const struct task *t)
{
    struct task *p = array_grow(j->task, &j->size, j->n, 1, sizeof *p);

    if (p == NULL)
        return -ENOMEM;
    j->task = p;
    j->task[j->n++] = *t;
    return 0;
}

/* Queues the rows (epoch, object, seq, run) of a query over new leaves. */
static int find_tasks(struct jobs *j, const char *sql, enum task_kind kind,
                      uint64_t end)
{
    int rc = 0;
    struct query q = query_open(ledger_db(j->ledger), sql, &rc);

    query_bind_u64(&q, 1, j->seen);
    query_bind_u64(&q, 2, end);
    while (query_next(&q)) {
        struct task t = {.kind = kind,
                         .seq = query_u64(&q, 2),
                         .epoch = query_u64(&q, 0),
                         .run = query_u64(&q, 3)};
        struct span unit = query_span(&q, 1);

        if (unit.n != MERKLE_HASH)
            continue; /* no unit of ours */
        memcpy(t.unit, unit.p, MERKLE_HASH);
        rc = add_task(j, &t);
    }
    query_close(&q);
    return rc;
}

/* Draws without a job, claimed ids of earlier draws without one, results
 * without a verdict or of tries without theirs, mismatches that need a second
 * try and had none. */
static int look_for_tasks(struct jobs *j)
{
    static const char drawn[] =
        "SELECT w.epoch,d.object,w.seq,0 FROM draw w "
        "JOIN draw_drawn d ON d.seq=w.seq WHERE w.seq>=?1 AND w.seq<?2 AND "
        "NOT EXISTS(SELECT 1 FROM job o WHERE o.object=d.object AND "
        "o.epoch=w.epoch) ORDER BY d.seq,d.pos";
    static const char claimed[] =
        "SELECT c.epoch,c.object,c.seq,0 FROM claimed c "
        "WHERE c.seq>=?1 AND c.seq<?2 AND "
        "NOT EXISTS(SELECT 1 FROM job o WHERE o.object=c.object AND "
        "o.epoch=c.epoch) AND NOT EXISTS(SELECT 1 FROM draw_drawn d "
        "WHERE d.object=c.object AND d.seq>=?1 AND d.seq<?2) ORDER BY c.seq";
    static const char results[] =
        "SELECT r.epoch,r.object,r.seq,r.run FROM result r "
        "WHERE r.seq>=?1 AND r.seq<?2 AND CASE WHEN r.run=1001 THEN "
        "NOT EXISTS(SELECT 1 FROM reproduced p WHERE p.object=r.object AND "
        "p.epoch=r.epoch) ELSE "
        "NOT EXISTS(SELECT 1 FROM verdict v WHERE v.object=r.object AND "
        "v.epoch=r.epoch) END ORDER BY r.seq";
    static const char again[] =
        "SELECT v.epoch,v.object,v.seq,0 FROM verdict v "
        "WHERE v.seq>=?1 AND v.seq<?2 AND v.verdict='MISMATCH' AND "
        "v.class<>'envelope' AND EXISTS(SELECT 1 FROM manifest m WHERE "
        "m.manifest=v.manifest AND instr(' '||m.needs||' ',' again ')) AND "
        "NOT EXISTS(SELECT 1 FROM job o WHERE o.object=v.object AND "
        "o.epoch=v.epoch AND o.mode='again') ORDER BY v.seq";
    _Static_assert(JOB_AGAIN_RUN == 1001, "the run that the query names");
    uint64_t end = ledger_indexed(j->ledger);
    int rc = 0;

    if (j->seen >= end)
        return 0;
    rc = find_tasks(j, drawn, TASK_UNIT, end);
    if (rc == 0)
        rc = find_tasks(j, claimed, TASK_UNIT, end);
    if (rc == 0)
        rc = find_tasks(j, results, TASK_RESULT, end);
    if (rc == 0)
        rc = find_tasks(j, again, TASK_AGAIN, end);
    if (rc == 0)
        j->seen = end;
    return rc;
}

/* One integer of a query over (object, epoch); -ENOENT: no row. */
static int look_up(struct ledger *l, const char *sql, const struct task *t,
                   uint64_t *ret_v)
{
    int rc = 0;
    struct query q = query_open(ledger_db(l), sql, &rc);

    query_bind_bytes(&q, 1, span_of(t->unit, MERKLE_HASH));
    query_bind_u64(&q, 2, t->epoch);
    return query_one(&q, ret_v);
}

/* The nonce comes from the store's secret, not from chance: a packet written
 * again after a crash is the same packet. Its first bytes also choose the
 * mode, so that nobody outside can tell which units are run blind. */
static int set_nonce(struct jobs *j, struct unit *u)
{
    static const char label[] = "assay-job-nonce/v1";
    uint8_t purpose[sizeof(label) + 8 + MERKLE_HASH], secret[32];
    int rc;

    memcpy(purpose, label, sizeof(label));
    for (int i = 0; i < 8; i++)
        purpose[sizeof(label) + i] = (uint8_t)(u->epoch >> 8 * (7 - i));
    memcpy(purpose + sizeof(label) + 8, u->job.unit, MERKLE_HASH);
    rc = ledger_derive(j->ledger, span_of(purpose, sizeof(purpose)), secret);
    if (rc != 0)
        return rc;
    memcpy(u->job.nonce, secret, sizeof(u->job.nonce));
    memcpy(u->claim.nonce, secret, sizeof(u->claim.nonce));
    u->job.mode = JOB_BLIND;
    if (j->config.forced &&
        (secret[16] << 8 | secret[17]) % 100 < (int)j->config.forced_percent)
        u->job.mode = JOB_FORCED;
    if (u->job.n_exchanges != 0)
        u->job.mode = JOB_SEARCH;
    if (u->claim.reason.n != 0)
        u->job.mode = JOB_NONE;
    return 0;
}

/* A forced job waits for the claimed ids. Where compare found none in the
 * answer the job is run blind. *ret_wait: not yet. */
static int take_claimed(struct jobs *j, struct unit *u, const struct task *t,
                        bool *ret_wait)
{
    static const char sql[] = "SELECT seq FROM claimed WHERE object=?1 AND "
                              "epoch=?2 ORDER BY seq DESC LIMIT 1";
    uint64_t seq;
    int rc = look_up(j->ledger, sql, t, &seq);

    *ret_wait = rc == -ENOENT;
    if (rc == 0)
        rc = unit_payload(u, j->ledger, seq, "ids", &u->job.claimed);
    else if (rc == -ENOENT)
        return 0;
    if (rc == -ENOENT || rc == -ENODATA || rc == -EBADMSG)
        u->job.mode = JOB_BLIND;
    return rc == -EIO || rc == -ENOMEM ? rc : 0;
}

/* Writes a file of job.h, already serialised, and frees it. */
static int write_file(struct path path, char *bytes, size_t n,
                      uint8_t ret_hash[SHA256_BYTES])
{
    int rc = file_replace(path.text, span_of(bytes, n), 0640);

    sha256(span_of(bytes, n), ret_hash);
    free(bytes);
    return rc;
}

static int write_claim(struct jobs *j, struct unit *u, uint8_t *ret_hash)
{
    struct path path =
        layout_claim(ledger_dir(j->ledger), u->epoch, u->job.unit);
    char *bytes;
    size_t n;
    int rc;

    u->claim.mode = u->job.mode;
    u->claim.runs = j->config.runs;
    rc = claim_write(&u->claim, &bytes, &n);
    return rc != 0 ? rc : write_file(path, bytes, n, ret_hash);
}

static int write_job(struct jobs *j, struct unit *u, uint8_t *ret_hash)
{
    const char *dir = ledger_dir(j->ledger);
    struct path path = u->job.mode == JOB_AGAIN
                           ? layout_again(dir, u->epoch, u->job.unit)
                           : layout_job(dir, u->epoch, u->job.unit);
    char *bytes;
    size_t n;
    int rc;

    u->job.runs = u->job.mode == JOB_AGAIN ? 1 : j->config.runs;
    rc = job_write(&u->job, &bytes, &n);
    return rc != 0 ? rc : write_file(path, bytes, n, ret_hash);
}

static const char *mode_name(enum job_mode mode)
{
    switch (mode) {
    case JOB_BLIND:
        return "blind";
    case JOB_FORCED:
        return "forced";
    case JOB_SEARCH:
        return "search";
    case JOB_AGAIN:
        return "again";
    case JOB_NONE:
        return "none";
    }
    return "";
}

static int put_job(struct jobs *j, const struct unit *u,
                   const uint8_t *packet_hash, const uint8_t *claim_hash)
{
    size_t packet_n = u->job.mode == JOB_NONE ? 0 : SHA256_BYTES;
    size_t claim_n = u->job.mode == JOB_AGAIN ? 0 : SHA256_BYTES;
    size_t manifest_n = u->job.manifest.n == 0 ? 0 : SHA256_BYTES;
    struct ledger_put p = {.kind = kind_find("job")};
    struct ledger_ack ack;
    const char *why;
    struct record r;

    record_init(&r);
    record_u64(&r, "epoch", u->epoch);
    record_hex(&r, "object", span_of(u->job.unit, MERKLE_HASH));
    record_text(&r, "mode", span_str(mode_name(u->job.mode)));
    record_hex(&r, "nonce", span_of(u->job.nonce, sizeof(u->job.nonce)));
    record_hex(&r, "packet_sha256", span_of(packet_hash, packet_n));
    record_hex(&r, "claim_sha256", span_of(claim_hash, claim_n));
    record_hex(&r, "manifest", span_of(u->claim.manifest, manifest_n));
    p.body = span_of(r.text, r.n);
    return ledger_put(j->ledger, &p, &ack, &why);
}

/* All that its claim and its packet hold. */
static int collect(struct jobs *j, const struct task *t, struct unit *ret_u)
{
    int rc = unit_init(ret_u, j->ledger, t->epoch, t->unit);

    if (rc != 0 || !unit_needs_neighbours(ret_u))
        return rc;
    rc = neighbours_take(ret_u, j->ledger);
    if (rc != 0)
        unit_fini(ret_u);
    return rc;
}

/* Claim, packet and record of a unit that was collected. */
static int issue(struct jobs *j, struct unit *u, const struct task *t)
{
    uint8_t packet_hash[SHA256_BYTES] = {0}, claim_hash[SHA256_BYTES];
    bool wait = false;
    int rc = set_nonce(j, u);

    if (rc == 0 && u->job.mode == JOB_FORCED)
        rc = take_claimed(j, u, t, &wait);
    if (rc == 0)
        rc = write_claim(j, u, claim_hash);
    if (rc != 0 || wait)
        return rc;
    if (u->job.mode != JOB_NONE)
        rc = write_job(j, u, packet_hash);
    return rc != 0 ? rc : put_job(j, u, packet_hash, claim_hash);
}

static int do_unit(struct jobs *j, const struct task *t)
{
    static const char sql[] =
        "SELECT seq FROM job WHERE object=?1 AND epoch=?2";
    struct unit u;
    uint64_t seq;
    int rc = look_up(j->ledger, sql, t, &seq);

    if (rc != -ENOENT)
        return rc; /* it has its job already */
    rc = collect(j, t, &u);
    if (rc != 0)
        return rc;
    if (u.claim.reason.n != 0)
        log_info("drawn unit cannot be run epoch=%llu reason=%.*s",
                 (unsigned long long)t->epoch, (int)u.claim.reason.n,
                 (const char *)u.claim.reason.p);
    rc = issue(j, &u, t);
    unit_fini(&u);
    return rc;
}

/* The claim is there, and decided. */
static int do_again(struct jobs *j, const struct task *t)
{
    static const char sql[] =
        "SELECT seq FROM job WHERE object=?1 AND epoch=?2 AND mode='again'";
    uint8_t hash[SHA256_BYTES] = {0};
    struct unit u;
    uint64_t seq;
    int rc = look_up(j->ledger, sql, t, &seq);

    if (rc != -ENOENT)
        return rc;
    rc = collect(j, t, &u);
    if (rc != 0)
        return rc;
    if (u.claim.reason.n == 0) {
        if (u.job.n_exchanges == 0)
            rc = neighbours_none(&u);
        if (rc == 0)
            rc = set_nonce(j, &u);
        u.job.mode = JOB_AGAIN;
        if (rc == 0)
            rc = write_job(j, &u, hash);
        if (rc == 0)
            rc = put_job(j, &u, hash, hash);
    }
    unit_fini(&u);
    return rc;
}

static int do_result(struct jobs *j, const struct task *t)
{
    struct path path =
        layout_result(ledger_dir(j->ledger), t->epoch, t->unit, t->run);
    uint8_t *bytes;
    size_t n;
    int rc;

    if (access(path.text, F_OK) == 0)
        return 0;
    rc = ledger_payload(j->ledger, t->seq, "result", &bytes, &n);
    if (rc == -ENOENT || rc == -ENODATA || rc == -EBADMSG) {
        log_warnx("result without its payload seq=%llu",
                  (unsigned long long)t->seq);
        return 0;
    }
    if (rc != 0)
        return rc;
    rc = file_replace(path.text, span_of(bytes, n), 0640);
    free(bytes);
    return rc;
}

static int do_task(struct jobs *j, const struct task *t)
{
    switch (t->kind) {
    case TASK_UNIT:
        return do_unit(j, t);
    case TASK_RESULT:
        return do_result(j, t);
    case TASK_AGAIN:
        break;
    }
    return do_again(j, t);
}

int jobs_step(struct jobs *j, bool *ret_did)
{
    int rc = look_for_tasks(j);

    *ret_did = false;
    if (rc != 0 || j->at == j->n)
        return rc;
    rc = do_task(j, &j->task[j->at]);
    if (rc != 0)
        return rc;
    *ret_did = true;
    j->at++;
    if (j->at == j->n)
        j->at = j->n = 0;
    return 0;
}
