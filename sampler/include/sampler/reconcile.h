/*
 * reconcile.h - the exchanges of an epoch against the batch steps that the
 * engines told, both ways.
 *
 * Comes in: the index, read-only, and the range of leaves [first, end) of an
 * epoch. Goes out: findings, to be written as records, and counts.
 *
 *     exchange ---------> observed --.
 *     batch_step_member -> rows of a request -> sequences -- its by id? -.
 *                              no answer has the id:  stray -- by shape? -+
 *     traffic ----------> downtime: nobody could see   left over -> finding
 *
 * What is compared. A sequence is all batch members with the same request and
 * choice, in the order of their records. Per exchange of an inference API:
 *   no_metadata      it was answered, and no sequence is its
 *   dup_metadata     a sequence computes a position again that it had computed
 *   size_diff        a sequence has a hole, or its prompt or its tokens are not
 *                    as many as on the wire
 * and per sequence:
 *   orphan_metadata  no exchange is its
 * and per time in which a tap did not run (reconcile/downtime.h):
 *   tap_down         nothing was seen; `seen` sequences that no exchange is of
 *                    ran in it, or ended less than slack_ns before: these are
 *                    no orphans, as nobody can say. Of the time before a tap's
 *                    first account only if there are such sequences.
 *
 * At most one finding a sequence: the first that holds, in its rows' order.
 * prompt_diff is assay-compare's, which knows the prompt.
 *
 * A sequence's tokens. Rows must follow one another: the first starts at its
 * cached tokens, each next one where the last ended. After prompt_n positions
 * each further one is a sampled token, and the last position's sample is one
 * more: sampled = end - prompt_n + 1. A sequence that never went past its
 * prompt may have sampled one token or none (a prompt that is only scored). An
 * engine that throws away computed positions (preemption, rejected drafts) says
 * so with the operation "rewind REQUEST CHOICE POSITION" (docs/batch-feed.md):
 * the sequence then goes on from there. The wire's count is exact for
 * tokens_from `usage` and `tokens`, a lower bound for `events` and for an
 * incomplete exchange, where the engine may have gone on while the client was
 * leaving. tokens_in is compared when the wire told it; a prompt answered m
 * times counts once.
 *
 * Whose sequence. The member's request is the exchange's api_id. Some answers
 * do not carry the engine's id: llama.cpp's /completion has none, SGLang's
 * /v1/messages makes up its own ("msg_..."), SGLang gives every choice an id
 * and its answer names the first, and an exchange that was cut before its
 * answer has none yet. And an engine may not know the ids of its answers
 * (llama.cpp's log): its messages say that they name by ids of the engine's own
 * (`names`), and a sequence of which all say so may be that of any exchange
 * that has none by its id. For these, and only these, a sequence without an
 * exchange is taken by its shape: it ran within the time of the exchange
 * (slack_ns aside), and of those the one whose prompt and tokens fit best; as
 * many as the request asked for answers. One sequence over the prompt alone,
 * with which SGLang warms its cache for several answers, goes with them.
 * Exchanges that took a sequence so are counted in by_shape.
 *
 * Edges. An exchange belongs to the epoch of its record, wherever its rows
 * are. A sequence belongs to the epoch of its last row, or to the later one in
 * which a tap's account of traffic reaches slack_ns past its end: before,
 * nobody knows whether a tap was down. While it is rewound and has not gone on
 * it belongs to none. Rows and exchanges recorded after end are looked at as
 * well: so a late row is no finding, and the caller should let a second pass
 * between fixing end and asking. How far to look: from the first request of the
 * range, or from where the taps had accounted, slack_ns earlier, to slack_ns
 * past its end.
 *
 * No feed. Where no batch step was ever recorded before end and the feed is
 * not required, there is no finding; the exchanges are counted in no_feed and
 * the certificate says that they are uncovered. A feed that once spoke is
 * required from then on.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SAMPLER_RECONCILE_H
#define SAMPLER_RECONCILE_H

#include <stdbool.h>
#include <stdint.h>

struct sqlite3;

/* One finding; texts are borrowed for the call. */
struct finding {
    const char *class;  /* from docs/records.md */
    uint8_t object[32]; /* unit of the exchange; of an orphan: of the batch
                           step with its first row */
    const char *engine; /* "" if no row is known */
    uint64_t step;      /* of the row where it shows; 0 if none */
    const char *request;
    uint64_t expected; /* by the wire */
    uint64_t seen;     /* in the sequence */
    const char *detail;
};

typedef void (*finding_reader)(void *context, const struct finding *f);

struct reconcile_options {
    bool feed_required;
    int64_t slack_ns; /* clocks of engine and tap, lag of the feed */
    finding_reader found;
    void *context;
};

struct reconcile_counts {
    uint64_t exchanges; /* of inference APIs in the range */
    uint64_t matched;   /* with a sequence */
    uint64_t by_shape;  /* of these, not by id alone */
    uint64_t no_feed;   /* not looked at: no engine told its batches */
    uint64_t findings;
};

/*
 * Reconciles the leaves [first, end). Returns 0, -ENOMEM, or -EIO when the
 * index cannot be read (nothing is then to be trusted, whatever was found).
 */
int reconcile_epoch(struct sqlite3 *db, uint64_t first, uint64_t end,
                    const struct reconcile_options *options,
                    struct reconcile_counts *ret_counts);

#endif
