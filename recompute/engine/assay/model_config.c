/*
 * model_config.c - config.json and generation_config.json to checked numbers.
 *
 * A key that changes the arithmetic is either followed or refused; which keys
 * those are is what transformers' modelling code of each architecture reads.
 * Two forms: before transformers 5 rope_theta, rope_scaling and torch_dtype
 * stand at the top; since then rope_parameters and dtype.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "recompute/model_config.h"

#include <errno.h>
#include <jansson.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "recompute/error.h"

/* Bounds that keep every product of sizes far from overflow. */
enum { SIZE_MAX_OF_MODEL = 1 << 20, LAYERS_MAX = 1024, CONTEXT_MAX = 1 << 20 };

struct reader {
    const json_t *json;
    struct error *error;
    bool bad;
};

static void refuse(struct reader *r, const char *key, const char *what)
{
    if (!r->bad)
        (void)error_set(r->error, 0, "config.json: %s: %s", key, what);
    r->bad = true;
}

static const json_t *find(const struct reader *r, const char *key)
{
    const json_t *j = json_object_get(r->json, key);

    return json_is_null(j) ? NULL : j;
}

/* A whole number from 1 to max; otherwise the default, 0: there is none. */
static uint32_t count_of(struct reader *r, const char *key, uint32_t max,
                         uint32_t otherwise)
{
    const json_t *j = find(r, key);

    if (j == NULL && otherwise != 0)
        return otherwise;
    if (j == NULL)
        refuse(r, key, "is missing");
    else if (!json_is_integer(j) || json_integer_value(j) < 1 ||
             json_integer_value(j) > max)
        refuse(r, key, "not a number this model can have");
    else
        return (uint32_t)json_integer_value(j);
    return 1;
}

/* A finite number above zero. */
static double number_of(struct reader *r, const json_t *from, const char *key,
                        double otherwise)
{
    const json_t *j = json_object_get(from, key);
    double x = json_number_value(j);

    if ((j == NULL || json_is_null(j)) && otherwise > 0)
        return otherwise;
    if (!json_is_number(j) || !(x > 0) || !isfinite(x)) {
        refuse(r, key, j == NULL ? "is missing" : "not a number above zero");
        return 1;
    }
    return x;
}

static bool flag_of(struct reader *r, const char *key, bool otherwise)
{
    const json_t *j = find(r, key);

    if (j == NULL)
        return otherwise;
    if (!json_is_boolean(j))
        refuse(r, key, "neither true nor false");
    return json_is_true(j);
}

/* Keys that ask for arithmetic that is not here: absent, null or false. */
static void refuse_set(struct reader *r, const char *key)
{
    const json_t *j = find(r, key);

    if (j != NULL && !json_is_false(j))
        refuse(r, key, "is not supported");
}

static void read_activation(struct reader *r)
{
    const json_t *j = find(r, "hidden_act");
    const char *name = json_string_value(j);

    if (j != NULL && (name == NULL || (strcmp(name, "silu") != 0 &&
                                       strcmp(name, "swish") != 0)))
        refuse(r, "hidden_act", "only silu is supported");
}

/* What tells the architectures of the family apart. */
static void read_architecture(struct reader *r, struct model_config *c)
{
    const json_t *list = find(r, "architectures");
    const char *name = json_string_value(json_array_get(list, 0));

    if (json_array_size(list) != 1 || name == NULL) {
        refuse(r, "architectures", "not a list of one name");
    } else if (strcmp(name, "LlamaForCausalLM") == 0) {
        c->qkv_bias = c->o_bias = flag_of(r, "attention_bias", false);
        c->mlp_bias = flag_of(r, "mlp_bias", false);
    } else if (strcmp(name, "MistralForCausalLM") == 0) {
        refuse_set(r, "sliding_window");
    } else if (strcmp(name, "Qwen2ForCausalLM") == 0) {
        refuse_set(r, "use_sliding_window");
        c->qkv_bias = true;
    } else {
        refuse(r, "architectures", "this one is not supported");
    }
}

static void read_rope_type(struct reader *r, const json_t *j,
                           struct model_config *c)
{
    const json_t *type = json_object_get(j, "rope_type");
    const char *name;

    if (type == NULL)
        type = json_object_get(j, "type");
    name = type == NULL ? "default" : json_string_value(type);
    if (name == NULL) {
        refuse(r, "rope_type", "not a text");
    } else if (strcmp(name, "default") == 0) {
        c->rope.type = ROPE_DEFAULT;
    } else if (strcmp(name, "linear") == 0) {
        c->rope.type = ROPE_LINEAR;
        c->rope.factor = number_of(r, j, "factor", 0);
    } else if (strcmp(name, "llama3") == 0) {
        c->rope.type = ROPE_LLAMA3;
        c->rope.factor = number_of(r, j, "factor", 0);
        c->rope.low_freq_factor = number_of(r, j, "low_freq_factor", 0);
        c->rope.high_freq_factor = number_of(r, j, "high_freq_factor", 0);
        c->rope.original_context =
            number_of(r, j, "original_max_position_embeddings", c->context);
        if (c->rope.high_freq_factor <= c->rope.low_freq_factor)
            refuse(r, "high_freq_factor", "not above low_freq_factor");
    } else {
        refuse(r, "rope_type", "this one is not supported");
    }
}

static void read_rope(struct reader *r, struct model_config *c)
{
    const json_t *j = find(r, "rope_parameters");
    const json_t *scaling = find(r, "rope_scaling");
    const json_t *from = j != NULL ? j : r->json;

    if (j == NULL)
        j = scaling;
    if (j != NULL && !json_is_object(j))
        refuse(r, "rope_scaling", "not an object");
    c->rope.theta = number_of(r, from, "rope_theta", 10000.0);
    if (c->rope.theta <= 1 || c->rope.theta > 1e12)
        refuse(r, "rope_theta", "not between 1 and 1e12");
    if (j != NULL) {
        read_rope_type(r, j, c);
        if (json_object_get(j, "partial_rotary_factor") != NULL &&
            number_of(r, j, "partial_rotary_factor", 0) != 1)
            refuse(r, "partial_rotary_factor", "is not supported");
    }
    if (find(r, "partial_rotary_factor") != NULL &&
        number_of(r, r->json, "partial_rotary_factor", 0) != 1)
        refuse(r, "partial_rotary_factor", "is not supported");
}

static void read_sizes(struct reader *r, struct model_config *c)
{
    uint32_t most = SIZE_MAX_OF_MODEL;

    c->vocab = count_of(r, "vocab_size", most, 0);
    c->hidden = count_of(r, "hidden_size", most, 0);
    c->ffn = count_of(r, "intermediate_size", most, 0);
    c->layers = count_of(r, "num_hidden_layers", LAYERS_MAX, 0);
    c->heads = count_of(r, "num_attention_heads", 4096, 0);
    c->kv_heads = count_of(r, "num_key_value_heads", 4096, c->heads);
    c->context = count_of(r, "max_position_embeddings", CONTEXT_MAX, 2048);
    if (find(r, "head_dim") == NULL && c->hidden % c->heads != 0)
        refuse(r, "num_attention_heads", "does not divide hidden_size");
    c->head_dim = count_of(r, "head_dim", 1024,
                           c->hidden >= c->heads ? c->hidden / c->heads : 1);
    if (c->head_dim % 2 != 0)
        refuse(r, "head_dim", "not even");
    if (c->heads % c->kv_heads != 0)
        refuse(r, "num_key_value_heads", "does not divide the heads");
    c->rms_eps = (float)number_of(r, r->json, "rms_norm_eps", 1e-6);
}

static bool add_eos(struct model_config *c, const json_t *j)
{
    json_int_t id = json_integer_value(j);

    if (!json_is_integer(j) || id < 0 || id >= c->vocab)
        return false;
    if (model_is_eos(c, (uint32_t)id))
        return true;
    if (c->n_eos == MODEL_EOS_MAX)
        return false;
    c->eos[c->n_eos++] = (uint32_t)id;
    return true;
}

/* eos_token_id: one id, a list of them, or none. */
static bool read_eos(struct model_config *c, const json_t *j)
{
    if (j == NULL || json_is_null(j))
        return true;
    if (!json_is_array(j))
        return add_eos(c, j);
    for (size_t i = 0; i < json_array_size(j); i++)
        if (!add_eos(c, json_array_get(j, i)))
            return false;
    return true;
}

static void read_tokens(struct reader *r, struct model_config *c)
{
    const json_t *bos = find(r, "bos_token_id");

    c->bos = -1;
    if (json_is_integer(bos) && json_integer_value(bos) >= 0 &&
        json_integer_value(bos) < c->vocab)
        c->bos = json_integer_value(bos);
    else if (bos != NULL)
        refuse(r, "bos_token_id", "not a token of the vocabulary");
    if (!read_eos(c, find(r, "eos_token_id")))
        refuse(r, "eos_token_id", "not tokens of the vocabulary");
}

enum parse model_config_read(struct span json, struct model_config *ret_c,
                             struct error *ret_error)
{
    json_error_t error;
    json_t *j = json_loadb((const char *)json.p, json.n, JSON_REJECT_DUPLICATES,
                           &error);
    struct reader r = {.json = j, .error = ret_error};
    struct model_config c = {0};

    if (!json_is_object(j)) {
        (void)error_set(ret_error, 0, "config.json: line %d: %s", error.line,
                        j == NULL ? error.text : "not an object");
        json_decref(j);
        return PARSE_BAD;
    }
    read_sizes(&r, &c);
    read_architecture(&r, &c);
    read_activation(&r);
    read_rope(&r, &c);
    read_tokens(&r, &c);
    refuse_set(&r, "quantization_config");
    c.tied = flag_of(&r, "tie_word_embeddings", false);
    json_decref(j);
    if (r.bad)
        return PARSE_BAD;
    *ret_c = c;
    return PARSE_OK;
}

enum parse generation_config_read(struct span json, struct model_config *c,
                                  struct error *ret_error)
{
    json_t *j =
        json_loadb((const char *)json.p, json.n, JSON_REJECT_DUPLICATES, NULL);
    bool good =
        json_is_object(j) && read_eos(c, json_object_get(j, "eos_token_id"));

    if (!good)
        (void)error_set(ret_error, 0,
                        "generation_config.json: eos_token_id is not a token");
    json_decref(j);
    return good ? PARSE_OK : PARSE_BAD;
}

bool model_is_eos(const struct model_config *c, uint32_t id)
{
    for (size_t i = 0; i < c->n_eos; i++)
        if (c->eos[i] == id)
            return true;
    return false;
}

enum { CONFIG_BYTES_MAX = 1 << 20 };

/* The bytes of dir/name, in buf. */
static int read_small(const char *dir, const char *name, char *buf,
                      size_t *ret_n)
{
    char path[PATH_MAX];
    FILE *f;
    int err = 0;

    if (snprintf(path, sizeof(path), "%s/%s", dir, name) >= (int)sizeof(path))
        return -ENAMETOOLONG;
    f = fopen(path, "rbe");
    if (f == NULL)
        return -errno;
    *ret_n = fread(buf, 1, CONFIG_BYTES_MAX, f);
    if (ferror(f))
        err = -EIO;
    else if (*ret_n == CONFIG_BYTES_MAX)
        err = -EFBIG;
    (void)fclose(f); /* only read */
    return err;
}

int model_config_load(const char *dir, struct model_config *ret_c,
                      struct error *ret_error)
{
    static const char *const names[] = {"config.json",
                                        "generation_config.json"};
    char *buf = malloc(CONFIG_BYTES_MAX);
    enum parse parsed = PARSE_OK;
    size_t n = 0;
    int err = buf == NULL ? -ENOMEM : 0;

    for (int i = 0; i < 2 && err == 0 && parsed == PARSE_OK; i++) {
        err = read_small(dir, names[i], buf, &n);
        if (i == 1 && err == -ENOENT) {
            err = 0; /* it may be missing */
            break;
        }
        if (err != 0)
            (void)error_set(ret_error, 0, "%s: %s", names[i], strerror(-err));
        else if (i == 0)
            parsed = model_config_read(span_of(buf, n), ret_c, ret_error);
        else
            parsed = generation_config_read(span_of(buf, n), ret_c, ret_error);
    }
    free(buf);
    if (err != 0)
        return err;
    return parsed == PARSE_OK ? 0 : -EINVAL;
}
