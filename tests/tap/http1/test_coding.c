/*
 * test_coding.c - content codings undone, cut, damaged, chained, bombs.
 * SPDX-License-Identifier: Apache-2.0
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <zlib.h>

#include "http1/coding.h"

enum { LIMIT = 1 << 16, ROOM = 1 << 20 };

static const char text[] =
    "data: {\"choices\":[{\"text\":\" once\"}]}\n\n"
    "data: {\"choices\":[{\"text\":\" upon\"}]}\n\ndata: [DONE]\n\n";

/* in, coded for this window of zlib's; flush after each half if parts. */
static struct span coded(struct span in, int window, uint8_t *out)
{
    z_stream z = {0};
    int rc;

    assert_int_equal(
        deflateInit2(&z, 6, Z_DEFLATED, window, 8, Z_DEFAULT_STRATEGY), Z_OK);
    z.next_in = (Bytef *)in.p;
    z.avail_in = (uInt)in.n;
    z.next_out = out;
    z.avail_out = ROOM;
    rc = deflate(&z, Z_FINISH);
    assert_int_equal(rc, Z_STREAM_END);
    assert_int_equal(deflateEnd(&z), Z_OK);
    return span_of(out, ROOM - z.avail_out);
}

struct bed {
    struct decoder *d;
    uint8_t a[ROOM], b[ROOM];
};

static int setup(void **state)
{
    struct bed *b = malloc(sizeof *b);

    if (b == NULL || decoder_open(LIMIT, &b->d) != 0)
        return -1;
    *state = b;
    return 0;
}

static int teardown(void **state)
{
    struct bed *b = *state;

    decoder_close(b->d);
    free(b);
    return 0;
}

static void undoes(struct bed *b, struct span in, struct codings c)
{
    struct span body;

    assert_int_equal(decoder_undo(b->d, 0, in, &c, &body), DECODED_WHOLE);
    assert_true(span_eq_str(body, text));
}

static void undoes_gzip_and_both_forms_of_deflate(void **state)
{
    struct bed *b = *state;

    undoes(b, coded(span_str(text), 31, b->a),
           (struct codings){1, {CODING_GZIP}});
    undoes(b, coded(span_str(text), 15, b->a),
           (struct codings){1, {CODING_DEFLATE}});
    undoes(b, coded(span_str(text), -15, b->a),
           (struct codings){1, {CODING_DEFLATE}});
}

static void undoes_a_chain_in_the_right_order(void **state)
{
    struct bed *b = *state;
    struct span once = coded(span_str(text), 31, b->a);

    undoes(b, coded(once, 15, b->b),
           (struct codings){2, {CODING_GZIP, CODING_DEFLATE}});
}

static void joins_members_and_passes_over_padding(void **state)
{
    struct bed *b = *state;
    struct span first = coded(span_of(text, 10), 31, b->a);
    struct span rest = coded(span_str(text + 10), 31, b->a + first.n);
    size_t n = first.n + rest.n;

    b->a[n] = b->a[n + 1] = 0;
    undoes(b, span_of(b->a, n + 2), (struct codings){1, {CODING_GZIP}});
}

static void gives_what_came_before_a_cut(void **state)
{
    struct bed *b = *state;
    struct codings c = {1, {CODING_GZIP}};
    struct span in = coded(span_str(text), 31, b->a), body;

    for (size_t n = 1; n < in.n; n++) {
        assert_int_equal(decoder_undo(b->d, 1, span_of(in.p, n), &c, &body),
                         DECODED_CUT);
        assert_true(body.n <= strlen(text));
        assert_memory_equal(body.p, text, body.n);
    }
}

static void tells_damage_and_unknown_codings(void **state)
{
    struct bed *b = *state;
    struct codings gzip = {1, {CODING_GZIP}}, other = {1, {CODING_UNKNOWN}};
    struct span in = coded(span_str(text), 31, b->a), body;

    assert_int_equal(decoder_undo(b->d, 0, in, &other, &body), DECODED_UNKNOWN);
    b->a[in.n - 6] ^= 1; /* the checksum */
    assert_int_equal(decoder_undo(b->d, 0, in, &gzip, &body), DECODED_BAD);
    assert_int_equal(decoder_undo(b->d, 0, span_str(text), &gzip, &body),
                     DECODED_BAD);
}

static void ends_a_bomb_at_the_limit(void **state)
{
    struct bed *b = *state;
    struct codings c = {1, {CODING_GZIP}};
    uint8_t *zeros = calloc(1, ROOM);
    struct span in, body;

    assert_non_null(zeros);
    in = coded(span_of(zeros, ROOM), 31, b->a);
    assert_true(in.n < 2000);
    assert_int_equal(decoder_undo(b->d, 0, in, &c, &body), DECODED_TOO_LARGE);
    free(zeros);
}

static void holds_two_bodies_at_once(void **state)
{
    struct bed *b = *state;
    struct codings c = {1, {CODING_GZIP}};
    struct span one, two;

    assert_int_equal(
        decoder_undo(b->d, 0, coded(span_str("request"), 31, b->a), &c, &one),
        DECODED_WHOLE);
    assert_int_equal(
        decoder_undo(b->d, 1, coded(span_str("answer"), 31, b->a), &c, &two),
        DECODED_WHOLE);
    assert_true(span_eq_str(one, "request") && span_eq_str(two, "answer"));
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
    const struct CMUnitTest tests[] = {
        TEST(undoes_gzip_and_both_forms_of_deflate),
        TEST(undoes_a_chain_in_the_right_order),
        TEST(joins_members_and_passes_over_padding),
        TEST(gives_what_came_before_a_cut),
        TEST(tells_damage_and_unknown_codings),
        TEST(ends_a_bomb_at_the_limit),
        TEST(holds_two_bodies_at_once),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
