/*
 * bundle_check.c - what tests of bundles share.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "bundle_check.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

struct bundle check_export(struct world *w, uint64_t epoch)
{
    struct export_note notes[64];
    struct export_source s;
    struct bundle b;

    assert_true(w->n_notes < 64);
    world_source(w, notes, &s);
    assert_int_equal(export_epoch(&s, epoch, &b), 0);
    return b;
}

struct report check_verify(const struct bundle *b, const char *vkey)
{
    const struct verify_options o = {vkey, {NULL, 0}};
    struct report r;

    verify_bundle(b, &o, &r);
    return r;
}

const struct check *check_row(const struct report *r, const char *name)
{
    for (size_t i = 0; i < r->n; i++)
        if (strcmp(r->check[i].name, name) == 0)
            return &r->check[i];
    fail_msg("no check %s", name);
    return NULL;
}

void check_refused(const struct report *r, const char *name, const char *text)
{
    const struct check *c = check_row(r, name);

    if (c->state != CHECK_FAIL || strstr(c->detail, text) == NULL) {
        report_print(r, stderr);
        fail_msg("not refused by \"%s\" for \"%s\"", name, text);
    }
    for (const struct check *above = r->check; above < c; above++)
        if (above->state == CHECK_FAIL) {
            report_print(r, stderr);
            fail_msg("\"%s\" fails before \"%s\"", above->name, name);
        }
    assert_int_equal(report_exit(r), 1);
    assert_string_equal(r->statement, "");
}
