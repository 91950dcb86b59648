/*
 * test_safetensors.c - every lie a safetensors file or its index can tell is
 * refused with its reason; what the format allows is read.
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "recompute/error.h"
#include "recompute/model.h"
#include "recompute/model_config.h"
#include "tiny_model.h"
#include "weights/safetensors.h"

static uint8_t file[4096];

/* A file of this header and n bytes of data. */
static struct span build(const char *header, size_t n)
{
    uint64_t len = strlen(header);

    assert_true(8 + len + n <= sizeof(file));
    memcpy(file, &len, 8);
    memcpy(file + 8, header, len);
    for (size_t i = 0; i < n; i++)
        file[8 + len + i] = (uint8_t)i;
    return span_of(file, 8 + len + n);
}

static void refused(const char *header, size_t n, const char *why)
{
    struct tensors t = {0};
    const char *text = NULL;
    char *name = NULL;

    if (safetensors_read(build(header, n), &t, &text, &name) != PARSE_BAD)
        fail_msg("taken: %s", header);
    if (strcmp(text, why) != 0)
        fail_msg("%s: \"%s\", not \"%s\"", header, text, why);
    assert_int_equal(t.n, 0);
    free(name);
    tensors_close(&t);
}

#define A "\"a\":{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":"

static void lies_are_refused(void **state)
{
    (void)state;
    refused("{" A "[0,8]}}", 7, "data_offsets outside the file");
    refused("{" A "[8,0]}}", 8, "data_offsets outside the file");
    refused("{" A "[0,4]}}", 8, "data_offsets do not fit dtype and shape");
    refused("{" A "[0,8]}}", 9, "bytes of no tensor at the end");
    refused("{" A "[4,12]}}", 12, "bytes of no tensor");
    refused("{" A "[-1,7]}}", 8, "bad data_offsets");
    refused("{" A "[0.0,8]}}", 8, "bad data_offsets");
    refused("{" A "[0]}}", 8, "bad data_offsets");
    refused("{" A "null}}", 8, "bad data_offsets");
    refused("{" A "[0,8]}," A "[0,8]}}", 8,
            "the header is not a JSON object without doubles");
    refused("{" A "[0,8]},\"b\":{\"dtype\":\"F32\",\"shape\":[2],"
            "\"data_offsets\":[4,12]}}",
            12, "tensors overlap");
    refused("{" A "[0,8],\"x\":1}}", 8,
            "not exactly dtype, shape and data_offsets");
    refused("{\"a\":7}", 0, "not exactly dtype, shape and data_offsets");
    refused("{\"a\":{\"dtype\":\"F31\",\"shape\":[2],\"data_offsets\":[0,8]}}",
            8, "unknown dtype");
    refused("{\"a\":{\"dtype\":\"F32\",\"shape\":7,\"data_offsets\":[0,8]}}", 8,
            "no shape");
    refused("{\"a\":{\"dtype\":\"F32\",\"shape\":[-2],\"data_offsets\":[0,8]}}",
            8, "bad shape");
    refused("{\"a\":{\"dtype\":\"F32\",\"shape\":[4294967296,4294967296,2],"
            "\"data_offsets\":[0,8]}}",
            8, "bad shape");
    refused("{\"a\":{\"dtype\":\"F32\",\"shape\":[4611686018427387904,2],"
            "\"data_offsets\":[0,0]}}",
            0, "data_offsets do not fit dtype and shape");
    refused("{\"a\":{\"dtype\":\"F32\",\"shape\":[1,1,1,1,1,1,1,1,2],"
            "\"data_offsets\":[0,8]}}",
            8, "too many dimensions");
    refused("{\"__metadata__\":{\"a\":1}," A "[0,8]}}", 8,
            "__metadata__ holds something that is not a text");
    refused("{\"__metadata__\":7," A "[0,8]}}", 8,
            "__metadata__ is not an object");
    refused(" {" A "[0,8]}}", 8,
            "the header is not a JSON object without doubles");
    refused("{", 8, "the header is not a JSON object without doubles");
    refused("", 8, "the header is not a JSON object without doubles");
}

static void lengths_past_the_end_are_refused(void **state)
{
    struct tensors t = {0};
    const char *why;
    char *name;
    uint64_t len;

    (void)state;
    for (size_t n = 0; n < 8; n++)
        assert_int_equal(safetensors_read(span_of(file, n), &t, &why, &name),
                         PARSE_BAD);
    for (int i = 0; i < 3; i++) {
        struct span s = build("{}", 0);

        len = i == 0 ? 3 : i == 1 ? UINT64_MAX : UINT64_MAX - 7;
        memcpy(file, &len, 8);
        assert_int_equal(safetensors_read(s, &t, &why, &name), PARSE_BAD);
        assert_string_equal(why, "shorter than its header");
    }
    tensors_close(&t);
}

static void what_the_format_allows_is_read(void **state)
{
    struct tensors t = {0};
    const char *why;
    char *name;
    /* Order in the header is free; scalars and empty tensors exist; spaces
     * pad the header. */
    struct span s = build(
        "{\"b\":{\"dtype\":\"BF16\",\"shape\":[2,3],\"data_offsets\":[4,16]},"
        "\"e\":{\"dtype\":\"F16\",\"shape\":[0,7],\"data_offsets\":[4,4]},"
        "\"__metadata__\":{\"format\":\"pt\"},"
        "\"a\":{\"dtype\":\"F32\",\"shape\":[],\"data_offsets\":[0,4]},"
        "\"z\":{\"dtype\":\"I64\",\"shape\":[1],\"data_offsets\":[16,24]}}    ",
        24);

    (void)state;
    assert_int_equal(safetensors_read(s, &t, &why, &name), PARSE_OK);
    assert_int_equal(t.n, 4);
    assert_null(tensors_find(&t, "c"));
    assert_int_equal(tensors_find(&t, "a")->dims, 0);
    assert_int_equal(tensors_find(&t, "b")->shape[1], 3);
    assert_int_equal(tensors_find(&t, "b")->data.p[0], 4);
    assert_int_equal(tensors_find(&t, "e")->data.n, 0);
    assert_int_equal(tensors_find(&t, "z")->dtype, DTYPE_OTHER);
    tensors_close(&t);
}

/* Opens the model with this index.json, or this other change. */
static void model_refused(const struct tiny_model *t, const char *name,
                          const char *bytes, const char *why)
{
    struct error have = {""};
    struct model *m;
    char dir[64];

    tiny_model_write(t, dir);
    if (name != NULL)
        tiny_model_file(dir, name, bytes, strlen(bytes));
    if (model_open(dir, &m, &have) == 0)
        fail_msg("taken, although: %s", why);
    if (strstr(have.text, why) == NULL)
        fail_msg("\"%s\", not \"%s\"", have.text, why);
    tiny_model_remove(dir);
}

#define INDEX "model.safetensors.index.json"

static void a_lying_index_is_refused(void **state)
{
    struct tiny_model t = tiny_model_default();

    (void)state;
    t.shards = 2;
    model_refused(&t, INDEX, "{", "line 1");
    model_refused(&t, INDEX, "{\"weight_map\":[]}", "no weight_map");
    model_refused(&t, INDEX, "{\"weight_map\":{}}", "names no file");
    model_refused(&t, INDEX, "{\"weight_map\":{\"a\":\"../a\"}}",
                  "bad file name");
    model_refused(&t, INDEX, "{\"weight_map\":{\"a\":\"/etc/passwd\"}}",
                  "bad file name");
    model_refused(&t, INDEX, "{\"weight_map\":{\"a\":\"\"}}", "bad file name");
    model_refused(&t, INDEX, "{\"weight_map\":{\"a\":\"b.safetensors\"}}",
                  "No such file");
    model_refused(&t, INDEX,
                  "{\"weight_map\":{\"a\":\"model-00001-of-00002"
                  ".safetensors\"}}",
                  "not in this file");
}

static void weights_that_do_not_fit_are_refused(void **state)
{
    struct tiny_model t = tiny_model_default();

    (void)state;
    model_refused(&t, "model.safetensors", "", "model.safetensors");
    /* Biases that the configuration does not ask for. */
    t.qkv_bias = true;
    model_refused(&t, NULL, NULL, "that this architecture lacks");
    t = tiny_model_default();
    t.more = ",\"attention_bias\":true";
    model_refused(&t, NULL, NULL, "bias: is missing");
    t.more = NULL;
    t.untied = true;
    model_refused(&t, "config.json",
                  "{\"architectures\":[\"LlamaForCausalLM\"],"
                  "\"hidden_size\":40,\"intermediate_size\":71,"
                  "\"num_hidden_layers\":2,\"num_attention_heads\":4,"
                  "\"num_key_value_heads\":2,\"vocab_size\":101,"
                  "\"tie_word_embeddings\":false}",
                  "has another shape");
}

static void shards_and_one_file_are_the_same_model(void **state)
{
    struct tiny_model t = tiny_model_default();
    struct error why;
    struct model *m;
    char dir[64];

    (void)state;
    for (t.shards = 0; t.shards < 5; t.shards += 2) {
        tiny_model_write(&t, dir);
        if (model_open(dir, &m, &why) != 0)
            fail_msg("%u shards: %s", t.shards, why.text);
        assert_int_equal(model_config(m)->vocab, 101);
        model_close(m);
        tiny_model_remove(dir);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lies_are_refused),
        cmocka_unit_test(lengths_past_the_end_are_refused),
        cmocka_unit_test(what_the_format_allows_is_read),
        cmocka_unit_test(a_lying_index_is_refused),
        cmocka_unit_test(weights_that_do_not_fit_are_refused),
        cmocka_unit_test(shards_and_one_file_are_the_same_model),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
