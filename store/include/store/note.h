/*
 * note.h - signed notes and the checkpoints in them (C2SP signed-note v1.0.0,
 * tlog-checkpoint, tlog-cosignature).
 *
 *   text, every line ended by LF; UTF-8 without other control characters
 *   LF
 *   EM DASH SP key-name SP base64(key id [4] || signature) LF      1..n lines
 *
 *   checkpoint text: origin LF size LF base64(root) LF [extension lines]
 *   verifier key:    name+hex(key id)+base64(type || public key)
 *
 * Verifying needs this file and OpenSSL alone.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef STORE_NOTE_H
#define STORE_NOTE_H

#include "store/merkle.h"
#include "store/span.h"

enum {
    NOTE_MAX = 65536,  /* bytes of a whole note */
    NOTE_NAME = 256,   /* bytes of a key name, its NUL included */
    NOTE_PUBLIC = 160, /* bytes of a public key; P-256 SPKI has 91 */
    NOTE_VKEY = 640,   /* bytes of a verifier key, its NUL included */
    NOTE_SEALS = 32    /* signatures looked at */
};

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

/* Valid signatures of a note, in its order. */
struct note_seal {
    size_t key;      /* index into the keys given */
    uint64_t time_s; /* of a cosignature, seconds since 1970; else 0 */
};

struct note_seals {
    size_t n;
    struct note_seal seal[NOTE_SEALS];
};

enum note_result {
    NOTE_GOOD,      /* at least one known key signed it, and none badly */
    NOTE_MALFORMED, /* not a signed note */
    NOTE_UNSIGNED,  /* no signature by a known key */
    NOTE_FORGED     /* a known key's signature does not verify */
};

/* Opens a note: on NOTE_GOOD the signed text (borrowed from note) and who
 * signed it. A second signature by the same key is ignored. */
enum note_result note_open(struct span note, const struct note_key *keys,
                           size_t n_keys, struct span *ret_text,
                           struct note_seals *ret_seals);
/* For log lines and reports. */
const char *note_result_text(enum note_result r);

/* A private Ed25519 key and the name it signs with. */
struct note_signer;
/* name: of the key, for a log its origin. seed: the 32-byte private key of
 * RFC 8032. -EINVAL for a bad name, -ENOMEM, -EIO: OpenSSL failed. */
int note_signer_open(const char *name, const uint8_t seed[32],
                     struct note_signer **ret_s);
/* 32 bytes from the system's generator. -EIO. */
int note_seed_generate(uint8_t ret_seed[32]);
void note_signer_close(struct note_signer *s);
const struct note_key *note_signer_key(const struct note_signer *s);
/* Writes text, the empty line and the signature, NUL-terminated. -EINVAL: text
 * is not a note's text; -ENOBUFS: does not fit. */
int note_sign(const struct note_signer *s, struct span text, char *ret_note,
              size_t size);

/* What a log signs. */
struct checkpoint {
    char origin[NOTE_NAME];
    struct merkle_head head;
};

/* text: of an opened note. Extension lines are allowed and not read. */
enum parse checkpoint_parse(struct span text, struct checkpoint *ret_c);
/* Writes the text, NUL-terminated, without extension lines. -ENOBUFS. */
int checkpoint_print(const struct checkpoint *c, char *ret_text, size_t size);

#endif
