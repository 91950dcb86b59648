/*
 * matmul.c - rows times a weight matrix, shared among threads and cut to fit
 * the caches: a thread takes a run of panels that stays in its second-level
 * cache, and passes all rows over it, a tile at a time.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "engine/assay/matmul.h"

#include <assert.h>

enum {
    CACHE_BYTES = 320 * 1024, /* of panels, in one run */
    RUNS_A_THREAD = 6,        /* so that the last ones end together */
    SMALL = 32 * 1024,        /* multiplications that one thread does alone */
    ROWS_MAX = 16             /* of any kernels' tile */
};

struct matmul_job {
    const struct matmul *m;
    size_t panels, run; /* of the matrix; in one run */
};

void tile_pack(const float *const *row, size_t n, size_t k, float *out)
{
    for (size_t r = 0; r < n; r++)
        for (size_t i = 0; i < k; i++)
            out[i * n + r] = row[r][i];
}

/* The tile from row `from` on, with its packed rows. */
static struct fixed_tile tile_at(const struct matmul *m, size_t from)
{
    size_t left = m->rows - from;

    return (struct fixed_tile){
        .x = m->rows == 1 ? m->x : m->packed + from * m->w->k,
        .rows = left < m->kernels->tile_rows ? left : m->kernels->tile_rows,
        .w = m->w,
        .out = m->out + from * m->stride,
        .stride = m->stride,
    };
}

static void matmul_pack(void *arg, size_t item, unsigned worker)
{
    const struct matmul_job *job = arg;
    const struct matmul *m = job->m;
    size_t from = item * m->kernels->tile_rows;
    struct fixed_tile t = tile_at(m, from);
    const float *row[ROWS_MAX];

    (void)worker; /* no scratch memory */
    assert(t.rows <= ROWS_MAX);
    for (size_t r = 0; r < t.rows; r++)
        row[r] = m->x + (from + r) * m->w->k;
    tile_pack(row, t.rows, m->w->k, m->packed + from * m->w->k);
}

static void matmul_panels(void *arg, size_t item, unsigned worker)
{
    const struct matmul_job *job = arg;
    size_t first = item * job->run, end = first + job->run;

    (void)worker; /* no scratch memory */
    if (end > job->panels)
        end = job->panels;
    for (size_t r = 0; r < job->m->rows; r += job->m->kernels->tile_rows) {
        struct fixed_tile t = tile_at(job->m, r);

        t.first = first;
        t.end = end;
        job->m->kernels->tile(&t);
    }
}

/* Panels in one run: within the cache, and enough runs for every thread. */
static size_t run_of(const struct matmul *m, size_t panels, unsigned threads)
{
    size_t step = m->kernels->tile_panels;
    size_t run = CACHE_BYTES / m->w->pitch;
    size_t share = panels / (threads * RUNS_A_THREAD);

    if (m->rows * m->w->n * m->w->k <= SMALL)
        return panels;
    if (run > share)
        run = share;
    run = run / step * step;
    return run > 0 ? run : step;
}

void matmul_run(const struct matmul *m, struct pool *p)
{
    struct matmul_job job = {.m = m};
    size_t tiles =
        (m->rows + m->kernels->tile_rows - 1) / m->kernels->tile_rows;

    if (m->rows == 0)
        return;
    job.panels = (m->w->n + FIXED_PANEL - 1) / FIXED_PANEL;
    job.run = run_of(m, job.panels, pool_threads(p));
    if (m->rows > 1)
        pool_run(p, matmul_pack, &job, tiles);
    pool_run(p, matmul_panels, &job, (job.panels + job.run - 1) / job.run);
}
