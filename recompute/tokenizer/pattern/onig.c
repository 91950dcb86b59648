/*
 * onig.c - a pattern in Oniguruma's Ruby syntax, rewritten for PCRE2.
 *
 * The same in both and passed on: literals, groups, look-around, alternation,
 * greedy, lazy and possessive quantifiers, classes with ranges, and ^ and $ at
 * lines (PCRE2_MULTILINE). Rewritten: \d \s \w and their negations, \p{..} (by
 * unicode.h, since PCRE2 knows an older Unicode), \u, \v. Refused: the rest.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "tokenizer/pattern/onig.h"

#include <errno.h>
#include <string.h>

#include "recompute/error.h"
#include "tokenizer/pattern/unicode.h"

struct rewrite {
    struct span in;
    size_t at;
    bool in_class;
    const char *where;
    struct buffer *out;
    struct error *error;
};

static int refuse(struct rewrite *r, const char *what)
{
    return error_refuse(r->error, "%s: %s at byte %zu of the pattern", r->where,
                        what, r->at);
}

static uint8_t peek(const struct rewrite *r, size_t ahead)
{
    return r->in.n - r->at > ahead ? r->in.p[r->at + ahead] : 0;
}

static void put(struct rewrite *r, const char *text)
{
    buffer_add(r->out, span_str(text));
}

/* Passes n bytes on. */
static int copy(struct rewrite *r, size_t n)
{
    buffer_add(r->out, span_of(r->in.p + r->at, n));
    r->at += n;
    return 0;
}

/* A class of unicode.h, as an item within brackets or in its own. */
static int put_class(struct rewrite *r, struct span name, bool negated)
{
    const char *items = unicode_class(name);

    if (items == NULL)
        return refuse(r, "an unknown character property");
    if (!r->in_class) {
        put(r, negated ? "[^" : "[");
        put(r, items);
        put(r, "]");
    } else if (!negated) {
        put(r, items);
    } else if (span_eq_str(name, "s")) {
        put(r, "\\P{White_Space}");
    } else {
        return refuse(r, "a negated property within brackets");
    }
    return 0;
}

/* At \p{...} or \P{...}. */
static int property(struct rewrite *r, bool negated)
{
    const uint8_t *start = r->in.p + r->at + 3, *end;
    struct span name;
    int err;

    if (peek(r, 2) != '{')
        return refuse(r, "a property without braces");
    end = memchr(start, '}', r->in.n - r->at - 3);
    if (end == NULL)
        return refuse(r, "an unclosed property");
    name = span_of(start, (size_t)(end - start));
    if (name.n > 0 && name.p[0] == '^') {
        negated = !negated;
        name = span_of(name.p + 1, name.n - 1);
    }
    /* Names of one lower-case letter are ours, for \d \s \w. */
    if (name.n == 0 || name.p[0] < 'A' || name.p[0] > 'Z')
        return refuse(r, "an unknown character property");
    err = put_class(r, name, negated);
    r->at = (size_t)(end + 1 - r->in.p);
    return err;
}

static bool is_hex(uint8_t c)
{
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') ||
           (c >= 'A' && c <= 'F');
}

/* \xHH and \x{H...} pass; \uHHHH becomes \x{HHHH}. */
static int code_point(struct rewrite *r)
{
    size_t digits = peek(r, 1) == 'u' ? 4 : 2;

    if (peek(r, 1) == 'x' && peek(r, 2) == '{')
        return copy(r, 3);
    for (size_t i = 0; i < digits; i++)
        if (!is_hex(peek(r, 2 + i)))
            return refuse(r, "a malformed code point");
    if (digits == 2 && peek(r, 2) >= '8')
        return refuse(r, "a single byte outside ASCII");
    put(r, "\\x{");
    r->at += 2;
    (void)copy(r, digits); /* cannot fail: memory is asked for at the end */
    put(r, "}");
    return 0;
}

static int escape(struct rewrite *r)
{
    uint8_t c = peek(r, 1), lower = c | 0x20;
    struct span name = span_of(&lower, 1);
    int err;

    switch (c) {
    case 'p':
    case 'P':
        return property(r, c == 'P');
    case 'd':
    case 's':
    case 'w':
    case 'D':
    case 'S':
    case 'W':
        err = put_class(r, name, c != lower);
        r->at += 2;
        return err;
    case 'x':
    case 'u':
        return code_point(r);
    case 'v':
        put(r, "\\x{b}");
        r->at += 2;
        return 0;
    case 'r':
    case 'n':
    case 't':
    case 'f':
        return copy(r, 2);
    default:
        break;
    }
    if (c == 0 || c >= 0x80 || (c >= '0' && c <= '9') ||
        (lower >= 'a' && lower <= 'z'))
        return refuse(r, "an escape that is not supported");
    return copy(r, 2);
}

/* After "(?": only what means the same in both. */
static int group(struct rewrite *r)
{
    static const char *const known[] = {"(?:",  "(?=",  "(?!", "(?>",
                                        "(?<=", "(?<!", "(?i:"};

    if (peek(r, 1) != '?')
        return peek(r, 1) == '*' ? refuse(r, "a verb") : copy(r, 1);
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        size_t n = strlen(known[i]);

        if (r->in.n - r->at >= n && memcmp(r->in.p + r->at, known[i], n) == 0)
            return copy(r, n);
    }
    return refuse(r, "a group that is not supported");
}

/* {n}, {n,} and {n,m}; what follows must not be read as lazy or possessive,
 * which the two do not agree on. */
static int interval(struct rewrite *r)
{
    size_t n = 1, commas = 0;

    for (; (peek(r, n) >= '0' && peek(r, n) <= '9') || peek(r, n) == ','; n++)
        commas += peek(r, n) == ',';
    if (peek(r, n) != '}' || n == 1 || peek(r, 1) == ',' || commas > 1)
        return refuse(r, "a brace that is no interval");
    if (peek(r, n + 1) == '+' || (peek(r, n + 1) == '?' && commas == 0))
        return refuse(r, "a quantified interval");
    return copy(r, n + 1);
}

static int open_class(struct rewrite *r)
{
    size_t n = peek(r, 1) == '^' ? 2 : 1;

    if (peek(r, n) == ']')
        return refuse(r, "an empty class");
    r->in_class = true;
    return copy(r, n);
}

static int within_class(struct rewrite *r, uint8_t c)
{
    if (c == '[')
        return refuse(r, "a class within a class");
    if (c == '&' && peek(r, 1) == '&')
        return refuse(r, "an intersection of classes");
    if (c == ']')
        r->in_class = false;
    return copy(r, 1);
}

static int one(struct rewrite *r)
{
    uint8_t c = peek(r, 0);

    if (c == '\\')
        return escape(r);
    if (r->in_class)
        return within_class(r, c);
    switch (c) {
    case '[':
        return open_class(r);
    case '(':
        return group(r);
    case '{':
        return interval(r);
    default:
        return copy(r, 1);
    }
}

int onig_rewrite(struct span text, const char *where, struct buffer *out,
                 struct error *w)
{
    struct rewrite r = {.in = text, .where = where, .out = out, .error = w};
    int err = 0;

    while (err == 0 && r.at < text.n)
        err = one(&r);
    if (err == 0 && r.in_class)
        err = refuse(&r, "an unclosed class");
    if (err == 0 && out->failed)
        err = -ENOMEM;
    return err;
}
