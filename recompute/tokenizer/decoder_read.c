/*
 * decoder_read.c - reading a tokenizer.json's decoder into steps: decoder.h.
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "recompute/error.h"
#include "tokenizer/decoder.h"
#include "tokenizer/pattern/form.h"
#include "tokenizer/pattern/pattern.h"

enum { STEPS_MAX = 64 };

static int keep(struct decoder_step *s, struct span content)
{
    s->content = malloc(content.n + 1);
    if (s->content == NULL)
        return -ENOMEM;
    memcpy(s->content, content.p, content.n);
    s->n_content = content.n;
    return 0;
}

static int read_replace(const json_t *v, struct decoder_step *s,
                        struct error *w)
{
    static const char *const keys[] = {"type", "pattern", "content", NULL};
    struct span content;
    const struct form f = {v, "decoder Replace", w};
    int err = form_keys(&f, keys);

    s->kind = DECODE_REPLACE;
    if (err == 0)
        err = form_text(&f, "content", &content);
    if (err == 0)
        err = keep(s, content);
    if (err == 0)
        err = pattern_read(json_object_get(v, "pattern"), "decoder Replace",
                           &s->pattern, w);
    return err;
}

static int read_plain(const json_t *v, struct decoder_step *s, struct error *w)
{
    static const char *const keys[] = {"type", NULL};
    const struct form f = {v, "decoder", w};

    s->kind =
        strcmp(form_type(v), "Fuse") == 0 ? DECODE_FUSE : DECODE_BYTE_FALLBACK;
    return form_keys(&f, keys);
}

static int read_strip(const json_t *v, struct decoder_step *s, struct error *w)
{
    static const char *const keys[] = {"type", "content", "start", "stop",
                                       NULL};
    struct span content;
    const struct form f = {v, "decoder Strip", w};
    int err = form_keys(&f, keys);

    s->kind = DECODE_STRIP;
    if (err == 0)
        err = form_character(&f, "content", &content);
    if (err == 0)
        err = form_number(&f, "start", 1 << 20, &s->start);
    if (err == 0)
        err = form_number(&f, "stop", 1 << 20, &s->stop);
    return err != 0 ? err : keep(s, content);
}

static int read_byte_level(const json_t *v, struct decoder_step *s,
                           struct error *w)
{
    static const char *const keys[] = {"type", "add_prefix_space",
                                       "trim_offsets", "use_regex", NULL};
    const struct form f = {v, "decoder ByteLevel", w};

    s->kind = DECODE_BYTE_LEVEL;
    return form_keys(&f, keys);
}

static int read_metaspace(const json_t *v, struct decoder_step *s,
                          struct error *w)
{
    static const char *const keys[] = {
        "type",  "replacement",    "str_rep", "add_prefix_space",
        "split", "prepend_scheme", NULL};
    const char *scheme =
        json_string_value(json_object_get(v, "prepend_scheme"));
    struct span mark;
    const struct form f = {v, "decoder Metaspace", w};
    int err = form_keys(&f, keys);

    s->kind = DECODE_METASPACE;
    if (err == 0)
        err = form_bool(&f, "add_prefix_space", true, &s->drop_first);
    if (err == 0)
        err = form_character(&f, "replacement", &mark);
    if (scheme != NULL)
        s->drop_first = strcmp(scheme, "never") != 0;
    return err != 0 ? err : keep(s, mark);
}

static int read_one(const json_t *v, struct decoder *d, struct error *w)
{
    static const struct {
        const char *type;
        int (*read)(const json_t *, struct decoder_step *, struct error *);
    } types[] = {
        {"Replace", read_replace},      {"ByteFallback", read_plain},
        {"Fuse", read_plain},           {"Strip", read_strip},
        {"ByteLevel", read_byte_level}, {"Metaspace", read_metaspace},
    };

    if (d->n == STEPS_MAX)
        return error_refuse(w, "decoder: more than %d steps", STEPS_MAX);
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (strcmp(form_type(v), types[i].type) == 0)
            return types[i].read(v, &d->steps[d->n++], w);
    return error_refuse(w, "decoder \"%.40s\" is not supported", form_type(v));
}

int decoder_init(const json_t *v, struct decoder *ret_d, struct error *w)
{
    static const char *const keys[] = {"type", "decoders", NULL};
    const json_t *list = json_object_get(v, "decoders");
    int err;
    const struct form f = {v, "decoder Sequence", w};

    *ret_d = (struct decoder){.none = v == NULL || json_is_null(v)};
    if (ret_d->none)
        return 0;
    ret_d->steps = calloc(STEPS_MAX, sizeof *ret_d->steps);
    if (ret_d->steps == NULL)
        return -ENOMEM;
    if (strcmp(form_type(v), "Sequence") != 0)
        return read_one(v, ret_d, w);
    err = form_keys(&f, keys);
    if (err == 0 && !json_is_array(list))
        err = error_refuse(w, "decoder Sequence has no list");
    for (size_t i = 0; err == 0 && i < json_array_size(list); i++)
        err = read_one(json_array_get(list, i), ret_d, w);
    return err;
}

void decoder_fini(struct decoder *d)
{
    for (size_t i = 0; i < d->n; i++) {
        pattern_close(d->steps[i].pattern);
        free(d->steps[i].content);
    }
    free(d->steps);
}
