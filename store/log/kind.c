/*
 * kind.c - the table of record kinds. docs/records.md explains each in words.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "store/kind.h"

#include <string.h>

/* Each macro is one initialiser, which clang-format takes for a block. */
/* clang-format off */
#define U64(n)       {n, VALUE_U64, false, NULL}
#define HEX(n)       {n, VALUE_HEX, false, NULL}
#define TEXT(n)      {n, VALUE_TEXT, false, NULL}
#define MANY(n, c)   {n, VALUE_TEXT, true, c}
#define KEYS(...)    (const struct key[]){__VA_ARGS__, {NULL}}
#define COLUMNS(...) (const struct column[]){__VA_ARGS__, {NULL}}
/* clang-format on */

const struct kind kinds[] = {
    /* The life of the log. */
    {"genesis", ROLE_STORE,
     KEYS(TEXT("origin"), TEXT("log_vkey"), HEX("vrf_key"), TEXT("version")),
     ""},
    {"boot", ROLE_STORE,
     KEYS(TEXT("version"), TEXT("sqlite"), TEXT("openssl"), U64("clean"),
          U64("tail_cut_bytes"), HEX("settings_sha256")),
     ""},
    {"access", ROLE_STORE,
     KEYS(TEXT("actor"), HEX("object"), TEXT("payload"), TEXT("reason")), ""},

    /* What was on the wire. */
    {"exchange", ROLE_TAP,
     KEYS(TEXT("tap"), TEXT("source"), TEXT("client"), TEXT("server"),
          U64("stream"), U64("index"), U64("req_first_ns"), U64("req_last_ns"),
          U64("resp_first_ns"), U64("resp_last_ns"), TEXT("method"),
          TEXT("target"), U64("status"), TEXT("api"), TEXT("model"),
          TEXT("api_id"), U64("streamed"), U64("events"), U64("choices"),
          U64("tokens_in"), U64("tokens_out"), TEXT("tokens_from"),
          U64("complete"), TEXT("cause"), U64("gap_bytes")),
     "req req_map req_body resp resp_map resp_body"},
    {"unparsed", ROLE_TAP,
     KEYS(TEXT("tap"), TEXT("cause"), TEXT("client"), TEXT("server"),
          U64("stream"), U64("count"), U64("bytes"), U64("from_ns"),
          U64("to_ns")),
     "sample"},
    {"loss", ROLE_TAP,
     KEYS(TEXT("tap"), TEXT("cause"), TEXT("object"), U64("count"),
          U64("bytes"), U64("from_ns"), U64("to_ns")),
     ""},
    {"traffic", ROLE_TAP,
     KEYS(TEXT("tap"), TEXT("source"), U64("from_ns"), U64("to_ns"),
          U64("frames"), U64("frame_bytes"), U64("segments"),
          U64("payload_bytes"), U64("attributed_bytes"),
          U64("retransmitted_bytes"), U64("unparsed_bytes"),
          U64("pending_bytes"), U64("gap_bytes"), U64("other_frames"),
          U64("streams_opened"), U64("streams_closed"), U64("exchanges")),
     ""},
    {"batch_step", ROLE_TAP,
     KEYS(TEXT("tap"), TEXT("engine"), TEXT("feed"), TEXT("names"),
          U64("feed_seq"), U64("step"), U64("step_ns"), U64("padded"),
          U64("part"), U64("parts"),
          MANY("member", COLUMNS({"request", VALUE_TEXT}, {"choice", VALUE_U64},
                                 {"start", VALUE_U64}, {"n", VALUE_U64},
                                 {"cached", VALUE_U64}, {"prompt_n", VALUE_U64},
                                 {"prompt_digest", VALUE_HEX})),
          MANY("op", NULL)),
     "message"},

    /* Declarations: what the provider says it runs, what is to be drawn. */
    {"manifest", ROLE_RECOMPUTE,
     KEYS(
         TEXT("model"), HEX("manifest"), HEX("weights"), HEX("config"),
         HEX("tokenizer"), HEX("template"), TEXT("engine"), TEXT("numerics"),
         TEXT("recipe"), TEXT("level"), TEXT("needs"),
         MANY("file", COLUMNS({"name", VALUE_TEXT}, {"bytes", VALUE_U64},
                              {"sha256", VALUE_HEX})),
         MANY("alternative", COLUMNS({"name", VALUE_TEXT}, {"bytes", VALUE_U64},
                                     {"sha256", VALUE_HEX}))),
     ""},
    {"policy", ROLE_SAMPLER, KEYS(HEX("sha256"), TEXT("text")), ""},
    {"chain", ROLE_SAMPLER, KEYS(TEXT("party"), HEX("head"), U64("epoch")), ""},

    /* An epoch: close, commit, draw. */
    {"finding", ROLE_SAMPLER,
     KEYS(U64("epoch"), TEXT("class"), HEX("object"), TEXT("engine"),
          U64("step"), TEXT("request"), U64("expected"), U64("seen"),
          TEXT("detail")),
     ""},
    {"frame_close", ROLE_SAMPLER,
     KEYS(U64("epoch"), TEXT("reason"), U64("first"), U64("end"), U64("n"),
          HEX("frame_root"), HEX("policy"), U64("seen"), U64("incomplete"),
          U64("unparsed"), U64("unparsed_bytes"), U64("loss"),
          U64("loss_bytes"), U64("findings"), U64("no_feed"),
          MANY("stratum", COLUMNS({"number", VALUE_U64}, {"name", VALUE_TEXT},
                                  {"n", VALUE_U64}, {"draw", VALUE_U64},
                                  {"tokens", VALUE_U64}))),
     ""},
    {"reveal", ROLE_SAMPLER, KEYS(U64("epoch"), TEXT("party"), HEX("value")),
     ""},
    {"seed", ROLE_SAMPLER,
     KEYS(U64("epoch"), U64("checkpoint_size"), HEX("checkpoint_root"),
          HEX("vrf_pi"), HEX("vrf_beta"), TEXT("text"), HEX("seed")),
     ""},
    {"draw", ROLE_SAMPLER,
     KEYS(
         U64("epoch"), U64("part"), U64("parts"),
         MANY("drawn", COLUMNS({"frame_index", VALUE_U64},
                               {"stratum", VALUE_U64}, {"object", VALUE_HEX}))),
     ""},

    /* Running again. */
    {"job", ROLE_STORE,
     KEYS(U64("epoch"), HEX("object"), TEXT("mode"), HEX("nonce"),
          HEX("packet_sha256"), HEX("claim_sha256"), HEX("manifest")),
     ""},
    {"claimed", ROLE_COMPARE,
     KEYS(U64("epoch"), HEX("object"), TEXT("status"), U64("n")), "ids"},
    {"result", ROLE_RECOMPUTE,
     KEYS(U64("epoch"), HEX("object"), HEX("nonce"), U64("run"), TEXT("worker"),
          TEXT("status"), TEXT("reason"), HEX("manifest"), HEX("digest"),
          U64("tokens"), U64("elapsed_ns")),
     "result"},
    {"verdict", ROLE_COMPARE,
     KEYS(U64("epoch"), HEX("object"), TEXT("verdict"), TEXT("class"),
          TEXT("reason"), TEXT("route"), TEXT("level"), HEX("manifest"),
          HEX("result_digest"), U64("runs"), U64("runs_differ"), U64("choices"),
          U64("tokens"), U64("tokens_differ"), U64("logprobs"),
          U64("logprobs_differ"), U64("length_differ"), U64("envelope_differ"),
          TEXT("envelope"), U64("choice"), U64("position"),
          TEXT("claimed_token"), TEXT("recomputed_token"), TEXT("claimed_bits"),
          TEXT("recomputed_bits"), U64("evidence_bits"), U64("forward_runs"),
          TEXT("detail")),
     "differences"},
    {"reproduced", ROLE_COMPARE,
     KEYS(U64("epoch"), HEX("object"), TEXT("by"), TEXT("detail"),
          HEX("manifest"), HEX("result_digest"), TEXT("route"), TEXT("level"),
          U64("tokens"), U64("logprobs"), U64("evidence_bits"),
          U64("forward_runs")),
     ""},
    {"certificate", ROLE_SAMPLER,
     KEYS(U64("epoch"), U64("from_ns"), U64("to_ns"), U64("verdicts_end"),
          U64("seen"), U64("frame"), U64("incomplete"), U64("unparsed"),
          U64("loss"), U64("findings"), U64("drawn"), U64("match"),
          U64("mismatch"), U64("unstable"), U64("uncheckable"),
          U64("unanswered"), TEXT("route"), U64("confidence_ppm"),
          U64("bound_ppm"), U64("bound_units"),
          MANY("stratum",
               COLUMNS({"number", VALUE_U64}, {"name", VALUE_TEXT},
                       {"n", VALUE_U64}, {"drawn", VALUE_U64},
                       {"failed", VALUE_U64}, {"bound_units", VALUE_U64})),
          MANY("manifest",
               COLUMNS({"sha256", VALUE_HEX}, {"verdicts", VALUE_U64})),
          MANY("uncovered",
               COLUMNS({"what", VALUE_TEXT}, {"count", VALUE_U64}))),
     ""},

    /* People. */
    {"review", ROLE_WEB,
     KEYS(HEX("object"), TEXT("actor"), TEXT("action"), TEXT("disposition"),
          HEX("base"), TEXT("note")),
     ""},
    {NULL, 0, NULL, NULL},
};

const struct kind *kind_find(const char *name)
{
    for (const struct kind *k = kinds; k->name != NULL; k++)
        if (strcmp(k->name, name) == 0)
            return k;
    return NULL;
}

const struct kind *kind_of(struct span name)
{
    for (const struct kind *k = kinds; k->name != NULL; k++)
        if (span_eq_str(name, k->name))
            return k;
    return NULL;
}
