/*
 * toy.c - hidden batches, and a stepper through them.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "toy.h"

#include <assert.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "search/signature.h"

enum { OWN_SPLIT = 8, ALL_CHUNKINGS = 16, ROW_MASK = (1 << 23) - 1 };

struct kv_state {
    struct toy_state state[TOY_TOKENS];
    size_t length;
};

/* ---- the model ---- */

static uint64_t hash(uint64_t a, uint64_t b)
{
    return signature_mix(signature_mix(1, a), b);
}

static bool is_quiet(const struct toy_rules *r, size_t position, uint32_t id)
{
    return r->quiet[position] ||
           (r->quiet_in != 0 && hash(id, position) % r->quiet_in == 0);
}

static uint64_t mark_of(const struct batch_shape *shape,
                        const struct kv_split *split)
{
    uint64_t cut =
        shape->splits ? (uint64_t)split->border << 8 | split->part : 0;

    return hash(shape->rows, cut);
}

/* A token in its batch: the state after it, and its row. */
struct toy_step {
    size_t position;
    uint32_t id;
    const struct batch_shape *shape;
    const struct kv_split *split;
    size_t offset;
};

static struct toy_state compute(const struct toy_rules *r,
                                const struct toy_state *before,
                                const struct toy_step *s, float *row)
{
    uint64_t mark = hash(mark_of(s->shape, s->split), s->offset);
    struct toy_state to = {hash(before->all, s->id), 0};

    if (s->position >= r->own_prefix)
        to.all = hash(to.all, mark);
    to.seen = to.all;
    if (is_quiet(r, s->position, s->id))
        to.seen = hash(before->seen, s->id);
    else if (r->near[s->position])
        to.seen = hash(before->seen, hash(s->id, mark));
    for (size_t i = 0; i < TOY_WIDTH; i++)
        row[i] = (float)(hash(to.seen, i) & ROW_MASK) + 1;
    return to;
}

static uint32_t choose(const float *row)
{
    return (uint32_t)row[0] % TOY_IDS;
}

/* ---- batches ---- */

static struct batch_shape shape_of(uint32_t rows)
{
    return (struct batch_shape){.rows = rows, .splits = rows == TOY_ALONE};
}

static struct batch_shape chunk_shape(size_t n, bool company)
{
    return shape_of(company ? TOY_COMPANY : n > 1 ? TOY_OWN : TOY_ALONE);
}

static size_t add_chunking(struct prefill_chunking *list, size_t n,
                           const size_t *lengths, unsigned company)
{
    struct prefill_chunking *c = &list[n];

    *c = (struct prefill_chunking){.n = 0};
    for (; lengths[c->n] != 0; c->n++)
        c->chunks[c->n] = (struct prefill_chunk){
            (uint32_t)lengths[c->n],
            chunk_shape(lengths[c->n], (company >> c->n & 1) != 0)};
    return n + 1;
}

/* Uncut, and cut after the first or before the last token; each part alone or
 * in company. */
static size_t list_chunkings(const struct toy_rules *r, size_t n,
                             struct prefill_chunking *list)
{
    size_t listed = 0;

    listed = add_chunking(list, listed, (size_t[]){n, 0}, 0);
    if (!r->chunked)
        return listed;
    listed = add_chunking(list, listed, (size_t[]){n, 0}, 1);
    for (unsigned company = 0; n > 1 && company < 4; company++) {
        listed = add_chunking(list, listed, (size_t[]){1, n - 1, 0}, company);
        if (n > 2)
            listed =
                add_chunking(list, listed, (size_t[]){n - 1, 1, 0}, company);
    }
    return listed;
}

/* ---- requests ---- */

void toy_init(struct toy *t, const struct toy_rules *rules)
{
    *t = (struct toy){.rules = *rules, .claim = TOY_NOBODY};
    for (uint32_t i = 0; i < TOY_SHAPES; i++)
        t->shapes[i] = shape_of(i + 1);
}

size_t toy_add(struct toy *t, uint64_t seed, size_t n_prompt, size_t n_answer)
{
    size_t i = t->n++;
    struct toy_request *r = &t->requests[i];

    assert(i < TOY_CLAIMS && n_prompt + n_answer <= TOY_TOKENS);
    *r = (struct toy_request){.n_prompt = n_prompt,
                              .n_answer = n_answer,
                              .source = TOY_NOBODY,
                              .weights = t->rules.weights};
    for (size_t k = 0; k < n_prompt; k++)
        r->ids[k] = (uint32_t)(hash(seed, k) % TOY_IDS);
    toy_chunk(t, i, 0);
    return i;
}

void toy_share(struct toy *t, size_t request, size_t source, size_t n)
{
    struct toy_request *r = &t->requests[request];

    memcpy(r->ids, t->requests[source].ids, n * sizeof *r->ids);
    r->source = source;
    r->n_cached = n;
    toy_chunk(t, request, 0);
}

void toy_compute(struct toy *t, size_t request)
{
    t->requests[request].source = TOY_NOBODY;
    t->requests[request].n_cached = 0;
    toy_chunk(t, request, 0);
}

void toy_unlisted_end(struct toy *t, size_t request)
{
    struct toy_request *r = &t->requests[request];
    size_t end = r->n_prompt - 1;

    if (!is_quiet(&t->rules, end, r->ids[end]))
        r->end_rows = TOY_COMPANY + 1;
}

void toy_chunk(struct toy *t, size_t request, size_t i)
{
    struct prefill_chunking list[ALL_CHUNKINGS];
    struct toy_request *r = &t->requests[request];
    size_t n = list_chunkings(&t->rules, r->n_prompt - r->n_cached, list);

    r->chunking = list[i % n];
}

void toy_shape(struct toy *t, size_t request, size_t from, size_t to,
               unsigned shape)
{
    for (size_t i = from; i < to; i++)
        t->requests[request].steps[i].shape = shape;
}

static struct toy_state before(const struct toy_request *r, size_t position)
{
    return position == 0 ? (struct toy_state){r->weights, r->weights}
                         : r->state[position - 1];
}

static void serve_prompt(const struct toy *t, struct toy_request *r)
{
    size_t at = r->n_cached;

    for (size_t i = 0; i < r->chunking.n; i++)
        for (uint32_t k = 0; k < r->chunking.chunks[i].n; k++, at++) {
            bool last = at + 1 == r->n_prompt;
            struct batch_shape shape = r->chunking.chunks[i].shape;
            struct toy_state from = before(r, at);
            struct toy_step s = {at, r->ids[at], &shape,
                                 last ? &r->prompt_split : &r->inner_split,
                                 r->offset};

            if (last && r->end_rows != 0)
                shape.rows = r->end_rows;

            r->state[at] = compute(&t->rules, &from, &s, r->rows[0]);
        }
    assert(at == r->n_prompt);
    r->ids[at] = choose(r->rows[0]);
}

/* A token that is the same whoever computes it. */
static void serve_own(const struct toy *t, struct toy_request *r, size_t at)
{
    static const struct kv_split none = {0, 0};
    struct batch_shape shape = shape_of(TOY_OWN);
    struct toy_step s = {at, r->ids[at], &shape, &none, 0};
    struct toy_state from = before(r, at);
    float row[TOY_WIDTH];

    r->state[at] = compute(&t->rules, &from, &s, row);
}

static void tell(struct toy *t, size_t request)
{
    struct toy_request *r = &t->requests[request];

    memcpy(t->told[request], r->ids, sizeof r->ids);
    t->claims[request] = (struct search_claim){.ids = t->told[request],
                                               .n_prompt = r->n_prompt,
                                               .n_answer = r->n_answer,
                                               .n_cached = r->n_cached,
                                               .has_logprobs = true};
}

void toy_serve(struct toy *t, size_t request)
{
    struct toy_request *r = &t->requests[request];

    assert(r->source != TOY_NOBODY || r->n_cached <= t->rules.own_prefix);
    for (size_t i = 0; i < r->n_cached; i++)
        if (r->source != TOY_NOBODY)
            r->state[i] = t->requests[r->source].state[i];
        else
            serve_own(t, r, i);
    serve_prompt(t, r);
    for (size_t i = 1; i < r->n_answer; i++) {
        size_t at = r->n_prompt + i - 1;
        struct toy_state from = before(r, at);
        struct toy_step s = {at, r->ids[at], &t->shapes[r->steps[i].shape],
                             &r->steps[i].split, r->offset};

        r->state[at] = compute(&t->rules, &from, &s, r->rows[i]);
        r->ids[at + 1] = choose(r->rows[i]);
    }
    tell(t, request);
}

void toy_alter(struct toy *t, size_t request, size_t step)
{
    float *v = &t->requests[request].rows[step][1];

    *v = nextafterf(*v, 0);
}

/* ---- the stepper: it sees rules, claims and claimed rows, no batches ---- */

/* Tokens that are the same whoever computed them. */
static void put_first(struct prefill_chunking *c, size_t n)
{
    memmove(c->chunks + 1, c->chunks, c->n * sizeof *c->chunks);
    c->chunks[0] = (struct prefill_chunk){(uint32_t)n, shape_of(TOY_OWN)};
    c->n++;
}

static int op_chunkings(void *self, size_t claim, size_t from,
                        struct chunking_list *ret)
{
    const struct toy *t = self;
    const struct search_claim *c = &t->claims[claim];
    bool shared = from == 0 && c->n_cached <= t->rules.own_prefix;
    size_t first = shared ? c->n_cached : from;
    struct prefill_chunking *list = calloc(ALL_CHUNKINGS, sizeof *list);
    size_t n;

    if (list == NULL)
        return -ENOMEM;
    assert(c->n_prompt > first);
    n = list_chunkings(&t->rules, c->n_prompt - first, list);
    for (size_t i = 0; i < n && first > from; i++)
        put_first(&list[i], first);
    *ret = (struct chunking_list){list, n, NULL};
    if (t->rules.missing_of == TOY_NOBODY || t->rules.missing_of == claim)
        ret->missing = t->rules.missing;
    return 0;
}

static bool op_assume(void *self, size_t n, struct prefill_chunking *ret_c)
{
    const struct toy *t = self;

    *ret_c = (struct prefill_chunking){.n = 1};
    ret_c->chunks[0] = (struct prefill_chunk){(uint32_t)n, shape_of(TOY_OWN)};
    return !t->rules.no_guess;
}

static bool op_split(void *self, size_t position, size_t k,
                     struct kv_split *ret)
{
    const struct toy *t = self;

    if (k > t->rules.splits)
        return false;
    *ret = (struct kv_split){(uint32_t)k, k > 0};
    assert(position < TOY_TOKENS);
    return true;
}

static uint64_t op_mark(void *self, const struct batch_shape *shape,
                        uint32_t row, const struct kv_split *split)
{
    (void)self;
    (void)row; /* all of ours alike */
    return mark_of(shape, split);
}

static bool op_offset(void *self, unsigned i, size_t furthest,
                      size_t *ret_offset)
{
    const struct toy *t = self;

    (void)furthest;
    *ret_offset = i;
    return i <= t->rules.offsets;
}

static int op_begin(void *self, size_t claim, const struct cached_prefix *p)
{
    struct toy *t = self;

    assert(p->state == NULL ? p->n == 0 : p->state->length >= p->n);
    t->claim = claim;
    t->n_prefix = t->length = p->n;
    t->offset = p->offset;
    if (p->state != NULL)
        memcpy(t->state, p->state->state, p->n * sizeof *t->state);
    return 0;
}

/* A token at the end of the sequence. */
static void append(struct toy *t, const struct batch_shape *shape,
                   const struct kv_split *split, float *row)
{
    struct toy_state last = {t->rules.weights, t->rules.weights};
    struct toy_step s = {t->length, t->claims[t->claim].ids[t->length], shape,
                         split, t->offset};

    if (t->length > 0)
        last = t->state[t->length - 1];
    t->state[t->length] = compute(&t->rules, &last, &s, row);
    t->length++;
}

static int count_run(struct toy *t, uint64_t n)
{
    t->runs += n;
    return t->fail_after != 0 && t->runs >= (uint64_t)t->fail_after ? -EIO : 0;
}

static int op_prefill(void *self, const struct prefill_chunking *c, size_t i,
                      const struct kv_split *split, const float **ret_row)
{
    static const struct kv_split none = {0, 0};
    struct toy *t = self;
    size_t at = t->n_prefix;

    for (size_t k = 0; k < i; k++)
        at += c->chunks[k].n;
    assert(t->length >= at); /* what came before was run */
    t->length = at;
    for (uint32_t k = 0; k < c->chunks[i].n; k++)
        append(t, &c->chunks[i].shape, k + 1 == c->chunks[i].n ? split : &none,
               t->rows);
    assert(t->length <= t->claims[t->claim].n_prompt);
    if (ret_row != NULL)
        *ret_row = t->rows;
    return count_run(t, 1);
}

static int op_decode(void *self, const struct decode_steps *d,
                     const float **ret_rows)
{
    struct toy *t = self;
    const struct search_claim *c = &t->claims[t->claim];
    size_t at = c->n_prompt + d->first - 1;

    assert(d->first > 0 && t->length >= at);
    assert(d->first + d->n <= c->n_answer + 1);
    t->length = at;
    for (uint32_t i = 0; i < d->n; i++)
        append(t, &d->shape, &d->split, t->rows + (size_t)i * TOY_WIDTH);
    *ret_rows = t->rows;
    return count_run(t, d->n);
}

/* Without logprobs by the token that is chosen; open ids are as the row has
 * them, if that is what the answer reads. */
static int op_hold(void *self, size_t step, const float *path, const float *row,
                   enum row_match *ret_match)
{
    struct toy *t = self;
    const struct toy_request *r = &t->requests[t->claim];
    const struct search_claim *c = &t->claims[t->claim];
    uint32_t id = r->ids[c->n_prompt + step];
    bool equal = c->has_logprobs
                     ? memcmp(row, r->rows[step], sizeof r->rows[step]) == 0
                     : choose(row) == id;

    for (size_t i = 0; i < step && !t->untold[t->claim]; i++) /* as accepted */
        assert(choose(path + i * TOY_WIDTH) ==
                   t->told[t->claim][c->n_prompt + i] ||
               c->has_logprobs);
    *ret_match = equal ? ROW_EQUAL : ROW_DIFFERS;
    if (t->untold[t->claim])
        *ret_match = ROW_UNTOLD;
    if (c->open_ids)
        t->told[t->claim][c->n_prompt + step] = choose(row);
    return 0;
}

static double op_evidence(void *self, size_t claim, size_t step)
{
    const struct toy *t = self;

    assert(step < t->claims[claim].n_answer);
    return t->claims[claim].has_logprobs ? TOY_BITS : 0;
}

static int op_save(void *self, struct kv_state **ret_state)
{
    struct toy *t = self;
    struct kv_state *state = calloc(1, sizeof *state);

    if (state == NULL)
        return -ENOMEM;
    memcpy(state->state, t->state, t->length * sizeof *state->state);
    state->length = t->length;
    t->states++;
    *ret_state = state;
    return 0;
}

static void op_forget(void *self, struct kv_state *state)
{
    struct toy *t = self;

    t->states -= state != NULL;
    free(state);
}

static const struct stepper_ops ops = {.chunkings = op_chunkings,
                                       .assume = op_assume,
                                       .split = op_split,
                                       .mark = op_mark,
                                       .offset = op_offset,
                                       .begin = op_begin,
                                       .prefill = op_prefill,
                                       .decode = op_decode,
                                       .hold = op_hold,
                                       .evidence = op_evidence,
                                       .save = op_save,
                                       .forget = op_forget};

static int on_found(void *arg, size_t claim, const float *rows, size_t n)
{
    struct toy *t = arg;
    struct toy_found *f = &t->found[claim];

    assert(n <= TOY_TOKENS);
    memcpy(f->rows, rows, n * sizeof *f->rows);
    f->n = n;
    f->calls++;
    return f->calls <= f->more;
}

int toy_search(struct toy *t, size_t first, size_t n, uint64_t limit)
{
    struct stepper stepper = {.ops = &ops,
                              .self = t,
                              .claims = t->claims,
                              .n = t->n,
                              .width = TOY_WIDTH,
                              .shapes = t->shapes,
                              .n_shapes = t->rules.shapes,
                              .splits_hidden = t->rules.splits > 0,
                              .same_split = OWN_SPLIT,
                              .own_prefix = t->rules.own_prefix,
                              .prefix_unit = t->rules.prefix_unit,
                              .prefix_moves = t->rules.prefix_moves,
                              .first_row = t->rules.first_row,
                              .free_runs = 1 << 16};
    struct search s = {
        .stepper = &stepper, .output = {first, n, on_found, t}, .limit = limit};
    int err;

    t->runs = 0;
    memset(t->verdicts, 0, sizeof t->verdicts);
    err = search_claims(&s, t->verdicts);
    assert(t->states == 0); /* each was forgotten */
    return err;
}

void toy_search_all(struct toy *t)
{
    int err = toy_search(t, 0, t->n, 0);

    assert(err == 0);
}
