/*
 * chat.c - chat messages to the prompt text: the table of templates that
 * llama-server renders and we know. chat.h is the interface.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "llama/chat.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "recompute/gguf.h"
#include "store/dialect.h"

struct llama_chat {
    const char *name;
    const char *text;   /* the Jinja source; NULL: not known by its text */
    const char *system; /* put first if the messages do not begin with one */
    bool known;
};

/* In the sources a line feed stands as \n; a file that has the character
 * itself there, or one more at its end, which Jinja drops, is the same. */
static const struct llama_chat table[] = {
    {"chatml",
     "{% for message in messages %}{{'<|im_start|>' + message['role'] + '\\n' "
     "+ message['content'] + '<|im_end|>' + '\\n'}}{% endfor %}"
     "{% if add_generation_prompt %}{{ '<|im_start|>assistant\\n' }}"
     "{% endif %}",
     NULL, true},
    {"chatml of the server",
     "{%- for message in messages -%}\\n  {{- '<|im_start|>' + message.role + "
     "'\\n' + message.content + '<|im_end|>\\n' -}}\\n{%- endfor -%}\\n"
     "{%- if add_generation_prompt -%}\\n  {{- '<|im_start|>assistant\\n' "
     "-}}\\n{%- endif -%}",
     NULL, true},
    {"smollm2",
     "{% for message in messages %}{% if loop.first and messages[0]['role'] "
     "!= 'system' %}{{ '<|im_start|>system\\nYou are a helpful AI assistant "
     "named SmolLM, trained by Hugging Face<|im_end|>\\n' }}{% endif %}"
     "{{'<|im_start|>' + message['role'] + '\\n' + message['content'] + "
     "'<|im_end|>' + '\\n'}}{% endfor %}{% if add_generation_prompt %}"
     "{{ '<|im_start|>assistant\\n' }}{% endif %}",
     "You are a helpful AI assistant named SmolLM, trained by Hugging Face",
     true},
};

static const struct llama_chat unknown = {"unknown", NULL, NULL, false};

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

const struct llama_chat *llama_chat_of(struct span text)
{
    if (text.p == NULL)
        return &table[1];
    for (size_t i = 0; i < sizeof table / sizeof *table; i++)
        if (same_source(text, table[i].text))
            return &table[i];
    return &unknown;
}

const struct llama_chat *llama_chat_find(const struct gguf *g)
{
    struct span text = span_of(NULL, 0);

    (void)gguf_str(g, "tokenizer.chat_template", &text); /* absent: NULL */
    return llama_chat_of(text);
}

bool llama_chat_known(const struct llama_chat *c)
{
    return c->known;
}

const char *llama_chat_name(const struct llama_chat *c)
{
    return c->name;
}

static void put(FILE *out, struct span s)
{
    (void)fwrite(s.p, 1, s.n, out); /* ferror is asked at the end */
}

/* The server calls developers "system" before it renders. */
static struct span role_of(const struct api_message *m)
{
    return span_eq_str(m->role, "developer") ? span_str("system") : m->role;
}

static void open_turn(FILE *out, struct span role)
{
    (void)fputs("<|im_start|>", out); /* as above */
    put(out, role);
    (void)fputs("\n", out); /* as above */
}

static void put_turn(FILE *out, struct span role, struct span content)
{
    open_turn(out, role);
    put(out, content);
    (void)fputs("<|im_end|>\n", out); /* as above */
}

static bool is_assistant(const struct api_message *m)
{
    return span_eq_str(m->role, "assistant");
}

/* An answer of the assistant at the end is not closed: the model goes on with
 * it. */
static void render(const struct llama_chat *c, const struct api_message *m,
                   size_t n, FILE *out)
{
    bool goes_on = n > 0 && is_assistant(&m[n - 1]);
    size_t whole = goes_on ? n - 1 : n;

    if (whole > 0 && c->system != NULL &&
        !span_eq_str(role_of(&m[0]), "system"))
        put_turn(out, span_str("system"), span_str(c->system));
    for (size_t i = 0; i < whole; i++)
        put_turn(out, role_of(&m[i]), m[i].content);
    open_turn(out, span_str("assistant"));
    if (goes_on)
        put(out, m[n - 1].content);
}

int llama_chat_render(const struct llama_chat *c,
                      const struct api_message *messages, size_t n,
                      char **ret_text, size_t *ret_n)
{
    char *text = NULL;
    size_t len;
    bool bad;
    FILE *out;

    /* Two answers at the end are an error of the request. */
    if (!c->known || (n >= 2 && is_assistant(&messages[n - 1]) &&
                      is_assistant(&messages[n - 2])))
        return -ENOTSUP;
    out = open_memstream(&text, &len);
    if (out == NULL)
        return -ENOMEM;
    render(c, messages, n, out);
    bad = ferror(out) != 0;
    if (fclose(out) != 0 || bad) {
        free(text);
        return -ENOMEM;
    }
    *ret_text = text;
    *ret_n = len;
    return 0;
}
