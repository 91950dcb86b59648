/*
 * test_jobs.c - what becomes of a draw: claims, job packets, results.
 * SPDX-License-Identifier: Apache-2.0
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/file.h"
#include "daemon_fixture.h"
#include "epoch_records.h"
#include "store/job.h"
#include "tables.h"

/* When the engine began the first of its steps: as the fixture asks. */
#define STEP_NS UINT64_C(1764417600000000000)

static void put_manifest_of(struct store_client *c, const char *model,
                            const char *needs, uint8_t fill)
{
    uint8_t hash[32];
    struct put_ack ack;
    struct record r;

    memset(hash, fill, sizeof(hash));
    record_init(&r);
    record_text(&r, "model", span_str(model));
    record_hex(&r, "manifest", span_of(hash, 32));
    record_hex(&r, "weights", span_of(hash, 32));
    record_hex(&r, "config", span_of(hash, 32));
    record_hex(&r, "tokenizer", span_of(hash, 32));
    record_hex(&r, "template", span_of(NULL, 0));
    record_text(&r, "engine", span_str("e"));
    record_text(&r, "numerics", span_str("n"));
    record_text(&r, "recipe", span_str("-"));
    record_text(&r, "level", span_str(""));
    record_text(&r, "needs", span_str(needs));
    assert_int_equal(put_kind(c, "manifest", &r, &ack), 0);
}

static void put_manifest(struct store_client *c, const char *model,
                         uint8_t fill)
{
    put_manifest_of(c, model, "", fill);
}

static void put_step(struct store_client *c, unsigned step, const char *id)
{
    struct payload message = {"message", span_str("{\"step\":1}")};
    struct record r;
    struct put p = {"batch_step", &r, &message, 1};
    struct put_ack ack;

    record_init(&r);
    record_text(&r, "tap", span_str("t"));
    record_text(&r, "engine", span_str("e"));
    record_text(&r, "feed", span_str("f"));
    record_text(&r, "names", span_str("engine"));
    record_u64(&r, "feed_seq", step);
    record_u64(&r, "step", step);
    record_u64(&r, "step_ns", STEP_NS + step);
    record_u64(&r, "padded", 0);
    record_u64(&r, "part", 1);
    record_u64(&r, "parts", 1);
    record_begin(&r, "member");
    record_add_text(&r, span_str(id));
    for (unsigned j = 0; j < 5; j++)
        record_add_u64(&r, j);
    record_add_hex(&r, span_of(NULL, 0));
    record_end(&r);
    assert_int_equal(store_put(c, &p, &ack), 0);
}

/* Up to the seed: no draw is taken before. */
static void put_seeds(struct store_client *c)
{
    char note[2048];

    for (uint64_t epoch = 1; epoch <= 4; epoch++)
        assert_int_equal(put_close(c, epoch), 0);
    assert_int_equal(store_checkpoint(c, note, sizeof(note)), 0);
    assert_int_equal(put_seed(c, 4), 0);
}

static void put_draw(struct store_client *c, const struct put_ack *drawn,
                     size_t n)
{
    struct put_ack ack;
    struct record r;

    put_seeds(c);
    record_init(&r);
    record_u64(&r, "epoch", 4);
    record_u64(&r, "part", 0);
    record_u64(&r, "parts", 1);
    for (size_t i = 0; i < n; i++) {
        record_begin(&r, "drawn");
        record_add_u64(&r, i);
        record_add_u64(&r, 0);
        record_add_hex(&r, span_of(drawn[i].unit, 32));
        record_end(&r);
    }
    assert_int_equal(put_kind(c, "draw", &r, &ack), 0);
}

static struct job read_job(const struct daemon_run *d,
                           const struct put_ack *unit)
{
    struct path path = layout_job(d->state, 4, unit->unit);
    const char *why = "";
    struct job j;
    char *bytes;
    size_t n;

    await_file(path);
    assert_int_equal(file_load(path.text, 1 << 20, &bytes, &n), 0);
    if (job_read(span_of(bytes, n), &j, &why) != 0)
        fail_msg("%s", why);
    free(bytes);
    return j;
}

static struct claim read_claim(const struct daemon_run *d,
                               const struct put_ack *unit)
{
    struct path path = layout_claim(d->state, 4, unit->unit);
    const char *why = "";
    struct claim c;
    char *bytes;
    size_t n;

    await_file(path);
    assert_int_equal(file_load(path.text, 1 << 20, &bytes, &n), 0);
    if (claim_read(span_of(bytes, n), &c, &why) != 0)
        fail_msg("%s", why);
    free(bytes);
    return c;
}

static void check_blind_packet(struct daemon_run *d, const struct put_ack *unit)
{
    struct job j = read_job(d, unit);
    struct claim c = read_claim(d, unit);

    assert_int_equal(j.mode, JOB_BLIND);
    assert_int_equal(j.runs, 3);
    assert_int_equal(j.epoch, 4);
    assert_true(span_eq_str(j.request, "{\"a\":1}"));
    assert_true(span_eq_str(j.api, "openai.chat"));
    assert_true(span_eq_str(j.model, "stories260k"));
    assert_int_equal(j.n_steps, 2);
    assert_int_equal(j.n_messages, 2);
    assert_int_equal(j.claimed.n, 0);
    assert_true(span_eq_str(c.response, "{\"b\":2}"));
    assert_memory_equal(c.nonce, j.nonce, sizeof(c.nonce));
    assert_int_equal(c.manifest[0], 2);
    assert_int_equal(c.reason.n, 0);
    job_free(&j);
    claim_free(&c);
}

static void a_draw_makes_claims_and_blind_packets(void **state)
{
    struct store_client *tap, *sampler, *recompute;
    struct put_ack unit[3];
    struct daemon_run d;
    struct claim c;

    (void)state;
    start(&d, "job_runs = 3");
    tap = connect_as(&d, "tap");
    sampler = connect_as(&d, "sampler");
    recompute = connect_as(&d, "recompute");
    put_manifest(recompute, "stories260k", 1);
    put_manifest(recompute, "stories260k", 2);
    put_manifest(recompute, "another", 3);
    assert_int_equal(put_exchange(tap, 0, true, &unit[0]), 0);
    put_manifest(recompute, "stories260k", 4); /* too late */
    put_step(tap, 1, "chatcmpl-00000000");
    put_step(tap, 2, "chatcmpl-00000001");
    put_step(tap, 3, "chatcmpl-00000000");
    assert_int_equal(put_exchange(tap, 1, false, &unit[1]), 0);
    memset(&unit[2], 9, sizeof(unit[2])); /* no such unit */
    put_draw(sampler, unit, 3);
    await(&d, "SELECT count(*) FROM job", 3);

    check_blind_packet(&d, &unit[0]);
    c = read_claim(&d, &unit[1]);
    assert_int_equal(c.mode, JOB_NONE);
    assert_true(span_eq_str(c.reason, "incomplete"));
    claim_free(&c);
    assert_int_not_equal(
        access(layout_job(d.state, 4, unit[1].unit).text, F_OK), 0);
    c = read_claim(&d, &unit[2]);
    assert_true(span_eq_str(c.reason, "unavailable_payload"));
    claim_free(&c);
    assert_int_equal(tables_query(index_of(&d).text,
                                  "SELECT count(*) FROM job WHERE "
                                  "mode='none' AND packet_sha256=x''"),
                     2);
    store_close(tap);
    store_close(sampler);
    store_close(recompute);
    stop(&d);
}

static void a_deployments_packet_carries_its_whole_feed(void **state)
{
    struct store_client *tap, *sampler, *recompute;
    struct put_ack unit;
    struct daemon_run d;
    struct job j;

    (void)state;
    start(&d, "");
    tap = connect_as(&d, "tap");
    sampler = connect_as(&d, "sampler");
    recompute = connect_as(&d, "recompute");
    put_manifest_of(recompute, "stories260k", "feed", 1);
    put_step(tap, 0, "task:0");
    assert_int_equal(put_exchange(tap, 0, true, &unit), 0);
    put_step(tap, 1, "task:1");
    put_step(tap, 2, "task:0");
    put_draw(sampler, &unit, 1);
    j = read_job(&d, &unit);
    assert_int_equal(j.n_steps, 3);
    assert_int_equal(j.n_messages, 3);
    job_free(&j);
    store_close(tap);
    store_close(sampler);
    store_close(recompute);
    stop(&d);
}

/* Without a feed, and where batches change bits: with everything that the
 * server answered and that can have met it. */
static void a_search_packet_carries_its_neighbours(void **state)
{
    struct store_client *tap, *sampler, *recompute;
    enum { LATER = 200000000, AFTER = 400000000 }; /* ns; each takes 0.1 s */
    struct put_ack unit, other;
    struct daemon_run d;
    struct claim c;
    struct job j;

    (void)state;
    start(&d, "");
    tap = connect_as(&d, "tap");
    sampler = connect_as(&d, "sampler");
    recompute = connect_as(&d, "recompute");
    put_manifest_of(recompute, "stories260k", "feed neighbours", 7);
    assert_int_equal(put_exchange(tap, 0, true, &other), 0);
    assert_int_equal(put_exchange(tap, 1, false, &other), 0);
    assert_int_equal(put_exchange(tap, LATER, true, &unit), 0);
    assert_int_equal(put_exchange(tap, LATER + 1, true, &other), 0);
    assert_int_equal(put_exchange(tap, LATER + 2, false, &other), 0);
    assert_int_equal(put_exchange(tap, LATER + 3, false, &other), 0);
    assert_int_equal(put_exchange(tap, AFTER, true, &other), 0);
    put_draw(sampler, &unit, 1);
    j = read_job(&d, &unit);
    assert_int_equal(j.mode, JOB_SEARCH);
    assert_int_equal(j.n_exchanges, 3);
    for (size_t i = 0; i < j.n_exchanges; i++) {
        assert_true(span_eq_str(j.exchanges[i].request, "{\"a\":1}"));
        assert_true(span_eq_str(j.exchanges[i].response, "{\"b\":2}"));
        assert_true(span_eq_str(j.exchanges[i].api, "openai.chat"));
        assert_true(j.exchanges[i].streamed);
    }
    assert_int_equal(j.exchanges[0].request_ns, STEP_NS + LATER);
    assert_int_equal(j.exchanges[0].answer_ns, STEP_NS + 100000000 + LATER);
    assert_int_equal(j.exchanges[1].request_ns, STEP_NS);
    assert_int_equal(j.exchanges[2].request_ns, STEP_NS + LATER + 1);
    assert_int_equal(j.left_beside, 2);
    assert_int_equal(j.left_before, 1);
    c = read_claim(&d, &unit);
    assert_int_equal(c.mode, JOB_SEARCH);
    job_free(&j);
    claim_free(&c);
    store_close(tap);
    store_close(sampler);
    store_close(recompute);
    stop(&d);
}

static void put_claimed(struct store_client *c, const struct put_ack *unit,
                        bool ids)
{
    struct payload payload = {"ids", span_of("\0\0\0\1\0\0\0\5", 8)};
    struct record r;
    struct put p = {"claimed", &r, &payload, ids};
    struct put_ack ack;

    record_init(&r);
    record_u64(&r, "epoch", 4);
    record_hex(&r, "object", span_of(unit->unit, 32));
    record_text(&r, "status", span_str(ids ? "ok" : "no_ids"));
    record_u64(&r, "n", ids);
    assert_int_equal(store_put(c, &p, &ack), 0);
}

static void a_forced_packet_waits_for_the_claimed_ids(void **state)
{
    struct store_client *tap, *sampler, *compare;
    struct put_ack unit[2];
    struct daemon_run d;
    struct claim c;
    struct job j;

    (void)state;
    start(&d, "job_mode = \"forced\"");
    tap = connect_as(&d, "tap");
    sampler = connect_as(&d, "sampler");
    compare = connect_as(&d, "compare");
    assert_int_equal(put_exchange(tap, 0, true, &unit[0]), 0);
    assert_int_equal(put_exchange(tap, 1, true, &unit[1]), 0);
    put_draw(sampler, unit, 2);
    c = read_claim(&d, &unit[0]);
    assert_int_equal(c.mode, JOB_FORCED);
    await_file(layout_claim(d.state, 4, unit[1].unit));
    assert_int_equal(
        tables_query(index_of(&d).text, "SELECT count(*) FROM job"), 0);
    put_claimed(compare, &unit[0], true);
    j = read_job(&d, &unit[0]);
    assert_int_equal(j.mode, JOB_FORCED);
    assert_int_equal(j.claimed.n, 8);
    assert_memory_equal(c.nonce, j.nonce, sizeof(c.nonce));
    claim_free(&c);
    job_free(&j);
    /* An answer without ids: blind. */
    put_claimed(compare, &unit[1], false);
    j = read_job(&d, &unit[1]);
    assert_int_equal(j.mode, JOB_BLIND);
    job_free(&j);
    await(&d, "SELECT count(*) FROM job", 2);
    c = read_claim(&d, &unit[1]);
    assert_int_equal(c.mode, JOB_BLIND);
    claim_free(&c);
    store_close(tap);
    store_close(sampler);
    store_close(compare);
    stop(&d);
}

static void a_restart_finishes_what_a_crash_left(void **state)
{
    struct store_client *tap, *sampler;
    struct put_ack unit[40];
    struct daemon_run d;
    char nonce[16];
    struct job j;
    int status;

    (void)state;
    start(&d, "");
    tap = connect_as(&d, "tap");
    sampler = connect_as(&d, "sampler");
    for (unsigned i = 0; i < 40; i++)
        assert_int_equal(put_exchange(tap, i, true, &unit[i]), 0);
    put_draw(sampler, unit, 40);
    j = read_job(&d, &unit[0]);
    memcpy(nonce, j.nonce, sizeof(nonce));
    job_free(&j);
    store_close(tap);
    store_close(sampler);
    status = daemon_signal(&d, SIGKILL);
    assert_true(WIFSIGNALED(status));
    /* Even a packet that went missing before its record is made again. */
    daemon_start(&d);
    sampler = connect_as(&d, "sampler");
    store_close(sampler);
    await(&d, "SELECT count(*) FROM job", 40);
    assert_int_equal(tables_query(index_of(&d).text,
                                  "SELECT count(DISTINCT object) FROM job"),
                     40);
    for (unsigned i = 0; i < 40; i++) {
        j = read_job(&d, &unit[i]);
        assert_memory_equal(j.unit, unit[i].unit, 32);
        if (i == 0)
            assert_memory_equal(j.nonce, nonce, sizeof(nonce));
        job_free(&j);
    }
    stop(&d);
}

static void put_judgement(struct store_client *c, const struct put_ack *unit,
                          const char *verdict, const char *class, uint8_t fill)
{
    static const char *const counts[] = {
        "runs",           "runs_differ", "choices",         "tokens",
        "tokens_differ",  "logprobs",    "logprobs_differ", "length_differ",
        "envelope_differ"};
    static const char *const tokens[] = {"claimed_token", "recomputed_token",
                                         "claimed_bits", "recomputed_bits"};
    uint8_t hash[32];
    struct put_ack ack;
    struct record r;

    memset(hash, fill, sizeof(hash));
    record_init(&r);
    record_u64(&r, "epoch", 4);
    record_hex(&r, "object", span_of(unit->unit, 32));
    record_text(&r, "verdict", span_str(verdict));
    record_text(&r, "class", span_str(class));
    record_text(&r, "reason", span_str(""));
    record_text(&r, "route", span_str("search"));
    record_text(&r, "level", span_str("search"));
    record_hex(&r, "manifest", span_of(hash, 32));
    record_hex(&r, "result_digest", span_of(hash, 32));
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++)
        record_u64(&r, counts[i], 1);
    record_text(&r, "envelope", span_str(""));
    record_u64(&r, "choice", 0);
    record_u64(&r, "position", 0);
    for (size_t i = 0; i < sizeof tokens / sizeof *tokens; i++)
        record_text(&r, tokens[i], span_str(""));
    record_u64(&r, "evidence_bits", 0);
    record_u64(&r, "forward_runs", 0);
    record_text(&r, "detail", span_str(""));
    assert_int_equal(put_kind(c, "verdict", &r, &ack), 0);
}

static void put_result(struct store_client *c, const uint8_t unit[32],
                       uint64_t run)
{
    struct payload payload = {"result", span_str("{\"result\":1}")};
    struct put_ack ack;
    struct record r;
    struct put p = {"result", &r, &payload, 1};

    record_init(&r);
    record_u64(&r, "epoch", 4);
    record_hex(&r, "object", span_of(unit, 32));
    record_hex(&r, "nonce", span_of(unit, 16));
    record_u64(&r, "run", run);
    record_text(&r, "worker", span_str("w"));
    record_text(&r, "status", span_str("ok"));
    record_text(&r, "reason", span_str(""));
    record_hex(&r, "manifest", span_of(unit, 32));
    record_hex(&r, "digest", span_of(unit, 32));
    record_u64(&r, "tokens", 1);
    record_u64(&r, "elapsed_ns", 1);
    assert_int_equal(store_put(c, &p, &ack), 0);
}

/* Of an engine's numerics, and where the answer itself differs: with the
 * answer, for what else may have given it. */
static void a_mismatch_is_tried_again(void **state)
{
    struct store_client *tap, *sampler, *recompute, *compare;
    struct put_ack unit[3];
    struct daemon_run d;
    const char *why;
    struct job j;
    char *bytes;
    size_t n;

    (void)state;
    start(&d, "job_runs = 3");
    tap = connect_as(&d, "tap");
    sampler = connect_as(&d, "sampler");
    recompute = connect_as(&d, "recompute");
    compare = connect_as(&d, "compare");
    put_manifest_of(recompute, "stories260k", "", 1);
    put_manifest_of(recompute, "stories260k", "feed again", 2);
    for (unsigned i = 0; i < 3; i++)
        assert_int_equal(put_exchange(tap, i, true, &unit[i]), 0);
    put_draw(sampler, unit, 3);
    await(&d, "SELECT count(*) FROM job", 3);
    put_judgement(compare, &unit[1], "MISMATCH", "envelope", 2);
    put_judgement(compare, &unit[2], "MISMATCH", "token", 1);
    put_judgement(compare, &unit[0], "MISMATCH", "token", 2);
    await(&d, "SELECT count(*) FROM job WHERE mode='again'", 1);
    await_file(layout_again(d.state, 4, unit[0].unit));
    assert_int_equal(file_load(layout_again(d.state, 4, unit[0].unit).text,
                               1 << 20, &bytes, &n),
                     0);
    assert_int_equal(job_read(span_of(bytes, n), &j, &why), 0);
    free(bytes);
    assert_int_equal(j.mode, JOB_AGAIN);
    assert_int_equal(j.runs, 1);
    assert_int_equal(j.n_exchanges, 1);
    assert_true(span_eq_str(j.exchanges[0].response, "{\"b\":2}"));
    job_free(&j);
    for (unsigned i = 1; i < 3; i++)
        assert_int_not_equal(
            access(layout_again(d.state, 4, unit[i].unit).text, F_OK), 0);
    /* Its result is one, though there is a verdict. */
    put_result(recompute, unit[0].unit, 2);
    put_result(recompute, unit[0].unit, JOB_AGAIN_RUN);
    await_file(layout_result(d.state, 4, unit[0].unit, JOB_AGAIN_RUN));
    assert_int_not_equal(
        access(layout_result(d.state, 4, unit[0].unit, 2).text, F_OK), 0);
    store_close(tap);
    store_close(sampler);
    store_close(recompute);
    store_close(compare);
    stop(&d);
}

static void a_result_becomes_a_file(void **state)
{
    struct store_client *c;
    struct daemon_run d;
    uint8_t unit[32] = {7};
    char *bytes;
    size_t n;

    (void)state;
    start(&d, "");
    c = connect_as(&d, "recompute");
    put_result(c, unit, 2);
    await_file(layout_result(d.state, 4, unit, 2));
    assert_int_equal(
        file_load(layout_result(d.state, 4, unit, 2).text, 100, &bytes, &n), 0);
    assert_string_equal(bytes, "{\"result\":1}");
    free(bytes);
    store_close(c);
    stop(&d);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_draw_makes_claims_and_blind_packets),
        cmocka_unit_test(a_deployments_packet_carries_its_whole_feed),
        cmocka_unit_test(a_search_packet_carries_its_neighbours),
        cmocka_unit_test(a_forced_packet_waits_for_the_claimed_ids),
        cmocka_unit_test(a_restart_finishes_what_a_crash_left),
        cmocka_unit_test(a_mismatch_is_tried_again),
        cmocka_unit_test(a_result_becomes_a_file),
    };

    if (argc != 2)
        return 2;
    fixture_program = argv[1];
    return cmocka_run_group_tests(tests, NULL, NULL);
}
