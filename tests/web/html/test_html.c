/*
 * test_html.c - the writer of markup: web/html/html.h.
 * SPDX-License-Identifier: Apache-2.0
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "html/glyph.h"
#include "html/html.h"

/* What body writes inside <p>, without the frame around. */
static char *written(void (*body)(struct html *h))
{
    struct html h;
    char *text;

    html_init(&h);
    html_open(&h, "p");
    body(&h);
    assert_true(html_end(&h));
    text = strndup(h.text, h.n);
    html_fini(&h);
    return text;
}

static void expect(void (*body)(struct html *h), const char *text)
{
    char *got = written(body);

    assert_string_equal(got, text);
    free(got);
}

static void markup_in_text(struct html *h)
{
    html_text(h, "<b>&amp; \"it's\"</b>");
}

static void escapes_markup_in_text(void **state)
{
    (void)state;
    expect(markup_in_text,
           "\n<p>&lt;b&gt;&amp;amp; &quot;it&#39;s&quot;&lt;/b&gt;</p>\n");
}

static void markup_in_attribute(struct html *h)
{
    html_open(h, "a");
    html_attr(h, "title", "\"><script>'");
    html_close(h, "a");
}

static void escapes_markup_in_attributes(void **state)
{
    (void)state;
    expect(markup_in_attribute,
           "\n<p><a title=\"&quot;&gt;&lt;script&gt;&#39;\"></a></p>\n");
}

static void script_url(struct html *h)
{
    static const char *const urls[] = {
        "javascript:alert(1)", "//evil.test/",     "/\\evil.test",
        "https://evil.test/",  "data:text/html,x", ""};

    for (size_t i = 0; i < sizeof urls / sizeof *urls; i++)
        html_link(h, urls[i], "x");
}

static void refuses_urls_that_leave_the_server(void **state)
{
    (void)state;
    expect(script_url, "\n<p><a href=\"#\">x</a><a href=\"#\">x</a>"
                       "<a href=\"#\">x</a><a href=\"#\">x</a>"
                       "<a href=\"#\">x</a><a href=\"#\">x</a></p>\n");
}

static void local_urls(struct html *h)
{
    html_link(h, "/m/1?a=b&c=d", "x");
    html_link(h, "#main", "y");
}

static void keeps_urls_of_the_server(void **state)
{
    (void)state;
    expect(local_urls, "\n<p><a href=\"/m/1?a=b&amp;c=d\">x</a>"
                       "<a href=\"#main\">y</a></p>\n");
}

static void broken_utf8(struct html *h)
{
    /* a stray byte, an overlong slash, a surrogate, a cut character */
    static const char bytes[] = "a\xff\xc0\xaf\xed\xa0\x80z\xe2\x82";

    html_span(h, span_of(bytes, sizeof bytes - 1));
}

static void writes_bytes_that_are_no_utf8_visibly(void **state)
{
    (void)state;
    expect(broken_utf8,
           "\n<p>a\\xFF\\xC0\\xAF\\xED\\xA0\\x80z\\xE2\\x82</p>\n");
}

static void hiding(struct html *h)
{
    static const char text[] =
        "a\0b\x1b[1m\xe2\x80\xae\xe2\x81\xa6\xe2\x80\x8b\xef\xbb\xbf\xc2\x85"
        "\xf3\xa0\x81\x81";

    html_span(h, span_of(text, sizeof text - 1));
}

static void writes_characters_that_hide_visibly(void **state)
{
    (void)state;
    expect(hiding, "\n<p>a\\u0000b\\u001B[1m\\u202E\\u2066\\u200B\\uFEFF\\u0085"
                   "\\U000E0041</p>\n");
}

static void token(struct html *h)
{
    html_token(h, span_str(" the\n\tcat<"));
}

static void draws_blanks_of_tokens(void **state)
{
    (void)state;
    expect(token, "\n<p>\xe2\x90\xa3the\xe2\x86\xb5\xe2\x87\xa5"
                  "cat&lt;</p>\n");
}

static void voids(struct html *h)
{
    html_open(h, "input");
    html_attr(h, "name", "a");
    html_flag(h, "required");
    html_open(h, "br");
    html_text(h, "x");
    html_open(h, "input");
}

static void ends_void_elements_by_itself(void **state)
{
    (void)state;
    expect(voids, "\n<p>\n<input name=\"a\" required>\n<br>x\n<input></p>\n");
}

static void formatted(struct html *h)
{
    html_elementf(h, "b", "n", "%s has %d", "<x>", 3);
    html_textf(h, " & %s", "\"");
}

static void escapes_what_was_formatted(void **state)
{
    (void)state;
    expect(formatted,
           "\n<p><b class=\"n\">&lt;x&gt; has 3</b> &amp; &quot;</p>\n");
}

static void closes_what_is_open_at_the_end(void **state)
{
    struct html h;

    (void)state;
    html_init(&h);
    html_begin(&h);
    html_open(&h, "body");
    html_open(&h, "main");
    assert_true(html_end(&h));
    assert_int_equal(h.depth, 0);
    assert_non_null(memmem(h.text, h.n, "</main></body></html>", 21));
    html_fini(&h);
}

static void grows_with_its_text(void **state)
{
    struct html h;

    (void)state;
    html_init(&h);
    html_open(&h, "p");
    for (int i = 0; i < 100000; i++)
        html_text(&h, "0123456789<");
    assert_true(html_end(&h));
    assert_int_equal(h.n, 100000 * (10 + 4) + strlen("\n<p></p>\n"));
    html_fini(&h);
}

static void decodes_the_code_of_each_length(void **state)
{
    static const struct {
        const char *text;
        uint32_t code;
        size_t n;
    } cases[] = {{"A", 'A', 1},
                 {"\xc3\xa9", 0xe9, 2},
                 {"\xe2\x82\xac", 0x20ac, 3},
                 {"\xf0\x9f\x98\x80", 0x1f600, 4}};

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        uint32_t code = 0;

        assert_int_equal(glyph_next(span_str(cases[i].text), &code),
                         cases[i].n);
        assert_int_equal(code, cases[i].code);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(escapes_markup_in_text),
        cmocka_unit_test(escapes_markup_in_attributes),
        cmocka_unit_test(refuses_urls_that_leave_the_server),
        cmocka_unit_test(keeps_urls_of_the_server),
        cmocka_unit_test(writes_bytes_that_are_no_utf8_visibly),
        cmocka_unit_test(writes_characters_that_hide_visibly),
        cmocka_unit_test(draws_blanks_of_tokens),
        cmocka_unit_test(ends_void_elements_by_itself),
        cmocka_unit_test(escapes_what_was_formatted),
        cmocka_unit_test(closes_what_is_open_at_the_end),
        cmocka_unit_test(grows_with_its_text),
        cmocka_unit_test(decodes_the_code_of_each_length),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
