/*
 * epoch_records.c - records made from the table of kinds: every key that is
 * not named stands at nothing.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "epoch_records.h"

#include <string.h>

#include "store/kind.h"

/* The keys that matter, beside the epoch. */
struct told {
    uint64_t epoch, part;
    const char *party;
    const uint8_t *unit; /* NULL: none */
};

static struct span unit_of(const struct told *t)
{
    return span_of(t->unit, t->unit != NULL ? 32 : 0);
}

static void write_drawn(struct record *r, const struct told *t)
{
    if (t->unit == NULL)
        return;
    record_begin(r, "drawn");
    record_add_u64(r, 0);
    record_add_u64(r, 0);
    record_add_hex(r, unit_of(t));
    record_end(r);
}

static void write_key(struct record *r, const struct key *k,
                      const struct told *t)
{
    struct span none = span_of(NULL, 0);

    if (k->many && strcmp(k->name, "drawn") == 0)
        write_drawn(r, t);
    if (k->many)
        return;
    if (strcmp(k->name, "epoch") == 0)
        record_u64(r, k->name, t->epoch);
    else if (strcmp(k->name, "part") == 0)
        record_u64(r, k->name, t->part);
    else if (strcmp(k->name, "party") == 0)
        record_text(r, k->name, span_str(t->party));
    else if (strcmp(k->name, "object") == 0)
        record_hex(r, k->name, unit_of(t));
    else if (k->type == VALUE_U64)
        record_u64(r, k->name, 0);
    else if (k->type == VALUE_HEX)
        record_hex(r, k->name, none);
    else
        record_text(r, k->name, none);
}

static void write_record(struct record *r, const char *kind,
                         const struct told *t)
{
    record_init(r);
    for (const struct key *k = kind_find(kind)->keys; k->name != NULL; k++)
        write_key(r, k, t);
}

static int put(struct store_client *c, const char *kind, struct told t)
{
    struct put_ack ack;
    struct record r;

    write_record(&r, kind, &t);
    return store_put(c, &(struct put){kind, &r, NULL, 0}, &ack);
}

int put_close(struct store_client *c, uint64_t epoch)
{
    return put(c, "frame_close", (struct told){.epoch = epoch});
}

int put_reveal(struct store_client *c, uint64_t epoch, const char *party)
{
    return put(c, "reveal", (struct told){.epoch = epoch, .party = party});
}

int put_seed(struct store_client *c, uint64_t epoch)
{
    return put(c, "seed", (struct told){.epoch = epoch});
}

int put_draw_part(struct store_client *c, uint64_t epoch, uint64_t part)
{
    return put(c, "draw", (struct told){.epoch = epoch, .part = part});
}

int put_draw_of(struct store_client *c, uint64_t epoch, uint64_t part,
                const uint8_t *unit)
{
    return put(c, "draw",
               (struct told){.epoch = epoch, .part = part, .unit = unit});
}

int put_verdict(struct store_client *c, uint64_t epoch, const uint8_t *unit)
{
    return put(c, "verdict", (struct told){.epoch = epoch, .unit = unit});
}

int put_certificate(struct store_client *c, uint64_t epoch)
{
    return put(c, "certificate", (struct told){.epoch = epoch});
}

int send_close(struct store_client *c, uint64_t epoch)
{
    struct record r;

    write_record(&r, "frame_close", &(struct told){.epoch = epoch});
    return store_send(c, &(struct put){"frame_close", &r, NULL, 0}, 0);
}
