/*
 * packet.h - strict JSON objects of our own: the files of store/job.h.
 *
 * A reader takes the keys of one object, each exactly once; the first thing
 * wrong stops it and is kept as a sentence. packet_end then complains about
 * keys that nobody asked for. All bytes are copied into a memory that one call
 * frees.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef STORE_PACKET_H
#define STORE_PACKET_H

#include "store/span.h"

#include <jansson.h>

/* Everything that one read file holds. */
struct packet_memory;
struct packet_memory *packet_memory_open(void);
void packet_memory_free(struct packet_memory *m);
/* Zeroed, aligned for any type; NULL when out of memory. n may be 0. */
void *packet_alloc(struct packet_memory *m, size_t n, size_t size);

struct packet {
    const json_t *object;
    struct packet_memory *memory;
    size_t n_read;
    bool failed;
    bool no_memory;
    const char *why; /* static */
};

/* Parses bytes as one JSON object with this schema; the caller ends *ret_root
 * with json_decref even on failure (it may be NULL). */
struct packet packet_open(struct span bytes, const char *schema,
                          struct packet_memory *m, json_t **ret_root);
/* An object within another: starts with the parent's memory. */
struct packet packet_in(const struct packet *parent, const json_t *object);
/* 0, -EBADMSG or -ENOMEM; also complains about keys that were not read. */
int packet_end(struct packet *p);
/* Takes over what went wrong in an object within. */
void packet_join(struct packet *p, struct packet *inner);

/* Each takes the key once. why: the sentence if it is missing or not as said
 * here. On failure the result is zero. */
void packet_u64(struct packet *p, const char *key, uint64_t max,
                uint64_t *ret_v, const char *why);
void packet_bool(struct packet *p, const char *key, bool *ret_v,
                 const char *why);
void packet_text(struct packet *p, const char *key, struct span *ret_s,
                 const char *why);
/* Lower-case hex of exactly size bytes. */
void packet_hex(struct packet *p, const char *key, struct span out,
                const char *why);
void packet_hex_span(struct packet *p, const char *key, struct span *ret_s,
                     const char *why);
/* RFC 4648 section 4, canonical. */
void packet_base64(struct packet *p, const char *key, struct span *ret_s,
                   const char *why);
/* The same, or null for an empty span. */
void packet_base64_or_null(struct packet *p, const char *key,
                           struct span *ret_s, const char *why);
void packet_text_or_null(struct packet *p, const char *key, struct span *ret_s,
                         const char *why);
/* An array; NULL on failure. */
const json_t *packet_array(struct packet *p, const char *key, const char *why);

/* Values of an array's elements. */
bool packet_value_text(struct packet *p, const json_t *v, struct span *ret_s);
bool packet_value_hex(struct packet *p, const json_t *v, struct span *ret_s);
bool packet_value_base64(struct packet *p, const json_t *v, struct span *ret_s);
void packet_fail(struct packet *p, const char *why);

/* New JSON strings for writing; NULL when out of memory. Text that is not
 * UTF-8 goes out with U+FFFD for each ill-formed part and each NUL. */
json_t *packet_new_text(struct span s);
json_t *packet_new_hex(struct span s);
json_t *packet_new_base64(struct span s);
json_t *packet_new_u64(uint64_t v);
/* Sets a key, or adds to an array, taking the reference; a NULL value or no
 * memory sets *failed. */
void packet_set(json_t *object, const char *key, json_t *v, bool *failed);
void packet_add(json_t *array, json_t *v, bool *failed);
/* Serialises root, takes the reference, and writes one LF at the end. -ENOMEM
 * as well if failed. */
int packet_dump(json_t *root, bool failed, char **ret_bytes, size_t *ret_n);

#endif
