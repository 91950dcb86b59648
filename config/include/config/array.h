/*
 * array.h - arrays that grow: how each room keeps what it cannot count ahead.
 *
 *   struct task *p = array_grow(j->task, &j->size, j->n, 1, sizeof *p);
 *
 *   if (p == NULL)
 *       return -ENOMEM;
 *   j->task = p;
 *   j->task[j->n++] = t;
 *
 * Room doubles, so that n items are copied at most n times in all.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef CONFIG_ARRAY_H
#define CONFIG_ARRAY_H

#include <stddef.h>

/* An array from malloc, or NULL: n items of `item` bytes in room for *size.
 * Gives one with room for `more` behind them (at least one in all), which
 * takes its place: the old pointer is not used again. New room is not
 * cleared. NULL: no memory, or more than can be addressed; array and *size are
 * as before. */
void *array_grow(void *array, size_t *size, size_t n, size_t more, size_t item);

#endif
