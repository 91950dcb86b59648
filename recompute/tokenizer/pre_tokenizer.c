/*
 * pre_tokenizer.c - cutting a text into words, step by step: pre_tokenizer.h.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "tokenizer/pre_tokenizer.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "tokenizer/byte_alphabet.h"
#include "tokenizer/normalizer.h"
#include "tokenizer/pattern/pattern.h"

/* Parts of one piece, in order, matches and what lies between them. */
struct part {
    size_t start, end;
    bool match;
};

struct parts {
    struct part *v;
    size_t n, room;
};

static int add_part(struct parts *p, size_t start, size_t end, bool match)
{
    size_t room = p->room == 0 ? 64 : 2 * p->room;
    struct part *v;

    if (start == end)
        return 0;
    if (p->n == p->room) {
        v = realloc(p->v, room * sizeof *v);
        if (v == NULL)
            return -ENOMEM;
        p->v = v;
        p->room = room;
    }
    p->v[p->n++] = (struct part){start, end, match};
    return 0;
}

static int find_parts(const struct pre_tokenizer_step *s, struct span text,
                      struct parts *ret_p)
{
    struct pattern_walk w;
    size_t done = 0, start, end;
    int err = 0, walk;

    pattern_start(s->pattern, text, &w);
    while (err == 0 && pattern_next(&w, &start, &end)) {
        err = add_part(ret_p, done, start, s->invert);
        if (err == 0)
            err = add_part(ret_p, start, end, !s->invert);
        done = end;
    }
    walk = pattern_end(&w);
    if (err == 0)
        err = walk;
    return err != 0 ? err : add_part(ret_p, done, text.n, s->invert);
}

/* Whether part i belongs to the one before it. */
static bool joins(const struct parts *p, size_t i,
                  enum pre_tokenizer_behavior behavior)
{
    bool match = p->v[i].match, before = p->v[i - 1].match;

    switch (behavior) {
    case SPLIT_CONTIGUOUS:
        return match == before;
    case SPLIT_WITH_PREVIOUS:
        return match && !before;
    case SPLIT_WITH_NEXT:
        return before && !match;
    case SPLIT_REMOVED:
    case SPLIT_ISOLATED:
        break;
    }
    return false;
}

static void put_parts(const struct pre_tokenizer_step *s, const struct parts *p,
                      struct span text, bool first, struct pieces *out)
{
    size_t start;

    for (size_t i = 0, next; i < p->n; i = next) {
        start = p->v[i].start;
        for (next = i + 1; next < p->n && joins(p, next, s->behavior);)
            next++;
        if (s->behavior == SPLIT_REMOVED && p->v[i].match)
            continue;
        pieces_add(out, span_of(text.p + start, p->v[next - 1].end - start),
                   first && start == 0);
    }
}

static bool starts_with(struct span text, struct span prefix)
{
    return text.n >= prefix.n && memcmp(text.p, prefix.p, prefix.n) == 0;
}

/* The steps that leave one piece one piece. */
static int rewrite(const struct pre_tokenizer_step *s, struct span text,
                   bool first, struct buffer *out)
{
    struct span mark = span_of(s->text, s->n_text);

    switch (s->kind) {
    case STEP_PREFIX:
        if (!starts_with(text, mark) && (first || !s->only_first))
            buffer_add(out, mark);
        buffer_add(out, text);
        return 0;
    case STEP_REPLACE:
        return replace_all(s->pattern, text, mark, out);
    case STEP_BYTES:
        byte_alphabet_write(text, out);
        return 0;
    case STEP_SPLIT:
        break;
    }
    return -EINVAL;
}

struct step_scratch {
    struct parts parts;
    struct buffer text;
};

static int step_piece(const struct pre_tokenizer_step *s, struct span text,
                      bool first, struct step_scratch *scratch,
                      struct pieces *out)
{
    int err;

    if (s->kind == STEP_SPLIT) {
        scratch->parts.n = 0;
        err = find_parts(s, text, &scratch->parts);
        if (err == 0)
            put_parts(s, &scratch->parts, text, first, out);
        return err;
    }
    scratch->text.n = 0;
    err = rewrite(s, text, first, &scratch->text);
    if (scratch->text.failed)
        err = -ENOMEM;
    if (err == 0)
        pieces_add(out, span_of(scratch->text.p, scratch->text.n), first);
    return err;
}

static int step_all(const struct pre_tokenizer_step *s, const struct pieces *in,
                    struct pieces *out)
{
    struct step_scratch scratch = {0};
    int err = 0;

    pieces_clear(out);
    for (size_t i = 0; err == 0 && i < in->n; i++) {
        if (in->v[i].token)
            pieces_add_token(out, in->v[i].id);
        else
            err = step_piece(s, pieces_text(in, i), in->v[i].first, &scratch,
                             out);
    }
    if (err == 0 && pieces_failed(out))
        err = -ENOMEM;
    free(scratch.parts.v);
    buffer_fini(&scratch.text);
    return err;
}

int pre_tokenizer_apply(const struct pre_tokenizer *s, struct pieces *pieces,
                        struct pieces *spare)
{
    struct pieces swap;
    int err = 0;

    for (size_t i = 0; err == 0 && i < s->n; i++) {
        err = step_all(&s->steps[i], pieces, spare);
        swap = *pieces;
        *pieces = *spare;
        *spare = swap;
    }
    return err;
}
