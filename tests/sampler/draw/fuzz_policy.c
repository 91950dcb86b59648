/*
 * fuzz_policy.c - any bytes as a policy: refused with a reason, or one that
 * decides for every exchange and never draws more than there is.
 * SPDX-License-Identifier: Apache-2.0
 */
#include <assert.h>

#include "fuzz.h"
#include "sampler/policy.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const uint64_t units[] = {0, 1, 17, 1000};
    struct policy_facts facts = {span_str("m"), span_str(""), false};
    struct policy_error why;
    struct policy p;

    if (policy_parse(span_of(data, size), &p, &why) != PARSE_OK) {
        assert(why.why != NULL);
        return 0;
    }
    assert(why.why == NULL && p.n_strata > 0);
    for (size_t h = 0; h < p.n_strata; h++)
        for (size_t i = 0; i < 4; i++)
            assert(policy_sample(&p, h, units[i]) <= units[i]);
    assert(policy_stratum_of(&p, &facts) < p.n_strata);
    facts.complete = true;
    facts.api = span_str("openai.chat");
    assert(policy_stratum_of(&p, &facts) < p.n_strata);
    return 0;
}
