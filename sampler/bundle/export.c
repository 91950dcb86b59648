/*
 * export.c - which leaves belong to a bundle, and the files made from them.
 * Two walks over the log: the first hashes every leaf and finds the epoch, the
 * second takes the bytes that are wanted.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "bundle/export.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bundle/bundle_text.h"
#include "config/array.h"
#include "store/merkle.h"
#include "store/record.h"

enum { NONE = -1 };

struct exporter {
    const struct export_source *s;
    uint64_t epoch;
    uint8_t (*hashes)[MERKLE_HASH];
    int64_t close, certificate; /* leaves, or NONE */
    uint64_t first;             /* of the epoch's range */
    const struct export_note *note;
    char *text; /* of log/leaves */
    size_t n, size;
};

static struct bundle_leaf leaf_of(uint64_t seq, struct span bytes)
{
    char name[64];
    struct span type = record_find(bytes, "type");
    struct bundle_leaf l = {seq, bytes, NULL};

    if (type.n > 0 && type.n < sizeof name) {
        memcpy(name, type.p, type.n);
        name[type.n] = '\0';
        l.kind = kind_find(name);
    }
    return l;
}

static int survey_leaf(struct exporter *e, const struct bundle_leaf *l)
{
    merkle_leaf(l->bytes, e->hashes[l->seq]);
    if (leaf_is(l, "frame_close") && leaf_has(l, "epoch", e->epoch) &&
        e->close == NONE) {
        e->close = (int64_t)l->seq;
        if (!leaf_u64(l, "first", &e->first))
            return -EBADMSG;
    }
    if (leaf_is(l, "certificate") && leaf_has(l, "epoch", e->epoch) &&
        e->certificate == NONE)
        e->certificate = (int64_t)l->seq;
    return 0;
}

static int survey(struct exporter *e)
{
    e->hashes = malloc((size_t)(e->s->count + 1) * sizeof *e->hashes);
    if (e->hashes == NULL)
        return -ENOMEM;
    for (uint64_t seq = 0; seq < e->s->count; seq++) {
        struct bundle_leaf l;
        struct span bytes;
        int err = e->s->read(e->s->context, seq, &bytes);

        if (err != 0)
            return err;
        l = leaf_of(seq, bytes);
        err = survey_leaf(e, &l);
        if (err != 0)
            return err;
    }
    return e->close == NONE ? -ENOENT : 0;
}

static int choose_note(struct exporter *e)
{
    int64_t least = e->certificate != NONE ? e->certificate : e->close;

    for (size_t i = 0; i < e->s->n_notes; i++) {
        const struct export_note *n = &e->s->notes[i];

        if (n->size > e->s->count || (int64_t)n->size <= least)
            continue;
        e->note = n;
        if (e->certificate != NONE)
            break;
    }
    return e->note == NULL ? -EAGAIN : 0;
}

/* Of the leaves before the epoch: what declares something, and the epoch
 * before, which this one goes on from. */
static bool wanted(const struct exporter *e, const struct bundle_leaf *l)
{
    static const char *const declarations[] = {"genesis", "boot",     "policy",
                                               "chain",   "manifest", NULL};

    if (l->seq >= e->first)
        return true;
    for (size_t i = 0; declarations[i] != NULL; i++)
        if (leaf_is(l, declarations[i]))
            return true;
    return (leaf_is(l, "frame_close") || leaf_is(l, "seed")) &&
           leaf_has(l, "epoch", e->epoch - 1);
}

static int append(struct exporter *e, struct span bytes)
{
    char *text = array_grow(e->text, &e->size, e->n, bytes.n, 1);

    if (text == NULL)
        return -ENOMEM;
    e->text = text;
    memcpy(e->text + e->n, bytes.p, bytes.n);
    e->n += bytes.n;
    return 0;
}

static int collect(struct exporter *e)
{
    for (uint64_t seq = 0; seq < e->note->size; seq++) {
        struct bundle_leaf l;
        struct span bytes;
        int err = e->s->read(e->s->context, seq, &bytes);

        if (err != 0)
            return err;
        l = leaf_of(seq, bytes);
        if (wanted(e, &l))
            err = append(e, bytes);
        if (err != 0)
            return err;
    }
    return 0;
}

static int add_text(struct bundle *b, const char *name, struct span bytes)
{
    char path[BUNDLE_NAME];

    (void)snprintf(path, sizeof path, "epoch-%" PRIu64 "/%s", b->epoch, name);
    return bundle_add(b, path, bytes);
}

/* Takes text. */
static int add_made(struct bundle *b, const char *name, char *text)
{
    int err = text == NULL ? -ENOMEM : add_text(b, name, span_str(text));

    free(text);
    return err;
}

static int add_drawn(struct bundle *b, const struct dossier *d,
                     const struct epoch_close *c, const struct frame *f)
{
    uint64_t wanted_units[POLICY_STRATA], before, at;
    struct answers a = {.n = 0};
    uint8_t seed[SEED_BYTES];
    struct draw draw;
    int err;

    if (!leaf_hex(d->seed, "seed", seed, sizeof seed))
        return -EBADMSG;
    for (size_t h = 0; h < c->n_strata; h++)
        wanted_units[h] = c->stratum[h].draw;
    err = draw_frame(f, seed, wanted_units, c->n_strata, &draw);
    if (err != 0)
        return err;
    if (d->certificate == NULL ||
        !leaf_u64(d->certificate, "verdicts_end", &before))
        before = UINT64_MAX;
    err = add_made(b, "draw.txt", bundle_text_draw(b->epoch, seed, f, &draw));
    if (err == 0)
        err = answers_init(f, &draw, &a);
    if (err == 0)
        err = dossier_answers(d, before, &a, &at);
    if (err == 0)
        err = add_made(b, "verdicts.txt",
                       bundle_text_verdicts(b->epoch, &draw, f, &a));
    answers_fini(&a);
    draw_fini(&draw);
    return err;
}

static int add_frame(struct bundle *b, const struct dossier *d)
{
    char text[POLICY_MAX + 1];
    struct epoch_close c = {.epoch = b->epoch};
    struct policy_error why;
    struct policy p;
    struct frame f;
    uint8_t *bytes;
    size_t n;
    int err;

    if (!dossier_policy_text(d, text, sizeof text) ||
        policy_parse(span_str(text), &p, &why) != PARSE_OK)
        return -EBADMSG;
    frame_init(&f);
    err = add_text(b, "policy.txt", span_str(text));
    if (err == 0)
        err = dossier_frame(d, &p, &f, &c.counts);
    if (err == 0) {
        bytes = bundle_text_frame(&f, &n);
        err = bytes == NULL ? -ENOMEM
                            : add_text(b, "frame.bin", span_of(bytes, n));
        free(bytes);
        account_frame(&c, &p, &f);
    }
    if (err == 0 && d->seed != NULL && d->draw != NULL)
        err = add_drawn(b, d, &c, &f);
    frame_fini(&f);
    return err;
}

static int add_seed(struct bundle *b, const struct dossier *d)
{
    char text[SEED_TEXT];

    if (d->seed == NULL)
        return 0;
    if (!leaf_text(d->seed, "text", text, sizeof text))
        return -EBADMSG;
    return add_text(b, "seed.txt", span_str(text));
}

static int add_readme(struct exporter *e, struct bundle *b,
                      const struct dossier *d)
{
    char origin[256], *text;
    const struct readme_facts facts = {d, origin, e->note->size};
    int err;

    if (d->genesis == NULL ||
        !leaf_text(d->genesis, "origin", origin, sizeof origin))
        return -EBADMSG;
    text = bundle_text_readme(&facts);
    err = text == NULL ? -ENOMEM
                       : bundle_add(b, "README.verify.txt", span_str(text));
    free(text);
    return err;
}

static int add_notes(struct exporter *e, struct bundle *b)
{
    int err = bundle_add(b, "checkpoint", e->note->note);

    for (size_t i = 0; err == 0 && i < e->s->n_notes; i++) {
        char name[BUNDLE_NAME];

        if (e->s->notes[i].size > e->note->size)
            break;
        (void)snprintf(name, sizeof name, "checkpoints/%" PRIu64,
                       e->s->notes[i].size);
        err = bundle_add(b, name, e->s->notes[i].note);
    }
    return err;
}

static int build(struct exporter *e, struct bundle *b)
{
    struct leafset set;
    struct dossier d;
    const char *why;
    size_t at;
    int err;

    if (leafset_parse(span_of(e->text, e->n), &set, &at, &why) != PARSE_OK)
        return -EBADMSG;
    dossier_init(&d, &set, e->epoch);
    err = add_notes(e, b);
    if (err == 0)
        err =
            bundle_add(b, "log/hashes",
                       span_of(e->hashes, (size_t)e->note->size * MERKLE_HASH));
    if (err == 0)
        err = bundle_add(b, "log/leaves", span_of(e->text, e->n));
    if (err == 0)
        err = add_frame(b, &d);
    if (err == 0)
        err = add_seed(b, &d);
    if (err == 0)
        err = add_readme(e, b, &d);
    if (err == 0)
        err = bundle_add_manifest(b);
    leafset_fini(&set);
    return err;
}

int export_epoch(const struct export_source *s, uint64_t epoch,
                 struct bundle *ret_b)
{
    struct exporter e = {
        .s = s, .epoch = epoch, .close = NONE, .certificate = NONE};
    struct bundle b = {.epoch = epoch};
    int err = survey(&e);

    if (err == 0)
        err = choose_note(&e);
    if (err == 0)
        err = collect(&e);
    if (err == 0)
        err = build(&e, &b);
    if (err == 0)
        *ret_b = b;
    else
        bundle_fini(&b);
    free(e.hashes);
    free(e.text);
    return err;
}
