/*
 * test_vault.c - payloads come back as they went in, or not at all.
 * SPDX-License-Identifier: Apache-2.0
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "hex.h"
#include "scratch.h"
#include "store/layout.h"
#include "vault/vault.h"

enum { FILE_MAX = 1 << 20, HEADER = 136, WRAP_AT = 96 };

static const uint8_t key[VAULT_KEY] = {1, 2, 3};
static uint8_t file[FILE_MAX];

static struct vault *open_vault(const char *dir)
{
    struct vault *v;

    assert_int_equal(vault_open(dir, key, &v), 0);
    return v;
}

static int append(struct vault *v, uint64_t seq, struct span payload)
{
    struct vault_entry e = {.seq = seq, .place = 3, .len = payload.n};
    uint8_t salt[VAULT_SALT];

    memset(salt, (int)seq + 7, sizeof(salt));
    memset(e.unit, (int)seq, sizeof(e.unit));
    vault_commitment(salt, payload, e.commitment);
    return vault_append(v, &e, salt, payload);
}

static void put(struct vault *v, uint64_t seq, struct span payload)
{
    assert_int_equal(append(v, seq, payload), 0);
}

static int read_at(struct vault *v, uint64_t offset, struct span expected)
{
    uint8_t *bytes;
    size_t n;
    int rc = vault_read(v, offset, &bytes, &n);

    if (rc != 0)
        return rc;
    assert_true(span_eq(span_of(bytes, n), expected));
    free(bytes);
    return 0;
}

static void the_commitment_is_that_of_the_vector(void **state)
{
    uint8_t salt[VAULT_SALT], commitment[VAULT_HASH];

    (void)state;
    for (int i = 0; i < VAULT_SALT; i++)
        salt[i] = (uint8_t)i;
    vault_commitment(salt, span_str("{\"prompt\":\"hi\"}"), commitment);
    assert_hex(
        commitment, sizeof(commitment),
        "70d6307fc379289c5adc3ee35493a095a8eebba3a5dfd5f0896a2af136479bf0");
}

static void payloads_of_every_size_come_back(void **state)
{
    static const size_t sizes[] = {0,     1,      31,     65535,
                                   65536, 131072, 300001, 3 << 20};
    static uint8_t bytes[3 << 20];
    struct vault *v = open_vault(*state);
    struct vault_entry e;
    uint64_t at = 0;

    for (size_t i = 0; i < sizeof(bytes); i++)
        bytes[i] = (uint8_t)(i * 31 >> 3);
    for (uint64_t i = 0; i < 8; i++)
        put(v, i, span_of(bytes, sizes[i]));
    assert_int_equal(vault_commit(v), 0);
    vault_close(v);
    v = open_vault(*state);
    for (uint64_t i = 0; i < 8; i++) {
        assert_int_equal(vault_next(v, &at, &e), 0);
        assert_int_equal(e.seq, i);
        assert_int_equal(e.place, 3);
        assert_int_equal(e.len, sizes[i]);
        assert_int_equal(read_at(v, at, span_of(bytes, sizes[i])), 0);
        at += vault_frame_bytes(e.len);
    }
    assert_int_equal(vault_next(v, &at, &e), -ENOENT);
    assert_int_equal(at, vault_end(v));
    vault_close(v);
}

static void the_file_holds_no_plain_bytes(void **state)
{
    struct vault *v = open_vault(*state);
    size_t n;

    put(v, 1, span_str("a secret that stands out"));
    assert_int_equal(vault_commit(v), 0);
    vault_close(v);
    n = scratch_read(*state, LAYOUT_PAYLOADS, file, FILE_MAX);
    assert_null(memmem(file, n, "secret", 6));
}

static void another_key_opens_nothing(void **state)
{
    static const uint8_t other[VAULT_KEY] = {9};
    struct vault *v = open_vault(*state);

    put(v, 1, span_str("payload"));
    assert_int_equal(vault_commit(v), 0);
    vault_close(v);
    assert_int_equal(vault_open(*state, other, &v), 0);
    assert_int_equal(read_at(v, 0, span_str("payload")), -EBADMSG);
    vault_close(v);
}

static void every_changed_byte_is_seen(void **state)
{
    struct vault *v = open_vault(*state);
    size_t n;

    put(v, 1, span_str("payload"));
    assert_int_equal(vault_commit(v), 0);
    n = scratch_read(*state, LAYOUT_PAYLOADS, file, FILE_MAX);
    for (size_t i = 0; i < n; i++) {
        file[i] ^= 0x20;
        scratch_write(*state, LAYOUT_PAYLOADS, file, n);
        assert_int_equal(read_at(v, 0, span_str("payload")), -EBADMSG);
        file[i] ^= 0x20;
    }
    scratch_write(*state, LAYOUT_PAYLOADS, file, n);
    assert_int_equal(read_at(v, 0, span_str("payload")), 0);
    vault_close(v);
}

static void a_destroyed_key_leaves_its_neighbours(void **state)
{
    struct vault *v = open_vault(*state);
    uint64_t second = vault_frame_bytes(3);
    struct vault_entry e;
    size_t n;

    put(v, 1, span_str("one"));
    put(v, 2, span_str("two"));
    assert_int_equal(vault_commit(v), 0);
    n = scratch_read(*state, LAYOUT_PAYLOADS, file, FILE_MAX);
    memset(file + WRAP_AT, 0, HEADER - WRAP_AT);
    scratch_write(*state, LAYOUT_PAYLOADS, file, n);
    assert_int_equal(read_at(v, 0, span_str("one")), -EBADMSG);
    assert_int_equal(read_at(v, second, span_str("two")), 0);
    e.len = 0;
    second = 0;
    assert_int_equal(vault_next(v, &second, &e), 0); /* still walked */
    assert_int_equal(e.seq, 1);
    vault_close(v);
}

static void a_damaged_header_costs_one_payload(void **state)
{
    struct vault *v = open_vault(*state);
    struct vault_entry e;
    uint64_t at = 0;
    size_t n;

    put(v, 1, span_str("one"));
    put(v, 2, span_str("two"));
    put(v, 3, span_str("three"));
    assert_int_equal(vault_commit(v), 0);
    n = scratch_read(*state, LAYOUT_PAYLOADS, file, FILE_MAX);
    file[vault_frame_bytes(3) + 20] ^= 1; /* the second's length */
    scratch_write(*state, LAYOUT_PAYLOADS, file, n);
    at = vault_frame_bytes(3);
    assert_int_equal(vault_next(v, &at, &e), 0);
    assert_int_equal(e.seq, 3);
    assert_int_equal(read_at(v, at, span_str("three")), 0);
    vault_close(v);
}

static void a_torn_tail_ends_the_walk(void **state)
{
    struct vault *v = open_vault(*state);
    uint64_t first = vault_frame_bytes(3);
    size_t n;

    put(v, 1, span_str("one"));
    put(v, 2, span_str("two"));
    assert_int_equal(vault_commit(v), 0);
    vault_close(v);
    n = scratch_read(*state, LAYOUT_PAYLOADS, file, FILE_MAX);
    for (size_t cut = n - 1; cut > first; cut--) {
        struct vault_entry e;
        uint64_t at = first;

        scratch_write(*state, LAYOUT_PAYLOADS, file, cut);
        v = open_vault(*state);
        assert_int_equal(vault_next(v, &at, &e), -ENOENT);
        assert_int_equal(at, first);
        assert_int_equal(read_at(v, 0, span_str("one")), 0);
        assert_int_equal(read_at(v, first, span_str("two")), -EBADMSG);
        vault_close(v);
    }
}

static void a_batch_that_is_abandoned_leaves_nothing(void **state)
{
    static uint8_t bytes[3 << 20];
    struct vault *v = open_vault(*state);

    put(v, 1, span_str("one"));
    assert_int_equal(vault_commit(v), 0);
    put(v, 2, span_of(bytes, sizeof(bytes))); /* more than is held back */
    assert_true(scratch_size(*state, LAYOUT_PAYLOADS) > vault_end(v));
    assert_int_equal(vault_abandon(v), 0);
    assert_int_equal(scratch_size(*state, LAYOUT_PAYLOADS), vault_end(v));
    put(v, 2, span_str("two"));
    assert_int_equal(vault_commit(v), 0);
    assert_int_equal(read_at(v, vault_frame_bytes(3), span_str("two")), 0);
    vault_close(v);
}

static void a_full_disk_takes_the_batch_back(void **state)
{
    static uint8_t bytes[2 << 20];
    struct vault *v = open_vault(*state);
    struct rlimit old, limit;
    int rc;

    put(v, 1, span_str("one"));
    assert_int_equal(vault_commit(v), 0);
    signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &old), 0);
    limit = (struct rlimit){1500000, old.rlim_max};
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
    rc = append(v, 2, span_of(bytes, sizeof(bytes)));
    if (rc == 0)
        rc = vault_commit(v);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &old), 0);
    assert_int_equal(rc, -EFBIG);
    assert_int_equal(vault_abandon(v), 0);
    assert_int_equal(scratch_size(*state, LAYOUT_PAYLOADS), vault_end(v));
    put(v, 2, span_of(bytes, sizeof(bytes)));
    assert_int_equal(vault_commit(v), 0);
    assert_int_equal(
        read_at(v, vault_frame_bytes(3), span_of(bytes, sizeof(bytes))), 0);
    vault_close(v);
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, scratch_make, scratch_remove)
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_commitment_is_that_of_the_vector),
        TEST(payloads_of_every_size_come_back),
        TEST(the_file_holds_no_plain_bytes),
        TEST(another_key_opens_nothing),
        TEST(every_changed_byte_is_seen),
        TEST(a_destroyed_key_leaves_its_neighbours),
        TEST(a_damaged_header_costs_one_payload),
        TEST(a_torn_tail_ends_the_walk),
        TEST(a_batch_that_is_abandoned_leaves_nothing),
        TEST(a_full_disk_takes_the_batch_back),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
