/*
 * test_model_config.c - config.json in its old and its new form; what the
 * forward pass does not do is refused, never ignored.
 * SPDX-License-Identifier: Apache-2.0
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "recompute/error.h"
#include "recompute/model_config.h"

#define BASE                                                                \
    "\"hidden_size\":64,\"intermediate_size\":172,\"num_hidden_layers\":5," \
    "\"num_attention_heads\":8,\"vocab_size\":512"
#define LLAMA "{\"architectures\":[\"LlamaForCausalLM\"]," BASE
#define QWEN  "{\"architectures\":[\"Qwen2ForCausalLM\"]," BASE
#define MIST  "{\"architectures\":[\"MistralForCausalLM\"]," BASE

static struct model_config taken(const char *json)
{
    struct model_config c;
    struct error why = {""};

    if (model_config_read(span_str(json), &c, &why) != PARSE_OK)
        fail_msg("%s: %s", json, why.text);
    return c;
}

static void refused(const char *json, const char *why)
{
    struct model_config c;
    struct error have = {""};

    if (model_config_read(span_str(json), &c, &have) != PARSE_BAD)
        fail_msg("taken: %s", json);
    if (strstr(have.text, why) == NULL)
        fail_msg("\"%s\" does not say \"%s\"", have.text, why);
}

static void both_forms_are_read(void **state)
{
    struct model_config c;

    (void)state;
    c = taken(LLAMA ",\"rope_theta\":5e5,\"torch_dtype\":\"bfloat16\","
                    "\"rope_scaling\":null}");
    assert_true(c.rope.theta == 5e5);
    c = taken(LLAMA ",\"dtype\":\"float32\",\"rope_parameters\":"
                    "{\"rope_theta\":100000.0,\"rope_type\":\"default\"}}");
    assert_true(c.rope.theta == 1e5);
    assert_int_equal(c.rope.type, ROPE_DEFAULT);
}

static void defaults_are_those_of_transformers(void **state)
{
    struct model_config c = taken(LLAMA "}");

    (void)state;
    assert_int_equal(c.kv_heads, 8);
    assert_int_equal(c.head_dim, 8);
    assert_int_equal(c.context, 2048);
    assert_true(c.rope.theta == 10000.0);
    assert_true(c.rms_eps == 1e-6f);
    assert_false(c.tied || c.qkv_bias || c.o_bias || c.mlp_bias);
    assert_int_equal(c.bos, -1);
    assert_int_equal(c.n_eos, 0);
    c = taken(QWEN "}");
    assert_true(c.qkv_bias);
    assert_false(c.o_bias);
    c = taken(LLAMA ",\"attention_bias\":true,\"head_dim\":32}");
    assert_true(c.qkv_bias && c.o_bias);
    assert_int_equal(c.head_dim, 32);
}

static void rope_scalings_are_read(void **state)
{
    struct model_config c;

    (void)state;
    c = taken(LLAMA ",\"rope_scaling\":{\"type\":\"linear\",\"factor\":2}}");
    assert_int_equal(c.rope.type, ROPE_LINEAR);
    assert_true(c.rope.factor == 2.0);
    c = taken(LLAMA
              ",\"rope_scaling\":{\"rope_type\":\"llama3\",\"factor\":8.0,"
              "\"low_freq_factor\":1.0,\"high_freq_factor\":4.0,"
              "\"original_max_position_embeddings\":8192}}");
    assert_int_equal(c.rope.type, ROPE_LLAMA3);
    assert_true(c.rope.original_context == 8192.0);
    refused(LLAMA ",\"rope_scaling\":{\"rope_type\":\"yarn\",\"factor\":8}}",
            "rope_type");
    refused(LLAMA ",\"rope_scaling\":{\"type\":\"dynamic\",\"factor\":8}}",
            "rope_type");
    refused(LLAMA ",\"rope_scaling\":{\"type\":\"linear\"}}", "factor");
    refused(LLAMA ",\"rope_scaling\":7}", "rope_scaling");
    refused(LLAMA ",\"rope_scaling\":{\"rope_type\":\"llama3\",\"factor\":8.0,"
                  "\"low_freq_factor\":4.0,\"high_freq_factor\":4.0}}",
            "high_freq_factor");
}

static void other_arithmetic_is_refused(void **state)
{
    (void)state;
    refused("{\"architectures\":[\"GemmaForCausalLM\"]," BASE "}",
            "architectures");
    refused("{" BASE "}", "architectures");
    refused(LLAMA ",\"hidden_act\":\"gelu\"}", "hidden_act");
    refused(LLAMA ",\"quantization_config\":{}}", "quantization_config");
    refused(LLAMA ",\"partial_rotary_factor\":0.5}", "partial_rotary_factor");
    refused(LLAMA ",\"rope_parameters\":{\"rope_theta\":1e4,"
                  "\"partial_rotary_factor\":0.25}}",
            "partial_rotary_factor");
    refused(MIST ",\"sliding_window\":4096}", "sliding_window");
    (void)taken(MIST ",\"sliding_window\":null}");
    refused(QWEN ",\"use_sliding_window\":true}", "use_sliding_window");
    (void)taken(QWEN ",\"use_sliding_window\":false,\"sliding_window\":4096}");
}

static void numbers_out_of_range_are_refused(void **state)
{
    (void)state;
    refused("{", "line 1");
    refused("[]", "not an object");
    refused("{\"architectures\":[\"LlamaForCausalLM\"]}", "is missing");
    refused(LLAMA ",\"num_key_value_heads\":3}", "num_key_value_heads");
    refused(LLAMA ",\"num_key_value_heads\":0}", "num_key_value_heads");
    refused(LLAMA ",\"head_dim\":7}", "head_dim");
    refused(LLAMA ",\"head_dim\":\"8\"}", "head_dim");
    refused(LLAMA ",\"max_position_embeddings\":2e3}",
            "max_position_embeddings");
    refused(LLAMA ",\"max_position_embeddings\":99999999}",
            "max_position_embeddings");
    refused(LLAMA ",\"rms_norm_eps\":-1}", "rms_norm_eps");
    refused(LLAMA ",\"rms_norm_eps\":\"x\"}", "rms_norm_eps");
    refused(LLAMA ",\"rope_theta\":0.5}", "rope_theta");
    refused(LLAMA ",\"tie_word_embeddings\":1}", "tie_word_embeddings");
    refused(LLAMA ",\"eos_token_id\":512}", "eos_token_id");
    refused(LLAMA ",\"eos_token_id\":[2,-1]}", "eos_token_id");
    refused(LLAMA ",\"bos_token_id\":512}", "bos_token_id");
    refused(LLAMA ",\"vocab_size\":512}", "line 1"); /* a double */
}

static void end_tokens_of_both_files_are_joined(void **state)
{
    struct model_config c = taken(LLAMA ",\"eos_token_id\":[2,7]}");
    struct error why;

    (void)state;
    assert_int_equal(
        generation_config_read(span_str("{\"eos_token_id\":7}"), &c, &why),
        PARSE_OK);
    assert_int_equal(c.n_eos, 2);
    assert_int_equal(
        generation_config_read(span_str("{\"eos_token_id\":[9,2]}"), &c, &why),
        PARSE_OK);
    assert_int_equal(c.n_eos, 3);
    assert_true(model_is_eos(&c, 2) && model_is_eos(&c, 7) &&
                model_is_eos(&c, 9));
    assert_false(model_is_eos(&c, 0));
    assert_int_equal(
        generation_config_read(span_str("{\"eos_token_id\":\"x\"}"), &c, &why),
        PARSE_BAD);
    assert_int_equal(generation_config_read(span_str("7"), &c, &why),
                     PARSE_BAD);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(both_forms_are_read),
        cmocka_unit_test(defaults_are_those_of_transformers),
        cmocka_unit_test(rope_scalings_are_read),
        cmocka_unit_test(other_arithmetic_is_refused),
        cmocka_unit_test(numbers_out_of_range_are_refused),
        cmocka_unit_test(end_tokens_of_both_files_are_joined),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
