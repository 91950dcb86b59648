/*
 * fuzz_batch_step.c - batch-feed messages: any bytes are read or refused, and
 * what is read gives records that the grammar accepts.
 * SPDX-License-Identifier: Apache-2.0
 */
#include <assert.h>
#include <stdlib.h>

#include "feed/batch_step.h"
#include "fuzz.h"
#include "store/kind.h"
#include "store/record.h"

static struct record record;

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct span tap = span_str("tap0");
    struct batch_step s;
    const char *why = NULL;

    if (batch_step_read(span_of(data, size), &s, &why) == PARSE_OK) {
        size_t parts = batch_step_parts(&s, tap);

        for (size_t part = 1; part <= parts; part++) {
            batch_step_record(&s, tap, part, parts, &record);
            assert(record_check_body(kind_find("batch_step"),
                                     span_of(record.text, record.n), &why));
        }
    } else {
        assert(why != NULL);
    }
    batch_step_free(&s);
    return 0;
}
