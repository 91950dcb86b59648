/*
 * declaration.c - reads an engine.json.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "engine/llama/deployment/declaration.h"

#include <ctype.h>
#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/llama/forward/constants.h"
#include "recompute/error.h"

/* The text after a word that stands alone, or NULL. */
static const char *after(const char *text, const char *word)
{
    size_t n = strlen(word);

    for (const char *p = text; (p = strcasestr(p, word)) != NULL; p++)
        if (p == text || !isalnum((unsigned char)p[-1]))
            return p + n;
    return NULL;
}

static uint32_t build_number(const char *text)
{
    for (const char *p = text; *p; p++) {
        bool starts = p == text || !isalnum((unsigned char)p[-1]);
        if (*p != 'b' || !starts || !isdigit((unsigned char)p[1]))
            continue;
        char *end;
        unsigned long v = strtoul(p + 1, &end, 10);
        if (!isalnum((unsigned char)*end) && v <= UINT32_MAX)
            return (uint32_t)v;
    }
    return 0;
}

void build_name_read(const char *text, struct build_name *ret_b)
{
    *ret_b = (struct build_name){.number = build_number(text)};
    const char *p = after(text, "commit ");
    if (!p)
        p = after(text, "@");
    for (size_t i = 0; p && isxdigit((unsigned char)p[i]); i++)
        if (i + 1 < sizeof(ret_b->commit))
            ret_b->commit[i] = (char)tolower((unsigned char)p[i]);
    uint32_t *g = ret_b->ggml;
    p = after(text, "ggml ");
    if (p && sscanf(p, "%9u.%9u.%9u", &g[0], &g[1], &g[2]) != 3)
        memset(g, 0, sizeof(ret_b->ggml));
}

/* One name of an instruction set list, compared without case, '-' and '_'. */
static bool same_name(const char *p, size_t n, const char *name)
{
    for (; n > 0; p++, n--) {
        if (*p == '-' || *p == '_')
            continue;
        if (*name == '\0' || tolower((unsigned char)*p) != *name)
            return false;
        name++;
    }
    return *name == '\0';
}

static void note_isa(struct declaration *d, const char *p, size_t n)
{
    d->avx512 |= same_name(p, n, "avx512") || same_name(p, n, "avx512f");
    d->avx512_bf16 |= same_name(p, n, "avx512bf16");
    d->avx512_fp16 |= same_name(p, n, "avx512fp16");
    d->amx |= n >= 3 && strncasecmp(p, "amx", 3) == 0;
}

/* "AVX-512, AVX512_BF16, VNNI; no AVX512-FP16, no AMX" */
static void read_isa(const char *text, struct declaration *d)
{
    while (*text) {
        text += strspn(text, " ,;/+");
        size_t n = strcspn(text, " ,;/+");
        if (n == 2 && strncasecmp(text, "no", 2) == 0) {
            text += n;
            text += strspn(text, " ");
            text += strcspn(text, " ,;/+");
            continue;
        }
        note_isa(d, text, n);
        text += n;
    }
}

/* The text says that the build does not use what its machine has. */
static bool is_plain(const char *text)
{
    return strcasestr(text, "NATIVE=OFF") || strcasestr(text, "NATIVE off") ||
           strcasestr(text, "haswell") || strstr(text, "-mavx2");
}

static void read_compiler(const char *text, struct declaration *d)
{
    d->clang = strcasestr(text, "clang") != NULL;
    d->optimised = strstr(text, "-O2") == NULL;
}

struct words {
    char text[2048];
    char *word[256];
    size_t n;
};

static void cut_words(const char *command, struct words *w)
{
    (void)snprintf(w->text, sizeof(w->text), "%s", command); /* may be cut */
    char *rest = w->text;
    for (char *p; w->n < 256 && (p = strsep(&rest, " \t")) != NULL;)
        if (*p)
            w->word[w->n++] = p;
}

/* The value of a flag's last use, "" for one without a value; NULL: unused. */
static const char *flag(const struct words *w, const char *brief,
                        const char *full)
{
    for (size_t i = w->n; i-- > 0;)
        if (strcmp(w->word[i], brief) == 0 || strcmp(w->word[i], full) == 0)
            return i + 1 < w->n ? w->word[i + 1] : "";
    return NULL;
}

static void flag_u32(const struct words *w, const char *brief, const char *full,
                     uint32_t *v)
{
    const char *s = flag(w, brief, full);

    if (s && isdigit((unsigned char)*s))
        *v = (uint32_t)strtoul(s, NULL, 10);
}

/* Flags that the arithmetic here does not follow; a name that ends in '-' is
 * the start of several. */
static const char *const uncovered[] = {
    "--lora",      "--lora-",   "--control-",
    "--rope-",     "--yarn-",   "-ot",
    "--override-", "-nr",       "--no-repack",
    "--rpc",       "-bs",       "--backend-sampling",
    "--spec-",     "-md",       "--model-draft",
    "-hfd",        "-hfrd",     "--hf-repo-draft",
    "--draft",     "--draft-",  "-lcs",
    "-lcd",        "--lookup-",
};
static const char *const samplers[] = {
    "-s",        "--seed",        "--samplers",   "--sampler-",  "--sampling-",
    "--temp",    "--temperature", "--top-",       "--min-p",     "--xtc-",
    "--typical", "--typical-",    "--repeat-",    "--presence-", "--frequency-",
    "--dry-",    "--adaptive-",   "--dynatemp-",  "--mirostat",  "--mirostat-",
    "-l",        "--logit-bias",  "--grammar",    "--grammar-",  "-j",
    "--json-",   "-jf",           "--ignore-eos",
};
static const char *const templates[] = {
    "--chat-template", "--chat-template-",       "--no-jinja",
    "--reasoning",     "--reasoning-",           "-rea",
    "--prefill-",      "--no-prefill-assistant", "--skip-chat-parsing",
};

static bool is_one_of(const char *word, const char *const *list, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        size_t len = strlen(list[i]);
        bool start = len > 2 && list[i][len - 1] == '-';
        if (start ? strncmp(word, list[i], len) == 0
                  : strcmp(word, list[i]) == 0)
            return true;
    }
    return false;
}

#define ONE_OF(word, list) is_one_of(word, list, sizeof(list) / sizeof *(list))

static void read_others(const struct words *w, struct declaration *d)
{
    for (size_t i = 0; i < w->n; i++) {
        const char *word = w->word[i];
        d->own_samplers |= ONE_OF(word, samplers);
        d->own_template |= ONE_OF(word, templates);
        if (ONE_OF(word, uncovered))
            (void)snprintf(d->uncovered, sizeof(d->uncovered), "%s",
                           word); /* may be cut */
    }
}

static void read_command(const char *command, struct declaration *d)
{
    struct words w = {.n = 0};

    cut_words(command, &w);
    read_others(&w, d);
    flag_u32(&w, "-np", "--parallel", &d->slots);
    d->unified = !flag(&w, "-np", "--parallel") ||
                 flag(&w, "-kvu", "--kv-unified") != NULL;
    if (flag(&w, "-no-kvu", "--no-kv-unified"))
        d->unified = false;
    flag_u32(&w, "-t", "--threads", &d->threads);
    flag_u32(&w, "-c", "--ctx-size", &d->context);
    flag_u32(&w, "-b", "--batch-size", &d->n_batch);
    flag_u32(&w, "-ub", "--ubatch-size", &d->n_ubatch);
    const char *fa = flag(&w, "-fa", "--flash-attn");
    d->flash = !fa || (strcmp(fa, "off") != 0 && strcmp(fa, "0") != 0);
    const char *ram = flag(&w, "-cram", "--cache-ram");
    d->prompt_cache = !ram || strcmp(ram, "0") != 0;
    const char *reuse = flag(&w, "--cache-reuse", "--cache-reuse");
    d->shifts = (reuse && strcmp(reuse, "0") != 0) ||
                flag(&w, "--context-shift", "--context-shift") != NULL;
    const char *k = flag(&w, "-ctk", "--cache-type-k");
    const char *v = flag(&w, "-ctv", "--cache-type-v");
    (void)snprintf(d->kv_k, sizeof(d->kv_k), "%s", k ? k : "f16");
    (void)snprintf(d->kv_v, sizeof(d->kv_v), "%s", v ? v : "f16");
}

static int take_text(const json_t *o, const char *key, char *to, size_t size)
{
    const json_t *v = json_object_get(o, key);

    if (!v || json_is_null(v))
        return 0;
    if (!json_is_string(v) || json_string_length(v) >= size)
        return -EINVAL;
    memcpy(to, json_string_value(v), json_string_length(v) + 1);
    return 0;
}

static int take_u32(const json_t *o, const char *key, uint32_t *to)
{
    const json_t *v = json_object_get(o, key);

    if (!v || json_is_null(v))
        return 0;
    if (!json_is_integer(v) || json_integer_value(v) <= 0 ||
        json_integer_value(v) > UINT16_MAX)
        return -EINVAL;
    *to = (uint32_t)json_integer_value(v);
    return 0;
}

static int take_bool(const json_t *o, const char *key, bool *to)
{
    const json_t *v = json_object_get(o, key);

    if (!v || json_is_null(v))
        return 0;
    if (!json_is_boolean(v))
        return -EINVAL;
    *to = json_is_true(v);
    return 0;
}

static int read_options(const json_t *o, struct declaration *d)
{
    int err = take_u32(o, "threads", &d->threads);

    err = err != 0 ? err : take_u32(o, "slots", &d->slots);
    err = err != 0 ? err : take_bool(o, "kv_unified", &d->unified);
    err = err != 0 ? err : take_bool(o, "flash_attention", &d->flash);
    err = err != 0 ? err : take_bool(o, "ram_prompt_cache", &d->prompt_cache);
    err = err != 0 ? err : take_text(o, "kv_type_k", d->kv_k, sizeof(d->kv_k));
    return err != 0 ? err : take_text(o, "kv_type_v", d->kv_v, sizeof(d->kv_v));
}

static int read_alternatives(const json_t *list, struct declaration *d)
{
    size_t n = json_array_size(list);

    if (!list || json_is_null(list))
        return 0;
    if (!json_is_array(list) || n > DECLARATION_ALTERNATIVES)
        return -EINVAL;
    for (size_t i = 0; i < n; i++) {
        const json_t *v = json_array_get(list, i);
        size_t len = json_string_length(v);
        if (len == 0 || len >= sizeof(d->alternatives[i]) ||
            strlen(json_string_value(v)) != len)
            return -EINVAL;
        memcpy(d->alternatives[i], json_string_value(v), len + 1);
    }
    d->n_alternatives = n;
    return 0;
}

static int read_all(const json_t *o, struct declaration *d)
{
    char isa[512] = "", compiler[512] = "", command[2048] = "";

    int err = take_text(o, "engine", d->engine, sizeof(d->engine));
    err = err != 0
              ? err
              : take_text(o, "build", d->build_text, sizeof(d->build_text));
    err = err != 0 ? err
                   : take_text(json_object_get(o, "machine"), "isa", isa,
                               sizeof(isa));
    err = err != 0 ? err : take_text(o, "compiler", compiler, sizeof(compiler));
    err = err != 0 ? err : take_text(o, "command", command, sizeof(command));
    err = err != 0 ? err
                   : read_alternatives(json_object_get(o, "alternatives"), d);
    if (err != 0)
        return err;
    build_name_read(d->build_text, &d->build);
    read_isa(isa, d);
    read_compiler(compiler, d);
    if (is_plain(compiler) || is_plain(isa) || is_plain(d->build_text))
        d->avx512 = d->avx512_bf16 = d->avx512_fp16 = d->amx = false;
    read_command(command, d);
    return read_options(o, d);
}

int declaration_read(struct span json, struct declaration *ret_d,
                     struct error *ret_error)
{
    struct declaration d = {.slots = LLAMA_SLOTS,
                            .threads = 1,
                            .n_batch = LLAMA_BATCH,
                            .n_ubatch = LLAMA_UBATCH};
    json_error_t e;

    json_t *o =
        json_loadb((const char *)json.p, json.n, JSON_REJECT_DUPLICATES, &e);
    if (!o)
        return error_refuse(ret_error, "line %d: %s", e.line, e.text);
    int err = json_is_object(o) ? read_all(o, &d) : -EINVAL;
    json_decref(o);
    if (err != 0)
        return error_refuse(ret_error,
                            "a value has not its key's type or size");
    *ret_d = d;
    return 0;
}
