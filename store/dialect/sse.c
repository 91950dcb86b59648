/*
 * sse.c - server-sent events (WHATWG HTML section 9.2), whole body in memory.
 * A line ends with CRLF, LF or CR; an empty line ends the event; fields are
 * "name:value" with one optional space. Events without data are passed over,
 * an event that the body does not finish is not one.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "store/sse.h"

#include <stdlib.h>
#include <string.h>

#include "dialect/skim.h"

enum { HEARTBEAT_BYTES = 128 };

/*
 * The line at *at, without its end; false if the body does not finish it. The
 * next LF is remembered, so that a body of CR lines is not searched to its end
 * once a line.
 */
static bool next_line(struct sse *s, size_t *at, struct span *ret_line)
{
    const struct span body = s->body;
    const uint8_t *p = body.p + *at, *end;

    if (*at == body.n)
        return false;
    if (s->lf <= *at) {
        end = memchr(p, '\n', body.n - *at);
        s->lf = end == NULL ? body.n + 1 : (size_t)(end - body.p) + 1;
    }
    end = memchr(p, '\r', s->lf - 1 - *at);
    if (end == NULL && s->lf > body.n)
        return false;
    if (end == NULL)
        end = body.p + s->lf - 1;
    *ret_line = span_of(p, (size_t)(end - p));
    *at += ret_line->n + 1;
    if (*end == '\r' && *at < body.n && body.p[*at] == '\n')
        *at += 1;
    return true;
}

/* The value of a field if the line is one of this name. */
static bool field_value(struct span line, const char *name, size_t n,
                        struct span *ret_value)
{
    if (line.n < n || memcmp(line.p, name, n) != 0)
        return false;
    if (line.n > n && line.p[n] != ':')
        return false;
    line.p += n;
    line.n -= n;
    if (line.n != 0) { /* the colon, and one space after it */
        line.p++;
        line.n--;
    }
    if (line.n != 0 && line.p[0] == ' ') {
        line.p++;
        line.n--;
    }
    *ret_value = line;
    return true;
}

/* data becomes data LF more, in scratch. */
static bool join(struct sse *s, struct span *data, struct span more)
{
    size_t n = data->n + 1 + more.n;

    if (n > s->scratch_size) {
        uint8_t *larger = malloc(2 * n);

        if (larger == NULL)
            return false;
        memcpy(larger, data->p, data->n);
        free(s->scratch);
        s->scratch = larger;
        s->scratch_size = 2 * n;
    } else if (data->p != s->scratch) {
        memcpy(s->scratch, data->p, data->n);
    }
    s->scratch[data->n] = '\n';
    memcpy(s->scratch + data->n + 1, more.p, more.n);
    *data = span_of(s->scratch, n);
    return true;
}

enum parse sse_next(struct sse *s, struct span *ret_data,
                    struct span *ret_event_name)
{
    struct span line, value, data = {NULL, 0}, name = {NULL, 0};
    size_t at = s->offset;
    bool has_data = false;

    if (at == 0 && s->body.n >= 3 && memcmp(s->body.p, "\xef\xbb\xbf", 3) == 0)
        at = 3;
    while (next_line(s, &at, &line)) {
        if (line.n == 0 && has_data) {
            s->offset = at;
            *ret_data = data;
            *ret_event_name = name;
            return PARSE_OK;
        }
        if (line.n == 0) { /* nothing to dispatch: the event starts over */
            s->offset = at;
            name = span_of(NULL, 0);
        } else if (field_value(line, "data", 4, &value)) {
            if (!has_data)
                data = value;
            else if (!join(s, &data, value))
                return PARSE_BAD;
            has_data = true;
        } else if (field_value(line, "event", 5, &value)) {
            name = value;
        }
    }
    s->lf = 0;
    return PARSE_MORE;
}

void sse_end(struct sse *s)
{
    free(s->scratch);
    s->scratch = NULL;
    s->scratch_size = 0;
}

static bool is_blank(uint8_t c)
{
    return c == ' ' || c == '\t' || c == '\n';
}

static struct span trim(struct span s)
{
    while (s.n != 0 && is_blank(s.p[s.n - 1]))
        s.n--;
    while (s.n != 0 && is_blank(s.p[0])) {
        s.p++;
        s.n--;
    }
    return s;
}

/* An object without a text or a container, but for "type":"ping". */
static bool is_ping(struct span data, struct span event_name)
{
    struct skim s = skim_of(data);
    struct span key, value, text;
    bool ping = span_eq_str(event_name, "ping");

    if (!s.object || data.n > HEARTBEAT_BYTES)
        return false;
    while (skim_next(&s, &key, &value)) {
        if (skim_string(value, &text)) {
            if (!span_eq_str(key, "type") || !span_eq_str(text, "ping"))
                return false;
            ping = true;
        } else if (value.p[0] == '{' || value.p[0] == '[') {
            return false;
        }
    }
    return ping && !s.bad;
}

enum sse_kind sse_kind_of(struct span data, struct span event_name)
{
    data = trim(data);
    if (data.n == 0 || is_ping(data, event_name))
        return SSE_HEARTBEAT;
    return span_eq_str(data, "[DONE]") ? SSE_DONE : SSE_MESSAGE;
}

bool sse_is_done(struct span body)
{
    struct sse s = {.body = body};
    enum sse_kind last = SSE_MESSAGE, kind;
    struct span data, name;

    while (sse_next(&s, &data, &name) == PARSE_OK) {
        kind = sse_kind_of(data, name);
        if (kind != SSE_HEARTBEAT)
            last = kind;
    }
    sse_end(&s);
    return last == SSE_DONE;
}
