/*
 * test_forward.c - a row of logits does not depend on how its sequence was cut
 * into passes, on the other members, on threads, or on the instruction set.
 * Comes in: made-up models of the family's shapes, and stories260k.
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <xmmintrin.h>

#include <cmocka.h>

#include "numerics/fixed/fixed.h"
#include "recompute/error.h"
#include "recompute/forward.h"
#include "recompute/model.h"
#include "recompute/model_config.h"
#include "recompute/sequence.h"
#include "tiny_model.h"

enum { TOKENS = 61, MEMBERS = 5 };

struct run {
    struct forward *f;
    size_t vocab;
    uint32_t ids[TOKENS];
    float *want; /* TOKENS rows: the whole prompt, alone, one thread, ref */
};

static float *rows(size_t n, size_t vocab)
{
    float *p = calloc(n, vocab * sizeof *p);

    assert_non_null(p);
    return p;
}

static struct sequence *sequence(struct forward *f, size_t n)
{
    struct sequence *s;

    assert_int_equal(sequence_open(model_config(forward_model(f)), n, &s), 0);
    return s;
}

static void number_ids(uint32_t *ids, size_t n, size_t vocab, uint32_t seed)
{
    for (size_t i = 0; i < n; i++)
        ids[i] = (seed = seed * 1664525 + 1013904223) / 65536 % vocab;
}

/* The prompt in pieces of `piece` tokens. */
static void run_pieces(struct run *r, size_t piece, float *out)
{
    struct sequence *s = sequence(r->f, TOKENS);

    for (size_t i = 0; i < TOKENS; i += piece) {
        size_t n = TOKENS - i < piece ? TOKENS - i : piece;
        struct member m = {.sequence = s,
                           .ids = r->ids + i,
                           .n = n,
                           .logits = out + i * r->vocab};

        assert_int_equal(forward_run(r->f, &m, 1), 0);
    }
    assert_int_equal(sequence_length(s), TOKENS);
    sequence_close(s);
}

/* The prompt in random pieces, beside other members that start and end. */
static void run_mixed(struct run *r, uint32_t seed, float *out)
{
    struct sequence *s[MEMBERS];
    struct member m[MEMBERS] = {0};
    uint32_t other[TOKENS];
    float *rest = rows(TOKENS, r->vocab);

    for (size_t i = 0; i < MEMBERS; i++)
        s[i] = sequence(r->f, TOKENS);
    while (sequence_length(s[0]) < TOKENS) {
        size_t n = 0, ours;

        seed = seed * 1664525 + 1013904223;
        ours = seed >> 16 & 3; /* our place among the members */
        for (size_t i = 0; i < MEMBERS; i++) {
            size_t which = i == ours ? 0 : i < ours ? i + 1 : i;
            size_t at = sequence_length(s[which]);
            size_t want = 1 + (seed >> (i * 3) & 7) * (i % 2 * 2 + 1);

            if (which > 0 && at + want > TOKENS) {
                sequence_close(s[which]);
                s[which] = sequence(r->f, TOKENS);
                at = 0;
            }
            want = at + want > TOKENS ? TOKENS - at : want;
            number_ids(other, TOKENS, r->vocab, seed);
            m[n++] = (struct member){
                .sequence = s[which],
                .ids = which == 0 ? r->ids + at : other,
                .n = want,
                .logits_from = which == 0 ? 0 : want - (seed >> 9 & 1),
                .logits = which == 0 ? out + at * r->vocab : rest,
            };
        }
        assert_int_equal(forward_run(r->f, m, n), 0);
    }
    for (size_t i = 0; i < MEMBERS; i++)
        sequence_close(s[i]);
    free(rest);
}

static void must_be_equal(const struct run *r, const float *have,
                          const char *what)
{
    for (size_t i = 0; i < TOKENS; i++)
        if (memcmp(r->want + i * r->vocab, have + i * r->vocab,
                   r->vocab * sizeof(float)) != 0)
            fail_msg("%s: %s: logits at position %zu differ",
                     forward_kernels(r->f), what, i);
}

static void compare_all(struct run *r)
{
    float *have = rows(TOKENS, r->vocab);
    static const size_t pieces[] = {1, 2, 7, 13, TOKENS};

    for (size_t i = 0; i < sizeof(pieces) / sizeof(pieces[0]); i++) {
        memset(have, 0xff, TOKENS * r->vocab * sizeof *have);
        run_pieces(r, pieces[i], have);
        must_be_equal(r, have, "pieces");
    }
    for (uint32_t seed = 1; seed < 6; seed++) {
        memset(have, 0xff, TOKENS * r->vocab * sizeof *have);
        run_mixed(r, seed, have);
        must_be_equal(r, have, "beside others");
    }
    free(have);
}

static void compare_model(const char *dir)
{
    struct run r = {0};
    struct model *m;
    struct error error = {""};

    if (model_open(dir, &m, &error) != 0)
        fail_msg("%s: %s", dir, error.text);
    r.vocab = model_config(m)->vocab;
    r.want = rows(TOKENS, r.vocab);
    number_ids(r.ids, TOKENS, r.vocab, 7);
    for (const struct fixed_kernels *const *k = fixed_kernels_all(); *k != NULL;
         k++)
        for (unsigned threads = 1; threads <= 3; threads++) {
            struct forward_options o = {.threads = threads,
                                        .kernels = (*k)->name};

            assert_int_equal(forward_open(m, &o, &r.f), 0);
            if (*k == &fixed_kernels_ref && threads == 1)
                run_pieces(&r, TOKENS, r.want);
            compare_all(&r);
            forward_close(r.f);
        }
    free(r.want);
    model_close(m);
}

static void compare_tiny(const struct tiny_model *t)
{
    char dir[64];

    tiny_model_write(t, dir);
    compare_model(dir);
    tiny_model_remove(dir);
}

static void any_cut_and_company_gives_the_same_bits(void **state)
{
    struct tiny_model t = tiny_model_default();

    (void)state;
    compare_tiny(&t);
    t.dtype = "BF16";
    t.untied = t.qkv_bias = t.o_bias = t.mlp_bias = true;
    t.more = ",\"attention_bias\":true,\"mlp_bias\":true";
    t.hidden = 47; /* odd: the last input of a bf16 panel has no pair */
    compare_tiny(&t);
    t.dtype = "F16";
    t.heads = 18; /* a group wider than a tile */
    t.kv_heads = 1;
    t.head_dim = 22;
    compare_tiny(&t);
}

static void a_real_model_gives_the_same_bits_too(void **state)
{
    (void)state;
    compare_model(RECORDINGS "/models/stories260k");
}

/* A bit of the prompt must show at its position and after, never before. */
static void logits_see_the_past_only(void **state)
{
    struct tiny_model t = tiny_model_default();
    struct run r = {0};
    struct model *m;
    struct error error;
    char dir[64];
    float *have;

    (void)state;
    tiny_model_write(&t, dir);
    assert_int_equal(model_open(dir, &m, &error), 0);
    assert_int_equal(forward_open(m, NULL, &r.f), 0);
    r.vocab = t.vocab;
    r.want = rows(TOKENS, r.vocab);
    have = rows(TOKENS, r.vocab);
    number_ids(r.ids, TOKENS, r.vocab, 3);
    run_pieces(&r, TOKENS, r.want);
    r.ids[40] = (r.ids[40] + 1) % t.vocab;
    run_pieces(&r, TOKENS, have);
    for (size_t i = 0; i < TOKENS; i++)
        assert_int_equal(memcmp(r.want + i * r.vocab, have + i * r.vocab,
                                r.vocab * sizeof(float)) == 0,
                         i < 40);
    free(have);
    free(r.want);
    forward_close(r.f);
    model_close(m);
    tiny_model_remove(dir);
}

struct seen {
    size_t n, layers_wrong;
    float sum;
};

static void count_layer(void *arg, uint32_t layer, size_t position,
                        const float *row)
{
    struct seen *s = arg;

    s->layers_wrong += layer != s->n / 3 || position != s->n % 3;
    s->sum += row[0];
    s->n++;
}

static void every_layer_of_a_member_is_shown(void **state)
{
    struct tiny_model t = tiny_model_default();
    struct seen seen = {0};
    uint32_t ids[3] = {1, 5, 9};
    struct model *m;
    struct forward *f;
    struct error error;
    char dir[64];
    float logits[101];

    (void)state;
    tiny_model_write(&t, dir);
    assert_int_equal(model_open(dir, &m, &error), 0);
    assert_int_equal(forward_open(m, NULL, &f), 0);
    struct member one = {.sequence = sequence(f, 3),
                         .ids = ids,
                         .n = 3,
                         .logits_from = 2,
                         .logits = logits,
                         .seen = count_layer,
                         .seen_arg = &seen};
    assert_int_equal(forward_run(f, &one, 1), 0);
    assert_int_equal(seen.n, 3 * (t.layers + 1));
    assert_int_equal(seen.layers_wrong, 0);
    assert_true(seen.sum != 0.0f);
    sequence_close(one.sequence);
    forward_close(f);
    model_close(m);
    tiny_model_remove(dir);
}

static void bad_batches_are_refused_and_change_nothing(void **state)
{
    struct tiny_model t = tiny_model_default();
    uint32_t ids[4] = {1, 5, 9, 101};
    struct member m[2] = {0};
    struct sequence *s;
    struct model *model;
    struct forward *f;
    struct error error;
    char dir[64];

    (void)state;
    tiny_model_write(&t, dir);
    assert_int_equal(model_open(dir, &model, &error), 0);
    assert_int_equal(forward_open(model, NULL, &f), 0);
    assert_int_equal(sequence_open(model_config(forward_model(f)), 97, &s),
                     -EINVAL);
    assert_int_equal(sequence_open(model_config(forward_model(f)), 0, &s),
                     -EINVAL);
    s = sequence(f, 3);
    m[0] = m[1] = (struct member){s, ids, 1, 1, NULL, NULL, NULL};
    assert_int_equal(forward_run(f, m, 2), -EINVAL);
    m[0].n = 4;
    assert_int_equal(forward_run(f, m, 1), -ENOSPC);
    m[0].n = m[0].logits_from = 0;
    assert_int_equal(forward_run(f, m, 1), -EINVAL);
    m[0] = (struct member){s, ids + 2, 2, 2, NULL, NULL, NULL};
    assert_int_equal(forward_run(f, m, 1), -ERANGE);
    assert_int_equal(sequence_length(s), 0);
    sequence_close(s);
    forward_close(f);
    model_close(model);
    tiny_model_remove(dir);
}

static void a_changed_environment_is_refused(void **state)
{
    struct tiny_model t = tiny_model_default();
    unsigned before = _mm_getcsr();
    struct forward_options o = {.kernels = "none"};
    struct forward *f;
    struct model *m;
    struct error error;
    char dir[64];

    (void)state;
    tiny_model_write(&t, dir);
    assert_int_equal(model_open(dir, &m, &error), 0);
    assert_int_equal(forward_open(m, &o, &f), -ENOTSUP);
    _mm_setcsr(before | 0x8040);
    assert_int_equal(forward_open(m, NULL, &f), -EDOM);
    _mm_setcsr(before);
    model_close(m);
    tiny_model_remove(dir);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(any_cut_and_company_gives_the_same_bits),
        cmocka_unit_test(a_real_model_gives_the_same_bits_too),
        cmocka_unit_test(logits_see_the_past_only),
        cmocka_unit_test(every_layer_of_a_member_is_shown),
        cmocka_unit_test(bad_batches_are_refused_and_change_nothing),
        cmocka_unit_test(a_changed_environment_is_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
