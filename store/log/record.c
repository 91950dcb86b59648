/*
 * record.c - writing the keys of a record, and walking the lines of a leaf.
 * Comes in: keys and values. Goes out: lines of kind.h's grammar, and back.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "store/record.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define HEAD "assay-rec/v1"

static const char hex_lower[] = "0123456789abcdef";
static const char hex_upper[] = "0123456789ABCDEF";

/* Bytes that stand for themselves in a TEXT. */
static bool is_plain(uint8_t c)
{
    return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') ||
           (c >= '0' && c <= '9') || (c != 0 && strchr("._:/+=@-", c));
}

static void put(struct record *r, const void *p, size_t n)
{
    if (r->full || n > sizeof(r->text) - r->n) {
        r->full = true;
        return;
    }
    memcpy(r->text + r->n, p, n);
    r->n += n;
}

/* A comma, unless the value is the first behind its key. */
static void put_comma(struct record *r)
{
    if (r->n != 0 && r->text[r->n - 1] != ' ')
        put(r, ",", 1);
}

void record_init(struct record *r)
{
    r->n = 0;
    r->full = false;
}

void record_begin(struct record *r, const char *key)
{
    put(r, key, strlen(key));
    put(r, " ", 1);
}

void record_end(struct record *r)
{
    put(r, "\n", 1);
}

void record_add_u64(struct record *r, uint64_t value)
{
    char digits[24];
    int n = snprintf(digits, sizeof(digits), "%" PRIu64, value);

    put_comma(r);
    put(r, digits, (size_t)n);
}

void record_add_hex(struct record *r, struct span value)
{
    put_comma(r);
    if (value.n == 0)
        put(r, "-", 1);
    for (size_t i = 0; i < value.n && !r->full; i++) {
        char pair[] = {hex_lower[value.p[i] >> 4], hex_lower[value.p[i] & 15]};

        put(r, pair, 2);
    }
}

void record_add_text(struct record *r, struct span value)
{
    put_comma(r);
    if (value.n == 0)
        put(r, "-", 1);
    for (size_t i = 0; i < value.n && !r->full; i++) {
        uint8_t c = value.p[i];
        char code[] = {'%', hex_upper[c >> 4], hex_upper[c & 15]};

        if (is_plain(c) && !(c == '-' && value.n == 1))
            put(r, &c, 1);
        else
            put(r, code, 3);
    }
}

void record_u64(struct record *r, const char *key, uint64_t value)
{
    record_begin(r, key);
    record_add_u64(r, value);
    record_end(r);
}

void record_hex(struct record *r, const char *key, struct span value)
{
    record_begin(r, key);
    record_add_hex(r, value);
    record_end(r);
}

void record_text(struct record *r, const char *key, struct span value)
{
    record_begin(r, key);
    record_add_text(r, value);
    record_end(r);
}

static bool is_key_char(uint8_t c)
{
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_';
}

/* Splits a line at its one space. */
static bool parse_line(struct span line, struct field *ret_f)
{
    size_t n = 0;

    while (n < line.n && is_key_char(line.p[n]))
        n++;
    if (n == 0 || n + 1 >= line.n || line.p[n] != ' ')
        return false;
    for (size_t i = n + 1; i < line.n; i++)
        if (line.p[i] <= ' ' || line.p[i] >= 0x7f)
            return false;
    ret_f->key = span_of(line.p, n);
    ret_f->value = span_of(line.p + n + 1, line.n - n - 1);
    return true;
}

/* The next line without its LF; false when the text does not end with one. */
static bool next_line(struct cursor *lines, struct span *ret_line)
{
    size_t left = cursor_left(lines);
    const uint8_t *lf = memchr(lines->p, '\n', left);

    if (lf == NULL)
        return false;
    *ret_line = cursor_take(lines, (size_t)(lf - lines->p));
    (void)cursor_u8(lines); /* the LF, known to be there */
    return true;
}

bool record_next(struct cursor *lines, struct field *ret_f, bool *ret_bad)
{
    struct span line;

    *ret_bad = false;
    if (cursor_left(lines) == 0)
        return false;
    *ret_bad = true;
    if (!next_line(lines, &line))
        return false;
    if (span_eq_str(line, HEAD)) {
        if (cursor_left(lines) == 0 || !next_line(lines, &line))
            return false;
    }
    if (!parse_line(line, ret_f))
        return false;
    *ret_bad = false;
    return true;
}

struct span record_find(struct span leaf, const char *key)
{
    struct cursor lines = cursor_of(leaf);
    struct field f;
    bool bad;

    while (record_next(&lines, &f, &bad))
        if (span_eq_str(f.key, key))
            return f.value;
    return span_of(NULL, 0);
}

enum parse record_parse_u64(struct span value, uint64_t *ret_v)
{
    uint64_t v = 0;

    /* 2^63 - 1 has 19 digits, and no number of 19 digits overflows u64. */
    if (value.n == 0 || value.n > 19 || (value.n > 1 && value.p[0] == '0'))
        return PARSE_BAD;
    for (size_t i = 0; i < value.n; i++) {
        if (value.p[i] < '0' || value.p[i] > '9')
            return PARSE_BAD;
        v = v * 10 + (uint64_t)(value.p[i] - '0');
    }
    if (v > INT64_MAX)
        return PARSE_BAD;
    *ret_v = v;
    return PARSE_OK;
}

static int digit_of(uint8_t c, const char *digits)
{
    const char *at = c == 0 ? NULL : strchr(digits, c);

    return at == NULL ? -1 : (int)(at - digits);
}

enum parse record_parse_hex(struct span value, uint8_t *out, size_t size)
{
    if (size == 0)
        return span_eq_str(value, "-") ? PARSE_OK : PARSE_BAD;
    if (value.n % 2 != 0 || value.n / 2 != size)
        return PARSE_BAD;
    for (size_t i = 0; i < size; i++) {
        int high = digit_of(value.p[2 * i], hex_lower);
        int low = digit_of(value.p[2 * i + 1], hex_lower);

        if (high < 0 || low < 0)
            return PARSE_BAD;
        out[i] = (uint8_t)(high << 4 | low);
    }
    return PARSE_OK;
}

/* The byte written %XX at the cursor; -1 if it is not, or need not be. */
static int coded_byte(struct span value, size_t at)
{
    int high, low, c;

    if (value.n - at < 3)
        return -1;
    high = digit_of(value.p[at + 1], hex_upper);
    low = digit_of(value.p[at + 2], hex_upper);
    if (high < 0 || low < 0)
        return -1;
    c = high << 4 | low;
    if (is_plain((uint8_t)c) && !(c == '-' && value.n == 3))
        return -1;
    return c;
}

enum parse record_parse_text(struct span value, char *out, size_t size,
                             size_t *ret_n)
{
    size_t n = 0;

    if (value.n == 0)
        return PARSE_BAD;
    if (span_eq_str(value, "-")) {
        *ret_n = 0;
        return PARSE_OK;
    }
    for (size_t i = 0; i < value.n; n++) {
        int c = value.p[i];

        if (c == '%')
            c = coded_byte(value, i);
        else if (!is_plain((uint8_t)c))
            c = -1;
        if (c < 0 || n >= size)
            return PARSE_BAD;
        out[n] = (char)c;
        i += value.p[i] == '%' ? 3 : 1;
    }
    *ret_n = n;
    return PARSE_OK;
}

bool record_has_word(struct span value, const char *word)
{
    static const char space[] = "%20";
    size_t gap = strlen(space);

    while (value.n != 0) {
        const uint8_t *end = memmem(value.p, value.n, space, gap);
        size_t n = end != NULL ? (size_t)(end - value.p) : value.n;

        if (span_eq_str(span_of(value.p, n), word))
            return true;
        n += end != NULL ? gap : 0;
        value = span_of(value.p + n, value.n - n);
    }
    return false;
}

size_t record_split(struct span value, struct span *out, size_t max)
{
    size_t n = 0, start = 0;

    for (size_t i = 0; i <= value.n && n < max; i++) {
        if (i < value.n && value.p[i] != ',')
            continue;
        out[n++] = span_of(value.p + start, i - start);
        start = i + 1;
    }
    return n;
}
