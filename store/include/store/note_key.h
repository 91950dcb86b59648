/*
 * note_key.h - the keys of signed notes, and what is a note's text (C2SP
 * signed-note v1.0.0, tlog-cosignature).
 *
 *   verifier key:    name+hex(key id)+base64(type || public key)
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef STORE_NOTE_KEY_H
#define STORE_NOTE_KEY_H

#include "store/span.h"

enum {
    NOTE_MAX = 65536,  /* bytes of a whole note */
    NOTE_NAME = 256,   /* bytes of a key name, its NUL included */
    NOTE_PUBLIC = 160, /* bytes of a public key; P-256 SPKI has 91 */
    NOTE_VKEY = 640    /* bytes of a verifier key, its NUL included */
};

enum { ED25519_KEY = 32, ED25519_SIGNATURE = 64 };

enum note_type {
    NOTE_ED25519 = 1,    /* RFC 8032 over the text */
    NOTE_ECDSA = 2,      /* ASN.1 ECDSA over SHA-256 of the text; key = SPKI */
    NOTE_COSIGNATURE = 4 /* Ed25519 over time and text */
};

/* A key that signatures are checked with. */
struct note_key {
    char name[NOTE_NAME];
    uint8_t id[4];
    enum note_type type;
    uint8_t public_key[NOTE_PUBLIC];
    size_t public_n;
};

/* PARSE_BAD also if the key id is not that of name and key, or the type is
 * none of the above. */
enum parse note_key_parse(struct span vkey, struct note_key *ret_k);
/* Writes the NUL-terminated verifier key. */
void note_key_print(const struct note_key *k, char ret_vkey[NOTE_VKEY]);

/* Fills in the key id from name, type and key. */
void note_key_identify(struct note_key *k);
/* Does signature (without the key id) sign text? *ret_time_s: cosignatures. */
bool note_key_verify(const struct note_key *k, struct span text,
                     struct span signature, uint64_t *ret_time_s);

/* Non-empty UTF-8 without a Unicode space and without '+'; fits NOTE_NAME. */
bool note_name_good(struct span name);
/* UTF-8 without control characters; lf: LF is allowed. */
bool note_text_good(struct span text, bool lf);

#endif
