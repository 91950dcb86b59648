/*
 * added.c - finding added tokens in a text: added.h.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "tokenizer/added.h"

#include <stdlib.h>

#include "tokenizer/pattern/pattern.h"

void added_fini(struct added *a)
{
    for (size_t i = 0; i < a->n; i++) {
        free(a->tokens[i].content);
        free(a->tokens[i].sought);
    }
    free(a->tokens);
    free(a->raw.v);
    free(a->normal.v);
    pattern_close(a->word_first);
    pattern_close(a->word_last);
    pattern_close(a->space_first);
    pattern_close(a->space_last);
}

/* The first token in v[low..high) whose byte at depth is at least c. */
static size_t lower(const struct added_set *s, size_t low, size_t high,
                    size_t depth, unsigned c)
{
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        const struct added_token *t = s->v[middle];

        if (t->n_sought <= depth || t->sought[depth] < c)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* The longest token of the set at the start of text, or NULL. The tokens that
 * share the first `depth` bytes are a range of the sorted set. */
static const struct added_token *longest(const struct added_set *s,
                                         struct span text)
{
    const struct added_token *found = NULL;
    size_t low = 0, high = s->n;

    for (size_t depth = 0; depth < text.n && low < high; depth++) {
        low = lower(s, low, high, depth, text.p[depth]);
        high = lower(s, low, high, depth, text.p[depth] + 1u);
        if (low < high && s->v[low]->n_sought == depth + 1)
            found = s->v[low];
    }
    return found;
}

/* The first match of p in text: its end, or 0. */
static size_t match_end(const struct pattern *p, struct span text, int *err)
{
    struct pattern_walk w;
    size_t start, end = 0;
    int walk;

    pattern_start(p, text, &w);
    if (!pattern_next(&w, &start, &end))
        end = 0;
    walk = pattern_end(&w);
    if (*err == 0)
        *err = walk;
    return end;
}

/* The last character of text[..end), which is whole UTF-8. */
static struct span last_character(struct span text, size_t end)
{
    size_t start = end;

    while (start > 0 && (text.p[--start] & 0xc0) == 0x80)
        continue;
    return span_of(text.p + start, end - start);
}

static struct span tail(struct span text, size_t from)
{
    return span_of(text.p + from, text.n - from);
}

/* Where the white space before end starts, but not before least. */
static size_t space_start(const struct added *a, struct span text, size_t end,
                          size_t least, int *err)
{
    while (end > least) {
        struct span c = last_character(text, end);

        if (match_end(a->space_last, c, err) == 0)
            break;
        end -= c.n;
    }
    return end;
}

static bool single(const struct added *a, struct span text, size_t start,
                   size_t end, int *err)
{
    struct span before = last_character(text, start);

    if (before.n != 0 && match_end(a->word_last, before, err) != 0)
        return false;
    return match_end(a->word_first, tail(text, end), err) == 0;
}

int added_cut(const struct added *a, const struct added_set *set,
              struct span text, bool first, struct pieces *out)
{
    size_t done = 0, next;
    int err = 0;

    for (size_t i = 0; err == 0 && i < text.n && set->n != 0; i = next) {
        const struct added_token *t = longest(set, tail(text, i));
        size_t start = i, end;

        next = i + 1;
        if (t == NULL)
            continue;
        next = end = i + t->n_sought;
        if (t->single_word && !single(a, text, start, end, &err))
            continue;
        if (t->lstrip)
            start = space_start(a, text, start, done, &err);
        if (t->rstrip)
            end += match_end(a->space_first, tail(text, end), &err);
        if (start > done)
            pieces_add(out, span_of(text.p + done, start - done),
                       first && done == 0);
        pieces_add_token(out, t->id);
        done = end;
    }
    if (done < text.n)
        pieces_add(out, tail(text, done), first && done == 0);
    return err;
}
