/*
 * template.c - chat messages to the prompt text: the table of known templates
 * and one renderer a kind. recompute/template.h is the interface.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "recompute/template.h"

#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "recompute/error.h"
#include "store/dialect.h"

enum { FILE_MAX = 16 << 20 };

struct template
{
    const char *name;
    const char *text; /* the Jinja source; NULL: not known by text */
    bool known, special;
    const char *system; /* of ChatML: put first if no system message is */
    void (*render)(const struct template *t, const struct api_message *m,
                   size_t n, FILE *out);
};

static void put(FILE *out, struct span s)
{
    (void)fwrite(s.p, 1, s.n, out); /* ferror is asked at the end */
}

static void put_turn(FILE *out, struct span role, struct span content)
{
    (void)fputs("<|im_start|>", out); /* as above, for all four */
    put(out, role);
    (void)fputs("\n", out);
    put(out, content);
    (void)fputs("<|im_end|>\n", out);
}

static void render_chatml(const struct template *t, const struct api_message *m,
                          size_t n, FILE *out)
{
    if (n > 0 && t->system != NULL && !span_eq_str(m[0].role, "system"))
        put_turn(out, span_str("system"), span_str(t->system));
    for (size_t i = 0; i < n; i++)
        put_turn(out, m[i].role, m[i].content);
    (void)fputs("<|im_start|>assistant\n", out); /* see put */
}

static void render_joined(const struct template *t, const struct api_message *m,
                          size_t n, FILE *out)
{
    (void)t; /* the rule for none has no parts */
    for (size_t i = 0; i < n; i++) {
        if (i != 0)
            put(out, span_str("\n"));
        put(out, m[i].content);
    }
}

/* In the sources a line feed stands as \n, as most files write it; a file with
 * the character itself, or with one line feed at its end, which Jinja drops,
 * is the same template. */
static const struct template table[] = {
    {"chatml",
     "{% for message in messages %}{{'<|im_start|>' + message['role'] + '\\n' "
     "+ message['content'] + '<|im_end|>' + '\\n'}}{% endfor %}"
     "{% if add_generation_prompt %}{{ '<|im_start|>assistant\\n' }}"
     "{% endif %}",
     true, false, NULL, render_chatml},
    {"chatml", /* as llama.cpp writes it */
     "{%- for message in messages -%}\\n  {{- '<|im_start|>' + message.role + "
     "'\\n' + message.content + '<|im_end|>\\n' -}}\\n{%- endfor -%}\\n"
     "{%- if add_generation_prompt -%}\\n  {{- '<|im_start|>assistant\\n' "
     "-}}\\n{%- endif -%}",
     true, false, NULL, render_chatml},
    {"smollm2",
     "{% for message in messages %}{% if loop.first and messages[0]['role'] "
     "!= 'system' %}{{ '<|im_start|>system\\nYou are a helpful AI assistant "
     "named SmolLM, trained by Hugging Face<|im_end|>\\n' }}{% endif %}"
     "{{'<|im_start|>' + message['role'] + '\\n' + message['content'] + "
     "'<|im_end|>' + '\\n'}}{% endfor %}{% if add_generation_prompt %}"
     "{{ '<|im_start|>assistant\\n' }}{% endif %}",
     true, false,
     "You are a helpful AI assistant named SmolLM, trained by Hugging Face",
     render_chatml},
};

static const struct template none = {"none", NULL, true,
                                     true,   NULL, render_joined};
static const struct template unknown = {"unknown", NULL, false,
                                        false,     NULL, NULL};

/* Whether text is the source, with \n and a line feed taken as the same. */
static bool same_source(struct span text, const char *source)
{
    size_t i = 0;

    while (i < text.n && *source != '\0') {
        if (source[0] == '\\' && source[1] == 'n' && text.p[i] == '\n')
            source++;
        else if ((char)text.p[i] != *source)
            return false;
        i++;
        source++;
    }
    if (i + 1 == text.n && text.p[i] == '\n')
        i++;
    return i == text.n && *source == '\0';
}

const struct template *template_find(struct span text)
{
    if (text.p == NULL)
        return &none;
    for (size_t i = 0; i < sizeof table / sizeof *table; i++)
        if (same_source(text, table[i].text))
            return &table[i];
    return &unknown;
}

/* The text at chat_template, or of its list the one named "default". */
static const struct template *find_in_config(const json_t *root)
{
    const json_t *v = json_object_get(root, "chat_template");

    if (v == NULL || json_is_null(v))
        return &none;
    for (size_t i = 0; json_is_array(v) && i < json_array_size(v); i++) {
        const json_t *row = json_array_get(v, i);
        const char *name = json_string_value(json_object_get(row, "name"));

        if (name != NULL && strcmp(name, "default") == 0)
            v = json_object_get(row, "template");
    }
    if (!json_is_string(v))
        return &unknown;
    return template_find(span_of(json_string_value(v), json_string_length(v)));
}

static int open_config(const char *dir, const struct template **ret_t,
                       struct error *w)
{
    uint8_t *bytes = NULL;
    json_t *root;
    size_t n;
    int err = file_read(dir, "tokenizer_config.json", FILE_MAX, &bytes, &n);

    *ret_t = &none;
    if (err == -ENOENT)
        return 0;
    if (err != 0)
        return err;
    root = json_loadb((const char *)bytes, n, JSON_ALLOW_NUL, NULL);
    free(bytes);
    if (!json_is_object(root))
        err = error_refuse(w, "tokenizer_config.json is not a JSON object");
    else
        *ret_t = find_in_config(root);
    json_decref(root);
    return err;
}

int template_open(const char *dir, const struct template **ret_t,
                  struct error *ret_error)
{
    uint8_t *bytes = NULL;
    size_t n;
    int err = file_read(dir, "chat_template.jinja", FILE_MAX, &bytes, &n);

    if (err == -ENOENT)
        return open_config(dir, ret_t, ret_error);
    if (err == 0)
        *ret_t = template_find(span_of(bytes, n));
    free(bytes);
    return err;
}

bool template_special(const struct template *t)
{
    return t->special;
}

const char *template_name(const struct template *t)
{
    return t->name;
}

int template_render(const struct template *t,
                    const struct api_message *messages, size_t n,
                    char **ret_text, size_t *ret_n)
{
    char *text = NULL;
    size_t len;
    bool bad;
    FILE *out;

    if (!t->known)
        return -ENOTSUP;
    out = open_memstream(&text, &len);
    if (out == NULL)
        return -ENOMEM;
    t->render(t, messages, n, out);
    bad = ferror(out) != 0;
    if (fclose(out) != 0 || bad) {
        free(text);
        return -ENOMEM;
    }
    *ret_text = text;
    *ret_n = len;
    return 0;
}
