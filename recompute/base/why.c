/*
 * why.c - refusing a file in words.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/why.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>

#include "recompute/model.h"

int why_refuse(struct why *w, const char *fmt, ...)
{
    va_list ap;

    va_start(ap, fmt);
    (void)vsnprintf(w->text, sizeof(w->text), fmt, ap); /* may be cut */
    va_end(ap);
    return -EINVAL;
}

int why_set(struct why *w, int err, const char *fmt, ...)
{
    va_list ap;

    va_start(ap, fmt);
    (void)vsnprintf(w->text, sizeof(w->text), fmt, ap); /* may be cut */
    va_end(ap);
    return err;
}
