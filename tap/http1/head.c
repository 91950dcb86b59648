/*
 * head.c - start lines and fields of HTTP/1, read over a bounded span.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "http1/head.h"

#include <string.h>

/* The fields that decide on framing, collected over the whole section. */
struct fields {
    bool has_length, length_bad;
    uint64_t length;
    bool has_transfer, chunked_last, chunked_twice, transfer_bad;
};

struct span range_of(struct span raw, struct range r)
{
    if (r.at > raw.n || r.n > raw.n - r.at)
        return span_of(raw.p, 0);
    return span_of(raw.p + r.at, r.n);
}

/* tchar of RFC 9110 section 5.6.2. */
static bool token_char(uint8_t c)
{
    if ((c >= '0' && c <= '9') || ((c | 0x20) >= 'a' && (c | 0x20) <= 'z'))
        return true;
    return c != 0 && strchr("!#$%&'*+-.^_`|~", c) != NULL;
}

static bool token(struct span s)
{
    for (size_t i = 0; i < s.n; i++)
        if (!token_char(s.p[i]))
            return false;
    return s.n > 0;
}

static bool digit(uint8_t c)
{
    return c >= '0' && c <= '9';
}

/* "HTTP/1.x" with one digit. */
static bool version(struct span s)
{
    return s.n == 8 && memcmp(s.p, "HTTP/1.", 7) == 0 && digit(s.p[7]);
}

static struct span trim(struct span s)
{
    while (s.n > 0 && (s.p[0] == ' ' || s.p[0] == '\t'))
        s = span_of(s.p + 1, s.n - 1);
    while (s.n > 0 && (s.p[s.n - 1] == ' ' || s.p[s.n - 1] == '\t'))
        s.n--;
    return s;
}

/* The same where the value may be folded: obs-fold counts as white space. */
static struct span trim_folds(struct span s)
{
    while (s.n > 0 && memchr(" \t\r\n", s.p[0], 4) != NULL)
        s = span_of(s.p + 1, s.n - 1);
    while (s.n > 0 && memchr(" \t\r\n", s.p[s.n - 1], 4) != NULL)
        s.n--;
    return s;
}

static struct span without_line_end(struct span line)
{
    if (line.n > 0 && line.p[line.n - 1] == '\n')
        line.n--;
    if (line.n > 0 && line.p[line.n - 1] == '\r')
        line.n--;
    return line;
}

/* The next line of *rest, its end removed; false if no whole line is left. */
static bool next_line(struct span *rest, struct span *ret_line)
{
    const uint8_t *lf = rest->n == 0 ? NULL : memchr(rest->p, '\n', rest->n);
    size_t n;

    if (lf == NULL)
        return false;
    n = (size_t)(lf - rest->p) + 1;
    *ret_line = without_line_end(span_of(rest->p, n));
    *rest = span_of(rest->p + n, rest->n - n);
    return true;
}

bool head_plausible(struct span begin, enum head_side side)
{
    static const char status[] = "HTTP/1.";
    size_t n = begin.n < 7 ? begin.n : 7;

    if (side == HEAD_RESPONSE)
        return memcmp(begin.p, status, n) == 0;
    /* Methods are tokens; none in use is longer than 24. Upper case, since
     * methods are case-sensitive and text in bodies mostly is not. */
    for (size_t i = 0; i < begin.n; i++) {
        if (begin.p[i] == ' ')
            return i > 0;
        if (i >= 24 || !token_char(begin.p[i]) ||
            (begin.p[i] >= 'a' && begin.p[i] <= 'z'))
            return false;
    }
    return true;
}

/* METHOD SP target SP HTTP/1.x. A target with white space or control bytes
 * inside is against section 3.2; such lines occur and are still requests. */
static bool request_line(struct span line, struct range *method,
                         struct range *target, uint8_t *minor)
{
    const uint8_t *sp = line.n == 0 ? NULL : memchr(line.p, ' ', line.n);
    size_t m;

    if (sp == NULL || line.n < 12)
        return false;
    m = (size_t)(sp - line.p);
    if (!head_plausible(span_of(line.p, m + 1), HEAD_REQUEST) ||
        !version(span_of(line.p + line.n - 8, 8)) ||
        line.p[line.n - 9] != ' ' || line.n < m + 11 ||
        memchr(line.p, '\0', line.n) != NULL)
        return false;
    *method = (struct range){0, (uint32_t)m};
    *target = (struct range){(uint32_t)m + 1, (uint32_t)(line.n - 9 - m - 1)};
    *minor = (uint8_t)(line.p[line.n - 1] - '0');
    return true;
}

/* HTTP/1.x SP ddd, then the end or SP and a reason. */
static bool status_line(struct span line, uint16_t *status, uint8_t *minor)
{
    if (line.n < 12 || !version(span_of(line.p, 8)) || line.p[8] != ' ' ||
        !digit(line.p[9]) || !digit(line.p[10]) || !digit(line.p[11]) ||
        (line.n > 12 && line.p[12] != ' ') || line.p[9] == '0')
        return false;
    *status = (uint16_t)((line.p[9] - '0') * 100 + (line.p[10] - '0') * 10 +
                         (line.p[11] - '0'));
    *minor = (uint8_t)(line.p[7] - '0');
    return true;
}

static bool start_line(struct span line, struct head *h)
{
    return h->side == HEAD_REQUEST
               ? request_line(line, &h->method, &h->target, &h->minor)
               : status_line(line, &h->status, &h->minor);
}

bool head_start_line(struct span line, enum head_side side)
{
    struct head h = {.side = side};

    return start_line(without_line_end(line), &h);
}

/* Registered by IANA (RFC 9110 section 16.1), and one of a wide-spread
 * software distribution service. */
static const char *const methods[] = {
    "GET",    "POST",       "OPTIONS",  "HEAD",       "PUT",       "DELETE",
    "TRACE",  "CONNECT",    "PATCH",    "QUERY",      "COPY",      "LOCK",
    "MOVE",   "MKCOL",      "PROPFIND", "UNLOCK",     "PROPPATCH", "SEARCH",
    "REPORT", "CHECKOUT",   "CHECKIN",  "UNCHECKOUT", "MERGE",     "ACL",
    "BIND",   "UNBIND",     "REBIND",   "LINK",       "UNLINK",    "LABEL",
    "UPDATE", "MKACTIVITY", "CCM_POST", NULL};

/* METHOD, then the end of the line or SP and anything. */
static bool broken_request(struct span line, struct head *h)
{
    const uint8_t *sp = line.n == 0 ? NULL : memchr(line.p, ' ', line.n);
    size_t n = sp == NULL ? line.n : (size_t)(sp - line.p);
    const char *const *m = methods;

    while (*m != NULL && !span_eq_str(span_of(line.p, n), *m))
        m++;
    if (*m == NULL)
        return false;
    h->method = (struct range){0, (uint32_t)n};
    if (sp != NULL)
        h->target = (struct range){(uint32_t)n + 1, (uint32_t)(line.n - n - 1)};
    return true;
}

bool head_broken_request(struct span line)
{
    struct head h = {.side = HEAD_REQUEST};

    return broken_request(without_line_end(line), &h);
}

/* The next element of a comma-separated list, not trimmed; empty ones too. */
static bool next_element(struct span *rest, struct span *ret_e)
{
    const uint8_t *comma;
    size_t n;

    if (rest->p == NULL)
        return false;
    comma = rest->n == 0 ? NULL : memchr(rest->p, ',', rest->n);
    n = comma == NULL ? rest->n : (size_t)(comma - rest->p);
    *ret_e = span_of(rest->p, n);
    *rest =
        comma == NULL ? span_of(NULL, 0) : span_of(comma + 1, rest->n - n - 1);
    return true;
}

/* Digits only; false on anything else and beyond 63 bits. */
static bool decimal(struct span s, uint64_t *ret_v)
{
    uint64_t v = 0;

    for (size_t i = 0; i < s.n; i++) {
        if (!digit(s.p[i]) || __builtin_mul_overflow(v, 10, &v) ||
            __builtin_add_overflow(v, (uint64_t)(s.p[i] - '0'), &v))
            return false;
    }
    *ret_v = v;
    return s.n > 0 && v >> 63 == 0;
}

/* Equal repetitions are one value (RFC 9110 section 8.6), others a fault. */
static void field_length(struct fields *f, struct span value)
{
    struct span e;
    uint64_t v;

    while (next_element(&value, &e)) {
        if (!decimal(trim(e), &v) || (f->has_length && v != f->length)) {
            f->length_bad = true;
            return;
        }
        f->has_length = true;
        f->length = v;
    }
}

static void add_coding(struct codings *list, struct span name)
{
    enum coding c = CODING_UNKNOWN;

    if (name.n == 0 || span_ieq_str(name, "identity"))
        return;
    if (span_ieq_str(name, "gzip") || span_ieq_str(name, "x-gzip"))
        c = CODING_GZIP;
    else if (span_ieq_str(name, "deflate"))
        c = CODING_DEFLATE;
    if (list->n == HEAD_CODINGS)
        list->of[HEAD_CODINGS - 1] = CODING_UNKNOWN;
    else
        list->of[list->n++] = (uint8_t)c;
}

static void field_transfer(struct head *h, struct fields *f, struct span value)
{
    struct span e;

    f->has_transfer = true;
    while (next_element(&value, &e)) {
        e = trim(e);
        if (e.n == 0)
            continue;
        if (span_ieq_str(e, "chunked")) {
            f->chunked_twice |= f->chunked_last;
            f->chunked_last = true;
            continue;
        }
        f->chunked_twice |= f->chunked_last;
        f->chunked_last = false;
        f->transfer_bad |=
            !span_ieq_str(e, "gzip") && !span_ieq_str(e, "x-gzip") &&
            !span_ieq_str(e, "deflate") && !span_ieq_str(e, "identity");
        add_coding(&h->transfer, e);
    }
}

static bool has_prefix(struct span s, const char *prefix)
{
    size_t n = strlen(prefix);

    return s.n >= n && span_ieq_str(span_of(s.p, n), prefix);
}

static void field(struct head *h, struct fields *f, struct span name,
                  struct span value)
{
    struct span e;

    if (span_ieq_str(name, "content-length"))
        field_length(f, value);
    else if (span_ieq_str(name, "transfer-encoding"))
        field_transfer(h, f, value);
    else if (span_ieq_str(name, "content-encoding"))
        while (next_element(&value, &e))
            add_coding(&h->content, trim_folds(e));
    else if (span_ieq_str(name, "content-type"))
        h->event_stream = has_prefix(trim_folds(value), "text/event-stream");
}

static bool framing_name(struct span name)
{
    return span_ieq_str(name, "content-length") ||
           span_ieq_str(name, "transfer-encoding");
}

/* What decides on how the body is read. */
static bool body_name(struct span name)
{
    return framing_name(name) || span_ieq_str(name, "content-encoding") ||
           span_ieq_str(name, "content-type");
}

/* Bytes that end a line for some recipients, or a text. */
static bool torn(struct span line)
{
    return memchr(line.p, '\r', line.n) != NULL ||
           memchr(line.p, '\0', line.n) != NULL;
}

static struct span before_colon(struct span line)
{
    const uint8_t *colon = line.n == 0 ? NULL : memchr(line.p, ':', line.n);

    return span_of(line.p, colon == NULL ? 0 : (size_t)(colon - line.p));
}

/*
 * White space before the colon is for a server to refuse; in an answer it is
 * to be taken off (section 5.1), which is harmless but for the names that not
 * every recipient may know then.
 */
static bool name_ok(const struct head *h, struct span name)
{
    struct span bare = trim(name);

    if (!token(bare) || bare.p != name.p)
        return false;
    return bare.n == name.n || (h->side == HEAD_RESPONSE && !body_name(bare));
}

/*
 * One field of the section: its first line, and how long it is with those
 * folded under it. Against the rules of section 5: no name or colon, white
 * space around the name, a folded framing field; two recipients may then see
 * two different sets of fields.
 */
static void field_lines(struct head *h, struct fields *f, struct span first,
                        size_t n)
{
    struct span name = before_colon(first);
    size_t at = name.n + 1;

    if (name.n == 0 || !name_ok(h, name))
        h->broken = true;
    if (name.n == 0 || first.p[0] == ' ' || first.p[0] == '\t')
        return;
    name = trim(name);
    if (framing_name(name)) {
        h->broken |= n > first.n;
        n = first.n;
    }
    field(h, f, name, trim(span_of(first.p + at, n - at)));
}

/* Takes the lines folded under this one (section 5.2); returns where they
 * end. Not all recipients join them: an empty one ends the head for some, and
 * one that looks like a framing field is one for others. */
static size_t take_folds(struct head *h, struct span *rest, struct span first)
{
    size_t n = first.n;
    struct span line;

    while (rest->n > 0 && (rest->p[0] == ' ' || rest->p[0] == '\t') &&
           next_line(rest, &line)) {
        struct span text = trim(line);

        h->broken |=
            text.n == 0 || torn(line) || framing_name(trim(before_colon(text)));
        n = (size_t)(line.p - first.p) + line.n;
    }
    return n;
}

/* Section 6.3 for what does not depend on the other side. */
static void frame(struct head *h, const struct fields *f)
{
    bool request = h->side == HEAD_REQUEST;

    h->framing = request ? HTTP1_NO_BODY : HTTP1_CLOSE;
    if (f->has_transfer) {
        h->broken |= f->has_length || f->length_bad || f->chunked_twice ||
                     f->transfer_bad || h->minor == 0;
        h->framing = f->chunked_last ? HTTP1_CHUNKED : HTTP1_CLOSE;
        if (request && !f->chunked_last)
            h->broken = h->hopeless = true;
    } else if (f->length_bad) {
        h->broken = h->hopeless = true;
    } else if (f->has_length) {
        h->framing = HTTP1_LENGTH;
        h->length = f->length;
    }
}

void head_parse(struct span raw, enum head_side side, struct head *ret_h)
{
    struct head h = {.side = side};
    struct fields f = {0};
    struct span rest = raw, line = raw;
    bool ended = next_line(&rest, &line);

    if (!start_line(line, &h)) {
        h.broken = h.hopeless = true;
        if (side == HEAD_REQUEST)
            (void)broken_request(without_line_end(line), &h);
    }
    h.hopeless |= !ended;
    h.broken |= !ended || torn(line);
    while (next_line(&rest, &line) && line.n > 0) {
        h.broken |= torn(line);
        field_lines(&h, &f, line, take_folds(&h, &rest, line));
    }
    frame(&h, &f);
    *ret_h = h;
}

enum http1_framing head_response_framing(const struct head *h,
                                         struct span method)
{
    if (h->status < 200 || h->status == 204 || h->status == 304 ||
        span_eq_str(method, "HEAD"))
        return HTTP1_NO_BODY;
    if (span_eq_str(method, "CONNECT") && h->status < 300)
        return HTTP1_NO_BODY; /* a tunnel follows */
    return h->framing;
}
