/*
 * test_buddy.c - buffers and chunk lists: contents, growth, exhaustion, and
 * that all memory comes back.
 * SPDX-License-Identifier: Apache-2.0
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/chunk_list.h"

enum { BUFFERS = 50, STEPS = 20000 };

static uint64_t seed = 1;

static size_t draw(size_t n)
{
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    return (size_t)(seed >> 33) % n;
}

/* Byte i of buffer b. */
static uint8_t pattern(size_t b, size_t i)
{
    return (uint8_t)(b * 31 + i * 7 + (i >> 8));
}

static bool grow(struct buddy *a, struct buffer *buf, size_t b)
{
    uint8_t piece[3000];
    size_t n = draw(sizeof piece);

    for (size_t i = 0; i < n; i++)
        piece[i] = pattern(b, buf->n + i);
    return buffer_append(a, buf, piece, n);
}

static void check(const struct buffer *buf, size_t b)
{
    for (size_t i = 0; i < buf->n; i++)
        if (buf->p[i] != pattern(b, i))
            fail_msg("buffer %zu differs at %zu", b, i);
}

static void keeps_every_byte_while_buffers_come_and_go(void **state)
{
    struct buffer buf[BUFFERS] = {{0}};
    struct buddy a;
    size_t refused = 0;

    (void)state;
    assert_int_equal(buddy_init(&a, 1 << 20, 100000), 0);
    for (int step = 0; step < STEPS; step++) {
        size_t b = draw(BUFFERS);

        if (draw(40) == 0) {
            check(&buf[b], b);
            buffer_release(&a, &buf[b]);
        } else if (!grow(&a, &buf[b], b)) {
            refused++;
        }
    }
    assert_true(refused > 0); /* it was full at times */
    for (size_t b = 0; b < BUFFERS; b++) {
        check(&buf[b], b);
        buffer_release(&a, &buf[b]);
    }
    assert_int_equal(a.used, 0);
    buddy_fini(&a);
}

/* After everything has come back the largest blocks are whole again. */
static void joins_what_comes_back(void **state)
{
    struct buffer small[4096] = {{0}}, large = {0};
    uint8_t *block = calloc(1, 1 << 20);
    struct buddy a;

    (void)state;
    assert_non_null(block);
    assert_int_equal(buddy_init(&a, 1 << 20, 1 << 20), 0);
    for (size_t i = 0; i < 4096; i++)
        assert_true(buffer_append(&a, &small[i], "x", 1));
    assert_false(buffer_append(&a, &large, "x", 1));
    for (size_t i = 0; i < 4096; i++)
        buffer_release(&a, &small[(i * 1021) % 4096]);
    assert_true(buffer_append(&a, &large, block, 1 << 20));
    assert_false(buffer_append(&a, &large, "x", 1));
    assert_int_equal(large.n, 1 << 20);
    buffer_release(&a, &large);
    buddy_fini(&a);
    free(block);
}

static void grows_in_place_when_the_neighbour_is_free(void **state)
{
    struct buffer b = {0};
    struct buddy a;
    uint8_t *p;

    (void)state;
    assert_int_equal(buddy_init(&a, 1 << 20, 1 << 20), 0);
    assert_true(buffer_append(&a, &b, "x", 1));
    p = b.p;
    for (int i = 0; i < 3000; i++)
        assert_true(buffer_append(&a, &b, "0123456789", 10));
    assert_ptr_equal(b.p, p);
    buffer_release(&a, &b);
    buddy_fini(&a);
}

static void refuses_more_than_the_largest_block(void **state)
{
    struct buffer b = {0};
    struct buddy a;

    (void)state;
    assert_int_equal(buddy_init(&a, 1 << 20, 5000), 0);
    assert_int_equal(buddy_block_max(&a), 8192);
    assert_null(buffer_reserve(&a, &b, 8193));
    assert_null(buffer_reserve(&a, &b, SIZE_MAX));
    assert_non_null(buffer_reserve(&a, &b, 8192));
    buffer_release(&a, &b);
    buddy_fini(&a);
}

static bool put_more(struct buddy *a, struct chunk_list *r, size_t b)
{
    uint8_t piece[3000];
    size_t n = draw(sizeof piece), before = r->n, taken;

    for (size_t i = 0; i < n; i++)
        piece[i] = pattern(b, r->n + i);
    taken = chunk_list_append(a, r, piece, n);
    assert_int_equal(r->n, before + taken);
    return taken == n;
}

static void check_rope(const struct chunk_list *r, size_t b)
{
    uint8_t *bytes = malloc(r->n + 1);

    assert_non_null(bytes);
    chunk_list_copy(r, bytes);
    for (size_t i = 0; i < r->n; i++)
        if (bytes[i] != pattern(b, i))
            fail_msg("rope %zu differs at %zu", b, i);
    free(bytes);
}

static void ropes_keep_every_byte_that_had_room(void **state)
{
    struct chunk_list rope[BUFFERS] = {{0}};
    struct buddy a;
    size_t refused = 0;

    (void)state;
    assert_int_equal(buddy_init(&a, 1 << 20, 100000), 0);
    for (int step = 0; step < STEPS; step++) {
        size_t b = draw(BUFFERS);

        if (draw(40) == 0) {
            check_rope(&rope[b], b);
            chunk_list_release(&a, &rope[b]);
        } else if (!put_more(&a, &rope[b], b)) {
            refused++;
        }
    }
    assert_true(refused > 0); /* it was full at times */
    for (size_t b = 0; b < BUFFERS; b++) {
        check_rope(&rope[b], b);
        chunk_list_release(&a, &rope[b]);
    }
    assert_int_equal(a.used, 0);
    buddy_fini(&a);
}

static void a_rope_wastes_little_of_what_it_holds(void **state)
{
    uint8_t event[260] = {0};
    struct chunk_list r = {0};
    struct buddy a;

    (void)state;
    assert_int_equal(buddy_init(&a, 8 << 20, 8 << 20), 0);
    assert_int_equal(chunk_list_append(&a, &r, event, 1), 1);
    assert_true(a.used <= 512); /* most messages are short */
    for (int i = 0; i < 20000; i++) {
        assert_int_equal(chunk_list_append(&a, &r, event, sizeof event),
                         sizeof event);
        if (r.n > 65536)
            assert_true(a.used < r.n + r.n / 6);
    }
    chunk_list_release(&a, &r);
    assert_int_equal(a.used, 0);
    buddy_fini(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(keeps_every_byte_while_buffers_come_and_go),
        cmocka_unit_test(joins_what_comes_back),
        cmocka_unit_test(grows_in_place_when_the_neighbour_is_free),
        cmocka_unit_test(refuses_more_than_the_largest_block),
        cmocka_unit_test(ropes_keep_every_byte_that_had_room),
        cmocka_unit_test(a_rope_wastes_little_of_what_it_holds),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
