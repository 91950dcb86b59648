/*
 * logits.c - the forward pass as a filter, for tests in other languages.
 * Comes in: a model directory, kernels (or "fastest"), threads, token ids in
 * decimal. Goes out: float32 logits of every position, host byte order, on
 * stdout; with -g N instead the N tokens that greedy decoding adds, in decimal.
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "config/exit.h"
#include "config/log.h"
#include "recompute/error.h"
#include "recompute/generate.h"
#include "recompute/model.h"
#include "recompute/model_config.h"
#include "recompute/sequence.h"

enum { IDS_MAX = 8192 };

static void print_logits(struct forward *f, const uint32_t *ids, size_t n)
{
    size_t vocab = model_config(forward_model(f))->vocab;
    struct member m = {.ids = ids, .n = n};
    struct sequence *s;

    m.logits = calloc(n, vocab * sizeof(float));
    if (m.logits == NULL ||
        sequence_open(model_config(forward_model(f)), n, &s) != 0)
        fatalx(EXIT_IO, "no memory");
    m.sequence = s;
    if (forward_run(f, &m, 1) != 0)
        fatalx(EXIT_BAD, "forward pass refused");
    if (fwrite(m.logits, vocab * sizeof(float), n, stdout) != n)
        fatal(EXIT_IO, "stdout");
    sequence_close(s);
    free(m.logits);
}

static void print_greedy(struct forward *f, const uint32_t *ids, size_t n,
                         uint64_t add)
{
    struct generate p = {.prompt = ids, .n_prompt = n, .max_tokens = add};
    struct generation g;

    sampling_init(&p.sampling);
    if (generation_init(f, &p, &g) != 0 || generation_run(&g, NULL, NULL) != 0)
        fatalx(EXIT_BAD, "generation refused");
    for (size_t i = 0; i < g.n_tokens; i++)
        printf("%u\n", g.tokens[i].id);
    generation_fini(&g);
}

int main(int argc, char **argv)
{
    static uint32_t ids[IDS_MAX];
    uint64_t add = 0;
    size_t n = 0;
    struct model *m;
    struct forward *f;
    struct error error;

    log_init("logits", 0);
    for (int c; (c = getopt(argc, argv, "g:")) != -1;) {
        if (c != 'g')
            return EXIT_USAGE;
        add = strtoull(optarg, NULL, 10);
    }
    if (argc - optind < 4)
        fatalx(EXIT_USAGE, "usage: logits [-g N] DIR KERNELS THREADS ID...");
    for (int i = optind + 3; i < argc && n < IDS_MAX; i++)
        ids[n++] = (uint32_t)strtoul(argv[i], NULL, 10);
    if (model_open(argv[optind], &m, &error) != 0)
        fatalx(EXIT_BAD, "%s", error.text);
    const char *kernels = argv[optind + 1];
    if (strcmp(kernels, "fastest") == 0)
        kernels = NULL;
    struct forward_options o = {
        .kernels = kernels,
        .threads = (unsigned)strtoul(argv[optind + 2], NULL, 10),
    };
    if (forward_open(m, &o, &f) != 0)
        fatalx(EXIT_BAD, "kernels %s do not run here", argv[optind + 1]);
    if (add > 0)
        print_greedy(f, ids, n, add);
    else
        print_logits(f, ids, n);
    forward_close(f);
    model_close(m);
    return EXIT_GOOD;
}
