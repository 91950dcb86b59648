/*
 * tiny_model.c - model directories made up by a test.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "tiny_model.h"

#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { TENSORS_MAX = 64, PATH_BYTES = 512, NAME_BYTES = 128 };

struct made {
    char name[NAME_BYTES];
    size_t rows, columns; /* columns 0: a vector */
};

struct tiny_model tiny_model_default(void)
{
    return (struct tiny_model){
        .vocab = 101,
        .hidden = 40,
        .ffn = 72,
        .layers = 2,
        .heads = 4,
        .kv_heads = 2,
        .head_dim = 10,
        .context = 96,
    };
}

static void must(bool good, const char *what)
{
    if (good)
        return;
    perror(what);
    abort();
}

void tiny_model_file(const char *dir, const char *name, const void *bytes,
                     size_t n)
{
    char path[PATH_BYTES];
    FILE *f;

    (void)snprintf(path, sizeof(path), "%s/%s", dir, name);
    f = fopen(path, "wbe");
    must(f != NULL, path);
    must(fwrite(bytes, 1, n, f) == n && fclose(f) == 0, path);
}

static void add(struct made *list, size_t *n, const char *name, size_t rows,
                size_t columns)
{
    must(*n < TENSORS_MAX, "too many tensors");
    (void)snprintf(list[*n].name, sizeof(list[*n].name), "%s", name);
    list[*n].rows = rows;
    list[(*n)++].columns = columns;
}

static void add_linear(struct made *list, size_t *n, const char *name,
                       const size_t shape[2], bool bias)
{
    char full[NAME_BYTES];

    (void)snprintf(full, sizeof(full), "%s.weight", name);
    add(list, n, full, shape[0], shape[1]);
    (void)snprintf(full, sizeof(full), "%s.bias", name);
    if (bias)
        add(list, n, full, shape[0], 0);
}

static void add_layer(const struct tiny_model *t, unsigned layer,
                      struct made *list, size_t *n)
{
    size_t q = t->heads * t->head_dim, kv = t->kv_heads * t->head_dim;
    const struct {
        const char *name;
        size_t shape[2];
        bool bias;
    } linear[] = {
        {"self_attn.q_proj", {q, t->hidden}, t->qkv_bias},
        {"self_attn.k_proj", {kv, t->hidden}, t->qkv_bias},
        {"self_attn.v_proj", {kv, t->hidden}, t->qkv_bias},
        {"self_attn.o_proj", {t->hidden, q}, t->o_bias},
        {"mlp.gate_proj", {t->ffn, t->hidden}, t->mlp_bias},
        {"mlp.up_proj", {t->ffn, t->hidden}, t->mlp_bias},
        {"mlp.down_proj", {t->hidden, t->ffn}, t->mlp_bias},
    };
    char name[96];

    for (size_t i = 0; i < sizeof(linear) / sizeof(linear[0]); i++) {
        (void)snprintf(name, sizeof(name), "model.layers.%u.%s", layer,
                       linear[i].name);
        add_linear(list, n, name, linear[i].shape, linear[i].bias);
    }
    (void)snprintf(name, sizeof(name), "model.layers.%u.input_layernorm.weight",
                   layer);
    add(list, n, name, t->hidden, 0);
    (void)snprintf(name, sizeof(name),
                   "model.layers.%u.post_attention_layernorm.weight", layer);
    add(list, n, name, t->hidden, 0);
}

static size_t list_tensors(const struct tiny_model *t, struct made *list)
{
    size_t n = 0;

    add(list, &n, "model.embed_tokens.weight", t->vocab, t->hidden);
    for (unsigned i = 0; i < t->layers; i++)
        add_layer(t, i, list, &n);
    add(list, &n, "model.norm.weight", t->hidden, 0);
    if (t->untied)
        add(list, &n, "lm_head.weight", t->vocab, t->hidden);
    return n;
}

static size_t elements(const struct made *m)
{
    return m->rows * (m->columns > 0 ? m->columns : 1);
}

/* A number of -1 to 1 with few bits, so that every dtype holds it. */
static uint32_t number_bits(uint32_t *state, const char *dtype)
{
    static const uint16_t half[8] = {0x2c00, 0x3000, 0x3400, 0x3800,
                                     0x2a00, 0x3200, 0x3600, 0x3900};
    float x;
    uint32_t u, sign;

    *state = *state * 1664525 + 1013904223;
    sign = *state >> 31;
    if (strcmp(dtype, "F16") == 0)
        return sign << 15 | half[*state >> 24 & 7] | (*state >> 16 & 0xff);
    x = ((float)(*state >> 8 & 0xffff) + 1) * 0x1p-17f;
    memcpy(&u, &x, sizeof(u));
    u |= sign << 31;
    return strcmp(dtype, "BF16") == 0 ? u >> 16 : u;
}

static void write_numbers(FILE *f, const struct made *m, const char *dtype)
{
    size_t size = strcmp(dtype, "F32") == 0 ? 4 : 2;
    uint32_t state = 1, u;

    for (const char *p = m->name; *p != '\0'; p++)
        state = state * 31 + (unsigned char)*p;
    for (size_t i = 0; i < elements(m); i++) {
        u = number_bits(&state, dtype);
        must(fwrite(&u, size, 1, f) == 1, "weights");
    }
}

static void write_header(FILE *f, const struct made *list, size_t n,
                         const char *dtype)
{
    size_t size = strcmp(dtype, "F32") == 0 ? 4 : 2, at = 0;
    char *text;
    size_t bytes;
    uint64_t len;
    FILE *h = open_memstream(&text, &bytes);

    must(h != NULL, "header");
    fprintf(h, "{\"__metadata__\":{\"format\":\"pt\"}");
    for (size_t i = 0; i < n; i++) {
        fprintf(h, ",\"%s\":{\"dtype\":\"%s\",\"shape\":[%zu", list[i].name,
                dtype, list[i].rows);
        if (list[i].columns > 0)
            fprintf(h, ",%zu", list[i].columns);
        fprintf(h, "],\"data_offsets\":[%zu,%zu]}", at,
                at + elements(&list[i]) * size);
        at += elements(&list[i]) * size;
    }
    must(fprintf(h, "}") > 0 && fclose(h) == 0, "header");
    len = bytes;
    must(fwrite(&len, 8, 1, f) == 1 && fwrite(text, 1, bytes, f) == bytes,
         "header");
    free(text);
}

static void write_weights(const char *dir, const char *name,
                          const struct made *list, size_t n, const char *dtype)
{
    char path[PATH_BYTES];
    FILE *f;

    (void)snprintf(path, sizeof(path), "%s/%s", dir, name);
    f = fopen(path, "wbe");
    must(f != NULL, path);
    write_header(f, list, n, dtype);
    for (size_t i = 0; i < n; i++)
        write_numbers(f, &list[i], dtype);
    must(fclose(f) == 0, path);
}

static void write_shards(const struct tiny_model *t, const char *dir,
                         const struct made *list, size_t n, const char *dtype)
{
    char path[PATH_BYTES], name[64];
    FILE *f;

    (void)snprintf(path, sizeof(path), "%s/model.safetensors.index.json", dir);
    f = fopen(path, "wbe");
    must(f != NULL, path);
    fprintf(f, "{\"metadata\":{},\"weight_map\":{");
    for (unsigned s = 0; s < t->shards; s++) {
        size_t from = n * s / t->shards, end = n * (s + 1) / t->shards;

        (void)snprintf(name, sizeof(name), "model-%05u-of-%05u.safetensors",
                       s + 1, t->shards);
        write_weights(dir, name, list + from, end - from, dtype);
        for (size_t i = from; i < end; i++)
            fprintf(f, "%s\"%s\":\"%s\"", i > 0 ? "," : "", list[i].name, name);
    }
    must(fprintf(f, "}}") > 0 && fclose(f) == 0, path);
}

static void write_config(const struct tiny_model *t, const char *dir)
{
    char text[2048];
    int n = snprintf(
        text, sizeof(text),
        "{\"architectures\":[\"%s\"],\"hidden_size\":%u,"
        "\"intermediate_size\":%u,\"num_hidden_layers\":%u,"
        "\"num_attention_heads\":%u,\"num_key_value_heads\":%u,"
        "\"head_dim\":%u,\"vocab_size\":%u,\"max_position_embeddings\":%u,"
        "\"rms_norm_eps\":1e-5,\"hidden_act\":\"silu\",\"bos_token_id\":1,"
        "\"eos_token_id\":2,\"tie_word_embeddings\":%s%s}",
        t->architecture != NULL ? t->architecture : "LlamaForCausalLM",
        t->hidden, t->ffn, t->layers, t->heads, t->kv_heads, t->head_dim,
        t->vocab, t->context, t->untied ? "false" : "true",
        t->more != NULL ? t->more : "");

    must(n > 0 && (size_t)n < sizeof(text), "config.json");
    tiny_model_file(dir, "config.json", text, (size_t)n);
}

void tiny_model_write(const struct tiny_model *t, char dir[64])
{
    static struct made list[TENSORS_MAX];
    const char *dtype = t->dtype != NULL ? t->dtype : "F32";
    size_t n = list_tensors(t, list);

    (void)snprintf(dir, 64, "/tmp/tiny-model-XXXXXX");
    must(mkdtemp(dir) != NULL, dir);
    write_config(t, dir);
    if (t->shards == 0)
        write_weights(dir, "model.safetensors", list, n, dtype);
    else
        write_shards(t, dir, list, n, dtype);
}

void tiny_model_remove(const char *dir)
{
    char path[PATH_BYTES];
    DIR *d = opendir(dir);

    must(d != NULL, dir);
    for (struct dirent *e; (e = readdir(d)) != NULL;) {
        (void)snprintf(path, sizeof(path), "%s/%s", dir, e->d_name);
        if (e->d_name[0] != '.')
            must(unlink(path) == 0, path);
    }
    (void)closedir(d); /* only read */
    must(rmdir(dir) == 0, dir);
}
