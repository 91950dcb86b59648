/*
 * chat.c - chat messages to the prompt text as llama-server makes it: chat.h.
 * Which template a text is says recompute/template.h.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "engine/llama/vocab/chat.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "recompute/gguf.h"
#include "recompute/template.h"
#include "store/dialect.h"

struct llama_chat {
    const char *name;   /* of recompute/template.h */
    const char *system; /* put first if the messages do not begin with one */
};

static const struct llama_chat table[] = {
    {"chatml", NULL},
    {"smollm2",
     "You are a helpful AI assistant named SmolLM, trained by Hugging Face"},
};

static const struct llama_chat unknown = {"unknown", NULL};

const struct llama_chat *llama_chat_of(struct span text)
{
    const char *name =
        text.p == NULL ? table[0].name : template_name(template_find(text));

    for (size_t i = 0; i < sizeof table / sizeof *table; i++)
        if (strcmp(name, table[i].name) == 0)
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
    return c != &unknown;
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
    if (!llama_chat_known(c) || (n >= 2 && is_assistant(&messages[n - 1]) &&
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
