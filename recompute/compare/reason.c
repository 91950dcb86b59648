/*
 * reason.c - why a claim or a result cannot be compared: reason.h.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "compare/reason.h"

#include <string.h>

/* The list of docs/records.md: a reason from a worker must be one of these. */
static const char *known_reason(struct span s)
{
    static const char *const reasons[] = {
        "unavailable_payload",
        "incomplete",
        "no_metadata",
        "no_manifest",
        "no_recipe",
        "no_weights",
        "unseeded",
        "unsupported_api",
        "unsupported_parameter",
        "no_template",
        "error_answer",
        "worker_failed",
        "deadline",
        "search_undecided",
        "ambiguous",
        "not_reproduced",
    };

    for (size_t i = 0; i < sizeof reasons / sizeof *reasons; i++)
        if (span_eq_str(s, reasons[i]))
            return reasons[i];
    return "worker_failed";
}

const char *compare_reason(const struct claim *c, enum parse parsed,
                           const struct api_exchange *x)
{
    if (c->mode == JOB_NONE)
        return known_reason(c->reason);
    if (c->status < 200 || c->status > 299)
        return "error_answer";
    if (parsed != PARSE_OK)
        return "unsupported_api";
    if (x->answer.error.n != 0)
        return "error_answer";
    return c->streamed && !x->answer.ended ? "incomplete" : NULL;
}

const char *compare_result_reason(const struct claim *c, const struct result *r)
{
    static const uint8_t none[32];

    if (memcmp(r->unit, c->unit, 32) != 0 ||
        memcmp(r->nonce, c->nonce, 16) != 0)
        return "worker_failed";
    if (!r->ok)
        return known_reason(r->reason);
    if (memcmp(c->manifest, none, 32) == 0)
        return "no_manifest";
    return memcmp(r->manifest, c->manifest, 32) != 0 ? "worker_failed" : NULL;
}
