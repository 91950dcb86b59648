/*
 * work.c - lists of work on its way to the store.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "uplink/work.h"

#include <stdlib.h>

#include "config/log.h"

void work_push(struct work_list *l, struct work *w)
{
    w->next = NULL;
    *(l->first == NULL ? &l->first : &l->last->next) = w;
    l->last = w;
}

struct work *work_pop(struct work_list *l)
{
    struct work *w = l->first;

    if (w != NULL)
        l->first = w->next;
    return w;
}

/* All of `front`, then all of l. */
void work_prepend(struct work_list *l, struct work_list *front)
{
    if (front->first == NULL)
        return;
    front->last->next = l->first;
    if (l->first == NULL)
        l->last = front->last;
    l->first = front->first;
    front->first = front->last = NULL;
}

struct work *work_new(enum work_kind kind)
{
    struct work *w = calloc(1, sizeof *w);

    if (w == NULL)
        fatalx(1, "out of memory for records"); /* nothing would be kept */
    w->kind = kind;
    return w;
}

void work_free_all(struct work_list *l)
{
    struct work *w;

    while ((w = work_pop(l)) != NULL) {
        if (w->step != NULL && --w->step->parts_left == 0)
            step_message_free(w->step);
        free(w);
    }
}
