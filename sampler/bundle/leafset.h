/*
 * leafset.h - the leaves of a bundle: exact bytes, ordered by seq, with holes
 * where only the hash was exported. And their fields.
 *
 * In a file they stand one behind the other; a record begins at the line
 * "assay-rec/v1", which no other line of a record can be.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SAMPLER_LEAFSET_H
#define SAMPLER_LEAFSET_H

#include "store/kind.h"
#include "store/span.h"

struct bundle_leaf {
    uint64_t seq;
    struct span bytes;       /* borrowed from the text */
    const struct kind *kind; /* NULL: unknown */
};

struct leafset {
    struct bundle_leaf *leaves; /* owned */
    size_t n;
};

/* Splits a text into leaves; their grammar is not looked at beyond seq and
 * type. PARSE_BAD: *ret_why says why, *ret_at which leaf of the text. -ENOMEM
 * shows as PARSE_BAD "out of memory". */
enum parse leafset_parse(struct span text, struct leafset *ret_s,
                         size_t *ret_at, const char **ret_why);
void leafset_fini(struct leafset *s);
/* Position of the first leaf with seq >= this. */
size_t leafset_from(const struct leafset *s, uint64_t seq);

bool leaf_is(const struct bundle_leaf *l, const char *kind);
/* False if the key is missing or not of that form. */
bool leaf_u64(const struct bundle_leaf *l, const char *key, uint64_t *ret_v);
bool leaf_hex(const struct bundle_leaf *l, const char *key, uint8_t *out,
              size_t size);
/* Decodes into out, NUL-terminated; a text with a NUL inside is refused. */
bool leaf_text(const struct bundle_leaf *l, const char *key, char *out,
               size_t size);
/* Is the number of this key v? */
bool leaf_has(const struct bundle_leaf *l, const char *key, uint64_t v);
/* The lines behind head, type, seq and time. */
struct span leaf_body(const struct bundle_leaf *l);

#endif
