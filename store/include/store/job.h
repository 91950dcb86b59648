/*
 * job.h - the files that go to the workers and come back: job packet, claim,
 * result. JSON of our own, read strictly: an unknown key, a missing one or a
 * wrong type is -EBADMSG with the reason in words.
 *
 *   draw --jobs--> unit: the exchange, its bodies, steps, manifest
 *                   |    (exchange.h; neighbours: what ran beside it)
 *                   +--> job packet --> worker --> result --+--> verdict.h
 *                   +--> claim --> assay-compare -----------+    differences.h
 *
 * packet: the JSON that all three are written in. Arrows: job sees base, log,
 * index and ledger; daemon sees job.
 *
 * assay-store writes STATE/jobs/EPOCH-UNIT.job (what the mode allows, nothing
 * more) and STATE/claims/EPOCH-UNIT.claim; on a `result` record it writes
 * STATE/results/EPOCH-UNIT-RUN.result beside. All are written to a temporary
 * name and renamed. The store never reads the JSON of the wire: it carries
 * bodies in base64.
 *
 * job    {"schema":"assay.job/1","epoch":1,"unit":HEX,"nonce":HEX,
 *         "mode":"blind"|"forced"|"search"|"again","runs":N,"api":"openai.chat",
 *         "request":BASE64,"request_ns":"T","model":TEXT,
 *         "manifest":LEAF TEXT or null,"steps":[LEAF TEXT ...],
 *         "messages":[BASE64 of the feed messages ...],
 *         "claimed":BASE64 or null}
 *         claimed: payload `ids` of the record `claimed`, forced mode only:
 *         for each choice u32 count, then u32 ids, big-endian
 *         search and again mode only, beside these:
 *         "exchanges":[{"api":..,"streamed":true,"request":BASE64,
 *           "response":BASE64,"request_ns":"T","answer_ns":"T"} ...],
 *         "left_beside":N,"left_before":N
 *         exchanges: the unit's own first, then, for a search, others of its
 *         server that began before its end (job/neighbours.h); left_: how
 *         many of them, beside it and before it, are missing here
 * claim  {"schema":"assay.claim/1","epoch":1,"unit":HEX,"nonce":HEX,
 *         "api":..,"mode":"blind"|"forced"|"search"|"none","status":200,
 *         "streamed":true,"model":TEXT,"request":BASE64,"response":BASE64,
 *         "manifest":HEX,"runs":N,"reason":TEXT}
 *         (runs: results to wait for; reason: "" unless mode is none)
 * result {"schema":"assay.result/1","unit":HEX,"nonce":HEX,"run":1,
 *         "worker":TEXT,"manifest":HEX,"status":"ok"|"uncheckable",
 *         "reason":TEXT ("" if ok),"route":"invariant","level":"-",
 *         "forward_runs":N,"detail":TEXT,"model":TEXT,"prompt_tokens":N,
 *         "completion_tokens":N,
 *         "digests":[HEX of layer outputs ...],"more":false,
 *         "choices":[{"index":0,"prompt_ids":[..],"finish":"stop","text":HEX,
 *            "unlisted":[POSITION ...],
 *            "tokens":[{"id":5,"bytes":HEX,"logprob":BITS,
 *                       "top":[{"id":5,"bytes":HEX,"logprob":BITS}]}]}]}
 *         choices: an index may stand there several times: the engine ran the
 *         request's prompt more than once, and the answer is one of these, the
 *         likeliest first; more: or one that is not listed
 *         BITS: float32 bits, 8 lower-case hex digits. forced mode: tokens
 *         are those it would have chosen at each claimed position.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef STORE_JOB_H
#define STORE_JOB_H

#include "store/span.h"

/* JOB_NONE: a claim alone, no job packet: the unit cannot be run, and the
 * claim's reason says why. */
/* JOB_AGAIN: after a MISMATCH, with what was declared beside the weights. Its
 * packet is EPOCH-UNIT.again, its result that of run JOB_AGAIN_RUN. */
enum job_mode { JOB_BLIND, JOB_FORCED, JOB_SEARCH, JOB_AGAIN, JOB_NONE };
enum { JOB_AGAIN_RUN = 1001 }; /* no packet asks for so many */

/* What was asked of a server and what it answered; decoded bodies. */
struct job_exchange {
    struct span api;
    bool streamed;
    struct span request, response;
    int64_t request_ns, answer_ns; /* begin of the one, end of the other */
};

struct job {
    uint64_t epoch;
    uint8_t unit[32];
    uint8_t nonce[16];
    enum job_mode mode;
    uint32_t runs; /* how often to repeat; at least 1 */
    struct span api, model;
    struct span request; /* decoded request body */
    int64_t request_ns;
    struct span manifest; /* leaf of the manifest in force; empty: none */
    struct span *steps;   /* leaves of kind batch_step with this request */
    struct span *messages;
    size_t n_steps, n_messages;
    struct span claimed;
    struct job_exchange *exchanges; /* JOB_SEARCH: the unit's own first */
    size_t n_exchanges;
    uint64_t left_beside, left_before;
    void *memory; /* owns the spans of a job that was read */
};

struct claim {
    uint64_t epoch;
    uint8_t unit[32];
    uint8_t nonce[16];
    enum job_mode mode;
    struct span api, model;
    uint32_t status;
    bool streamed;
    struct span request, response; /* decoded bodies */
    uint8_t manifest[32];          /* zeros: none */
    uint32_t runs;                 /* as in the job packet */
    struct span reason; /* UNCHECKABLE for this reason, docs/records.md */
    void *memory;
};

struct result_candidate {
    uint32_t id;
    uint32_t bits; /* logprob, float32 */
    struct span bytes;
};

struct result_token {
    struct result_candidate chosen;
    struct result_candidate *top;
    size_t n_top;
};

struct result_choice {
    uint32_t index;
    uint32_t *prompt_ids;
    size_t n_prompt_ids;
    struct span finish; /* "stop", "length" */
    struct span text;   /* bytes of the answer, stop string removed */
    struct result_token *tokens;
    size_t n_tokens;
    /* Which of them the engine's answer does not list, ascending: what they
     * wrote is told with the next one, or not at all. */
    uint32_t *unlisted;
    size_t n_unlisted;
};

struct result {
    uint8_t unit[32];
    uint8_t nonce[16];
    uint8_t manifest[32];
    uint32_t run;
    struct span worker;
    bool ok;            /* else: reason says why it could not be checked */
    struct span reason; /* from docs/records.md */
    struct span route, level;
    uint64_t forward_runs; /* token steps and prompt pieces; 0: not counted */
    struct span detail;    /* words on what was done or is missing, or empty */
    struct span model;
    uint64_t prompt_tokens, completion_tokens;
    struct span *digests; /* raw 32-byte digests */
    size_t n_digests;
    struct result_choice *choices;
    size_t n_choices;
    bool more; /* the answer may be one that choices does not list */
    void *memory;
};

/* Each write returns the file's bytes in *ret_bytes, which the caller frees.
 * Each read borrows nothing: the struct owns copies until its free. */
int job_write(const struct job *j, char **ret_bytes, size_t *ret_n);
int job_read(struct span bytes, struct job *ret_j, const char **ret_why);
void job_free(struct job *j);
int claim_write(const struct claim *c, char **ret_bytes, size_t *ret_n);
int claim_read(struct span bytes, struct claim *ret_c, const char **ret_why);
void claim_free(struct claim *c);
int result_write(const struct result *r, char **ret_bytes, size_t *ret_n);
int result_read(struct span bytes, struct result *ret_r, const char **ret_why);
void result_free(struct result *r);

/* SHA-256 of the result's bytes with run 0 and no worker: equal for two runs
 * exactly if they computed the same. -ENOMEM. */
int result_digest(const struct result *r, uint8_t ret_digest[32]);

#endif
