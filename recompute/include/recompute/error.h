/*
 * error.h - what is wrong with a file, in words for who gave it.
 *
 * A function that reads a file takes one as its last parameter, borrowed, and
 * writes one sentence on failure; the number it returns says what kind.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef RECOMPUTE_ERROR_H
#define RECOMPUTE_ERROR_H

/* Starts as {""}. */
struct error {
    char text[256];
};

/* Writes the sentence, cut to its room, and returns -EINVAL. */
int error_refuse(struct error *e, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));
/* The same, and returns err. */
int error_set(struct error *e, int err, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

#endif
