/*
 * signing.h - signed checkpoints, and never two roots for one size.
 *
 * Before a head is signed, the leaves since the last one are read back from
 * the disk and hashed again: what is signed is what can be read. Then the text
 * is written to checkpoints/SIZE.intent and synced, then signed, then the note
 * to checkpoints/SIZE. An intent that a crash left binds: that head and no
 * other is signed for that size.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef STORE_SIGNING_H
#define STORE_SIGNING_H

#include "store/leaflog.h"
#include "store/note.h"

enum { SIGNING_NOTE = 2048 };

struct signing;

/* Reads every checkpoint and intent under STATE. -EBADMSG: one of them is not
 * a checkpoint of this log and key, *ret_bad (NOTE_NAME bytes) its name. */
int signing_open(const char *state_dir, const char *origin,
                 const uint8_t seed[32], struct signing **ret_s, char *ret_bad);
void signing_close(struct signing *s);
const struct note_key *signing_key(const struct signing *s);
/* Heads signed or intended, by size. Borrowed until the next signing_sign. */
const struct merkle_head *signing_heads(const struct signing *s, size_t *ret_n);
uint64_t signing_last_size(const struct signing *s);

/* Leaves that recovery has read back already; then signs what was intended
 * and, after a crash, not signed. */
int signing_resume(struct signing *s, const struct merkle_range *range);
/* Signs a head of the log, or gives the note that is there. -EEXIST: another
 * root was signed for this size; -EBADMSG: the leaves on disk have another
 * root; -errno of writing: nothing was signed. */
int signing_sign(struct signing *s, struct leaflog *log,
                 const struct merkle_head *head, char ret_note[SIGNING_NOTE]);
/* Calls take with every note of a size above `above`, in order of size. */
int signing_each(struct signing *s, uint64_t above,
                 int (*take)(void *ctx, const struct merkle_head *head,
                             const char *note),
                 void *ctx);

#endif
