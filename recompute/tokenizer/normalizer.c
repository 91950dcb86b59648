/*
 * normalizer.c - what a tokenizer.json does to a text before anything else:
 * normalizer.h.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "tokenizer/normalizer.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "recompute/error.h"
#include "tokenizer/pattern/form.h"
#include "tokenizer/pattern/pattern.h"

enum { STEPS_MAX = 64 };

int replace_all(const struct pattern *p, struct span text, struct span content,
                struct buffer *out)
{
    struct pattern_walk w;
    size_t done = 0, start, end;

    pattern_start(p, text, &w);
    while (pattern_next(&w, &start, &end)) {
        buffer_add(out, span_of(text.p + done, start - done));
        buffer_add(out, content);
        done = end;
    }
    buffer_add(out, span_of(text.p + done, text.n - done));
    return pattern_end(&w);
}

static int keep(struct normalizer_step *s, struct span content)
{
    s->content = malloc(content.n + 1);
    if (s->content == NULL)
        return -ENOMEM;
    memcpy(s->content, content.p, content.n);
    s->n_content = content.n;
    return 0;
}

static int read_prepend(const json_t *v, struct normalizer_step *s,
                        struct error *w)
{
    static const char *const keys[] = {"type", "prepend", NULL};
    struct span content;
    const struct form f = {v, "normalizer Prepend", w};
    int err = form_keys(&f, keys);

    if (err == 0)
        err = form_text(&f, "prepend", &content);
    return err != 0 ? err : keep(s, content);
}

static int read_replace(const json_t *v, struct normalizer_step *s,
                        struct error *w)
{
    static const char *const keys[] = {"type", "pattern", "content", NULL};
    struct span content;
    const struct form f = {v, "normalizer Replace", w};
    int err = form_keys(&f, keys);

    if (err == 0)
        err = form_text(&f, "content", &content);
    if (err == 0)
        err = keep(s, content);
    if (err == 0)
        err = pattern_read(json_object_get(v, "pattern"), "normalizer Replace",
                           &s->replaced, w);
    return err;
}

static int read_step(const json_t *v, struct normalizer *n, struct error *w)
{
    const char *type = form_type(v);

    if (n->n == STEPS_MAX)
        return error_refuse(w, "normalizer: more than %d steps", STEPS_MAX);
    if (strcmp(type, "Prepend") == 0)
        return read_prepend(v, &n->steps[n->n++], w);
    if (strcmp(type, "Replace") == 0)
        return read_replace(v, &n->steps[n->n++], w);
    return error_refuse(w, "normalizer \"%.40s\" is not supported", type);
}

static int read_sequence(const json_t *v, struct normalizer *n, struct error *w)
{
    static const char *const keys[] = {"type", "normalizers", NULL};
    const json_t *list = json_object_get(v, "normalizers");
    const struct form f = {v, "normalizer Sequence", w};
    int err = form_keys(&f, keys);

    if (err == 0 && !json_is_array(list))
        err = error_refuse(w, "normalizer Sequence has no list");
    for (size_t i = 0; err == 0 && i < json_array_size(list); i++)
        err = read_step(json_array_get(list, i), n, w);
    return err;
}

int normalizer_init(const json_t *v, struct normalizer *ret_n, struct error *w)
{
    *ret_n = (struct normalizer){0};
    if (v == NULL || json_is_null(v))
        return 0;
    ret_n->steps = calloc(STEPS_MAX, sizeof *ret_n->steps);
    if (ret_n->steps == NULL)
        return -ENOMEM;
    if (strcmp(form_type(v), "Sequence") == 0)
        return read_sequence(v, ret_n, w);
    return read_step(v, ret_n, w);
}

void normalizer_fini(struct normalizer *n)
{
    for (size_t i = 0; i < n->n; i++) {
        pattern_close(n->steps[i].replaced);
        free(n->steps[i].content);
    }
    free(n->steps);
}

static int apply(const struct normalizer_step *s, struct buffer *text)
{
    struct span in = span_of(text->p, text->n);
    struct span content = span_of(s->content, s->n_content);
    struct buffer out = {0};
    int err = 0;

    if (text->n == 0)
        return 0;
    if (s->replaced != NULL) {
        err = replace_all(s->replaced, in, content, &out);
    } else {
        buffer_add(&out, content);
        buffer_add(&out, in);
    }
    if (out.failed)
        err = -ENOMEM;
    buffer_fini(text);
    *text = out;
    return err;
}

int normalizer_apply(const struct normalizer *n, struct buffer *text)
{
    int err = 0;

    for (size_t i = 0; err == 0 && i < n->n; i++)
        err = apply(&n->steps[i], text);
    return err;
}
