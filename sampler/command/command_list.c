/*
 * command_list.c - the epochs, one line each, or as JSON.
 * SPDX-License-Identifier: Apache-2.0
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include <jansson.h>

#include "command/command.h"
#include "config/exit.h"

static const char *state_text(const struct epoch_status *st)
{
    switch (st->state) {
    case EPOCH_OPEN:
        return "open";
    case EPOCH_CLOSED:
        return st->stalled ? "SEED_STALLED" : "closed";
    case EPOCH_DRAWN:
        return st->overdue ? "overdue" : "drawn";
    case EPOCH_CERTIFIED:
        break;
    }
    return "certified";
}

static void print_line(const struct epoch_status *st,
                       const struct epochs_certificate *c)
{
    char bound[POLICY_PERCENT];

    printf("%6" PRIu64 "  %-12s %8" PRIu64 " %8" PRIu64, st->epoch,
           state_text(st), st->close.units, st->drawn);
    if (st->state == EPOCH_CERTIFIED)
        printf(" %8" PRIu64 " %8" PRIu64 "  %s\n", c->match,
               c->drawn - c->match,
               policy_percent((uint32_t)c->bound_ppm, bound));
    else if (st->state == EPOCH_DRAWN)
        printf(" %8s %8s  %" PRIu64 " pending\n", "-", "-", st->pending);
    else if (st->missing[0] != '\0')
        printf(" %8s %8s  waits for %s\n", "-", "-", st->missing);
    else
        printf(" %8s %8s  waits for the epoch before\n", "-", "-");
}

/* Numbers are below 2^63; ids are strings. */
static json_t *to_json(const struct epoch_status *st,
                       const struct epochs_certificate *c)
{
    char id[24];
    json_t *o;

    (void)snprintf(id, sizeof id, "%" PRIu64, st->epoch);
    o = json_pack("{s:s, s:s, s:I, s:I, s:I, s:s}", "epoch", id, "state",
                  state_text(st), "frame", (json_int_t)st->close.units, "drawn",
                  (json_int_t)st->drawn, "pending", (json_int_t)st->pending,
                  "missing", st->missing);
    if (o != NULL && st->state == EPOCH_CERTIFIED &&
        json_object_set_new(
            o, "certificate",
            json_pack("{s:I, s:I, s:I, s:I, s:I, s:I, s:I}", "match",
                      (json_int_t)c->match, "mismatch", (json_int_t)c->mismatch,
                      "unstable", (json_int_t)c->unstable, "uncheckable",
                      (json_int_t)c->uncheckable, "unanswered",
                      (json_int_t)c->unanswered, "bound_ppm",
                      (json_int_t)c->bound_ppm, "confidence_ppm",
                      (json_int_t)c->confidence_ppm)) != 0) {
        json_decref(o);
        return NULL;
    }
    return o;
}

static int one_epoch(struct sampler *s, uint64_t epoch, json_t *list)
{
    struct epochs_certificate c = {0};
    struct epoch_status st;
    int err = epoch_status(s, epoch, command_now_ns(), &st);

    if (err == 0 && st.state == EPOCH_CERTIFIED)
        err = epochs_certificate(&s->epochs, epoch, &c);
    if (err != 0)
        return err;
    if (list == NULL)
        print_line(&st, &c);
    else if (json_array_append_new(list, to_json(&st, &c)) != 0)
        return -1;
    return 0;
}

int command_list(struct sampler *s, const struct settings *set, int argc,
                 char **argv)
{
    bool json = argc == 2 && strcmp(argv[1], "--json") == 0;
    json_t *list = json ? json_array() : NULL, *all;
    uint64_t last = 0;
    int err = epochs_last(&s->epochs, &last);

    (void)set;
    if (argc != 1 && !json) {
        fputs("usage: assay-sampler list [--json]\n", stderr);
        return EXIT_USAGE;
    }
    if (!json)
        puts(" epoch  state           frame    drawn    match   failed  bound");
    for (uint64_t e = 1; err == 0 && e <= last; e++)
        err = one_epoch(s, e, list);
    if (err != 0) {
        json_decref(list);
        return command_failed("cannot list the epochs", err);
    }
    if (!json)
        return EXIT_GOOD;
    all = json_pack("{s:s, s:o}", "schema", "assay.epochs/1", "epochs", list);
    err = all == NULL || json_dumpf(all, stdout, JSON_INDENT(1)) != 0 ||
          putchar('\n') == EOF;
    json_decref(all);
    return err != 0 ? EXIT_IO : EXIT_GOOD;
}
