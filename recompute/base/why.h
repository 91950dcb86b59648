/*
 * why.h - refusing a file in words.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef WHY_H
#define WHY_H

struct why;

/* Writes the sentence, cut to its room, and returns -EINVAL. */
int why_refuse(struct why *w, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));
/* The same, and returns err. */
int why_set(struct why *w, int err, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

#endif
