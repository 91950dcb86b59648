/*
 * record.h - the bytes of a record: writing a body, checking and reading a
 * leaf. A leaf is hashed as stored and never written again to be checked.
 * Grammar in kind.h; at most RECORD_MAX bytes (C2SP tlog-tiles entries are
 * 16-bit sized).
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef STORE_RECORD_H
#define STORE_RECORD_H

#include "store/span.h"

enum { RECORD_MAX = 32768, RECORD_BODY_MAX = 31 * 1024 };

struct kind;

/* A body being written: the kind's own keys, without head and payloads. A
 * write that does not fit sets full; it is asked once, at the end. */
struct record {
    char text[RECORD_BODY_MAX];
    size_t n;
    bool full;
};

void record_init(struct record *r);
void record_u64(struct record *r, const char *key, uint64_t value);
void record_hex(struct record *r, const char *key, struct span value);
/* value: any bytes; written percent-encoded, "-" when empty. */
void record_text(struct record *r, const char *key, struct span value);
/* A key with columns: begin, then one add a column, then end. */
void record_begin(struct record *r, const char *key);
void record_add_u64(struct record *r, uint64_t value);
void record_add_hex(struct record *r, struct span value);
void record_add_text(struct record *r, struct span value);
void record_end(struct record *r);

/*
 * Reading. A field walks "key SP value LF" lines; key and value are borrowed
 * from the text. Returns false at the end or at the first malformed line,
 * which *ret_bad tells apart.
 */
struct field {
    struct span key;
    struct span value;
};
bool record_next(struct cursor *lines, struct field *ret_f, bool *ret_bad);
/* The first line with this key; an empty span with p NULL if there is none. */
struct span record_find(struct span leaf, const char *key);
/* Values. PARSE_BAD unless exactly the grammar of kind.h. */
enum parse record_parse_u64(struct span value, uint64_t *ret_v);
/* Writes exactly size bytes. */
enum parse record_parse_hex(struct span value, uint8_t *out, size_t size);
/* Decodes into out (size >= value.n); never longer than the value. */
enum parse record_parse_text(struct span value, char *out, size_t size,
                             size_t *ret_n);
/* Is word one of those of a TEXT value, which stand apart by one space each? */
bool record_has_word(struct span value, const char *word);
/* Splits a value at its commas; returns the number of columns, at most max. */
size_t record_split(struct span value, struct span *out, size_t max);

/*
 * Checks a whole leaf against the grammar of its kind. Returns its kind, or
 * NULL with *ret_why a static sentence naming the first rule broken.
 */
const struct kind *record_check(struct span leaf, const char **ret_why);
/* Checks a body (the lines between head and payloads) of this kind. */
bool record_check_body(const struct kind *k, struct span body,
                       const char **ret_why);

#endif
