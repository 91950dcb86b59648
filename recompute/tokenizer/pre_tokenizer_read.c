/*
 * pre_tokenizer_read.c - reading a tokenizer.json's pre_tokenizer into steps.
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "recompute/error.h"
#include "tokenizer/pattern/form.h"
#include "tokenizer/pattern/pattern.h"
#include "tokenizer/pattern/unicode.h"
#include "tokenizer/pre_tokenizer.h"

enum { STEPS_MAX = 64 };

/* GPT-2's words (Radford et al. 2019, as in tokenizers' ByteLevel). */
static const char gpt2_words[] = "'s|'t|'re|'ve|'m|'ll|'d| ?\\p{L}+| ?\\p{N}+"
                                 "| ?[^\\s\\p{L}\\p{N}]+|\\s+(?!\\S)|\\s+";

static int add(struct pre_tokenizer *s, struct pre_tokenizer_step step,
               struct error *w)
{
    if (s->ended || s->n == STEPS_MAX) {
        pattern_close(step.pattern);
        return error_refuse(w, s->ended
                                   ? "pre_tokenizer: a step after ByteLevel"
                                   : "pre_tokenizer: too many steps");
    }
    s->steps[s->n++] = step;
    s->ended = step.kind == STEP_BYTES;
    s->needs_plain_start = s->needs_plain_start || step.only_first;
    return 0;
}

static int read_behavior(const json_t *v, enum pre_tokenizer_behavior *ret_b,
                         struct error *w)
{
    static const char *const names[] = {[SPLIT_REMOVED] = "Removed",
                                        [SPLIT_ISOLATED] = "Isolated",
                                        [SPLIT_WITH_PREVIOUS] =
                                            "MergedWithPrevious",
                                        [SPLIT_WITH_NEXT] = "MergedWithNext",
                                        [SPLIT_CONTIGUOUS] = "Contiguous"};
    const char *name = json_string_value(json_object_get(v, "behavior"));

    for (size_t i = 0; name != NULL && i < sizeof names / sizeof *names; i++)
        if (strcmp(name, names[i]) == 0) {
            *ret_b = (enum pre_tokenizer_behavior)i;
            return 0;
        }
    return error_refuse(w, "pre_tokenizer Split has no known behavior");
}

static int read_split(const json_t *v, struct pre_tokenizer *s, struct error *w)
{
    static const char *const keys[] = {"type", "pattern", "behavior", "invert",
                                       NULL};
    struct pre_tokenizer_step step = {.kind = STEP_SPLIT};
    const struct form f = {v, "pre_tokenizer Split", w};
    int err = form_keys(&f, keys);

    if (err == 0)
        err = read_behavior(v, &step.behavior, w);
    if (err == 0)
        err = form_bool(&f, "invert", false, &step.invert);
    if (err == 0)
        err = pattern_read(json_object_get(v, "pattern"), "pre_tokenizer Split",
                           &step.pattern, w);
    return err != 0 ? err : add(s, step, w);
}

static int read_digits(const json_t *v, struct pre_tokenizer *s,
                       struct error *w)
{
    static const char *const keys[] = {"type", "individual_digits", NULL};
    struct pre_tokenizer_step step = {.kind = STEP_SPLIT};
    bool individual;
    const struct form f = {v, "pre_tokenizer Digits", w};
    int err = form_keys(&f, keys);

    if (err == 0)
        err = form_bool(&f, "individual_digits", false, &individual);
    if (err != 0)
        return err;
    step.behavior = individual ? SPLIT_ISOLATED : SPLIT_CONTIGUOUS;
    err = pattern_foreign(span_str("\\p{N}"), "pre_tokenizer Digits",
                          &step.pattern, w);
    return err != 0 ? err : add(s, step, w);
}

static struct pre_tokenizer_step prefix(struct span text, bool only_first)
{
    struct pre_tokenizer_step step = {
        .kind = STEP_PREFIX, .only_first = only_first, .n_text = text.n};

    memcpy(step.text, text.p, text.n);
    return step;
}

static int read_byte_level(const json_t *v, struct pre_tokenizer *s,
                           struct error *w)
{
    static const char *const keys[] = {"type", "add_prefix_space",
                                       "trim_offsets", "use_regex", NULL};
    struct pre_tokenizer_step words = {.kind = STEP_SPLIT,
                                       .behavior = SPLIT_ISOLATED};
    bool space, regex;
    const struct form f = {v, "pre_tokenizer ByteLevel", w};
    int err = form_keys(&f, keys);

    if (err == 0)
        err = form_bool(&f, "add_prefix_space", true, &space);
    if (err == 0)
        err = form_bool(&f, "use_regex", true, &regex);
    if (err == 0 && space)
        err = add(s, prefix(span_str(" "), false), w);
    if (err == 0 && regex) {
        err = pattern_foreign(span_str(gpt2_words), "pre_tokenizer ByteLevel",
                              &words.pattern, w);
        if (err == 0)
            err = add(s, words, w);
    }
    if (err == 0)
        err = add(s, (struct pre_tokenizer_step){.kind = STEP_BYTES}, w);
    return err;
}

/* The old form says add_prefix_space, the new one prepend_scheme. */
static int read_scheme(const json_t *v, bool *ret_prefix, bool *ret_first,
                       struct error *w)
{
    const char *name = json_string_value(json_object_get(v, "prepend_scheme"));
    const struct form f = {v, "pre_tokenizer Metaspace", w};
    int err = form_bool(&f, "add_prefix_space", true, ret_prefix);

    *ret_first = false;
    if (err != 0 || name == NULL)
        return err;
    if (strcmp(name, "never") == 0)
        *ret_prefix = false;
    else if (strcmp(name, "first") == 0)
        *ret_first = true;
    else if (strcmp(name, "always") != 0)
        return error_refuse(w, "Metaspace.prepend_scheme is not known");
    return *ret_prefix || strcmp(name, "never") == 0
               ? 0
               : error_refuse(w, "Metaspace says both ways about its prefix");
}

static int read_metaspace(const json_t *v, struct pre_tokenizer *s,
                          struct error *w)
{
    static const char *const keys[] = {
        "type",  "replacement",    "str_rep", "add_prefix_space",
        "split", "prepend_scheme", NULL};
    struct pre_tokenizer_step replace = {.kind = STEP_REPLACE};
    struct pre_tokenizer_step split = {.kind = STEP_SPLIT,
                                       .behavior = SPLIT_WITH_NEXT};
    struct span mark;
    bool before, first, cut;
    const struct form f = {v, "pre_tokenizer Metaspace", w};
    int err = form_keys(&f, keys);

    if (err == 0)
        err = form_character(&f, "replacement", &mark);
    if (err == 0)
        err = read_scheme(v, &before, &first, w);
    if (err == 0)
        err = form_bool(&f, "split", true, &cut);
    if (err != 0)
        return err;
    replace.n_text = mark.n;
    memcpy(replace.text, mark.p, mark.n);
    err = pattern_literal(span_str(" "), &replace.pattern, w);
    if (err == 0)
        err = add(s, replace, w);
    if (err == 0 && before)
        err = add(s, prefix(mark, first), w);
    if (err == 0 && cut) {
        err = pattern_literal(mark, &split.pattern, w);
        if (err == 0)
            err = add(s, split, w);
    }
    return err;
}

static int read_one(const json_t *v, struct pre_tokenizer *s, struct error *w)
{
    static const struct {
        const char *type;
        int (*read)(const json_t *, struct pre_tokenizer *, struct error *);
    } types[] = {
        {"Split", read_split},
        {"Digits", read_digits},
        {"ByteLevel", read_byte_level},
        {"Metaspace", read_metaspace},
    };

    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (strcmp(form_type(v), types[i].type) == 0)
            return types[i].read(v, s, w);
    return error_refuse(w, "pre_tokenizer \"%.40s\" is not supported",
                        form_type(v));
}

int pre_tokenizer_init(const json_t *v, struct pre_tokenizer *ret_s,
                       struct error *w)
{
    static const char *const keys[] = {"type", "pretokenizers", NULL};
    const json_t *list = json_object_get(v, "pretokenizers");
    int err;
    const struct form f = {v, "pre_tokenizer Sequence", w};

    *ret_s = (struct pre_tokenizer){0};
    if (v == NULL || json_is_null(v))
        return 0;
    ret_s->steps = calloc(STEPS_MAX, sizeof *ret_s->steps);
    if (ret_s->steps == NULL)
        return -ENOMEM;
    if (strcmp(form_type(v), "Sequence") != 0)
        return read_one(v, ret_s, w);
    err = form_keys(&f, keys);
    if (err == 0 && !json_is_array(list))
        err = error_refuse(w, "pre_tokenizer Sequence has no list");
    for (size_t i = 0; err == 0 && i < json_array_size(list); i++)
        err = read_one(json_array_get(list, i), ret_s, w);
    return err;
}

void pre_tokenizer_fini(struct pre_tokenizer *s)
{
    for (size_t i = 0; i < s->n; i++)
        pattern_close(s->steps[i].pattern);
    free(s->steps);
}
