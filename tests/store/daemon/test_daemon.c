/*
 * test_daemon.c - assay-store over its sockets: who may do what, and what is
 * answered.
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

#include "base/file.h"
#include "daemon/frame.h"
#include "daemon_fixture.h"
#include "daemon_run.h"
#include "store/client.h"
#include "store/exchange.h"
#include "store/index.h"
#include "store/job.h"
#include "store/layout.h"
#include "store/note.h"
#include "tables.h"

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
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
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
    struct put_ack ack;
    struct record r;

    (void)state;
    if (geteuid() != 0)
        skip(); /* only root knows that user daemon is another */
    start(&d, "user_tap = \"daemon\"");
    sample_exchange(&r, 1);
    /* Whether it asks before or after it was told. */
    for (int told = 0; told < 2; told++) {
        struct pollfd p = {.events = POLLIN};

        c = connect_as(&d, "tap");
        p.fd = store_fd(c);
        if (told)
            assert_int_equal(poll(&p, 1, WAIT_MS), 1);
        assert_int_equal(put_kind(c, "exchange", &r, &ack), -EACCES);
        store_close(c);
    }
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
    assert_int_equal(store_reveal(tap,
                                  &(struct reveal){ack.unit, "req", "t", "no"},
                                  &bytes, &n),
                     -EPERM);
    assert_int_equal(store_reveal(compare,
                                  &(struct reveal){ack.unit, "req", "t", "no"},
                                  &bytes, &n),
                     -EPERM);
    assert_int_equal(
        tables_query(index_of(&d).text, "SELECT count(*) FROM access"), 0);
    assert_int_equal(
        store_reveal(web, &(struct reveal){ack.unit, "req", "ann b", "to see"},
                     &bytes, &n),
        0);
    assert_true(n > 7 && memcmp(bytes + n - 7, "{\"a\":1}", 7) == 0);
    free(bytes);
    await(&d,
          "SELECT count(*) FROM access WHERE actor='ann b' AND "
          "reason='to see' AND payload='req' AND "
          "object=(SELECT unit FROM exchange)",
          1);
    assert_int_equal(
        store_reveal(web, &(struct reveal){ack.unit, "req_body", "a", "b"},
                     &bytes, &n),
        -ENOENT);
    assert_int_equal(
        store_reveal(web, &(struct reveal){wrong, "req", "a", "b"}, &bytes, &n),
        -ENOENT);
    store_close(tap);
    store_close(web);
    store_close(compare);
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
    daemon_make(&d, fixture_program, "");
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
    daemon_make(&d, fixture_program, "");
    status = daemon_run_word(&d, "--nonsense");
    assert_int_equal(WEXITSTATUS(status), 2);
    /* Where there is no log none is begun, and no keys are made. */
    status = daemon_run_word(&d, "--rebuild");
    assert_int_equal(WEXITSTATUS(status), 4);
    assert_int_not_equal(access(d.state, F_OK), 0);
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
        cmocka_unit_test(a_full_disk_refuses_and_recovers),
        cmocka_unit_test(the_keys_are_for_their_owners_alone),
        cmocka_unit_test(wrong_use_has_its_own_exit_codes),
    };

    if (argc != 2)
        return 2;
    fixture_program = argv[1];
    return cmocka_run_group_tests(tests, NULL, NULL);
}
