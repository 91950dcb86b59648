/*
 * llama_completion.c - POST /completion of llama-server. A list of prompts is
 * answered by a list. The answer has no id. Until 2025 completion_probabilities
 * held "content" and "probs", since then entries like chat's.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "dialect/apis/apis.h"

static const char *const targets[] = {"/completion", "/completions", NULL};

/* -1 and its 32-bit form ask for a random seed. */
static bool read_llama_seed(struct request_build *b, const json_t *v,
                            const struct request_key *k)
{
    int64_t seed;

    if (json_whole(v, -1, -1, &seed) ||
        json_whole(v, UINT32_MAX, UINT32_MAX, &seed))
        return true;
    return read_seed(b, v, k);
}

/* n_probs: 0 asks for none. */
static bool read_n_probs(struct request_build *b, const json_t *v,
                         const struct request_key *k)
{
    if (!read_count(b, v, k))
        return false;
    b->r->logprobs = b->r->top_logprobs != 0;
    return true;
}

static const struct request_key keys[] = {
    {"seed", read_llama_seed, 0, 0},
    OPENAI_KEYS,
    SAMPLING_KEYS,
    {"prompt", read_prompts, 0, 0},
    {"n_predict", read_max_tokens, 0, 0},
    {"max_tokens", read_max_tokens, 0, 0},
    {"n_probs", read_n_probs, MEMBER(top_logprobs), 0},
    {"logprobs", read_n_probs, MEMBER(top_logprobs), 0},
    {"post_sampling_probs", read_flag, MEMBER(post_sampling_probs), 0},
    {"return_tokens", read_ignored, 0, 0},
    {"t_max_predict_ms", read_neutral, 0, 0},
    {"mirostat", read_neutral, 0, 0},
    {"typical_p", read_neutral, 0, 1},
    {"dynatemp_range", read_neutral, 0, 0},
    {"xtc_probability", read_neutral, 0, 0},
    {"dry_multiplier", read_neutral, 0, 0},
    {"top_n_sigma", read_neutral, 0, -1},
    {"n_keep", read_ignored, 0, 0},
    {NULL, NULL, 0, 0},
};

static void read_result(struct answer_build *b, const json_t *root)
{
    struct choice_build *c = answer_choice(b, json_member(root, "index"));
    struct tokens listed = {0}, ids = {0};
    const json_t *content = json_member(root, "content");
    struct span stop = json_text(json_object_get(root, "stop_type"));
    uint64_t n;

    if (c == NULL)
        return;
    if (!json_is_string(content))
        answer_bad(b, "completion has no content");
    answer_names(b, root);
    text_add(b->m, &c->text, json_text(content));
    tokens_read_entries(b, &listed,
                        json_member(root, "completion_probabilities"));
    /* A progress event names token 0 with no content: nothing was sampled. */
    if (json_string_length(content) != 0 || listed.n != 0 ||
        !json_count(json_object_get(root, "tokens_predicted"), &n) || n != 0)
        tokens_read_ids(b, &ids, json_member(root, "tokens"));
    choice_add(b, c, listed, ids);
    if (stop.n != 0)
        c->finish = memory_copy(b->m, stop);
}

/* Counts of one result; a list's add up. */
static void read_counts(struct answer_build *b, const json_t *root)
{
    uint64_t in, out, cached;

    if (json_count(json_object_get(json_member(root, "timings"), "cache_n"),
                   &cached))
        b->answer->tokens_cached += cached;
    if (!json_count(json_object_get(root, "tokens_evaluated"), &in) ||
        !json_count(json_object_get(root, "tokens_predicted"), &out))
        return;
    b->answer->tokens_in += in;
    b->answer->tokens_out += out;
    b->answer->has_usage = true;
}

static void read_answer(struct answer_build *b, const json_t *root)
{
    for (size_t i = 0; i < json_array_size(root); i++) {
        read_result(b, json_array_get(root, i));
        read_counts(b, json_array_get(root, i));
    }
    if (json_is_array(root))
        return;
    read_result(b, root);
    read_counts(b, root);
}

/* The event with "stop" has the counts of its result. */
static void read_event(struct answer_build *b, const json_t *root,
                       struct span name)
{
    (void)name;
    read_result(b, root);
    if (!json_is_true(json_object_get(root, "stop")))
        return;
    read_counts(b, root);
    b->answer->ended = true;
}

const struct dialect llama_completion = {
    "llama.completion", targets, false, keys, read_answer, read_event,
};
