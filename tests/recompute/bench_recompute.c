/*
 * bench_recompute.c - tokens per second of the forward pass, and of OpenBLAS
 * sgemm on the same products, in one run.
 * Comes in: a model directory; -t THREADS (1), -p PROMPT tokens (512), -d
 * DECODE tokens (48), -k kernels. Goes out: lines "key value unit"; the best
 * of some rounds in which both sides take turns.
 * SPDX-License-Identifier: Apache-2.0
 */
#include <cblas.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "config/exit.h"
#include "config/log.h"
#include "engine/assay/matmul.h"
#include "engine/assay/weights.h"
#include "recompute/error.h"
#include "recompute/generate.h"
#include "recompute/model.h"
#include "recompute/sequence.h"

enum { ROUNDS = 5 };

struct bench {
    struct model *model;
    struct forward *forward;
    size_t prompt, decode;
    unsigned threads;
};

static double now_s(void)
{
    struct timespec t;

    (void)clock_gettime(CLOCK_MONOTONIC, &t); /* exists on Linux */
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static float *numbers(size_t n)
{
    float *p = malloc(n * sizeof *p);

    if (p == NULL)
        fatalx(EXIT_IO, "no memory");
    for (size_t i = 0; i < n; i++)
        p[i] = (float)((i * 2654435761u >> 8) % 2001) * 0.001f - 1.0f;
    return p;
}

/* Seconds of one product of every shape of a layer, times the layers: what
 * the forward pass spends in products of its prompt, but for the head. */
struct shape_times {
    double ours, blas;
};

static double time_ours(const struct fixed_panels *w, const float *x,
                        float *out, size_t rows, struct pool *pool)
{
    float *packed = numbers(rows * w->k);
    struct matmul m = {fixed_kernels_pick(NULL), w, x, rows, packed, out, w->n};
    double start = now_s(), end;

    matmul_run(&m, pool);
    end = now_s();
    free(packed);
    return end - start;
}

static double time_blas(const struct fixed_panels *w, const float *weights,
                        const float *x, float *out, size_t rows)
{
    double start = now_s();

    cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasTrans, (int)rows, (int)w->n,
                (int)w->k, 1.0f, x, (int)w->k, weights, (int)w->k, 0.0f, out,
                (int)w->n);
    return now_s() - start;
}

static struct shape_times time_shape(const struct fixed_panels *w, size_t rows,
                                     struct pool *pool)
{
    float *x = numbers(rows * w->k), *weights = numbers(w->n * w->k);
    float *out = numbers(rows * w->n);
    struct shape_times best = {1e9, 1e9}, t;

    for (int i = 0; i < ROUNDS; i++) {
        t.ours = time_ours(w, x, out, rows, pool);
        t.blas = time_blas(w, weights, x, out, rows);
        best.ours = t.ours < best.ours ? t.ours : best.ours;
        best.blas = t.blas < best.blas ? t.blas : best.blas;
    }
    free(x);
    free(weights);
    free(out);
    return best;
}

/* One product of each kind at this many rows; returns the layer's sum. */
static struct shape_times bench_products(const struct bench *b, size_t rows)
{
    const struct layer *l = &b->model->layer[0];
    const struct {
        const char *name;
        const struct fixed_panels *w;
    } all[] = {{"qkv", &l->qkv.w},
               {"o", &l->o.w},
               {"gate_up", &l->gate_up.w},
               {"down", &l->down.w}};
    struct shape_times sum = {0, 0};
    struct pool *pool;

    if (pool_open(b->threads, &pool) != 0)
        fatalx(EXIT_IO, "no threads");
    for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
        struct shape_times t = time_shape(all[i].w, rows, pool);
        double flop = 2.0 * (double)rows * (double)(all[i].w->n * all[i].w->k);

        printf("product_%s_%zu_fixed %.1f GFLOP/s\n", all[i].name, rows,
               flop / t.ours * 1e-9);
        printf("product_%s_%zu_sgemm %.1f GFLOP/s\n", all[i].name, rows,
               flop / t.blas * 1e-9);
        sum.ours += t.ours;
        sum.blas += t.blas;
    }
    pool_close(pool);
    return sum;
}

/* Seconds of the prompt, and of each further token. */
static void run_once(const struct bench *b, double *ret_prefill,
                     double *ret_decode)
{
    size_t vocab = b->model->config.vocab;
    float *logits = numbers(vocab);
    uint32_t *ids = calloc(b->prompt, sizeof *ids);
    struct sequence *s;
    struct member m = {.ids = ids, .n = b->prompt};
    double start;

    if (ids == NULL ||
        sequence_open(model_config(b->model), b->prompt + b->decode, &s) != 0)
        fatalx(EXIT_BAD, "the model has no room for so many tokens");
    for (size_t i = 0; i < b->prompt; i++)
        ids[i] = (uint32_t)(i * 7919 % vocab);
    m.sequence = s;
    m.logits = logits;
    m.logits_from = b->prompt - 1;
    start = now_s();
    if (forward_run(b->forward, &m, 1) != 0)
        fatalx(EXIT_BAD, "forward pass refused");
    *ret_prefill = now_s() - start;
    m.n = 1;
    m.logits_from = 0;
    start = now_s();
    for (size_t i = 0; i < b->decode; i++)
        if (forward_run(b->forward, &m, 1) != 0)
            fatalx(EXIT_BAD, "forward pass refused");
    *ret_decode = (now_s() - start) / (double)b->decode;
    sequence_close(s);
    free(ids);
    free(logits);
}

static double weight_bytes(const struct model *m)
{
    size_t n = (m->head.w.n + FIXED_PANEL - 1) / FIXED_PANEL * m->head.w.pitch;

    for (size_t i = 0; i < m->config.layers; i++) {
        const struct matrix *all[] = {&m->layer[i].qkv, &m->layer[i].o,
                                      &m->layer[i].gate_up, &m->layer[i].down};

        for (size_t j = 0; j < 4; j++)
            n +=
                (all[j]->w.n + FIXED_PANEL - 1) / FIXED_PANEL * all[j]->w.pitch;
    }
    return (double)n;
}

/* Bytes a second that one pass over a copy of the weights reads: what decoding
 * can reach at most. */
static double read_rate(double bytes)
{
    size_t n = (size_t)bytes / 8;
    uint64_t *p = malloc(n * 8), sum = 0;
    double best = 1e9;

    if (p == NULL)
        fatalx(EXIT_IO, "no memory");
    memset(p, 1, n * 8);
    for (int i = 0; i < ROUNDS; i++) {
        double start = now_s(), t;

        for (size_t j = 0; j < n; j++)
            sum += p[j];
        t = now_s() - start;
        best = t < best ? t : best;
    }
    free(p);
    return sum != 0 ? bytes / best : 0;
}

static void bench_model(struct bench *b)
{
    double prefill = 1e9, decode = 1e9, p, d, bytes = weight_bytes(b->model);
    struct shape_times layer = bench_products(b, b->prompt);

    for (int i = 0; i < ROUNDS; i++) {
        run_once(b, &p, &d);
        prefill = p < prefill ? p : prefill;
        decode = d < decode ? d : decode;
    }
    layer.blas *= b->model->config.layers;
    printf("threads %u threads\n", b->threads);
    printf("prefill %.1f token/s\n", (double)b->prompt / prefill);
    printf("sgemm_of_prefill %.1f token/s\n", (double)b->prompt / layer.blas);
    printf("prefill_of_sgemm %.2f ratio\n", layer.blas / prefill);
    printf("decode %.1f token/s\n", 1 / decode);
    printf("decode_weights %.2f GB/s\n", bytes / decode * 1e-9);
    printf("memory_read_one_thread %.2f GB/s\n", read_rate(bytes) * 1e-9);
}

int main(int argc, char **argv)
{
    struct bench b = {.prompt = 512, .decode = 48, .threads = 1};
    struct forward_options o = {0};
    struct error error;

    log_init("bench_recompute", 0);
    for (int c; (c = getopt(argc, argv, "t:p:d:k:")) != -1;) {
        if (c == 't')
            b.threads = (unsigned)strtoul(optarg, NULL, 10);
        else if (c == 'p')
            b.prompt = strtoul(optarg, NULL, 10);
        else if (c == 'd')
            b.decode = strtoul(optarg, NULL, 10);
        else if (c == 'k')
            o.kernels = optarg;
        else
            return EXIT_USAGE;
    }
    if (optind + 1 != argc || b.prompt == 0 || b.decode == 0 || b.threads == 0)
        fatalx(EXIT_USAGE, "usage: bench_recompute [-t N] [-p N] [-d N] "
                           "[-k KERNELS] MODEL_DIR");
    o.threads = b.threads;
    openblas_set_num_threads((int)b.threads);
    if (model_open(argv[optind], &b.model, &error) != 0)
        fatalx(EXIT_BAD, "%s", error.text);
    if (forward_open(b.model, &o, &b.forward) != 0)
        fatalx(EXIT_BAD, "kernels do not run here");
    printf("kernels %s name\n", forward_kernels(b.forward));
    bench_model(&b);
    forward_close(b.forward);
    model_close(b.model);
    return EXIT_GOOD;
}
