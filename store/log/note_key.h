/*
 * note_key.h - what note.c needs of keys beyond the public header.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef STORE_NOTE_KEY_H
#define STORE_NOTE_KEY_H

#include "store/note.h"

enum { ED25519_KEY = 32, ED25519_SIGNATURE = 64 };

/* Non-empty UTF-8 without a Unicode space and without '+'; fits NOTE_NAME. */
bool note_name_good(struct span name);
/* UTF-8 without control characters; lf: LF is allowed. */
bool note_text_good(struct span text, bool lf);
/* Fills in the key id from name, type and key. */
void note_key_identify(struct note_key *k);
/* Does signature (without the key id) sign text? *ret_time_s: cosignatures. */
bool note_key_verify(const struct note_key *k, struct span text,
                     struct span signature, uint64_t *ret_time_s);

#endif
