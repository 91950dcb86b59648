/*
 * test_llama_claim.c - answers held against logits: what sampling alone tells
 * of an answer.
 * SPDX-License-Identifier: Apache-2.0
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "engine/llama/claim/claim.h"
#include "engine/llama/sampler/sampler.h"
#include "search/signature.h"
#include "store/dialect.h"

enum { VOCAB = 4 };

/* Of a softmax 8/15, 4/15, 2/15, 1/15. */
static const float logits[VOCAB] = {2.0794415F, 1.3862944F, 0.6931472F, 0};

static void id_and_prob(struct api_candidate *c, int64_t id, float prob)
{
    *c = (struct api_candidate){
        .id = id, .has_prob = true, .logprob = (double)prob};
    memcpy(&c->bits, &prob, sizeof(prob));
}

/* One position of an answer after sampling: ids from the likeliest on. */
struct answer {
    struct api_candidate top[VOCAB];
    struct api_token token;
    struct api_choice choice;
    struct llama_sampling sampling;
    struct claim_llama claim;
};

static void fill(struct answer *a, int64_t chosen, size_t n_top)
{
    struct llama_sampler *p;
    uint32_t id;

    llama_sampling_init(&a->sampling);
    a->sampling.temperature = 1;
    a->sampling.top_k = 3;
    a->sampling.top_p = 1;
    a->sampling.min_p = 0;
    assert_int_equal(llama_sampler_open(&a->sampling, VOCAB, &p), 0);
    assert_int_equal(llama_sampler_choose(p, logits, &id), 0);
    for (uint32_t i = 0; i < n_top; i++)
        id_and_prob(&a->top[i], i, llama_sampler_prob(p, i));
    id_and_prob(&a->token.chosen, chosen,
                llama_sampler_prob(p, (uint32_t)chosen));
    llama_sampler_close(p);
    a->token.top = a->top;
    a->token.n_top = n_top;
    a->choice = (struct api_choice){
        .tokens = &a->token, .n_tokens = 1, .has_ids = true};
    a->claim = (struct claim_llama){.choice = &a->choice,
                                    .n_probs = 3,
                                    .after_sampling = true,
                                    .sampling = &a->sampling};
}

static struct claim_score score(const struct answer *a)
{
    struct llama_sampler *p;
    struct claim_score s;
    struct claim_scratch d;

    claim_score_init(&s);
    assert_int_equal(claim_scratch_init(&d, VOCAB, LOGPROB_SORT_TOP), 0);
    assert_int_equal(llama_sampler_open(&a->sampling, VOCAB, &p), 0);
    bool equal =
        claim_step(&d, &a->claim, &(struct claim_row){0, logits, p}, &s);
    assert_int_equal(equal, s.differing == 0);
    llama_sampler_close(p);
    claim_scratch_fini(&d);
    return s;
}

static void probabilities_after_the_chain_are_compared(void **state)
{
    struct answer a;
    struct claim_score s;

    (void)state;
    fill(&a, 1, 3);
    /* top_k 3 left 8/14, 4/14, 2/14. */
    assert_true(a.top[0].logprob > 0.5714 && a.top[0].logprob < 0.5715);
    s = score(&a);
    assert_int_equal(s.differing, 0);
    assert_int_equal(s.probs, 4);
    assert_int_equal(s.compared, 0);
    assert_int_equal(s.choices, 0); /* without its seed */
    a.top[2].bits++;
    s = score(&a);
    assert_int_equal(s.differing, 1);
    assert_false(s.first_is_token);
}

static void a_list_of_probabilities_leaves_none_out(void **state)
{
    struct answer a;

    (void)state;
    fill(&a, 1, 2); /* three were asked for, and three are above 0 */
    assert_int_equal(score(&a).differing, 1);
    fill(&a, 1, 3);
    id_and_prob(&a.top[1], 2, (float)a.top[2].logprob);
    assert_int_equal(score(&a).differing, 1); /* one stands there twice */
}

static void a_token_that_no_seed_gives_differs(void **state)
{
    struct answer a;
    struct claim_score s;

    (void)state;
    fill(&a, 3, 3);
    s = score(&a);
    assert_int_equal(s.differing, 1);
    assert_true(s.first_is_token);
    fill(&a, 2, 3);
    assert_int_equal(score(&a).differing, 0);
}

static void rows_of_other_numbers_are_made_anew(void **state)
{
    static const float other[VOCAB] = {0, 0, 0, 0};
    struct answer a;
    struct claim_score s;
    struct claim_scratch d;

    (void)state;
    fill(&a, 0, 0);
    a.claim.after_sampling = false;
    a.token.chosen.has_prob = false;
    a.token.chosen.has_logprob = a.choice.has_logprobs = true;
    assert_int_equal(claim_scratch_init(&d, VOCAB, LOGPROB_SORT_TOP), 0);
    for (uint64_t number = 0; number < 2; number++) {
        uint32_t of_logits, of_other;
        d.number = number;
        claim_score_init(&s);
        (void)claim_step(&d, &a.claim, &(struct claim_row){0, logits, NULL},
                         &s);
        of_logits = s.computed_bits;
        claim_score_init(&s);
        d.number = number == 0 ? 0 : number + 1;
        (void)claim_step(&d, &a.claim, &(struct claim_row){0, other, NULL}, &s);
        of_other = s.computed_bits;
        assert_int_not_equal(of_logits, of_other);
    }
    claim_scratch_fini(&d);
}

/* Body and tail of a model may be made of products of one shape. */
static void equal_parts_of_a_signature_do_not_cancel_out(void **state)
{
    uint64_t of[8];

    (void)state;
    for (uint64_t i = 0; i < 8; i++) {
        uint64_t part = signature_mix(signature_mix(0, i), i);
        of[i] = signature_mix(part, part);
        for (uint64_t k = 0; k < i; k++)
            assert_true(of[i] != of[k]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(probabilities_after_the_chain_are_compared),
        cmocka_unit_test(a_list_of_probabilities_leaves_none_out),
        cmocka_unit_test(a_token_that_no_seed_gives_differs),
        cmocka_unit_test(rows_of_other_numbers_are_made_anew),
        cmocka_unit_test(equal_parts_of_a_signature_do_not_cancel_out),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
