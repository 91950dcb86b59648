/*
 * facts.c - the few keys under which all APIs keep model, id and counts.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "dialect/facts.h"

#include <string.h>

#include "dialect/skim.h"

/* Elements of a list of texts or of lists of ids; 0: it is one prompt. */
static uint64_t count_prompts(struct span value)
{
    struct skim s = skim_of(value);
    struct span key, element;
    uint64_t n = 0;

    while (!s.object && skim_next(&s, &key, &element)) {
        if (element.p[0] != '"' && element.p[0] != '[')
            return 0;
        n++;
    }
    return n;
}

/* How many answers are asked for, if this member says so. */
static void add_choices_asked(struct facts *f, struct span key,
                              struct span value)
{
    if (span_eq_str(key, "n") || span_eq_str(key, "n_cmpl"))
        (void)skim_whole(value, &f->n);
    else if (span_eq_str(key, "sampling_params"))
        (void)skim_whole(skim_member(value, "n"), &f->n);
    else if (value.p[0] == '[' &&
             (span_eq_str(key, "prompt") || span_eq_str(key, "text") ||
              span_eq_str(key, "input_ids")))
        f->prompts = count_prompts(value);
}

uint64_t facts_choices(const struct facts *f)
{
    uint64_t n;

    if (__builtin_mul_overflow(f->n == 0 ? 1 : f->n,
                               f->prompts == 0 ? 1 : f->prompts, &n) ||
        n > UINT32_MAX)
        return UINT32_MAX;
    return n;
}

static void set_name(char *out, size_t size, struct span value)
{
    struct span text;

    if (!skim_string(value, &text))
        return;
    text.n = text.n < size ? text.n : size - 1;
    memcpy(out, text.p, text.n);
    out[text.n] = '\0';
}

bool facts_request(struct facts *f, struct span req)
{
    struct skim s = skim_of(req);
    struct span key, value;

    while (s.object && skim_next(&s, &key, &value)) {
        if (span_eq_str(key, "model"))
            set_name(f->model, sizeof f->model, value);
        else if (span_eq_str(key, "stream"))
            f->streamed = span_eq_str(value, "true");
        else if (span_eq_str(key, "echo"))
            f->echo = span_eq_str(value, "true");
        else
            add_choices_asked(f, key, value);
    }
    return s.object && !s.bad;
}

/* OpenAI's and Anthropic's names; Anthropic counts cached tokens beside. */
static void add_usage(struct facts *f, struct span usage)
{
    struct skim s = skim_of(usage);
    struct span key, value;
    uint64_t n, in = 0, cached = 0;
    bool has_in = false;

    while (s.object && skim_next(&s, &key, &value)) {
        if (!skim_whole(value, &n))
            continue;
        if (span_eq_str(key, "prompt_tokens") ||
            span_eq_str(key, "input_tokens")) {
            in = n;
            has_in = true;
        } else if (span_eq_str(key, "completion_tokens") ||
                   span_eq_str(key, "output_tokens")) {
            f->out = n;
            f->has_out = true;
        } else if (span_eq_str(key, "cache_read_input_tokens") ||
                   span_eq_str(key, "cache_creation_input_tokens")) {
            cached += n;
        }
    }
    if (has_in) {
        f->in = in + cached;
        f->has_in = true;
    }
}

/* llama.cpp: the prompt is what was computed and what its cache had. Usage,
 * where it is told as well, is the better source. */
static void add_timings(struct facts *f, struct span timings)
{
    uint64_t computed, cached = 0, out;

    f->one_answer = true;
    if (f->has_in || !skim_whole(skim_member(timings, "prompt_n"), &computed) ||
        !skim_whole(skim_member(timings, "predicted_n"), &out))
        return;
    (void)skim_whole(skim_member(timings, "cache_n"), &cached);
    f->in = computed + cached;
    f->out = out;
    f->has_in = f->has_out = true;
}

/* SGLang names the token that ended an answer without listing it when the
 * event has no logprobs of its own. */
static void add_choices(struct facts *f, struct span choices)
{
    struct skim s = skim_of(choices);
    struct span key, choice, logprobs;
    uint64_t id;

    while (skim_next(&s, &key, &choice)) {
        struct span ids = skim_member(choice, "prompt_token_ids");

        logprobs = skim_member(choice, "logprobs");
        f->prompt_ids += skim_count(ids);
        if (skim_whole(skim_member(choice, "matched_stop"), &id) &&
            span_eq_str(logprobs, "null"))
            f->unlisted++;
    }
}

static bool add_object(struct facts *f, struct span object, bool outer);

/* Members that are objects or arrays. */
static void add_container(struct facts *f, struct span key, struct span value,
                          bool outer)
{
    if (span_eq_str(key, "usage")) {
        add_usage(f, value);
    } else if (span_eq_str(key, "timings")) {
        add_timings(f, value);
    } else if (span_eq_str(key, "meta_info")) {
        add_usage(f, value);
        set_name(f->id, sizeof f->id, skim_member(value, "id"));
    } else if (span_eq_str(key, "choices")) {
        add_choices(f, value);
    } else if (span_eq_str(key, "prompt_token_ids")) {
        f->prompt_ids += skim_count(value);
    } else if (span_eq_str(key, "error") || span_eq_str(key, "detail")) {
        f->failed = true;
    } else if (outer &&
               (span_eq_str(key, "message") || span_eq_str(key, "response"))) {
        (void)add_object(f, value, false); /* it was skipped as a whole */
    }
}

static void add_scalar(struct facts *f, struct span key, struct span value)
{
    if (span_eq_str(key, "model")) {
        set_name(f->model, sizeof f->model, value);
    } else if (span_eq_str(key, "id") || span_eq_str(key, "request_id")) {
        set_name(f->id, sizeof f->id, value);
    } else if (span_eq_str(key, "error") || span_eq_str(key, "detail")) {
        f->failed = f->failed || value.p[0] == '"';
    } else if (span_eq_str(key, "object")) {
        f->failed = f->failed || span_eq_str(value, "\"error\"");
    } else if (span_eq_str(key, "tokens_evaluated")) {
        f->has_in = skim_whole(value, &f->in) || f->has_in;
    } else if (span_eq_str(key, "tokens_predicted")) {
        f->has_out = skim_whole(value, &f->out) || f->has_out;
    }
}

/* Nesting is followed one level down and no deeper. false: not JSON. */
static bool add_object(struct facts *f, struct span object, bool outer)
{
    struct skim s = skim_of(object);
    struct span key, value;
    bool indexed = false, meta = false;

    while (s.object && skim_next(&s, &key, &value)) {
        indexed = indexed || span_eq_str(key, "index");
        meta = meta || span_eq_str(key, "meta_info");
        if (value.p[0] == '{' || value.p[0] == '[')
            add_container(f, key, value, outer);
        else
            add_scalar(f, key, value);
    }
    f->one_answer = f->one_answer || (indexed && meta);
    return !s.bad;
}

static bool add_list(struct facts *f, struct span list)
{
    struct skim s = skim_of(list);
    struct span key, value;
    struct facts sum = *f;

    sum.one_answer = false;
    while (skim_next(&s, &key, &value)) {
        struct facts one = {.model = ""};

        (void)add_object(&one, value, true); /* no object has no facts */
        sum.in += one.in;
        sum.out += one.out;
        sum.failed = sum.failed || one.failed;
        sum.has_in = one.has_in;
        sum.has_out = one.has_out;
        if (sum.id[0] == '\0')
            memcpy(sum.id, one.id, sizeof sum.id);
        if (one.model[0] != '\0')
            memcpy(sum.model, one.model, sizeof sum.model);
    }
    *f = sum;
    return !s.bad;
}

bool facts_add(struct facts *f, struct span message)
{
    struct skim s = skim_of(message);

    if (s.bad)
        return false;
    if (!s.object)
        return add_list(f, message);
    return add_object(f, message, true);
}

bool facts_are_partial(const struct facts *f)
{
    return f->one_answer && facts_choices(f) > 1;
}

static bool has_text(struct span object, const char *key)
{
    struct span text;

    return skim_string(skim_member(object, key), &text) && text.n != 0;
}

/* Text or tokens of an event of any API, in the objects where they stand. */
bool facts_event_has_token(struct span event)
{
    struct span choices = skim_member(event, "choices");
    struct span delta = skim_member(event, "delta"), key, text;
    struct skim s = skim_of(choices);

    if (has_text(event, "content") || has_text(event, "text") ||
        skim_string(delta, &text) || has_text(delta, "text"))
        return true;
    while (choices.n != 0 && skim_next(&s, &key, &choices)) {
        struct span logprobs = skim_member(choices, "logprobs");

        delta = skim_member(choices, "delta");
        if (has_text(choices, "text") || has_text(delta, "content") ||
            has_text(delta, "reasoning_content") ||
            (logprobs.n != 0 && logprobs.p[0] == '{') ||
            skim_count(skim_member(choices, "token_ids")) != 0)
            return true;
    }
    return false;
}

/* Sums over all members of this name that are arrays: the elements of a flat
 * one, or one each. */
static uint64_t sum_of(struct span body, const char *quoted, bool elements)
{
    const uint8_t *p = body.p, *end = p + body.n;
    size_t n = strlen(quoted);
    uint64_t sum = 0;

    while ((p = memmem(p, (size_t)(end - p), quoted, n)) != NULL) {
        const uint8_t *v = p + n;

        while (v < end && (*v == ' ' || *v == ':'))
            v++;
        if (v == p + n || v == end) { /* no key */
            p += n;
            continue;
        }
        sum += elements ? skim_count(span_of(v, (size_t)(end - v))) : *v == '[';
        p = v;
    }
    return sum;
}

uint64_t facts_listed_tokens(struct span body, enum listing form)
{
    switch (form) {
    case LIST_IDS:
        return sum_of(body, "\"token_ids\"", true);
    case LIST_LOGPROBS:
        return sum_of(body, "\"token_logprobs\"", true);
    case LIST_TOPS:
        return sum_of(body, "\"top_logprobs\"", false);
    case LIST_NONE:
        break;
    }
    return 0;
}

enum listing facts_listing(struct span body, bool echo)
{
    enum listing last = echo ? LIST_IDS : LIST_TOPS;

    for (enum listing form = LIST_IDS; form <= last; form++)
        if (facts_listed_tokens(body, form) != 0)
            return form;
    return LIST_NONE;
}
