/*
 * error.c - what is wrong with a file, in words: error.h.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "recompute/error.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>

int error_refuse(struct error *e, const char *fmt, ...)
{
    va_list ap;

    va_start(ap, fmt);
    (void)vsnprintf(e->text, sizeof(e->text), fmt, ap); /* may be cut */
    va_end(ap);
    return -EINVAL;
}

int error_set(struct error *e, int err, const char *fmt, ...)
{
    va_list ap;

    va_start(ap, fmt);
    (void)vsnprintf(e->text, sizeof(e->text), fmt, ap); /* may be cut */
    va_end(ap);
    return err;
}
