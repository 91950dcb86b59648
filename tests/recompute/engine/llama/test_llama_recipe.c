/*
 * test_llama_recipe.c - what is declared of a deployment, and which recipe
 * covers it.
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

#include "engine/llama/deployment/declaration.h"
#include "engine/llama/deployment/recipe_choice.h"
#include "recompute/error.h"
#include "recompute/model.h"

#define FOLDER_TEST(f) \
    cmocka_unit_test_setup_teardown(f, copy_recipes, remove_recipes)
#define NEW "b11434 (ggml 0.26.0)"
#define OLD "2026-05-02 commit 173442644 (ggml 0.10.1)"
#define ZEN "AVX-512, AVX512_BF16, VNNI; no AVX512-FP16, no AMX"

static struct declaration read_json(const char *build, const char *isa,
                                    const char *command)
{
    struct declaration d;
    struct error error;
    char json[1024];

    (void)snprintf(json, sizeof(json),
                   "{\"engine\":\"llama.cpp\",\"build\":\"%s\",\"compiler\":"
                   "\"gcc 12.2 -O3 -march=native\",\"machine\":{\"isa\":\"%s\"}"
                   ",\"command\":\"%s\"}",
                   build, isa, command);
    assert_int_equal(declaration_read(span_str(json), &d, &error), 0);
    return d;
}

static int choose(const struct declaration *d, struct recipe *r,
                  struct error *error)
{
    return recipe_choose(RECIPES, d, 512, r, error);
}

static struct recipe recipe_of(const char *build, const char *isa,
                               const char *command)
{
    struct declaration d = read_json(build, isa, command);
    struct recipe r;
    struct error error = {""};

    int err = choose(&d, &r, &error);
    if (err != 0)
        print_error("%s\n", error.text);
    assert_int_equal(err, 0);
    return r;
}

static void both_versions_are_told_apart(void **state)
{
    struct recipe r = recipe_of(NEW, ZEN, "llama-server");

    (void)state;
    assert_string_equal(r.name, "llama.cpp-b11434");
    assert_int_equal(r.logprobs, LOGPROB_SORT_TOP);
    assert_true(r.run.build.tiled && r.run.build.any_k && r.draws_single);
    r = recipe_of(OLD, ZEN, "llama-server");
    assert_string_equal(r.name, "llama.cpp-2026-05");
    assert_int_equal(r.logprobs, LOGPROB_SORT_ALL);
    assert_false(r.run.build.tiled || r.run.build.any_k || r.draws_single);
}

static void instructions_choose_the_variant(void **state)
{
    struct recipe r = recipe_of(NEW, ZEN, "llama-server");

    (void)state;
    assert_string_equal(r.variant, "avx512-bf16");
    assert_int_equal(r.run.build.lanes, 16);
    assert_true(r.run.build.bf16);
    r = recipe_of(NEW, "avx512f, no avx512_bf16", "llama-server");
    assert_string_equal(r.variant, "avx512");
    assert_false(r.run.build.bf16);
    r = recipe_of(NEW, "AVX2, FMA, F16C", "llama-server");
    assert_string_equal(r.variant, "avx2");
    assert_int_equal(r.run.build.lanes, 8);
    r = recipe_of("b11434 GGML_NATIVE=OFF", ZEN, "llama-server");
    assert_string_equal(r.variant, "avx2");
}

static void no_flags_are_the_servers_defaults(void **state)
{
    struct recipe r = recipe_of(NEW, ZEN, "llama-server -m m.gguf");

    (void)state;
    assert_true(r.run.unified && r.run.flash && r.run.kv_f16);
    assert_int_equal(r.run.sequences, 4);
    assert_int_equal(r.run.cells, 512);
    assert_int_equal(r.run.n_batch, 512); /* no more than cells */
    assert_int_equal(r.run.n_ubatch, 512);
}

static void flags_are_read(void **state)
{
    struct recipe r = recipe_of(
        NEW, ZEN,
        "llama-server -np 3 -t 6 -c 3000 -fa off -ctk f32 -ctv f32 -ub 64");

    (void)state;
    assert_false(r.run.unified || r.run.flash || r.run.kv_f16);
    assert_int_equal(r.run.sequences, 3);
    assert_int_equal(r.run.threads, 6);
    assert_int_equal(r.run.cells, 1024); /* 3072 / 3 */
    assert_int_equal(r.run.n_ubatch, 64);
    r = recipe_of(NEW, ZEN, "llama-server -np 2 -kvu -c 1024");
    assert_true(r.run.unified);
    assert_int_equal(r.run.cells, 1024);
}

static void flags_that_change_an_answer_are_followed_or_refused(void **state)
{
    static const char *const refused[] = {
        "--lora a.gguf",       "--rope-freq-base 7",
        "--yarn-ext-factor 1", "--override-kv a=int:1",
        "--no-repack",         "--spec-draft-n-max 4",
        "-md d.gguf"};
    struct recipe r, plain;
    struct error error;

    (void)state;
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
        struct declaration d = read_json(NEW, ZEN, refused[i]);
        assert_int_equal(choose(&d, &r, &error), -ENOENT);
        assert_non_null(strstr(error.text, "does not cover"));
    }
    plain = recipe_of(NEW, ZEN, "llama-server -t 2 --timeout 3 -to 4 -a s");
    assert_false(plain.own_samplers || plain.own_template || plain.shifts);
    assert_true(recipe_of(NEW, ZEN, "llama-server --temp 0").own_samplers);
    assert_true(recipe_of(NEW, ZEN, "llama-server -s 4").own_samplers);
    assert_true(recipe_of(NEW, ZEN, "x --chat-template llama3").own_template);
    assert_true(recipe_of(NEW, ZEN, "x --cache-reuse 64").shifts);
    assert_false(recipe_of(NEW, ZEN, "x --cache-reuse 0").shifts);
}

static void an_unknown_build_names_the_nearest(void **state)
{
    static const struct {
        const char *build, *nearest;
    } cases[] = {{"b11435 (ggml 0.26.0)", "llama.cpp-b11434"},
                 {"b9000 (ggml 0.11.0)", "llama.cpp-2026-05"},
                 {"commit 173442 (ggml 0.10.1)", "llama.cpp-2026-05"},
                 {"commit 273442644 (ggml 0.10.1)", "llama.cpp-2026-05"},
                 {"of today", "llama.cpp-2026-05"}};
    struct recipe r;
    struct error error;

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct declaration d = read_json(cases[i].build, ZEN, "llama-server");
        assert_int_equal(choose(&d, &r, &error), -ENOENT);
        assert_non_null(strstr(error.text, cases[i].nearest));
    }
}

static void what_a_recipe_does_not_cover_is_refused(void **state)
{
    static const char *const isa[] = {"AVX-512, AVX512_BF16, AVX512-FP16",
                                      "AVX-512, AVX512_BF16, AMX_INT8"};
    struct recipe r;
    struct error error;

    (void)state;
    for (size_t i = 0; i < 2; i++) {
        struct declaration d = read_json(NEW, isa[i], "llama-server");
        assert_int_equal(choose(&d, &r, &error), -ENOENT);
    }
    struct declaration d = read_json(NEW, ZEN, "llama-server -ctk q8_0");
    assert_int_equal(choose(&d, &r, &error), -ENOENT);
    assert_non_null(strstr(error.text, "q8_0"));
}

static char folder[] = "/tmp/assay-recipes-XXXXXX";

static void write_recipe(const char *name, const char *text)
{
    char path[64];
    FILE *f;

    (void)snprintf(path, sizeof(path), "%s/%s", folder, name);
    f = fopen(path, "w");
    assert_non_null(f);
    assert_true(fputs(text, f) >= 0);
    assert_int_equal(fclose(f), 0);
}

/* A folder with our own recipes, to which others are added. */
static int copy_recipes(void **state)
{
    char line[256];

    (void)state;
    strcpy(strrchr(folder, '-'), "-XXXXXX"); /* of the same length */
    assert_non_null(mkdtemp(folder));
    (void)snprintf(line, sizeof(line), "cp %s/*.conf %s", RECIPES, folder);
    return system(line);
}

static int remove_recipes(void **state)
{
    char line[64];

    (void)state;
    (void)snprintf(line, sizeof(line), "rm -r %s", folder);
    return system(line);
}

static int choose_from_folder(const char *build, struct error *error)
{
    struct declaration d = read_json(build, ZEN, "llama-server");
    struct recipe r;

    *error = (struct error){""};
    return recipe_choose(folder, &d, 512, &r, error);
}

static void another_engines_recipe_is_passed_over(void **state)
{
    struct error error;

    (void)state;
    write_recipe("aa-vllm.conf", "name = \"vllm-cpu\"; engine = \"vllm\";\n"
                                 "builds = ( ); commits = [ ];\n"
                                 "variants = ( { name = \"avx512\"; } );\n");
    assert_int_equal(choose_from_folder(NEW, &error), 0);
    assert_int_equal(choose_from_folder(OLD, &error), 0);
    assert_int_equal(choose_from_folder("b9 (ggml 0.1.0)", &error), -ENOENT);
    assert_null(strstr(error.text, "vllm"));
}

static void a_broken_recipe_hides_no_other(void **state)
{
    static const char *const broken[] = {
        "name = ;",
        "name = \"a\";",
        "engine = 5;",
        "engine = \"llama.cpp\"; builds = 7; commits = \"173442644\";",
        "engine = \"llama.cpp\"; builds = ( { from = 11434; } );\n"
        "commits = ( 5 );",
        "engine = \"llama.cpp\"; commits = [ \"173442644\" ];\n"
        "builds = ( { from = 1; to = 20000; } ); any_k = 7;"};
    struct error error;

    (void)state;
    for (size_t i = 0; i < sizeof broken / sizeof *broken; i++) {
        write_recipe("aa.conf", broken[i]);
        assert_int_equal(choose_from_folder(NEW, &error), 0);
        assert_int_equal(choose_from_folder(OLD, &error), 0);
    }
}

static void a_broken_recipe_is_named_to_what_it_may_cover(void **state)
{
    static const struct {
        const char *text, *words;
    } cases[] = {
        {"engine = \"llama.cpp\";\nname = ;", "aa.conf:2: syntax error"},
        {"name = \"a\";", "aa.conf:1: engine is missing"},
        {"\nengine = \"llama.cpp\";", "aa.conf:2: builds is missing"},
        {"engine = \"llama.cpp\";\nbuilds = 7;",
         "aa.conf:2: builds has not its type"},
        {"engine = \"llama.cpp\";\nbuilds = (\n{ from = 1; } );",
         "aa.conf:3: a range of builds lacks from or to"},
        {"engine = \"llama.cpp\"; name = \"a\"; ggml = \"0.1.0\";\n"
         "builds = ( { from = 1; to = 9; } );\nlogprobs = \"some\";",
         "aa.conf:3: logprobs is neither all nor top"},
        {"engine = \"llama.cpp\"; name = \"a\"; ggml = \"0.1.0\";\n"
         "builds = ( { from = 1; to = 9; } ); logprobs = \"all\";\n"
         "draws_single = true;\nany_k = 7;",
         "aa.conf:4: any_k has not its type"},
        {"engine = \"llama.cpp\"; name = \"a\"; ggml = \"0.1.0\";\n"
         "builds = ( { from = 1; to = 9; } ); logprobs = \"all\";\n"
         "draws_single = true; any_k = true; any_head = true; tiled = true;\n"
         "tinyblas = true; repack = true;\n"
         "variants = (\n{ name = \"avx512-bf16\"; } );",
         "aa.conf:6: a variant lacks name, lanes or bf16"}};
    struct error error;

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        write_recipe("aa.conf", cases[i].text);
        assert_int_equal(choose_from_folder("b9 (ggml 0.1.0)", &error),
                         -EINVAL);
        if (strstr(error.text, cases[i].words) == NULL)
            fail_msg("%s, not %s", error.text, cases[i].words);
    }
    /* It lists its builds, and this is none of them. */
    assert_int_equal(choose_from_folder("b11 (ggml 0.1.0)", &error), -ENOENT);
    assert_non_null(strstr(error.text, "the nearest is a"));
}

static void broken_recipes_are_no_alternatives(void **state)
{
    struct declaration d = read_json(NEW, ZEN, "llama-server");
    struct recipes *all = calloc(1, sizeof *all);
    struct error error;

    (void)state;
    assert_non_null(all);
    write_recipe("aa.conf", "name = ;");
    write_recipe("zz.conf", "engine = \"llama.cpp\"; name = \"z\";");
    write_recipe("zz-vllm.conf", "name = \"vllm-cpu\"; engine = \"vllm\";");
    assert_int_equal(recipes_all(folder, &d, 512, all, &error), 0);
    assert_int_equal(all->n, 6);
    free(all);
}

static void wrong_types_are_refused(void **state)
{
    static const char *const bad[] = {"[]",
                                      "{",
                                      "{\"engine\":1}",
                                      "{\"threads\":\"2\"}",
                                      "{\"slots\":0}",
                                      "{\"kv_unified\":1}",
                                      "{\"engine\":\"a\",\"engine\":\"a\"}"};
    struct declaration d;
    struct error error;

    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_int_equal(declaration_read(span_str(bad[i]), &d, &error),
                         -EINVAL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(both_versions_are_told_apart),
        cmocka_unit_test(instructions_choose_the_variant),
        cmocka_unit_test(no_flags_are_the_servers_defaults),
        cmocka_unit_test(flags_are_read),
        cmocka_unit_test(flags_that_change_an_answer_are_followed_or_refused),
        cmocka_unit_test(an_unknown_build_names_the_nearest),
        cmocka_unit_test(what_a_recipe_does_not_cover_is_refused),
        FOLDER_TEST(another_engines_recipe_is_passed_over),
        FOLDER_TEST(a_broken_recipe_hides_no_other),
        FOLDER_TEST(a_broken_recipe_is_named_to_what_it_may_cover),
        FOLDER_TEST(broken_recipes_are_no_alternatives),
        cmocka_unit_test(wrong_types_are_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
