/*
 * world.h - a small log made in memory, honest or with one lie in it: genesis,
 * a party's chain, a policy, and epochs with exchanges, loss, draw, jobs,
 * verdicts and certificates. The liar holds every key, so whatever is false is
 * hashed and signed as if it were true.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef TESTS_SAMPLER_WORLD_H
#define TESTS_SAMPLER_WORLD_H

#include "sampler/account.h"
#include "store/note.h"
#include "store/record.h"

#define WORLD_ORIGIN "certifier.example/unit-0001"

enum {
    WORLD_EPOCHS = 3,
    WORLD_EXCHANGES = 40, /* in each epoch, unless made otherwise */
    WORLD_PARTY_LENGTH = 10
};

/* Lies are told in epoch 2, which has an honest one before and behind it. */
#define WORLD_LIES(X)           \
    X(NONE)                     \
    X(DRAW_BEFORE_CHECKPOINT)   \
    X(CHECKPOINT_LACKS_CLOSE)   \
    X(REVEAL_BEFORE_CHECKPOINT) \
    X(REVEAL_BEFORE_CLOSE)      \
    X(REVEAL_NOT_ON_CHAIN)      \
    X(REVEAL_MISSING)           \
    X(REVEAL_TWICE)             \
    X(CHAIN_AFTER_CLOSE)        \
    X(VRF_PROOF)                \
    X(VRF_OUTPUT)               \
    X(VRF_OTHER_SEED)           \
    X(SEED_TEXT)                \
    X(SEED_HASH)                \
    X(SEED_OTHER_ROOT)          \
    X(SEED_TWICE)               \
    X(DRAW_REPLACED)            \
    X(DRAW_LEFT_OUT)            \
    X(DRAW_EXTRA)               \
    X(DRAW_TWICE)               \
    X(DRAW_BEFORE_SEED)         \
    X(CLOSE_TWICE)              \
    X(CLOSE_COUNT)              \
    X(CLOSE_SAMPLE_SIZE)        \
    X(CLOSE_SKIPS_LEAF)         \
    X(CLOSE_NO_FEED)            \
    X(FRAME_LEFT_OUT)           \
    X(POLICY_SWAPPED)           \
    X(POLICY_HASH)              \
    X(VERDICT_TO_MATCH)         \
    X(VERDICT_CLASS)            \
    X(VERDICT_UNDRAWN)          \
    X(VERDICT_BEFORE_DRAW)      \
    X(RESULT_MISSING)           \
    X(RESULT_BEFORE_JOB)        \
    X(RESULT_OTHER_NONCE)       \
    X(JOB_MISSING)              \
    X(CERTIFICATE_COUNT)        \
    X(CERTIFICATE_BOUND)        \
    X(CERTIFICATE_UNANSWERED)   \
    X(CERTIFICATE_TWICE)        \
    X(CERTIFICATE_FROM_FUTURE)  \
    X(GENESIS_OTHER_KEY)        \
    X(GENESIS_OTHER_ORIGIN)     \
    X(RECORD_MALFORMED)         \
    X(CHECKPOINT_FORKED)

enum lie {
#define X(name) LIE_##name,
    WORLD_LIES(X)
#undef X
        LIES
};

struct world_leaf {
    char *text;
    size_t n;
};

struct world_note {
    uint64_t size;
    char *text;
};

/* What the open epoch is made of; filled step by step. */
struct world_epoch {
    struct epoch_close close;
    uint64_t close_seq;
    struct frame frame;
    struct epoch_seed seed;
    struct draw draw;
};

struct world {
    enum lie lie;
    unsigned exchanges; /* an epoch */
    struct world_leaf *leaves;
    size_t n;
    struct world_note *notes;
    size_t n_notes;
    struct note_signer *signer;
    char vkey[NOTE_VKEY];
    uint8_t vrf_secret[VRF_SECRET];
    uint8_t chain[WORLD_PARTY_LENGTH + 1][32]; /* s_0 .. s_K */
    struct policy policy;
    bool liar; /* the epoch that is being made is the one with the lie */
    uint64_t now_ns, last_close_ns;
    uint64_t end; /* of the last epoch */
    uint8_t previous_seed[32];
    struct world_epoch epoch;
};

const char *lie_name(enum lie lie);
/* LIES if there is none of this name. */
enum lie lie_find(const char *name);

/* Makes a whole world; epochs 1 and 2 are certified, 3 is drawn and has no
 * verdicts yet. Aborts on failure: it is a test's own material. */
void world_make(struct world *w, enum lie lie);
void world_make_sized(struct world *w, enum lie lie, unsigned exchanges);
void world_fini(struct world *w);
/* Its export source; see bundle/export.h. */
struct export_source;
struct export_note;
/* notes: room for w->n_notes. */
void world_source(struct world *w, struct export_note *notes,
                  struct export_source *ret_s);

#endif
