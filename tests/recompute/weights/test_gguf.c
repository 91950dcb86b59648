/*
 * test_gguf.c - GGUF files: what is read, and what is refused.
 * SPDX-License-Identifier: Apache-2.0
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <string.h>

#include "recompute/error.h"
#include "recompute/gguf.h"
#include "recompute/model.h"

/* A file being written, little-endian. */
struct file {
    uint8_t bytes[4096];
    size_t n;
};

static void put(struct file *f, uint64_t v, size_t n)
{
    for (size_t i = 0; i < n; i++)
        f->bytes[f->n++] = (uint8_t)(v >> 8 * i);
}

static void put_str(struct file *f, const char *s)
{
    put(f, strlen(s), 8);
    memcpy(f->bytes + f->n, s, strlen(s));
    f->n += strlen(s);
}

static void put_tensor(struct file *f, const char *name, uint64_t rows,
                       uint64_t offset)
{
    put_str(f, name);
    put(f, 2, 4);
    put(f, 32, 8);
    put(f, rows, 8);
    put(f, GGML_Q8_0, 4);
    put(f, offset, 8);
}

static void put_head(struct file *f, uint64_t tensors, uint64_t values)
{
    memcpy(f->bytes, "GGUF", 4);
    f->n = 4;
    put(f, 3, 4);
    put(f, tensors, 8);
    put(f, values, 8);
}

static void put_data(struct file *f, size_t n)
{
    f->n = (f->n + 31) / 32 * 32;
    memset(f->bytes + f->n, 7, n);
    f->n += n;
}

static void put_values(struct file *f)
{
    put_str(f, "general.architecture");
    put(f, GGUF_STRING, 4);
    put_str(f, "llama");
    put_str(f, "llama.block_count");
    put(f, GGUF_U32, 4);
    put(f, 5, 4);
    put_str(f, "tokens");
    put(f, GGUF_ARRAY, 4);
    put(f, GGUF_STRING, 4);
    put(f, 2, 8);
    put_str(f, "<s>");
    put_str(f, "");
    put_str(f, "types");
    put(f, GGUF_ARRAY, 4);
    put(f, GGUF_I32, 4);
    put(f, 2, 8);
    put(f, 3, 4);
    put(f, 0xfffffffe, 4);
}

static struct file good(void)
{
    struct file f = {{0}, 0};

    put_head(&f, 2, 4);
    put_values(&f);
    put_tensor(&f, "a", 2, 0);
    put_tensor(&f, "b", 1, 96);
    put_data(&f, 96 + 34);
    return f;
}

static void is_refused(const struct file *f, const char *sentence)
{
    struct gguf *g = NULL;
    struct error error = {""};

    assert_int_equal(gguf_parse(span_of(f->bytes, f->n), &g, &error), -EINVAL);
    if (strstr(error.text, sentence) == NULL)
        fail_msg("\"%s\" does not say \"%s\"", error.text, sentence);
}

static void values_and_tensors_are_found_by_name(void **state)
{
    struct file f = good();
    struct gguf *g = NULL;
    struct error error = {""};
    uint64_t n = 0;
    struct span s;

    (void)state;
    assert_int_equal(gguf_parse(span_of(f.bytes, f.n), &g, &error), 0);
    assert_true(gguf_u64(g, "llama.block_count", &n));
    assert_int_equal(n, 5);
    assert_true(gguf_str(g, "general.architecture", &s));
    assert_true(span_eq_str(s, "llama"));
    assert_false(gguf_u64(g, "general.architecture", &n));
    assert_int_equal(gguf_tensor(g, "a")->data.n, 68);
    assert_int_equal(gguf_tensor(g, "b")->data.n, 34);
    assert_int_equal(gguf_tensor(g, "b")->data.p[0], 7);
    assert_null(gguf_tensor(g, "c"));
    gguf_close(g);
}

static void arrays_are_walked(void **state)
{
    struct file f = good();
    struct gguf *g = NULL;
    struct error error = {""};
    struct cursor c;

    (void)state;
    assert_int_equal(gguf_parse(span_of(f.bytes, f.n), &g, &error), 0);
    assert_int_equal(gguf_value(g, "tokens")->n, 2);
    c = cursor_of(gguf_value(g, "tokens")->bytes);
    assert_true(span_eq_str(gguf_next_string(&c), "<s>"));
    assert_int_equal(gguf_next_string(&c).n, 0);
    assert_false(c.bad);
    assert_int_equal(gguf_item_int(gguf_value(g, "types"), 0), 3);
    assert_int_equal(gguf_item_int(gguf_value(g, "types"), 1), -2);
    gguf_close(g);
}

static void every_cut_is_refused(void **state)
{
    struct file f = good();

    (void)state;
    for (size_t n = 0; n < f.n; n++) {
        struct gguf *g = NULL;
        struct error error = {""};

        if (gguf_parse(span_of(f.bytes, n), &g, &error) == 0)
            fail_msg("%zu of %zu bytes were taken for a file", n, f.n);
    }
}

static void another_version_is_refused(void **state)
{
    struct file f = good();

    (void)state;
    f.bytes[4] = 2;
    is_refused(&f, "not version 3");
}

static void huge_counts_are_refused(void **state)
{
    struct file f = good();

    (void)state;
    f.bytes[15] = 0x7f;
    is_refused(&f, "more than");
}

static void a_tensor_outside_the_file_is_refused(void **state)
{
    struct file f = {{0}, 0};

    (void)state;
    put_head(&f, 1, 0);
    put_tensor(&f, "a", UINT64_MAX / 34 - 1, 0);
    put_data(&f, 34);
    is_refused(&f, "tensor a");
}

static void overlapping_tensors_are_refused(void **state)
{
    struct file f = {{0}, 0};

    (void)state;
    put_head(&f, 2, 0);
    put_tensor(&f, "a", 2, 0);
    put_tensor(&f, "b", 1, 32);
    put_data(&f, 96);
    is_refused(&f, "overlap");
}

static void a_name_that_stands_twice_is_refused(void **state)
{
    struct file f = {{0}, 0};

    (void)state;
    put_head(&f, 2, 0);
    put_tensor(&f, "a", 1, 0);
    put_tensor(&f, "a", 1, 64);
    put_data(&f, 98);
    is_refused(&f, "twice");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values_and_tensors_are_found_by_name),
        cmocka_unit_test(arrays_are_walked),
        cmocka_unit_test(every_cut_is_refused),
        cmocka_unit_test(another_version_is_refused),
        cmocka_unit_test(huge_counts_are_refused),
        cmocka_unit_test(a_tensor_outside_the_file_is_refused),
        cmocka_unit_test(overlapping_tensors_are_refused),
        cmocka_unit_test(a_name_that_stands_twice_is_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
