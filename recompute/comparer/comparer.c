/*
 * comparer.c - the loop of assay-compare: claims and results of the state
 * directory in, `verdict` and `claimed` records out. The worker is not
 * believed: what it sends is compared, and what does not fit is its failure.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "comparer/comparer.h"

#include <errno.h>
#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/file.h"
#include "compare/claimed_ids.h"
#include "compare/compare.h"
#include "compare/reason.h"
#include "comparer/verdict_record.h"
#include "config/exit.h"
#include "config/log.h"
#include "config/sandbox.h"
#include "config/settings.h"
#include "daemon/daemon.h"
#include "daemon/outbox.h"
#include "daemon/watch.h"
#include "store/index.h"
#include "store/layout.h"

enum { CLAIM_MAX = 512 << 20, RECENT = 4096, SWEEP_MS = 30000 };

/* A unit of an epoch. */
struct unit_key {
    uint64_t epoch;
    uint8_t unit[32];
};

/* The last units that a record was put for: the index lags behind them. */
struct recent {
    struct unit_key keys[RECENT];
    size_t n;
};

struct comparer {
    const char *state_dir;
    int64_t deadline_s;
    sqlite3 *index;
    struct outbox out;
    struct recent decided, told, explained;
    bool waiting; /* a claim was seen that cannot be decided yet */
};

static bool same_key(const struct unit_key *a, const struct unit_key *b)
{
    return a->epoch == b->epoch && memcmp(a->unit, b->unit, 32) == 0;
}

static bool is_recent(const struct recent *r, const struct unit_key *k)
{
    for (size_t i = 0; i < RECENT && i < r->n; i++)
        if (same_key(&r->keys[i], k))
            return true;
    return false;
}

static void remember(struct recent *r, const struct unit_key *k)
{
    r->keys[r->n++ % RECENT] = *k;
}

/* Whether the query over (epoch, object) has a row. */
static int has_row(const struct comparer *c, const char *sql,
                   const struct unit_key *k, bool *ret_has)
{
    sqlite3_stmt *s;
    int rc;

    if (sqlite3_prepare_v2(c->index, sql, -1, &s, NULL) != SQLITE_OK)
        return -EIO;
    sqlite3_bind_int64(s, 1, (sqlite3_int64)k->epoch);
    sqlite3_bind_blob(s, 2, k->unit, 32, SQLITE_STATIC);
    rc = sqlite3_step(s);
    *ret_has = rc == SQLITE_ROW;
    sqlite3_finalize(s);
    return rc == SQLITE_ROW || rc == SQLITE_DONE ? 0 : -EIO;
}

static int put_verdict(struct comparer *c, const struct claim *claim,
                       const struct result *first, const struct comparison *x)
{
    struct unit_key k = {.epoch = claim->epoch};
    struct payload payload = {.name = "differences"};
    struct record record;
    struct put put = {"verdict", &record, &payload, 1};
    char *bytes = NULL;
    size_t n;
    int err = differences_write(&x->differences, &bytes, &n);

    if (err == 0 && !verdict_record(claim, first, x, &record))
        err = -EMSGSIZE;
    if (err == 0) {
        payload.bytes = span_of(bytes, n);
        err = outbox_put(&c->out, &put);
    }
    if (err == -EEXIST)
        err = 0; /* one that was killed had it on the way */
    free(bytes);
    if (err == 0) {
        memcpy(k.unit, claim->unit, sizeof k.unit);
        remember(&c->decided, &k);
        log_debug("verdict %s %s", verdict_name(x->judgement.verdict),
                  verdict_class_name(x->judgement.class));
    }
    return err;
}

static int refuse(struct comparer *c, const struct claim *claim,
                  const char *reason)
{
    struct comparison x = compare_refused(reason);

    return put_verdict(c, claim, NULL, &x);
}

/* For a forced job: the ids that the answer claims, or that it gives none. */
static int tell_claimed(struct comparer *c, const struct claim *claim,
                        const struct api_exchange *x)
{
    struct unit_key k = {.epoch = claim->epoch};
    uint8_t *ids = NULL;
    size_t n = 0;
    int err = claimed_ids(x, &ids, &n);
    bool has = err == 0;
    struct payload payload = {"ids", span_of(ids, n)};
    struct record record;
    struct put put = {"claimed", &record, &payload, has ? 1 : 0};

    if (err == -ENOMEM)
        return err;
    record_init(&record);
    record_u64(&record, "epoch", claim->epoch);
    record_hex(&record, "object", span_of(claim->unit, 32));
    record_text(&record, "status", span_str(has ? "ids" : "no_ids"));
    record_u64(&record, "n", has ? x->answer.n_choices : 0);
    err = outbox_put(&c->out, &put);
    free(ids);
    memcpy(k.unit, claim->unit, sizeof k.unit);
    if (err == 0)
        remember(&c->told, &k);
    return err;
}

/* A forced job waits until the store knows what was claimed. */
static int tell_once(struct comparer *c, const struct claim *claim,
                     const struct api_exchange *x)
{
    static const char sql[] =
        "SELECT 1 FROM claimed WHERE epoch=?1 AND object=?2";
    struct unit_key k = {.epoch = claim->epoch};
    bool told = false;
    int err;

    memcpy(k.unit, claim->unit, sizeof k.unit);
    if (claim->mode != JOB_FORCED || is_recent(&c->told, &k))
        return 0;
    err = has_row(c, sql, &k, &told);
    return err != 0 || told ? err : tell_claimed(c, claim, x);
}

/* The results that are there, up to all or to the first that has a reason.
 * *ret_n of them; *ret_all: no more is waited for. */
static int read_results(const struct comparer *c, const struct claim *claim,
                        struct result *r, size_t *ret_n, bool *ret_all)
{
    int err = 0;

    for (*ret_n = 0; *ret_n < claim->runs; (*ret_n)++) {
        struct path p =
            layout_result(c->state_dir, claim->epoch, claim->unit, *ret_n + 1);
        uint8_t *bytes;
        const char *why;
        size_t n;

        err = file_read(NULL, p.text, CLAIM_MAX, &bytes, &n);
        if (err != 0)
            return err == -ENOENT ? 0 : err;
        err = result_read(span_of(bytes, n), &r[*ret_n], &why);
        free(bytes);
        if (err == -EBADMSG)
            log_warnx("not a result file=\"%s\": %s", p.text, why);
        if (err != 0)
            return err;
        if (!r[*ret_n].ok) {
            (*ret_n)++;
            break;
        }
    }
    *ret_all = true;
    return 0;
}

static bool too_late(const struct comparer *c, const struct claim *claim)
{
    struct path p = layout_claim(c->state_dir, claim->epoch, claim->unit);
    struct stat st;

    return stat(p.text, &st) == 0 && time(NULL) - st.st_mtime > c->deadline_s;
}

static int decide(struct comparer *c, const struct claim *claim)
{
    struct result *runs = calloc(claim->runs, sizeof *runs);
    struct comparison x;
    bool all = false;
    size_t n = 0;
    int err;

    if (runs == NULL)
        return -ENOMEM;
    err = read_results(c, claim, runs, &n, &all);
    if (err == -EBADMSG) {
        err = refuse(c, claim, "worker_failed");
    } else if (err == 0 && all) {
        err = compare(claim, runs, n, &x);
        if (err == 0) {
            err = put_verdict(c, claim, &runs[0], &x);
            compare_fini(&x);
        }
    } else if (err == 0 && too_late(c, claim)) {
        err = refuse(c, claim, "deadline");
    } else if (err == 0) {
        c->waiting = true;
    }
    for (size_t i = 0; i < n; i++)
        result_free(&runs[i]);
    free(runs);
    return err;
}

static int take_claim(struct comparer *c, const struct claim *claim)
{
    struct api_exchange x = {0};
    enum parse parsed = PARSE_BAD;
    const char *reason;
    char api[64] = "";
    int err;

    if (claim->api.n < sizeof api)
        memcpy(api, claim->api.p, claim->api.n);
    if (claim->mode != JOB_NONE)
        parsed = dialect_parse(api, claim->request, claim->response,
                               claim->streamed, &x);
    reason = compare_reason(claim, parsed, &x);
    err = reason != NULL ? refuse(c, claim, reason) : tell_once(c, claim, &x);
    dialect_free(&x);
    return err != 0 || reason != NULL ? err : decide(c, claim);
}

/* What a mismatch was tried with: which of it gives the answer, if any. */
static int put_reproduced(struct comparer *c, const struct claim *claim,
                          const struct result *r)
{
    struct unit_key k = {.epoch = claim->epoch};
    struct record record;
    struct put put = {"reproduced", &record, NULL, 0};
    struct comparison x;
    int err = compare(claim, r, 1, &x);

    if (err != 0)
        return err;
    err = reproduced_record(claim, r, &x, &record) ? outbox_put(&c->out, &put)
                                                   : -EMSGSIZE;
    compare_fini(&x);
    if (err == -EEXIST)
        err = 0; /* one that was killed had it on the way */
    memcpy(k.unit, claim->unit, sizeof k.unit);
    if (err == 0)
        remember(&c->explained, &k);
    return err;
}

static bool has_again(const struct comparer *c, const struct unit_key *k)
{
    struct path p =
        layout_result(c->state_dir, k->epoch, k->unit, JOB_AGAIN_RUN);

    return access(p.text, F_OK) == 0;
}

static int read_again(const struct comparer *c, const struct unit_key *k,
                      struct result *ret_r)
{
    struct path p =
        layout_result(c->state_dir, k->epoch, k->unit, JOB_AGAIN_RUN);
    uint8_t *bytes;
    const char *why;
    size_t n;
    int err = file_read(NULL, p.text, CLAIM_MAX, &bytes, &n);

    if (err != 0)
        return err;
    err = result_read(span_of(bytes, n), ret_r, &why);
    free(bytes);
    if (err == -EBADMSG)
        log_warnx("not a result file=\"%s\": %s", p.text, why);
    return err;
}

/* A decided claim whose result of a try is there. */
static int explain(struct comparer *c, const struct claim *claim,
                   const struct unit_key *k)
{
    static const char sql[] =
        "SELECT 1 FROM reproduced WHERE epoch=?1 AND object=?2";
    bool explained = false;
    struct result r;
    int err;

    if (is_recent(&c->explained, k))
        return 0;
    err = has_row(c, sql, k, &explained);
    if (err != 0 || explained)
        return err;
    err = read_again(c, k, &r);
    if (err != 0)
        return err == -ENOENT || err == -EBADMSG ? 0 : err;
    err = put_reproduced(c, claim, &r);
    result_free(&r);
    return err;
}

/* Anything new about a unit: its claim, or a result. */
static int look_at(struct comparer *c, const struct unit_key *k)
{
    static const char sql[] =
        "SELECT 1 FROM verdict WHERE epoch=?1 AND object=?2";
    struct path p = layout_claim(c->state_dir, k->epoch, k->unit);
    struct claim claim;
    uint8_t *bytes;
    const char *why;
    bool decided = false;
    size_t n;
    int err = has_row(c, sql, k, &decided);

    decided = decided || is_recent(&c->decided, k);
    if (err != 0 || (decided && !has_again(c, k)))
        return err;
    err = file_read(NULL, p.text, CLAIM_MAX, &bytes, &n);
    if (err != 0)
        return err == -ENOENT ? 0 : err;
    err = claim_read(span_of(bytes, n), &claim, &why);
    free(bytes);
    if (err == -EBADMSG) {
        log_warnx("not a claim file=\"%s\": %s", p.text, why);
        return 0;
    }
    if (err != 0)
        return err;
    err = decided ? explain(c, &claim, k) : take_claim(c, &claim);
    claim_free(&claim);
    return err;
}

/* Every name once, then new ones; now and then all again, for deadlines. */
static int loop(struct comparer *c, struct watch *watch, bool once)
{
    struct watch_name name;
    struct unit_key k;
    int err;

    while (!daemon_stop) {
        err = watch_next(watch, once ? 0 : SWEEP_MS, &name);
        if (err == -EAGAIN && once)
            return 0;
        if (err == -EAGAIN)
            watch_again(watch);
        if (err == 0 && watch_unit(name.text, &k.epoch, k.unit))
            err = look_at(c, &k);
        if (err != 0 && err != -EAGAIN && err != -EINTR)
            return err;
    }
    return 0;
}

static int open_and_loop(struct comparer *c, bool once)
{
    struct path claims = layout_path(c->state_dir, LAYOUT_CLAIMS);
    struct path results = layout_path(c->state_dir, LAYOUT_RESULTS);
    struct watch *watch = NULL;
    int err = index_open_readonly(c->state_dir, &c->index);

    if (err == 0)
        err = watch_open(claims.text, results.text, &watch);
    if (err == 0)
        err = loop(c, watch, once);
    watch_close(watch);
    sqlite3_close(c->index);
    outbox_fini(&c->out);
    return err;
}

int comparer_run(const struct settings *s, bool once)
{
    struct comparer *c = calloc(1, sizeof *c);
    int err, rc;

    if (c == NULL)
        fatal(EXIT_IO, "no memory");
    c->state_dir = settings_str(s, "store.state_dir");
    c->deadline_s = settings_int(s, "compare.deadline_s");
    c->out = (struct outbox){settings_str(s, "store.run_dir"), "compare",
                             &daemon_stop, NULL};
    daemon_give_up_rights(settings_str(s, "compare.user"),
                          SANDBOX_READ_FILES | SANDBOX_UNIX);
    err = open_and_loop(c, once);
    if (err != 0) {
        errno = -err;
        log_warn("the comparison ends state_dir=\"%s\"", c->state_dir);
    }
    rc = err == -EACCES       ? EXIT_NOT_PERMITTED
         : err != 0           ? EXIT_IO
         : c->waiting && once ? EXIT_AGAIN
                              : EXIT_GOOD;
    free(c);
    return rc;
}
