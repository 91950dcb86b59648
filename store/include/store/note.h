/*
 * note.h - signed notes and the checkpoints in them (C2SP signed-note v1.0.0,
 * tlog-checkpoint, tlog-cosignature).
 *
 *   text, every line ended by LF; UTF-8 without other control characters
 *   LF
 *   EM DASH SP key-name SP base64(key id [4] || signature) LF      1..n lines
 *
 *   checkpoint text: origin LF size LF base64(root) LF [extension lines]
 *
 * Verifying needs this file, note_key.h and OpenSSL alone.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef STORE_NOTE_H
#define STORE_NOTE_H

#include "store/merkle.h"
#include "store/note_key.h"

enum { NOTE_SEALS = 32 }; /* signatures looked at */

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
