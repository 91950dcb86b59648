/*
 * hypothesis.c - shapes and splits of one step, in the order they are tried.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "search/hypothesis.h"

/* Number i of the shapes under which a split matters, and how many there are.
 */
static size_t find_splitting(const struct stepper *s, size_t i,
                             unsigned *ret_shape)
{
    size_t n = 0;

    for (size_t k = 0; k < s->n_shapes; k++)
        if (s->shapes[k].splits && n++ == i)
            *ret_shape = (unsigned)k;
    return n;
}

/* Number i of the hidden splits, under each shape that has them in turn. */
static bool hidden_split(const struct stepper *s, size_t position, size_t i,
                         struct hypothesis *ret_h)
{
    unsigned shape = 0;
    size_t n = find_splitting(s, SIZE_MAX, &shape);

    if (!s->splits_hidden || n == 0)
        return false;
    (void)find_splitting(s, i % n, &ret_h->shape); /* there is that one */
    return s->ops->split(s->self, position, i / n, &ret_h->split);
}

bool hypothesis_at(const struct stepper *s, size_t position,
                   const struct hypothesis_before *before, size_t i,
                   struct hypothesis *ret_h)
{
    if (i > s->n_shapes)
        return hidden_split(s, position, i - s->n_shapes - 1, ret_h);
    *ret_h = before->ran;
    if (i > 0)
        *ret_h = (struct hypothesis){(unsigned)i - 1, before->split};
    if (!s->splits_hidden)
        (void)s->ops->split(s->self, position, 0, &ret_h->split); /* the one */
    return true;
}

bool hypothesis_same(const struct stepper *s, const struct hypothesis *a,
                     const struct hypothesis *b)
{
    return a->shape == b->shape && (!s->shapes[a->shape].splits ||
                                    (a->split.border == b->split.border &&
                                     a->split.part == b->split.part));
}
