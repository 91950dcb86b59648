/*
 * open_exchange.h - exchanges that no sequence settles by its id, and the
 * strays that they take by shape (reconcile.h, "Whose sequence").
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SAMPLER_OPEN_EXCHANGE_H
#define SAMPLER_OPEN_EXCHANGE_H

#include "reconcile/observed.h"
#include "reconcile/stray.h"

struct open_exchange {
    struct observed observed;
    struct sums sums;
    size_t had; /* sequences by its id */
    bool in_range;
};

struct open_exchanges {
    struct open_exchange *p;
    size_t n, size;
};

/* One that a stray could complete or belong to. */
bool open_exchange_is(const struct open_exchange *x);
void open_exchange_fini(struct open_exchange *x);

/* Keeps x, which is empty then. -ENOMEM. */
int open_exchanges_keep(struct open_exchanges *list, struct open_exchange *x);
/* Gives the strays to the exchanges from this one on that they fit, slack_ns
 * aside. 0 or -ENOMEM. */
int open_exchanges_match(struct open_exchanges *list, size_t from,
                         struct strays *strays, int64_t slack_ns);
void open_exchanges_fini(struct open_exchanges *list);

#endif
