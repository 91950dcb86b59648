/*
 * unit.h - one exchange and all that the record says about it, while its page
 * is made. The page is written block by block, each block in its own function;
 * the blocks live in unit.c (the lead), unit_grounds.c (what the verdict rests
 * on), unit_diff.c (what differs), unit_batch.c (the forward pass),
 * unit_record.c (log, draw, manifest, earlier cases) and unit_review.c (trail
 * and forms).
 *
 *     unit_load -> unit_page or unit_json -> unit_close        show_unit
 *         \-> unit_post.c: a review event, or the opening of stored content,
 *             through the store's socket; then 303, or the page again with
 *             what the user wrote
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef WEB_UNIT_H
#define WEB_UNIT_H

#include "db/review.h"
#include "page/page.h"
#include "store/differences.h"

/* Columns of unit.exchange and unit.verdict. */
enum {
    X_SEQ,
    X_TAP,
    X_SOURCE,
    X_CLIENT,
    X_SERVER,
    X_STREAM,
    X_INDEX,
    X_REQ_FIRST,
    X_REQ_LAST,
    X_RESP_FIRST,
    X_RESP_LAST,
    X_METHOD,
    X_TARGET,
    X_STATUS,
    X_API,
    X_MODEL,
    X_API_ID,
    X_STREAMED,
    X_EVENTS,
    X_TOKENS_IN,
    X_TOKENS_OUT,
    X_TOKENS_FROM,
    X_COMPLETE,
    X_CAUSE,
    X_GAP_BYTES
};
enum {
    V_SEQ,
    V_TIME,
    V_UNIT,
    V_EPOCH,
    V_VERDICT,
    V_CLASS,
    V_REASON,
    V_ROUTE,
    V_LEVEL,
    V_MANIFEST,
    V_RUNS,
    V_RUNS_DIFFER,
    V_CHOICES,
    V_TOKENS,
    V_TOKENS_DIFFER,
    V_LOGPROBS,
    V_LOGPROBS_DIFFER,
    V_LENGTH_DIFFER,
    V_ENVELOPE_DIFFER,
    V_ENVELOPE,
    V_CHOICE,
    V_POSITION,
    V_CLAIMED_TOKEN,
    V_RECOMPUTED_TOKEN,
    V_CLAIMED_BITS,
    V_RECOMPUTED_BITS,
    V_EVIDENCE,
    V_FORWARD_RUNS,
    V_DETAIL
};

/* What a refused form keeps, and what a reveal brought. */
struct unit_extra {
    const char *alert; /* said at the top; NULL: nothing */
    const char *disposition, *note;
    const struct differences *differences; /* NULL: not revealed */
};

struct unit {
    struct page *page;
    uint8_t hash[32];
    struct query exchange, verdict; /* each on its row while the unit lives */
    bool judged;                    /* verdict has a row: the newest */
    bool drawn;
    uint64_t draw_seq, draw_rank, draw_n, draw_epoch, frame_index;
    struct review_state review;
    struct unit_extra extra;
};

/* Loads the unit that p->id names; false if it is no exchange of the record.
 * unit_close is due either way. */
bool unit_load(struct page *p, struct unit *ret_u);
void unit_close(struct unit *u);
struct span unit_hash(const struct unit *u);
/* Does the verdict point at a position of an answer? */
bool unit_has_place(const struct unit *u);

/* The pages of a unit, as site.c names them; p->id is the unit. */
int show_unit(struct page *p);
int post_review(struct page *p);
int post_reveal(struct page *p);

/* The whole page. */
void unit_page(struct unit *u);

/* Under the lead: what the verdict rests on, and what else was tried. */
void unit_write_grounds(struct unit *u);

/* Its blocks. */
void unit_write_differences(struct unit *u);
void unit_write_batch(struct unit *u);
void unit_write_manifest(struct unit *u);
void unit_write_integrity(struct unit *u);
void unit_write_replay(struct unit *u);
void unit_write_similar(struct unit *u);
void unit_write_findings(struct unit *u);
void unit_write_review(struct unit *u);
void unit_json(struct unit *u);

#endif
