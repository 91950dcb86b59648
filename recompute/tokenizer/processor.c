/*
 * processor.c - the tokens put around the ids of one text: processor.h.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "tokenizer/processor.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "recompute/error.h"
#include "tokenizer/pattern/form.h"

static int add_id(const json_t *id, struct ids *ids, struct error *w)
{
    if (!json_is_integer(id) || json_integer_value(id) < 0 ||
        json_integer_value(id) > UINT32_MAX)
        return error_refuse(w, "post_processor: an id is not a number");
    ids_add(ids, (uint32_t)json_integer_value(id));
    return ids->failed ? -ENOMEM : 0;
}

/* The ids of a special token's name, from the template's own table. */
static int add_special(const json_t *table, const json_t *name, struct ids *ids,
                       struct error *w)
{
    const json_t *row, *list;
    int err = 0;

    if (!json_is_string(name))
        return error_refuse(w, "post_processor: a special token has no name");
    row = json_object_get(table, json_string_value(name));
    list = json_object_get(row, "ids");
    if (!json_is_array(list))
        return error_refuse(w, "post_processor: \"%.40s\" has no ids",
                            json_string_value(name));
    for (size_t i = 0; err == 0 && i < json_array_size(list); i++)
        err = add_id(json_array_get(list, i), ids, w);
    return err;
}

static int read_template(const json_t *v, struct processor *p, struct error *w)
{
    static const char *const keys[] = {"type", "single", "pair",
                                       "special_tokens", NULL};
    const json_t *single = json_object_get(v, "single");
    const json_t *table = json_object_get(v, "special_tokens");
    size_t texts = 0;
    const struct form f = {v, "post_processor TemplateProcessing", w};
    int err = form_keys(&f, keys);

    for (size_t i = 0; err == 0 && i < json_array_size(single); i++) {
        const json_t *part = json_array_get(single, i);
        const json_t *text = json_object_get(part, "Sequence");
        const json_t *special = json_object_get(part, "SpecialToken");
        const char *id = json_string_value(json_object_get(text, "id"));

        if (special != NULL)
            err = add_special(table, json_object_get(special, "id"),
                              texts == 0 ? &p->before : &p->after, w);
        else if (id != NULL && strcmp(id, "A") == 0)
            texts++;
        else
            err = error_refuse(w, "post_processor: a part is not known");
    }
    if (err == 0 && texts != 1)
        err = error_refuse(w, "post_processor: the text does not stand once");
    return err;
}

static int read_byte_level(const json_t *v, struct processor *p,
                           struct error *w)
{
    static const char *const keys[] = {"type", "add_prefix_space",
                                       "trim_offsets", "use_regex", NULL};
    const struct form f = {v, "post_processor ByteLevel", w};

    (void)p; /* it changes offsets only */
    return form_keys(&f, keys);
}

/* {"cls": [NAME, ID], "sep": [NAME, ID]}: cls before, sep after. */
static int read_bert(const json_t *v, struct processor *p, struct error *w)
{
    static const char *const keys[] = {
        "type", "sep", "cls", "trim_offsets", "add_prefix_space", NULL};
    const struct form f = {v, "post_processor", w};
    int err = form_keys(&f, keys);

    if (err == 0)
        err =
            add_id(json_array_get(json_object_get(v, "cls"), 1), &p->before, w);
    if (err == 0)
        err =
            add_id(json_array_get(json_object_get(v, "sep"), 1), &p->after, w);
    return err;
}

static int read_one(const json_t *v, struct processor *p, struct error *w)
{
    static const struct {
        const char *type;
        int (*read)(const json_t *, struct processor *, struct error *);
    } types[] = {
        {"TemplateProcessing", read_template},
        {"ByteLevel", read_byte_level},
        {"BertProcessing", read_bert},
        {"RobertaProcessing", read_bert},
    };

    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (strcmp(form_type(v), types[i].type) == 0)
            return types[i].read(v, p, w);
    return error_refuse(w, "post_processor \"%.40s\" is not supported",
                        form_type(v));
}

/* ByteLevel may stand beside one other; two that add tokens are refused. */
static int read_sequence(const json_t *v, struct processor *p, struct error *w)
{
    static const char *const keys[] = {"type", "processors", NULL};
    const json_t *list = json_object_get(v, "processors");
    const struct form f = {v, "post_processor Sequence", w};
    int err = form_keys(&f, keys);
    size_t adding = 0;

    if (err == 0 && !json_is_array(list))
        err = error_refuse(w, "post_processor Sequence has no list");
    for (size_t i = 0; err == 0 && i < json_array_size(list); i++) {
        const json_t *one = json_array_get(list, i);

        adding += strcmp(form_type(one), "ByteLevel") != 0;
        err = adding > 1 ? error_refuse(w, "post_processor: two add tokens")
                         : read_one(one, p, w);
    }
    return err;
}

int processor_init(const json_t *v, struct processor *ret_p, struct error *w)
{
    *ret_p = (struct processor){0};
    if (v == NULL || json_is_null(v))
        return 0;
    if (strcmp(form_type(v), "Sequence") == 0)
        return read_sequence(v, ret_p, w);
    return read_one(v, ret_p, w);
}

void processor_fini(struct processor *p)
{
    free(p->before.v);
    free(p->after.v);
}
