/*
 * test_manifest.c - a model's digests are those that coreutils print, and
 * every file that decides an answer is in them.
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "engine/assay/assay.h"
#include "recompute/error.h"
#include "recompute/manifest.h"
#include "store/kind.h"
#include "store/record.h"
#include "tiny_model.h"

static void to_hex(const uint8_t digest[32], char hex[65])
{
    for (size_t i = 0; i < 32; i++)
        (void)snprintf(hex + 2 * i, 3, "%02x", digest[i]);
}

/* The manifest of a directory of our own numerics. */
static int describe(const char *dir, struct manifest *m)
{
    struct error error = {""};
    int err = manifest_init("fixed", "", m);

    if (err == 0) {
        err = engine_assay.files(dir, m, &error);
        if (err == 0)
            err = manifest_finish(m);
        if (err != 0)
            manifest_fini(m);
    }
    return err;
}

/* First 64 characters that this shell command prints in dir. */
static void shell(const char *dir, const char *command, char hex[65])
{
    char line[512];
    FILE *p;

    (void)snprintf(line, sizeof(line), "cd %s && LC_ALL=C %s", dir, command);
    p = popen(line, "r");
    assert_non_null(p);
    assert_int_equal(fread(hex, 1, 64, p), 64);
    hex[64] = '\0';
    assert_int_equal(pclose(p), 0);
}

static void must_print(const char *dir, const uint8_t digest[32],
                       const char *command)
{
    char have[65], want[65];

    to_hex(digest, have);
    shell(dir, command, want);
    assert_string_equal(have, want);
}

static void digests_are_those_of_coreutils(void **state)
{
    struct tiny_model t = tiny_model_default();
    struct manifest m;
    char dir[64];

    (void)state;
    t.shards = 3;
    tiny_model_write(&t, dir);
    tiny_model_file(dir, "tokenizer.json", "{}", 2);
    tiny_model_file(dir, "README.md", "no part of it", 13);
    assert_int_equal(describe(dir, &m), 0);
    assert_int_equal(m.n_files, 6);
    must_print(dir, m.weights, "sha256sum *.safetensors | sha256sum");
    must_print(dir, m.config, "sha256sum config.json");
    must_print(dir, m.tokenizer, "sha256sum tokenizer.json");
    must_print(dir, m.manifest,
               "sh -c 'printf \"assay-manifest/1\\nnumerics fixed\\n"
               "recipe -\\n\"; sha256sum config.json model* tokenizer.json' |"
               " sha256sum");
    manifest_fini(&m);
    tiny_model_remove(dir);
}

static void every_file_changes_the_manifest(void **state)
{
    static const char *const names[] = {
        "config.json",    "chat_template.jinja",   "generation_config.json",
        "tokenizer.json", "tokenizer_config.json", "model.safetensors"};
    struct tiny_model t = tiny_model_default();
    struct manifest before, after;
    char dir[64];

    (void)state;
    tiny_model_write(&t, dir);
    assert_int_equal(describe(dir, &before), 0);
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        tiny_model_file(dir, names[i], "{ }", 3);
        assert_int_equal(describe(dir, &after), 0);
        assert_memory_not_equal(before.manifest, after.manifest, 32);
        assert_int_equal(memcmp(before.weights, after.weights, 32) == 0,
                         i + 1 < sizeof(names) / sizeof(names[0]));
        manifest_fini(&before);
        before = after;
    }
    manifest_fini(&before);
    tiny_model_remove(dir);
}

static void its_record_keeps_the_grammar(void **state)
{
    struct tiny_model t = tiny_model_default();
    static struct record r;
    struct manifest m;
    const char *text = "";
    char dir[64];

    (void)state;
    tiny_model_write(&t, dir);
    assert_int_equal(describe(dir, &m), 0);
    assert_true(manifest_record(&m, "tiny model", "e0", &r));
    if (!record_check_body(kind_find("manifest"), span_of(r.text, r.n), &text))
        fail_msg("%s", text);
    manifest_fini(&m);
    tiny_model_remove(dir);
}

static void a_directory_without_a_model_is_refused(void **state)
{
    struct manifest m;

    (void)state;
    assert_int_equal(describe("/nonexistent", &m), -ENOENT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(digests_are_those_of_coreutils),
        cmocka_unit_test(every_file_changes_the_manifest),
        cmocka_unit_test(its_record_keeps_the_grammar),
        cmocka_unit_test(a_directory_without_a_model_is_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
