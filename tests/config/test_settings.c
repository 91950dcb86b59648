/*
 * test_settings.c - assay.conf read against the table.
 * SPDX-License-Identifier: Apache-2.0
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "config/settings.h"

struct outcome {
    int rc;
    struct settings *settings;
    char *errors;
};

static struct outcome load(const char *text)
{
    struct outcome o = {0, NULL, NULL};
    char path[] = "/tmp/assay-settings-XXXXXX";
    int fd = mkstemp(path);
    size_t n = 0;
    FILE *errors;

    assert_true(fd >= 0);
    assert_int_equal(write(fd, text, strlen(text)), strlen(text));
    close(fd);
    errors = open_memstream(&o.errors, &n);
    o.rc = settings_load(path, errors, &o.settings);
    fclose(errors);
    unlink(path);
    return o;
}

static void end(struct outcome *o)
{
    settings_close(o->settings);
    free(o->errors);
}

static void keys_left_out_have_their_defaults(void **state)
{
    struct outcome o = load("origin = \"a.example/1\";\n");

    (void)state;
    assert_int_equal(o.rc, 0);
    assert_string_equal(settings_str(o.settings, "origin"), "a.example/1");
    assert_int_equal(settings_int(o.settings, "store.checkpoint_s"), 60);
    assert_string_equal(settings_str(o.settings, "store.job_mode"), "blind");
    end(&o);
}

static void values_of_the_file_replace_the_defaults(void **state)
{
    struct outcome o = load("store: { checkpoint_s = 5; "
                            "job_mode = \"forced\"; };\n");

    (void)state;
    assert_int_equal(o.rc, 0);
    assert_int_equal(settings_int(o.settings, "store.checkpoint_s"), 5);
    assert_string_equal(settings_str(o.settings, "store.job_mode"), "forced");
    end(&o);
}

static void every_wrong_key_is_named_with_line_and_range(void **state)
{
    struct outcome o = load("store: {\n checkpoint_s = 0;\n sped = 3;\n"
                            " job_mode = \"fast\";\n state_dir = 7;\n};\n"
                            "stroe: { x = 1; };\norigin = \"\";\n");
    static const char *const expected[] = {
        ":2: store.checkpoint_s: 0 is out of range (allowed 1 to 86400)",
        ":3: store.sped: no such setting",
        ":4: store.job_mode: \"fast\" is no choice (allowed blind forced)",
        ":5: store.state_dir: wrong type (allowed: a string)",
        ":7: stroe: no such setting",
        ":8: origin: \"\" has 0 bytes (allowed 1 to 255)",
    };

    (void)state;
    assert_int_equal(o.rc, -EINVAL);
    assert_null(o.settings);
    for (size_t i = 0; i < sizeof expected / sizeof *expected; i++)
        if (strstr(o.errors, expected[i]) == NULL)
            fail_msg("missing \"%s\" in:\n%s", expected[i], o.errors);
    end(&o);
}

static void a_syntax_error_has_its_line(void **state)
{
    struct outcome o = load("origin = \"x\";\nstore: {\n");

    (void)state;
    assert_int_equal(o.rc, -EINVAL);
    assert_non_null(strstr(o.errors, ":3: syntax error"));
    end(&o);
}

static void a_key_given_twice_is_refused(void **state)
{
    struct outcome o = load("origin = \"x\";\norigin = \"y\";\n");

    (void)state;
    assert_int_equal(o.rc, -EINVAL);
    assert_non_null(strstr(o.errors, ":2: duplicate setting name"));
    end(&o);
}

static void a_missing_file_is_named(void **state)
{
    struct settings *s = NULL;
    char *errors = NULL;
    size_t n = 0;
    FILE *f = open_memstream(&errors, &n);

    (void)state;
    assert_int_equal(settings_load("/nowhere/assay.conf", f, &s), -ENOENT);
    fclose(f);
    assert_string_equal(errors,
                        "/nowhere/assay.conf: No such file or directory\n");
    free(errors);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(keys_left_out_have_their_defaults),
        cmocka_unit_test(values_of_the_file_replace_the_defaults),
        cmocka_unit_test(every_wrong_key_is_named_with_line_and_range),
        cmocka_unit_test(a_syntax_error_has_its_line),
        cmocka_unit_test(a_key_given_twice_is_refused),
        cmocka_unit_test(a_missing_file_is_named),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
