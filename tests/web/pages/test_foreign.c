/*
 * test_foreign.c - foreign text in every field of every record, and in every
 * part of a request, changes no page's markup.
 * SPDX-License-Identifier: Apache-2.0
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "fixture.h"
#include "markup.h"
#include "store/kind.h"

/* What has broken pages elsewhere. */
static const char *const corpus[] = {
    "<script>document.title='x'</script>",
    "\"><img src=x onerror=alert(1)>",
    "' onmouseover='alert(1)",
    "</title></textarea></style><svg/onload=alert(1)>",
    "javascript:alert(1)",
    "{{7*7}}${7*7}<%= 7*7 %>",
    "<!--><script>x</script-->",
    "&lt;script&gt;&#60;b&#62;",
    "]]><script>x</script>",
    "\342\200\256evil\342\201\246\342\200\213", /* turned, isolated */
    "\377\376\300\274script\355\240\200",       /* no UTF-8 */
    "a\r\nSet-Cookie: x=y\r\n\r\n<html>",
    "=HYPERLINK(\"http://evil.test\")",
    "\x1b]0;title\x07\x08\x08",
    "%3Cscript%3E",
};

static const char *const pages[] = {
    "/",         "/mismatches", "/exchanges", "/findings",
    "/coverage", "/losses",     "/unparsed",  "/epochs",
    "/epochs/1", "/log",        "/trail",     "/help",
};

enum { FIELDS_MAX = 40 };

/* One element of a `many` key; its columns are parted by commas. */
static void write_columns(const struct key *key, const char *text,
                          const char *object, char *out, size_t size)
{
    size_t n = 0;

    *out = '\0';
    for (const struct column *c = key->columns; c != NULL && c->name != NULL;
         c++) {
        const char *value = c->type == VALUE_TEXT ? text : "";

        if (strcmp(c->name, "object") == 0)
            value = object;
        n += (size_t)snprintf(out + n, size - n, "%s,", value);
    }
}

/* A record of this kind with text in every text field; verdicts keep the
 * words that lead to their pages. */
static struct unit_name add(struct fixture *f, const struct kind *k,
                            const char *text, const char *object)
{
    const char *pairs[2 * FIELDS_MAX + 1];
    char many[8][1024];
    size_t n = 0, n_many = 0;

    for (const struct key *key = k->keys; key->name != NULL; key++) {
        const char *value = key->type == VALUE_TEXT ? text : NULL;

        if (strcmp(key->name, "object") == 0 && key->type == VALUE_HEX)
            value = object;
        if (strcmp(key->name, "epoch") == 0)
            value = "1";
        if (strcmp(key->name, "verdict") == 0)
            value = "MISMATCH";
        if (key->many) {
            char *out = many[n_many++];

            write_columns(key, text, object, out, sizeof many[0]);
            value = key->columns == NULL ? text : out;
        }
        if (value != NULL) {
            pairs[n++] = key->name;
            pairs[n++] = value;
        }
    }
    pairs[n] = NULL;
    return fixture_add(f, k->name, pairs);
}

static void check(const struct answer *a, const char *path, const char *text)
{
    const char *wrong;

    if (a->status >= 500)
        fail_msg("%s: %d", path, a->status);
    wrong = markup_wrong(span_of(a->body, a->body_n));
    if (wrong != NULL)
        fail_msg("%s with %s: %s", path, text, wrong);
}

static void look_at_all(struct fixture *f, const char *unit, const char *text)
{
    char path[128];
    struct answer a;

    for (size_t i = 0; i < sizeof pages / sizeof *pages; i++) {
        a = fetch(&f->site, pages[i]);
        assert_int_equal(a.status, 200);
        check(&a, pages[i], text);
        free(a.all);
    }
    (void)snprintf(path, sizeof path, "/m/%s", unit);
    a = fetch(&f->site, path);
    assert_int_equal(a.status, 200);
    check(&a, path, text);
    free(a.all);
}

static void foreign_text_in_records_stays_text(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof corpus / sizeof *corpus; i++) {
        struct fixture f;
        struct unit_name unit;
        const struct kind *exchange = kind_find("exchange");

        fixture_open(&f, NULL);
        f.site.actor = corpus[i];
        unit = add(&f, exchange, corpus[i], "");
        for (const struct kind *k = kinds; k->name != NULL; k++)
            if (k != exchange)
                (void)add(&f, k, corpus[i], unit.hex);
        fixture_commit(&f);
        look_at_all(&f, unit.hex, corpus[i]);
        fixture_close(&f);
    }
}

static void encode(char *out, const char *text)
{
    for (; *text != '\0'; text++)
        out += sprintf(out, "%%%02X", (unsigned char)*text);
}

static void foreign_text_in_requests_stays_text(void **state)
{
    struct world w;

    (void)state;
    world_open(&w, NULL);
    for (size_t i = 0; i < sizeof corpus / sizeof *corpus; i++) {
        static const char *const forms[] = {
            "/exchanges?model=%s",
            "/exchanges?api=%s&model=%s",
            "/mismatches?model=%s",
            "/losses?cause=%s",
            "/exchanges?%s=1",
            "/exchanges?result=%s",
            "/exchanges?model=%s&after=",
            "/findings?epoch=%s",
        };
        char encoded[1024], path[4096];

        encode(encoded, corpus[i]);
        for (size_t j = 0; j < sizeof forms / sizeof *forms; j++) {
            struct answer a;

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
            (void)snprintf(path, sizeof path, forms[j], encoded, encoded);
#pragma GCC diagnostic pop
            a = fetch(&w.f.site, path);
            check(&a, path, corpus[i]);
            free(a.all);
        }
        (void)snprintf(path, sizeof path, "/m/%s", corpus[i]);
        for (char *p = path; *p != '\0'; p++)
            if ((unsigned char)*p < 0x20 || *p == '?')
                *p = '_';
        struct answer a = fetch(&w.f.site, path);
        check(&a, path, corpus[i]);
        free(a.all);
    }
    world_close(&w);
}

static void foreign_host_and_user_stay_text(void **state)
{
    struct world w;

    (void)state;
    world_open(&w, NULL);
    for (size_t i = 0; i < sizeof corpus / sizeof *corpus; i++) {
        char user[300], host[300], mount[300];
        struct answer a;

        (void)snprintf(user, sizeof user, "REMOTE_USER=%s", corpus[i]);
        (void)snprintf(host, sizeof host, "HTTP_HOST=%s", corpus[i]);
        (void)snprintf(mount, sizeof mount, "SCRIPT_NAME=/%s", corpus[i]);
        a = serve(&w.f.site,
                  (const char *const[]){"REQUEST_METHOD=GET", user, host, mount,
                                        NULL},
                  "");
        check(&a, "/", corpus[i]);
        free(a.all);
    }
    world_close(&w);
}

static void the_reader_of_markup_knows_foreign_markup(void **state)
{
    static const char *const bad[] = {
        "<script>x</script>",
        "<p onclick=\"x\">y</p>",
        "<p class=x>y</p>",
        "<p><b>x</p></b>",
        "<p>x",
        "a > b",
        "<p title=\"<\">x</p>",
        "<p style=\"x\">y</p>",
        "it's",
        "\x07",
    };

    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_non_null(markup_wrong(span_str(bad[i])));
    assert_null(markup_wrong(span_str("<p class=\"x\">a &lt; b</p>")));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_reader_of_markup_knows_foreign_markup),
        cmocka_unit_test(foreign_text_in_records_stays_text),
        cmocka_unit_test(foreign_text_in_requests_stays_text),
        cmocka_unit_test(foreign_host_and_user_stay_text),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
