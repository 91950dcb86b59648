/*
 * pattern.c - compiled patterns and the walk over their matches: pattern.h.
 * SPDX-License-Identifier: Apache-2.0
 */
#define PCRE2_CODE_UNIT_WIDTH 8
#include "tokenizer/pattern/pattern.h"

#include <errno.h>
#include <pcre2.h>
#include <stdlib.h>

#include "recompute/error.h"
#include "tokenizer/pattern/form.h"
#include "tokenizer/pattern/onig.h"

struct pattern {
    pcre2_code *code;
};

/* Interpreted, not compiled to machine code: the worker's sandbox lets nobody
 * make memory executable, and a pattern costs little beside a forward pass. */
static int compile(struct span text, uint32_t options, const char *where,
                   struct pattern **ret_p, struct error *w)
{
    struct pattern *p = calloc(1, sizeof *p);
    uint32_t empty = 0;
    PCRE2_SIZE at;
    int code;

    if (p == NULL)
        return -ENOMEM;
    p->code =
        pcre2_compile(text.p, text.n, options | PCRE2_UTF | PCRE2_NO_UTF_CHECK,
                      &code, &at, NULL);
    if (p->code == NULL) {
        free(p);
        return error_refuse(w, "%s: the pattern is malformed", where);
    }
    if (pcre2_pattern_info(p->code, PCRE2_INFO_MATCHEMPTY, &empty) != 0 ||
        empty != 0 || text.n == 0) {
        pattern_close(p);
        return error_refuse(w, "%s: the pattern matches nothing at all", where);
    }
    *ret_p = p;
    return 0;
}

int pattern_literal(struct span text, struct pattern **ret_p, struct error *w)
{
    return compile(text, PCRE2_LITERAL, "a literal pattern", ret_p, w);
}

int pattern_native(const char *text, struct pattern **ret_p, struct error *w)
{
    return compile(span_str(text), PCRE2_UCP, text, ret_p, w);
}

int pattern_foreign(struct span text, const char *where, struct pattern **ret_p,
                    struct error *w)
{
    struct buffer native = {0};
    int err = onig_rewrite(text, where, &native, w);

    if (err == 0)
        err = compile(span_of(native.p, native.n), PCRE2_UCP | PCRE2_MULTILINE,
                      where, ret_p, w);
    buffer_fini(&native);
    return err;
}

int pattern_read(const json_t *v, const char *where, struct pattern **ret_p,
                 struct error *w)
{
    static const char *const keys[] = {"String", "Regex", NULL};
    const json_t *text = json_object_get(v, "String");
    const json_t *regex = json_object_get(v, "Regex");
    const struct form f = {v, where, w};
    int err = form_keys(&f, keys);

    if (err != 0)
        return err;
    if (json_object_size(v) != 1)
        return error_refuse(w, "%s is not one pattern", where);
    if (json_is_string(text))
        return pattern_literal(form_span(text), ret_p, w);
    if (json_is_string(regex))
        return pattern_foreign(form_span(regex), where, ret_p, w);
    return error_refuse(w, "%s is not a text", where);
}

void pattern_close(struct pattern *p)
{
    if (p == NULL)
        return;
    pcre2_code_free(p->code);
    free(p);
}

void pattern_start(const struct pattern *p, struct span text,
                   struct pattern_walk *ret_w)
{
    *ret_w = (struct pattern_walk){.pattern = p, .text = text};
    ret_w->data = pcre2_match_data_create(1, NULL);
    if (ret_w->data == NULL)
        ret_w->err = -ENOMEM;
}

bool pattern_next(struct pattern_walk *w, size_t *ret_start, size_t *ret_end)
{
    const PCRE2_SIZE *at;
    int n;

    if (w->err != 0 || w->at >= w->text.n)
        return false;
    n = pcre2_match(w->pattern->code, w->text.p, w->text.n, w->at,
                    PCRE2_NO_UTF_CHECK, w->data, NULL);
    if (n == PCRE2_ERROR_NOMATCH)
        return false;
    at = pcre2_get_ovector_pointer(w->data);
    /* No pattern matches the empty text, but a look-behind may move the start
     * past the end. */
    if (n < 0 || at[1] <= at[0]) {
        w->err = -EIO;
        return false;
    }
    *ret_start = at[0];
    *ret_end = at[1];
    w->at = at[1];
    return true;
}

int pattern_end(struct pattern_walk *w)
{
    pcre2_match_data_free(w->data);
    return w->err;
}
