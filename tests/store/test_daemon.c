/*
 * test_daemon.c - assay-store over its sockets: who may do what, what is
 * answered, and what becomes of draws.
 * SPDX-License-Identifier: Apache-2.0
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "daemon_run.h"
#include "file.h"
#include "frame.h"
#include "store/client.h"
#include "store/exchange.h"
#include "store/index.h"
#include "store/job.h"
#include "store/layout.h"
#include "store/note.h"
#include "tables.h"

enum { WAIT_MS = 10000 };

static const char *program;

static struct store_client *connect_as(struct daemon_run *d, const char *role)
{
    struct store_client *c;

    assert_int_equal(store_connect(d->run, role, WAIT_MS, &c), 0);
    return c;
}

static void start(struct daemon_run *d, const char *more)
{
    daemon_make(d, program, more);
    daemon_start(d);
}

static void stop(struct daemon_run *d)
{
    int status = daemon_signal(d, SIGTERM);

    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
    daemon_remove(d);
}

static struct path index_of(const struct daemon_run *d)
{
    return layout_path(d->state, LAYOUT_INDEX);
}

/* Waits until the query gives this number. */
static void await(const struct daemon_run *d, const char *sql, long long n)
{
    for (int i = 0; i < WAIT_MS / 20; i++) {
        if (tables_query(index_of(d).text, sql) == n)
            return;
        (void)poll(NULL, 0, 20);
    }
    fail_msg("%s: not %lld", sql, n);
}

static void await_file(struct path path)
{
    for (int i = 0; i < WAIT_MS / 20 && access(path.text, F_OK) != 0; i++)
        (void)poll(NULL, 0, 20);
    assert_int_equal(access(path.text, F_OK), 0);
}

static int put_kind(struct store_client *c, const char *kind,
                    const struct record *r, struct put_ack *ack)
{
    struct put p = {kind, r, NULL, 0};

    return store_put(c, &p, ack);
}

static void chain_record(struct record *r)
{
    record_init(r);
    record_text(r, "party", span_str("auditor"));
    record_hex(r, "head", span_str("0123456789"));
    record_u64(r, "epoch", 1);
}

static void each_role_adds_its_own_kinds_only(void **state)
{
    struct store_client *tap, *sampler;
    struct put_ack ack;
    struct daemon_run d;
    struct record r;

    (void)state;
    start(&d, "");
    tap = connect_as(&d, "tap");
    sampler = connect_as(&d, "sampler");
    sample_exchange(&r, 1);
    assert_int_equal(put_kind(sampler, "exchange", &r, &ack), -EPERM);
    assert_int_equal(put_kind(tap, "exchange", &r, &ack), 0);
    assert_int_equal(ack.seq, 2);
    chain_record(&r);
    assert_int_equal(put_kind(tap, "chain", &r, &ack), -EPERM);
    assert_int_equal(put_kind(tap, "genesis", &r, &ack), -EPERM);
    assert_int_equal(put_kind(tap, "nothing", &r, &ack), -EINVAL);
    assert_int_equal(put_kind(tap, "exchange", &r, &ack), -EINVAL);
    assert_int_equal(put_kind(sampler, "chain", &r, &ack), 0);
    assert_int_equal(ack.seq, 3);
    /* Whoever is not the tap reads its own record at once. */
    assert_int_equal(
        tables_query(index_of(&d).text, "SELECT count(*) FROM chain"), 1);
    store_close(tap);
    store_close(sampler);
    stop(&d);
}

static void acknowledgements_come_in_order_of_the_puts(void **state)
{
    struct store_client *c;
    struct daemon_run d;

    (void)state;
    start(&d, "");
    c = connect_as(&d, "tap");
    for (unsigned i = 0; i < 2000; i++) {
        const char *kind = i % 10 == 9 ? "loss" : "exchange";
        struct record r;
        struct put p = {kind, &r, NULL, 0};

        sample_exchange(&r, i);
        assert_int_equal(store_send(c, &p, 7000 + i), 0);
    }
    assert_int_equal(store_unacked(c), 2000);
    for (unsigned i = 0; i < 2000; i++) {
        struct put_ack ack;
        int rc = store_next_ack(c, WAIT_MS, &ack);

        assert_int_equal(rc, i % 10 == 9 ? -EINVAL : 0);
        assert_int_equal(ack.tag, 7000 + i);
        if (rc == 0)
            assert_int_equal(ack.seq, 2 + i - i / 10);
    }
    assert_int_equal(store_next_ack(c, 0, &(struct put_ack){0}), -EAGAIN);
    store_close(c);
    stop(&d);
}

static int raw_socket(struct daemon_run *d, const char *role)
{
    struct sockaddr_un a = {.sun_family = AF_UNIX};
    int fd = socket(AF_UNIX, SOCK_STREAM, 0);

    store_close(connect_as(d, role)); /* it is there */
    assert_true(snprintf(a.sun_path, sizeof(a.sun_path), "%s/%s.sock", d->run,
                         role) < (int)sizeof(a.sun_path));
    assert_int_equal(connect(fd, (struct sockaddr *)&a, sizeof(a)), 0);
    return fd;
}

static void a_malformed_frame_ends_its_connection_alone(void **state)
{
    static const struct {
        size_t n;
        const char *bytes;
    } bad[] = {
        {4, "\xff\xff\xff\xff"},
        {4, "\0\0\0\x08"},
        {5, "\0\0\0\x09\x09"},
        {13, "\0\0\0\x09\x81\0\0\0\0\0\0\0\0"},
        {13, "\0\0\0\x09\x01\0\0\0\0\0\0\0\0"},
        {15, "\0\0\0\x0b\x01\0\0\0\0\0\0\0\0\xff\xff"},
        {13, "\0\0\0\x09\x03\0\0\0\0\0\0\0\0"},
    };
    struct store_client *c;
    struct daemon_run d;

    (void)state;
    start(&d, "");
    c = connect_as(&d, "tap");
    for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
        int fd = raw_socket(&d, "tap");
        struct put_ack ack;
        struct record r;
        char byte;

        assert_int_equal(write(fd, bad[i].bytes, bad[i].n), bad[i].n);
        assert_int_equal(read(fd, &byte, 1), 0);
        close(fd);
        sample_exchange(&r, 1);
        assert_int_equal(put_kind(c, "exchange", &r, &ack), 0);
        assert_int_equal(ack.seq, 2 + i);
    }
    store_close(c);
    stop(&d);
}

/* Half a record, and the connection ends: nothing of it is there. */
static void a_record_that_was_cut_off_is_not_there(void **state)
{
    struct daemon_run d;
    uint8_t frame[64] = {0, 0, 4, 0, FRAME_PUT};
    struct store_client *c;
    struct put_ack ack;
    struct record r;
    int fd;

    (void)state;
    start(&d, "");
    fd = raw_socket(&d, "tap");
    assert_int_equal(write(fd, frame, sizeof(frame)), sizeof(frame));
    close(fd);
    c = connect_as(&d, "tap");
    sample_exchange(&r, 1);
    assert_int_equal(put_kind(c, "exchange", &r, &ack), 0);
    assert_int_equal(ack.seq, 2);
    store_close(c);
    stop(&d);
}

static void another_user_is_turned_away(void **state)
{
    struct daemon_run d;
    struct store_client *c;
    struct pollfd p = {.events = POLLIN};
    char byte;

    (void)state;
    if (geteuid() != 0)
        skip(); /* only root knows that user daemon is another */
    start(&d, "user_tap = \"daemon\"");
    c = connect_as(&d, "tap");
    p.fd = store_fd(c);
    assert_int_equal(poll(&p, 1, WAIT_MS), 1);
    assert_true(recv(p.fd, &byte, 1, 0) <= 0);
    store_close(c);
    store_close(connect_as(&d, "sampler"));
    stop(&d);
}

static void a_checkpoint_covers_what_was_acknowledged(void **state)
{
    struct store_client *tap, *sampler;
    struct note_seals seals;
    struct checkpoint c;
    struct note_key key;
    struct daemon_run d;
    struct put_ack ack;
    char note[2048], *seed;
    struct note_signer *s;
    struct record r;
    struct span text;
    size_t n;

    (void)state;
    start(&d, "checkpoint_s = 86400");
    tap = connect_as(&d, "tap");
    sampler = connect_as(&d, "sampler");
    sample_exchange(&r, 5);
    for (int i = 0; i < 5; i++)
        assert_int_equal(put_kind(tap, "exchange", &r, &ack), 0);
    assert_int_equal(store_checkpoint(tap, note, sizeof(note)), -EPERM);
    assert_int_equal(store_checkpoint(sampler, note, sizeof(note)), 0);
    assert_int_equal(
        file_load(layout_path(d.state, LAYOUT_LOG_KEY).text, 32, &seed, &n), 0);
    assert_int_equal(note_signer_open("test.example/log", (uint8_t *)seed, &s),
                     0);
    key = *note_signer_key(s);
    note_signer_close(s);
    free(seed);
    assert_int_equal(note_open(span_str(note), &key, 1, &text, &seals),
                     NOTE_GOOD);
    assert_int_equal(checkpoint_parse(text, &c), PARSE_OK);
    assert_int_equal(c.head.size, ack.seq + 1);
    assert_int_equal(
        tables_query(index_of(&d).text, "SELECT max(size) FROM checkpoint"),
        ack.seq + 1);
    assert_int_equal(
        tables_query(index_of(&d).text, "SELECT count(*) FROM exchange"), 5);
    store_close(tap);
    store_close(sampler);
    stop(&d);
}

/* An exchange whose request and answer have bodies of one piece each. */
static int put_exchange(struct store_client *c, unsigned n, bool whole,
                        struct put_ack *ack)
{
    static const char req[] = "POST / HTTP/1.1\r\n\r\n{\"a\":1}";
    static const char resp[] = "HTTP/1.1 200 OK\r\n\r\n{\"b\":2}";
    uint8_t map[EXCHANGE_PIECE_BYTES] = {[7] = 19, [11] = 7};
    struct span piece = span_of(map, sizeof(map));
    struct payload payloads[] = {{"req", span_str(req)},
                                 {"req_map", piece},
                                 {"resp", span_str(resp)},
                                 {"resp_map", piece}};
    struct record r;
    struct put p = {"exchange", &r, payloads, 4};
    char *complete;

    sample_exchange(&r, n);
    r.text[r.n - 1] = '\0';
    complete = strstr(r.text, "complete 1");
    r.text[r.n - 1] = '\n';
    if (!whole)
        complete[strlen("complete ")] = '0';
    return store_put(c, &p, ack);
}

static void a_payload_is_opened_only_with_an_access_record(void **state)
{
    struct store_client *tap, *web, *compare;
    struct daemon_run d;
    struct put_ack ack;
    uint8_t *bytes, wrong[32] = {1};
    size_t n;

    (void)state;
    start(&d, "");
    tap = connect_as(&d, "tap");
    web = connect_as(&d, "web");
    compare = connect_as(&d, "compare");
    assert_int_equal(put_exchange(tap, 1, true, &ack), 0);
    assert_int_equal(store_reveal(tap, ack.unit, "req", "t", "no", &bytes, &n),
                     -EPERM);
    assert_int_equal(
        store_reveal(compare, ack.unit, "req", "t", "no", &bytes, &n), -EPERM);
    assert_int_equal(
        tables_query(index_of(&d).text, "SELECT count(*) FROM access"), 0);
    assert_int_equal(
        store_reveal(web, ack.unit, "req", "ann b", "to see", &bytes, &n), 0);
    assert_true(n > 7 && memcmp(bytes + n - 7, "{\"a\":1}", 7) == 0);
    free(bytes);
    await(&d,
          "SELECT count(*) FROM access WHERE actor='ann b' AND "
          "reason='to see' AND payload='req' AND "
          "object=(SELECT unit FROM exchange)",
          1);
    assert_int_equal(
        store_reveal(web, ack.unit, "req_body", "a", "b", &bytes, &n), -ENOENT);
    assert_int_equal(store_reveal(web, wrong, "req", "a", "b", &bytes, &n),
                     -ENOENT);
    store_close(tap);
    store_close(web);
    store_close(compare);
    stop(&d);
}

static void put_manifest(struct store_client *c, const char *model,
                         uint8_t fill)
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
    record_text(&r, "numerics", span_str("fixed"));
    record_text(&r, "recipe", span_str("-"));
    assert_int_equal(put_kind(c, "manifest", &r, &ack), 0);
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
    record_u64(&r, "feed_seq", step);
    record_u64(&r, "step", step);
    record_u64(&r, "step_ns", 2);
    record_u64(&r, "padded", 0);
    record_u64(&r, "part", 0);
    record_u64(&r, "parts", 1);
    record_begin(&r, "member");
    record_add_text(&r, span_str(id));
    for (unsigned j = 0; j < 5; j++)
        record_add_u64(&r, j);
    record_add_hex(&r, span_of(NULL, 0));
    record_end(&r);
    assert_int_equal(store_put(c, &p, &ack), 0);
}

static void put_draw(struct store_client *c, const struct put_ack *drawn,
                     size_t n)
{
    struct put_ack ack;
    struct record r;

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

static void a_draw_makes_claims_and_blind_packets(void **state)
{
    struct store_client *tap, *sampler, *recompute;
    struct put_ack unit[3];
    struct daemon_run d;
    struct claim c;
    struct job j;

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

    j = read_job(&d, &unit[0]);
    assert_int_equal(j.mode, JOB_BLIND);
    assert_int_equal(j.runs, 3);
    assert_int_equal(j.epoch, 4);
    assert_true(span_eq_str(j.request, "{\"a\":1}"));
    assert_true(span_eq_str(j.api, "openai.chat"));
    assert_true(span_eq_str(j.model, "stories260k"));
    assert_int_equal(j.n_steps, 2);
    assert_int_equal(j.n_messages, 2);
    assert_int_equal(j.claimed.n, 0);
    c = read_claim(&d, &unit[0]);
    assert_true(span_eq_str(c.response, "{\"b\":2}"));
    assert_memory_equal(c.nonce, j.nonce, sizeof(c.nonce));
    assert_int_equal(c.manifest[0], 2);
    assert_int_equal(c.reason.n, 0);
    job_free(&j);
    claim_free(&c);

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

static void a_result_becomes_a_file(void **state)
{
    struct payload payload = {"result", span_str("{\"result\":1}")};
    struct store_client *c;
    struct daemon_run d;
    struct put_ack ack;
    uint8_t unit[32] = {7};
    struct record r;
    struct put p = {"result", &r, &payload, 1};
    char *bytes;
    size_t n;

    (void)state;
    start(&d, "");
    c = connect_as(&d, "recompute");
    record_init(&r);
    record_u64(&r, "epoch", 4);
    record_hex(&r, "object", span_of(unit, 32));
    record_hex(&r, "nonce", span_of(unit, 16));
    record_u64(&r, "run", 2);
    record_text(&r, "worker", span_str("w"));
    record_text(&r, "status", span_str("ok"));
    record_text(&r, "reason", span_str(""));
    record_hex(&r, "manifest", span_of(unit, 32));
    record_hex(&r, "digest", span_of(unit, 32));
    record_u64(&r, "tokens", 1);
    record_u64(&r, "elapsed_ns", 1);
    assert_int_equal(store_put(c, &p, &ack), 0);
    await_file(layout_result(d.state, 4, unit, 2));
    assert_int_equal(
        file_load(layout_result(d.state, 4, unit, 2).text, 100, &bytes, &n), 0);
    assert_string_equal(bytes, "{\"result\":1}");
    free(bytes);
    store_close(c);
    stop(&d);
}

static void a_full_disk_refuses_and_recovers(void **state)
{
    static uint8_t big[1 << 20];
    struct payload payload = {"sample", span_of(big, sizeof(big))};
    struct store_client *c;
    struct put_ack ack;
    struct daemon_run d;
    struct record r;
    struct put p = {"unparsed", &r, &payload, 1};
    uint64_t acked = 0;
    int rc = 0, status;

    (void)state;
    daemon_make(&d, program, "");
    d.max_file_bytes = 5 << 20;
    daemon_start(&d);
    c = connect_as(&d, "tap");
    record_init(&r);
    record_text(&r, "tap", span_str("t"));
    record_text(&r, "cause", span_str("tls"));
    record_text(&r, "client", span_str(""));
    record_text(&r, "server", span_str(""));
    record_u64(&r, "stream", 0);
    record_u64(&r, "count", 1);
    record_u64(&r, "bytes", 1);
    record_u64(&r, "from_ns", 1);
    record_u64(&r, "to_ns", 1);
    for (; acked < 10 && rc == 0; acked += rc == 0)
        rc = store_put(c, &p, &ack);
    assert_int_equal(rc, -EFBIG);
    assert_int_equal(acked, 4);
    /* What is small enough still goes. */
    p.n_payloads = 0;
    assert_int_equal(store_put(c, &p, &ack), 0);
    assert_int_equal(ack.seq, 2 + acked);
    store_close(c);
    status = daemon_signal(&d, SIGKILL);
    assert_true(WIFSIGNALED(status));
    d.max_file_bytes = 0;
    daemon_start(&d);
    c = connect_as(&d, "tap");
    p.n_payloads = 1;
    assert_int_equal(store_put(c, &p, &ack), 0);
    await(&d, "SELECT count(*) FROM vault WHERE offset IS NOT NULL", 5);
    await(&d, "SELECT count(*) FROM unparsed", 6);
    store_close(c);
    stop(&d);
}

static void the_keys_are_for_their_owners_alone(void **state)
{
    static const char *const secret[] = {LAYOUT_LOG_KEY, LAYOUT_VAULT_KEY,
                                         LAYOUT_VRF_KEY, LAYOUT_PAYLOADS};
    struct daemon_run d;
    struct stat st;

    (void)state;
    start(&d, "");
    store_close(connect_as(&d, "tap"));
    for (size_t i = 0; i < 4; i++) {
        assert_int_equal(stat(layout_path(d.state, secret[i]).text, &st), 0);
        assert_int_equal(st.st_mode & 0777, 0600);
    }
    assert_int_equal(stat(index_of(&d).text, &st), 0);
    assert_int_equal(st.st_mode & 0777, 0640);
    stop(&d);
}

static void wrong_use_has_its_own_exit_codes(void **state)
{
    struct daemon_run d;
    FILE *f;
    int status;

    (void)state;
    daemon_make(&d, program, "");
    status = daemon_run_word(&d, "--nonsense");
    assert_int_equal(WEXITSTATUS(status), 2);
    daemon_start(&d);
    store_close(connect_as(&d, "tap"));
    status = daemon_run_word(&d, "--rebuild");
    assert_int_equal(WEXITSTATUS(status), 75);
    status = daemon_signal(&d, SIGTERM);
    assert_int_equal(WEXITSTATUS(status), 0);
    status = daemon_run_word(&d, "--rebuild");
    assert_int_equal(WEXITSTATUS(status), 0);
    assert_int_equal(truncate(layout_path(d.state, LAYOUT_LEAVES).text, 10), 0);
    status = daemon_run_word(&d, NULL);
    assert_int_equal(WEXITSTATUS(status), 4);
    assert_int_equal(unlink(layout_path(d.state, LAYOUT_LOG_KEY).text), 0);
    status = daemon_run_word(&d, NULL);
    assert_int_equal(WEXITSTATUS(status), 4);
    f = fopen(d.conf, "a");
    fputs("nonsense = 1;\n", f);
    fclose(f);
    status = daemon_run_word(&d, NULL);
    assert_int_equal(WEXITSTATUS(status), 3);
    daemon_remove(&d);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_role_adds_its_own_kinds_only),
        cmocka_unit_test(acknowledgements_come_in_order_of_the_puts),
        cmocka_unit_test(a_malformed_frame_ends_its_connection_alone),
        cmocka_unit_test(a_record_that_was_cut_off_is_not_there),
        cmocka_unit_test(another_user_is_turned_away),
        cmocka_unit_test(a_checkpoint_covers_what_was_acknowledged),
        cmocka_unit_test(a_payload_is_opened_only_with_an_access_record),
        cmocka_unit_test(a_draw_makes_claims_and_blind_packets),
        cmocka_unit_test(a_forced_packet_waits_for_the_claimed_ids),
        cmocka_unit_test(a_restart_finishes_what_a_crash_left),
        cmocka_unit_test(a_result_becomes_a_file),
        cmocka_unit_test(a_full_disk_refuses_and_recovers),
        cmocka_unit_test(the_keys_are_for_their_owners_alone),
        cmocka_unit_test(wrong_use_has_its_own_exit_codes),
    };

    if (argc != 2)
        return 2;
    program = argv[1];
    return cmocka_run_group_tests(tests, NULL, NULL);
}
