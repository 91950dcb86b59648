/*
 * sglang_generate.c - POST /generate of SGLang. Events repeat what came before
 * them unless the server runs with --incremental-streaming-output; a list is
 * as long as completion_tokens in the first case, shorter in the second.
 * SPDX-License-Identifier: Apache-2.0
 */
#include <string.h>

#include "dialect/apis/apis.h"

static const char *const targets[] = {"/generate", NULL};

static const struct request_key sampling_keys[] = {
    SAMPLING_KEYS,
    {"sampling_seed", read_seed, 0, 0},
    {"max_new_tokens", read_max_tokens, 0, 0},
    {"min_new_tokens", read_neutral, 0, 0},
    {"no_stop_trim", read_neutral, 0, 0},
    {"stream_interval", read_ignored, 0, 0},
    {NULL, NULL, 0, 0},
};

static bool read_sampling(struct request_build *b, const json_t *v,
                          const struct request_key *k)
{
    (void)k;
    if (!json_is_object(v)) /* one a prompt: not carried */
        return false;
    request_read(b, v, sampling_keys, "sampling_params.");
    return true;
}

static const struct request_key keys[] = {
    {"text", read_prompts, 0, 0},
    {"input_ids", read_prompts, 0, 0},
    {"sampling_params", read_sampling, 0, 0},
    {"model", read_text, MEMBER(model), 0},
    {"stream", read_flag, MEMBER(streamed), 0},
    {"return_logprob", read_flag, MEMBER(logprobs), 0},
    {"top_logprobs_num", read_count, MEMBER(top_logprobs), 0},
    {"logprob_start_len", read_ignored, 0, 0},
    {"return_text_in_logprobs", read_ignored, 0, 0},
    {"return_hidden_states", read_ignored, 0, 0},
    {"log_metrics", read_ignored, 0, 0},
    {"rid", read_ignored, 0, 0},
    {"priority", read_ignored, 0, 0},
    {NULL, NULL, 0, 0},
};

/* Appends the list, or puts it in place of all if it starts from the first
 * token; tokens that were there keep their event. */
static void merge(struct answer_build *b, struct tokens *t, struct tokens more,
                  uint64_t total)
{
    bool whole = more.n == total && more.n >= t->n;

    for (size_t i = 0; i < more.n; i++) {
        if (whole && i < t->n) {
            more.p[i].event = t->p[i].event;
            t->p[i] = more.p[i];
        } else {
            tokens_push(b->m, t, &more.p[i]);
        }
    }
}

static void merge_text(struct answer_build *b, struct text *t, struct span more)
{
    if (more.n >= t->n && (t->n == 0 || memcmp(more.p, t->p, t->n) == 0))
        t->n = 0;
    text_add(b->m, t, more);
}

/* The tokens of one result: ids, and logprobs where they were asked for. */
static struct tokens read_tokens(struct answer_build *b, const json_t *root,
                                 const json_t *meta)
{
    struct tokens listed = {0}, ids = {0};
    struct choice_build joined = {0};

    tokens_read_triples(b, &listed, json_member(meta, "output_token_logprobs"),
                        json_member(meta, "output_top_logprobs"));
    tokens_read_ids(b, &ids, json_member(root, "output_ids"));
    if (listed.n <= ids.n)
        choice_add(b, &joined, listed, ids);
    else
        choice_add(b, &joined, listed, (struct tokens){0});
    return joined.tokens;
}

static void read_result(struct answer_build *b, const json_t *root, json_t *at)
{
    const json_t *meta = json_member(root, "meta_info");
    struct choice_build *c = answer_choice(b, at);
    const json_t *finish = json_member(meta, "finish_reason");
    struct tokens prompt = {0};
    uint64_t total = UINT64_MAX;

    if (c == NULL)
        return;
    if (meta == NULL)
        answer_bad(b, "result has no meta_info");
    answer_names(b, meta);
    (void)json_count(json_object_get(meta, "completion_tokens"), &total);
    merge_text(b, &c->text, json_text(json_member(root, "text")));
    merge(b, &c->tokens, read_tokens(b, root, meta), total);
    tokens_read_triples(b, &prompt, json_member(meta, "input_token_logprobs"),
                        json_member(meta, "input_top_logprobs"));
    choice_prompt(c, prompt);
    if (json_member(finish, "type") != NULL)
        c->finish = json_member_text(b->m, finish, "type");
}

/* A list's counts add up; those of one result's events replace each other. */
static void read_counts(struct answer_build *b, const json_t *root)
{
    struct api_answer before = *b->answer, *a = b->answer;

    answer_usage(b, json_member(root, "meta_info"));
    a->tokens_in += before.tokens_in;
    a->tokens_out += before.tokens_out;
}

static void read_answer(struct answer_build *b, const json_t *root)
{
    for (size_t i = 0; i < json_array_size(root); i++) {
        json_t *at = json_integer((json_int_t)i);

        read_result(b, json_array_get(root, i), at);
        read_counts(b, json_array_get(root, i));
        json_decref(at);
    }
    if (json_is_array(root))
        return;
    read_result(b, root, NULL);
    read_counts(b, root);
}

static void read_event(struct answer_build *b, const json_t *root,
                       struct span name)
{
    json_t *index = json_member(root, "index");

    (void)name;
    read_result(b, root, index);
    if (index == NULL)
        answer_usage(b, json_member(root, "meta_info"));
}

const struct dialect sglang_generate = {
    "sglang.generate", targets, false, keys, read_answer, read_event,
};
