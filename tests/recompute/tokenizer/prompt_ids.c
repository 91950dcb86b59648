/*
 * prompt_ids.c - our prompts for peer_template.py.
 *
 * usage: prompt_ids API DIR. In: one request a line, JSON. Out: one line each,
 * the token ids of its first prompt, or the reason why there is none.
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "recompute/error.h"
#include "recompute/model.h"
#include "recompute/model_config.h"
#include "recompute/request.h"
#include "recompute/template.h"
#include "recompute/tokenizer.h"
#include "store/dialect.h"

static void answer(const char *api, const struct request_model *m,
                   struct span line)
{
    struct api_exchange x = {0};
    const char *reason = "unsupported_api";
    const uint64_t seed = 0;
    struct request r;

    if (dialect_parse(api, line, span_of(NULL, 0), false, &x) != PARSE_OK ||
        request_init(&x, m, &seed, &r, &reason) != 0) {
        printf("%s\n", reason);
    } else {
        for (size_t i = 0; i < r.prompts[0].n_ids; i++)
            printf(i == 0 ? "%u" : " %u", r.prompts[0].ids[i]);
        putchar('\n');
        request_fini(&r);
    }
    dialect_free(&x);
}

int main(int argc, char **argv)
{
    struct model_config config = {.context = 1 << 20, .vocab = 1 << 20};
    struct request_model m = {.config = &config};
    struct tokenizer *t;
    struct error error = {""};
    char *line = NULL;
    size_t room = 0;
    ssize_t n;

    if (argc != 3)
        return 2;
    if (tokenizer_open(argv[2], &t, &error) != 0 ||
        template_open(argv[2], &m.template, &error) != 0) {
        fprintf(stderr, "prompt_ids: %s\n", error.text);
        return 3;
    }
    m.tokenizer = t;
    while ((n = getline(&line, &room, stdin)) > 0)
        answer(argv[1], &m, span_of(line, (size_t)n));
    free(line);
    tokenizer_close(t);
    return 0;
}
