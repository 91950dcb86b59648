/*
 * account.c - an epoch's account: sums, strata, bound, and record bodies.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sampler/account.h"

#include <stdio.h>
#include <string.h>

#include "store/record.h"

/* *sum += v, at most 2^63 - 1. */
static void add(uint64_t *sum, uint64_t v)
{
    if (v > INT64_MAX || *sum > INT64_MAX - v)
        *sum = INT64_MAX;
    else
        *sum += v;
}

int epoch_count_exchange(struct epoch_counts *c, struct frame *f,
                         const struct policy *p, const struct exchange_facts *x)
{
    const struct policy_facts facts = {x->model, x->api, x->complete};
    struct frame_unit u = {.stratum = policy_stratum_of(p, &facts),
                           .complete = x->complete};
    int err;

    add(&u.weight, x->tokens_in);
    add(&u.weight, x->tokens_out);
    memcpy(u.unit, x->unit, sizeof u.unit);
    err = frame_append(f, &u);
    if (err != 0)
        return err;
    c->seen++;
    c->incomplete += !x->complete;
    return 0;
}

void epoch_count_unparsed(struct epoch_counts *c, uint64_t count,
                          uint64_t bytes)
{
    add(&c->unparsed, count);
    add(&c->unparsed_bytes, bytes);
}

void epoch_count_loss(struct epoch_counts *c, struct span cause, uint64_t count,
                      uint64_t bytes)
{
    add(&c->loss, count);
    add(&c->loss_bytes, bytes);
    if (span_eq_str(cause, "feed_gap"))
        add(&c->feed_gaps, count);
}

void account_frame(struct epoch_close *c, const struct policy *p,
                   const struct frame *f)
{
    c->units = f->n;
    frame_root(f, c->frame_root);
    memcpy(c->policy, p->sha256, sizeof c->policy);
    c->n_strata = p->n_strata;
    for (size_t h = 0; h < p->n_strata; h++) {
        struct close_stratum *s = &c->stratum[h];

        memset(s, 0, sizeof *s);
        memcpy(s->name, p->stratum[h].name, sizeof s->name);
    }
    for (size_t i = 0; i < f->n; i++) {
        struct close_stratum *s = &c->stratum[f->units[i].stratum];

        s->units++;
        add(&s->tokens, f->units[i].weight);
    }
    for (size_t h = 0; h < p->n_strata; h++)
        c->stratum[h].draw = policy_sample(p, h, c->stratum[h].units);
}

void account_certify(struct certificate *c, const struct policy *p,
                     const struct answers *a)
{
    c->confidence_ppm = p->confidence_ppm;
    c->drawn = a->n;
    memset(c->stratum, 0, sizeof c->stratum);
    for (size_t h = 0; h < p->n_strata; h++)
        c->stratum[h].units = c->close.stratum[h].units;
    for (size_t i = 0; i < a->n; i++) {
        struct stratum_count *s = &c->stratum[a->units[i].unit->stratum];

        s->drawn++;
        s->failed += answers_outcome(&a->units[i]) != OUTCOME_MATCH;
    }
    c->bound_units = bound_strata(c->stratum, p->n_strata, c->confidence_ppm);
}

static void hash(struct record *r, const char *key, const uint8_t value[32])
{
    record_hex(r, key, span_of(value, 32));
}

bool account_write_close(const struct epoch_close *c, struct record *r)
{
    record_init(r);
    record_u64(r, "epoch", c->epoch);
    record_text(r, "reason", span_str(c->reason));
    record_u64(r, "first", c->first);
    record_u64(r, "end", c->end);
    record_u64(r, "n", c->units);
    hash(r, "frame_root", c->frame_root);
    hash(r, "policy", c->policy);
    record_u64(r, "seen", c->counts.seen);
    record_u64(r, "incomplete", c->counts.incomplete);
    record_u64(r, "unparsed", c->counts.unparsed);
    record_u64(r, "unparsed_bytes", c->counts.unparsed_bytes);
    record_u64(r, "loss", c->counts.loss);
    record_u64(r, "loss_bytes", c->counts.loss_bytes);
    record_u64(r, "findings", c->counts.findings);
    record_u64(r, "no_feed", c->counts.no_feed);
    for (size_t h = 0; h < c->n_strata; h++) {
        record_begin(r, "stratum");
        record_add_u64(r, h);
        record_add_text(r, span_str(c->stratum[h].name));
        record_add_u64(r, c->stratum[h].units);
        record_add_u64(r, c->stratum[h].draw);
        record_add_u64(r, c->stratum[h].tokens);
        record_end(r);
    }
    return !r->full;
}

bool account_write_seed(const struct epoch_seed *s, struct record *r)
{
    record_init(r);
    record_u64(r, "epoch", s->epoch);
    record_u64(r, "checkpoint_size", s->checkpoint_size);
    hash(r, "checkpoint_root", s->checkpoint_root);
    record_hex(r, "vrf_pi", span_of(s->vrf_pi, VRF_PROOF));
    hash(r, "vrf_beta", s->vrf_beta);
    record_text(r, "text", span_str(s->text));
    hash(r, "seed", s->seed);
    return !r->full;
}

uint64_t account_draw_parts(const struct draw *d)
{
    return d->n == 0 ? 1 : (d->n + DRAW_PART_UNITS - 1) / DRAW_PART_UNITS;
}

bool account_write_draw(uint64_t epoch, const struct frame *f,
                        const struct draw *d, uint64_t part, struct record *r)
{
    size_t i = (size_t)(part - 1) * DRAW_PART_UNITS;
    size_t end = i + DRAW_PART_UNITS < d->n ? i + DRAW_PART_UNITS : d->n;

    record_init(r);
    record_u64(r, "epoch", epoch);
    record_u64(r, "part", part);
    record_u64(r, "parts", account_draw_parts(d));
    for (; i < end; i++) {
        const struct frame_unit *u = &f->units[d->units[i].index];

        record_begin(r, "drawn");
        record_add_u64(r, d->units[i].index);
        record_add_u64(r, u->stratum);
        record_add_hex(r, span_of(u->unit, MERKLE_HASH));
        record_end(r);
    }
    return !r->full;
}

/* The routes, joined with '+'; empty when there was no verdict. */
static void write_route(const struct answers *a, struct record *r)
{
    char text[ANSWERS_ROUTES * (ANSWERS_ROUTE + 1)] = "";
    size_t n = 0;

    for (size_t i = 0; i < a->n_routes; i++)
        n += (size_t)snprintf(text + n, sizeof text - n, "%s%s",
                              i > 0 ? "+" : "", a->route[i]);
    record_text(r, "route", span_str(text));
}

static void write_outcomes(const struct answers *a, struct record *r)
{
    static const char *const keys[OUTCOMES] = {
        [OUTCOME_MATCH] = "match",
        [OUTCOME_MISMATCH] = "mismatch",
        [OUTCOME_UNSTABLE] = "unstable",
        [OUTCOME_UNCHECKABLE] = "uncheckable",
        [OUTCOME_UNANSWERED] = "unanswered"};
    uint64_t n[OUTCOMES] = {0};

    for (size_t i = 0; i < a->n; i++)
        n[answers_outcome(&a->units[i])]++;
    for (size_t o = 0; o < OUTCOMES; o++)
        record_u64(r, keys[o], n[o]);
}

static void write_strata(const struct certificate *c, struct record *r)
{
    for (size_t h = 0; h < c->close.n_strata; h++) {
        const struct stratum_count *s = &c->stratum[h];

        record_begin(r, "stratum");
        record_add_u64(r, h);
        record_add_text(r, span_str(c->close.stratum[h].name));
        record_add_u64(r, s->units);
        record_add_u64(r, s->drawn);
        record_add_u64(r, s->failed);
        record_add_u64(r, s->bound);
        record_end(r);
    }
}

/* What the bound says nothing about. Always every line: a zero is said, not
 * left out. */
static void write_uncovered(const struct certificate *c,
                            const struct answers *a, struct record *r)
{
    const struct epoch_counts *n = &c->close.counts;
    const struct {
        const char *what;
        uint64_t count;
    } lines[] = {{"incomplete_exchanges", n->incomplete},
                 {"unparsed", n->unparsed},
                 {"unparsed_bytes", n->unparsed_bytes},
                 {"loss", n->loss},
                 {"loss_bytes", n->loss_bytes},
                 {"feed_gaps", n->feed_gaps},
                 {"findings", n->findings},
                 {"no_feed", n->no_feed},
                 {"not_drawn", c->close.units - c->drawn},
                 {"statistical_verdicts", a->statistical}};

    for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++) {
        record_begin(r, "uncovered");
        record_add_text(r, span_str(lines[i].what));
        record_add_u64(r, lines[i].count);
        record_end(r);
    }
}

bool account_write_certificate(const struct certificate *c,
                               const struct answers *a, struct record *r)
{
    const struct epoch_counts *n = &c->close.counts;

    record_init(r);
    record_u64(r, "epoch", c->close.epoch);
    record_u64(r, "from_ns", c->from_ns);
    record_u64(r, "to_ns", c->to_ns);
    record_u64(r, "verdicts_end", c->verdicts_end);
    record_u64(r, "seen", n->seen);
    record_u64(r, "frame", c->close.units);
    record_u64(r, "incomplete", n->incomplete);
    record_u64(r, "unparsed", n->unparsed);
    record_u64(r, "loss", n->loss);
    record_u64(r, "findings", n->findings);
    record_u64(r, "drawn", c->drawn);
    write_outcomes(a, r);
    write_route(a, r);
    record_u64(r, "confidence_ppm", c->confidence_ppm);
    record_u64(r, "bound_ppm", bound_ppm(c->bound_units, c->close.units));
    record_u64(r, "bound_units", c->bound_units);
    write_strata(c, r);
    for (size_t i = 0; i < a->n_manifests; i++) {
        record_begin(r, "manifest");
        record_add_hex(r, span_of(a->manifest[i].sha256, 32));
        record_add_u64(r, a->manifest[i].verdicts);
        record_end(r);
    }
    write_uncovered(c, a, r);
    return !r->full;
}
