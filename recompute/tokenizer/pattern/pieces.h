/*
 * pieces.h - a text cut into pieces, some of them already tokens: what passes
 * from one stage of the tokenizer to the next.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef PIECES_H
#define PIECES_H

#include "store/span.h"

/* Growing bytes. Running out of memory sets failed, asked once at the end. */
struct buffer {
    uint8_t *p;
    size_t n, room;
    bool failed;
};
void buffer_add(struct buffer *b, struct span s);
void buffer_fini(struct buffer *b);

struct piece {
    size_t at, n; /* within the text */
    uint32_t id;  /* of a token */
    bool token;
    bool first; /* starts where the input starts */
};

struct pieces {
    struct buffer text;
    struct piece *v;
    size_t n, room;
    bool failed;
};

void pieces_clear(struct pieces *p);
void pieces_fini(struct pieces *p);
bool pieces_failed(const struct pieces *p);
/* Adds a text; an empty one is left out. */
void pieces_add(struct pieces *p, struct span s, bool first);
/* Adds a text that may be empty. */
void pieces_put(struct pieces *p, struct span s);
void pieces_add_token(struct pieces *p, uint32_t id);
/* Text of piece i; borrowed until the next add. */
struct span pieces_text(const struct pieces *p, size_t i);

/* Growing ids. */
struct ids {
    uint32_t *v;
    size_t n, room;
    bool failed;
};
void ids_add(struct ids *ids, uint32_t id);

#endif
