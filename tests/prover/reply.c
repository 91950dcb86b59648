/*
 * reply.c - answers as the API's JSON: whole, or an event a token. The forms
 * are those of vLLM's /v1/completions and /v1/chat/completions, token ids
 * included. Logprobs are printed with 9 digits, which carry every bit of a
 * float32.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "prover.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "config/exit.h"
#include "config/log.h"
#include "recompute/tokenizer.h"
#include "store/utf8.h"

static json_t *made(json_t *j)
{
    if (j == NULL)
        fatalx(EXIT_IO, "no memory");
    return j;
}

/* Takes value. */
static void put(json_t *object, const char *key, json_t *value)
{
    if (json_object_set_new(object, key, made(value)) != 0)
        fatalx(EXIT_IO, "no memory");
}

static void push(json_t *array, json_t *value)
{
    if (json_array_append_new(array, made(value)) != 0)
        fatalx(EXIT_IO, "no memory");
}

const struct candidate *answer_token(const struct answer *a, size_t i)
{
    return a->kept != NULL ? &a->kept->tokens[i] : &a->g.tokens[i];
}

const struct candidate *answer_top(const struct answer *a, size_t i,
                                   size_t *ret_n)
{
    size_t n = a->kept != NULL ? a->kept->n_top : a->g.n_top;
    const struct candidate *top = a->kept != NULL ? a->kept->top : a->g.top;

    *ret_n = n < a->g.n_top ? n : a->g.n_top;
    return top + i * n;
}

/* Any bytes as a JSON text: ill-formed ones become U+FFFD. */
static json_t *text_of(struct span bytes)
{
    static const uint8_t unknown[3] = {0xef, 0xbf, 0xbd}; /* U+FFFD */
    char *out = malloc(bytes.n * 3 + 1);
    size_t n = 0, step;
    json_t *j;

    if (out == NULL)
        fatalx(EXIT_IO, "no memory");
    while (bytes.n > 0) {
        if (utf8_step(bytes, &step) == PARSE_OK) {
            memcpy(out + n, bytes.p, step);
            n += step;
        } else {
            memcpy(out + n, unknown, 3);
            n += 3;
        }
        bytes = span_of(bytes.p + step, bytes.n - step);
    }
    j = json_stringn(out, n);
    free(out);
    return made(j);
}

static struct span bytes_of(const struct answer *a, uint32_t id)
{
    return tokenizer_bytes(a->call->prover->requests.tokenizer, id);
}

/* {"token", "logprob", "bytes"} */
static json_t *entry_of(const struct answer *a, const struct candidate *c)
{
    struct span bytes = bytes_of(a, c->id);
    json_t *j = made(json_object()), *list = made(json_array());

    for (size_t i = 0; i < bytes.n; i++)
        push(list, json_integer(bytes.p[i]));
    put(j, "token", text_of(bytes));
    put(j, "logprob", json_real(c->logprob));
    put(j, "bytes", list);
    return j;
}

/* Chat: {"content": [...]} of tokens [from, end). */
static json_t *chat_logprobs(const struct answer *a, size_t from, size_t end)
{
    json_t *content = made(json_array()), *j = made(json_object());
    size_t n_top;

    for (size_t i = from; i < end; i++) {
        const struct candidate *top = answer_top(a, i, &n_top);
        json_t *entry = entry_of(a, answer_token(a, i));
        json_t *list = made(json_array());

        for (size_t k = 0; k < n_top; k++)
            push(list, entry_of(a, &top[k]));
        put(entry, "top_logprobs", list);
        push(content, entry);
    }
    put(j, "content", content);
    return j;
}

/* Completions: an object of texts, the chosen token among them. Tokens with
 * the same text fall together, as the API has it. */
static json_t *legacy_top(const struct answer *a, size_t i)
{
    const struct candidate *chosen = answer_token(a, i), *top;
    json_t *j = made(json_object());
    size_t n_top;

    top = answer_top(a, i, &n_top);
    for (size_t k = 0; k <= n_top; k++) {
        const struct candidate *c = k < n_top ? &top[k] : chosen;
        json_t *text = text_of(bytes_of(a, c->id));

        if (json_object_get(j, json_string_value(text)) == NULL)
            put(j, json_string_value(text), json_real(c->logprob));
        json_decref(text);
    }
    return j;
}

static size_t characters(const char *s)
{
    size_t n = 0;

    for (; *s != '\0'; s++)
        n += ((unsigned char)*s & 0xc0) != 0x80;
    return n;
}

/* Completions: {"text_offset", "token_logprobs", "tokens", "top_logprobs"} */
static json_t *legacy_logprobs(const struct answer *a, size_t from, size_t end)
{
    json_t *offsets = made(json_array()), *logprobs = made(json_array());
    json_t *tokens = made(json_array()), *tops = made(json_array());
    json_t *j = made(json_object());
    size_t offset = 0;

    for (size_t i = 0; i < end; i++) {
        json_t *text = text_of(bytes_of(a, answer_token(a, i)->id));
        size_t n = characters(json_string_value(text));

        if (i >= from) {
            push(offsets, json_integer((json_int_t)offset));
            push(logprobs, json_real(answer_token(a, i)->logprob));
            push(tokens, json_incref(text));
            push(tops, legacy_top(a, i));
        }
        offset += n;
        json_decref(text);
    }
    put(j, "text_offset", offsets);
    put(j, "token_logprobs", logprobs);
    put(j, "tokens", tokens);
    put(j, "top_logprobs", tops);
    return j;
}

static json_t *ids_of(const struct answer *a, size_t from, size_t end)
{
    json_t *list = made(json_array());

    for (size_t i = from; i < end; i++)
        push(list, json_integer(answer_token(a, i)->id));
    return list;
}

static json_t *prompt_ids(const struct answer *a)
{
    json_t *list = made(json_array());

    for (size_t i = 0; i < a->g.params.n_prompt; i++)
        push(list, json_integer(a->g.params.prompt[i]));
    return list;
}

/* What both forms of a choice have after their text. */
static void put_rest(json_t *choice, const struct answer *a, size_t from,
                     size_t end)
{
    const struct call *c = a->call;

    if (!c->request.logprobs)
        put(choice, "logprobs", json_null());
    else if (c->chat)
        put(choice, "logprobs", chat_logprobs(a, from, end));
    else
        put(choice, "logprobs", legacy_logprobs(a, from, end));
    put(choice, "finish_reason",
        a->finish != NULL ? json_string(a->finish) : json_null());
    if (c->want_ids)
        put(choice, "token_ids", ids_of(a, from, end));
    if (c->want_ids && !c->chat && from == 0)
        put(choice, "prompt_token_ids", prompt_ids(a));
}

static json_t *reply_head(const struct call *c)
{
    const char *object = !c->chat      ? "text_completion"
                         : c->streamed ? "chat.completion.chunk"
                                       : "chat.completion";

    return made(json_pack("{s:s,s:s,s:i,s:s,s:[]}", "id", c->id, "object",
                          object, "created", (int)c->created, "model",
                          c->prover->name, "choices"));
}

static json_t *usage_of(const struct call *c)
{
    json_int_t in = 0, out = 0;

    for (size_t i = 0; i < c->request.n_prompts; i++)
        in += (json_int_t)c->request.prompts[i].n_ids;
    for (size_t i = 0; i < c->n_answers; i++)
        out += (json_int_t)c->answers[i].told;
    return made(json_pack("{s:I,s:I,s:I}", "prompt_tokens", in,
                          "completion_tokens", out, "total_tokens", in + out));
}

/* Takes j. */
static void write_json(struct call *c, json_t *j, const char *before,
                       const char *after)
{
    char *text = json_dumps(j, JSON_COMPACT | JSON_REAL_PRECISION(9));

    if (text == NULL)
        fatalx(EXIT_IO, "no memory");
    call_write(c, before, strlen(before));
    call_write(c, text, strlen(text));
    call_write(c, after, strlen(after));
    free(text);
    json_decref(j);
}

static void write_event(struct call *c, json_t *j)
{
    write_json(c, j, "data: ", "\n\n");
}

/* Chat: the first event of a choice has its role and, asked for ids, the
 * prompt's. */
static void write_role(const struct answer *a)
{
    struct call *c = a->call;
    json_t *j = reply_head(c);

    push(json_object_get(j, "choices"),
         json_pack("{s:i,s:{s:s,s:s},s:n,s:n}", "index", (int)a->index, "delta",
                   "role", "assistant", "content", "", "logprobs",
                   "finish_reason"));
    if (c->want_ids)
        put(j, "prompt_token_ids", prompt_ids(a));
    write_event(c, j);
}

void reply_token(struct answer *a)
{
    struct call *c = a->call;
    json_t *j, *choice, *text;

    if (!c->streamed || c->hidden)
        return;
    if (c->chat && a->told == 1)
        write_role(a);
    j = reply_head(c);
    choice = made(json_pack("{s:i}", "index", (int)a->index));
    text = text_of(span_of(a->piece, a->n_piece));
    if (c->chat)
        put(choice, "delta", json_pack("{s:o}", "content", text));
    else
        put(choice, "text", text);
    put_rest(choice, a, a->told - 1, a->told);
    push(json_object_get(j, "choices"), choice);
    write_event(c, j);
    http_wake(c);
}

static void end_stream(struct call *c)
{
    json_t *j;

    if (c->want_usage) {
        j = reply_head(c);
        put(j, "usage", usage_of(c));
        write_event(c, j);
    }
    call_write(c, "data: [DONE]\n\n", 14);
}

void reply_end(struct call *c)
{
    json_t *j, *choice;

    if (c->streamed) {
        end_stream(c);
        return;
    }
    j = reply_head(c);
    for (size_t i = 0; i < c->n_answers; i++) {
        const struct answer *a = &c->answers[i];
        json_t *text = text_of(transcript_text(&a->text));

        choice = made(json_pack("{s:i}", "index", (int)i));
        if (c->chat)
            put(choice, "message",
                json_pack("{s:s,s:o}", "role", "assistant", "content", text));
        else
            put(choice, "text", text);
        put_rest(choice, a, 0, a->told);
        push(json_object_get(j, "choices"), choice);
    }
    put(j, "usage", usage_of(c));
    if (c->want_ids && c->chat)
        put(j, "prompt_token_ids", prompt_ids(&c->answers[0]));
    write_json(c, j, "", "");
}
