/*
 * checkpoints.c - finding a checkpoint and checking its signature:
 * checkpoints.h.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "db/checkpoints.h"

#include <stdlib.h>
#include <string.h>

#include "store/note.h"

const char *seal_words(enum seal_state state)
{
    switch (state) {
    case SEAL_GOOD:
        return "Signature checked with the log's key: it holds.";
    case SEAL_NO_KEY:
        return "The signature was not checked: the record of the log's key is "
               "not there.";
    case SEAL_BAD:
        return "The signature does NOT hold for the log's key.";
    default:
        return "There is no checkpoint yet.";
    }
}

static bool load_key(struct db *db, struct note_key *ret_k)
{
    struct query q =
        db_query(db, "SELECT log_vkey FROM genesis ORDER BY seq LIMIT 1");
    bool found =
        query_next(&q) && note_key_parse(query_span(&q, 0), ret_k) == PARSE_OK;

    query_close(&q);
    return found;
}

static enum seal_state check(struct db *db, struct span note, uint64_t size,
                             struct span root)
{
    struct note_key key;
    struct note_seals seals;
    struct checkpoint c;
    struct span text;

    if (!load_key(db, &key))
        return SEAL_NO_KEY;
    if (note_open(note, &key, 1, &text, &seals) != NOTE_GOOD ||
        checkpoint_parse(text, &c) != PARSE_OK || c.head.size != size ||
        !span_eq(root, span_of(c.head.root, sizeof c.head.root)))
        return SEAL_BAD;
    return SEAL_GOOD;
}

/* Without memory the note is empty, and no signature holds for that. */
static void keep_note(struct sealed *s, struct span note)
{
    s->memory = malloc(note.n + 1);
    if (s->memory == NULL)
        return;
    if (note.n > 0)
        memcpy(s->memory, note.p, note.n);
    s->note = span_of(s->memory, note.n);
}

void sealed_find(struct db *db, uint64_t leaf, enum sealed_which which,
                 struct sealed *ret_s)
{
    struct sealed s = {.state = SEAL_NONE};
    struct query q = db_query(
        db, which == SEALED_FIRST
                ? "SELECT size, root, note FROM checkpoint WHERE size > ? "
                  "ORDER BY size LIMIT 1"
                : "SELECT size, root, note FROM checkpoint WHERE size > ? "
                  "ORDER BY size DESC LIMIT 1");

    query_bind_u64(&q, 1, leaf);
    if (query_next(&q)) {
        s.size = query_u64(&q, 0);
        keep_note(&s, query_span(&q, 2));
        s.state = check(db, s.note, s.size, query_span(&q, 1));
    }
    query_close(&q);
    *ret_s = s;
}

void sealed_fini(struct sealed *s)
{
    free(s->memory);
    *s = (struct sealed){0};
}
