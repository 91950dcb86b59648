/*
 * span.h - borrowed bytes, and the only way foreign bytes are read.
 * A span does not own; nobody keeps one longer than its source says.
 * A cursor walks a span: it cannot overrun, remembers the first error and is
 * asked once, at the end.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef STORE_SPAN_H
#define STORE_SPAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct span {
    const uint8_t *p;
    size_t n; /* bytes */
};

/* What a parser of foreign bytes answers: bad input is a result, no error. */
enum parse { PARSE_OK, PARSE_MORE, PARSE_BAD };

struct cursor {
    const uint8_t *p;
    const uint8_t *end;
    bool bad; /* a read went past the end; all later reads give zero */
};

struct span span_of(const void *p, size_t n);
struct span span_str(const char *s);
bool span_eq(struct span a, struct span b);
bool span_eq_str(struct span a, const char *s);
/* ASCII case is ignored, as in HTTP field names (RFC 9110 section 5.1). */
bool span_ieq_str(struct span a, const char *s);

struct cursor cursor_of(struct span s);
size_t cursor_left(const struct cursor *c);
/* Big-endian integers; zero after the end. */
uint8_t cursor_u8(struct cursor *c);
uint16_t cursor_be16(struct cursor *c);
uint32_t cursor_be32(struct cursor *c);
uint64_t cursor_be64(struct cursor *c);
/* n bytes, borrowed from the span; an empty span after the end. */
struct span cursor_take(struct cursor *c, size_t n);

#endif
