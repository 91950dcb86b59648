/*
 * log.c - log lines on stderr, escaped, one write each.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "config/log.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char *program = "assay";
static int verbosity;

void log_init(const char *name, int verbose)
{
    program = name;
    verbosity = verbose;
}

/* Appends text to out with every byte outside printable ASCII as \xHH. */
static size_t escape(char *out, size_t size, const char *text)
{
    size_t n = 0;

    for (; *text != '\0' && n + 5 < size; text++) {
        unsigned char c = (unsigned char)*text;

        if (c >= 0x20 && c < 0x7f && c != '\\')
            out[n++] = (char)c;
        else
            n += (size_t)snprintf(out + n, size - n, "\\x%02x", c);
    }
    return n;
}

__attribute__((format(printf, 3, 0))) static void
emit(const char *level, int err, const char *fmt, va_list ap)
{
    char text[2048], line[4096];
    size_t n;

    (void)vsnprintf(text, sizeof text, fmt, ap); /* a cut line is still one */
    n = (size_t)snprintf(line, sizeof line, "%s: %s: ", program, level);
    n += escape(line + n, sizeof line - n - 256, text);
    if (err != 0)
        n += (size_t)snprintf(line + n, sizeof line - n - 1, ": %s",
                              strerror(err));
    line[n++] = '\n';
    if (write(STDERR_FILENO, line, n) < 0)
        return; /* nobody is left to tell */
}

#define EMIT(level, err)           \
    do {                           \
        va_list ap;                \
        va_start(ap, fmt);         \
        emit(level, err, fmt, ap); \
        va_end(ap);                \
    } while (0)

void log_debug(const char *fmt, ...)
{
    if (verbosity > 0)
        EMIT("debug", 0);
}

void log_info(const char *fmt, ...)
{
    EMIT("info", 0);
}

void log_warn(const char *fmt, ...)
{
    EMIT("warn", errno);
}

void log_warnx(const char *fmt, ...)
{
    EMIT("warn", 0);
}

void fatal(int code, const char *fmt, ...)
{
    EMIT("fatal", errno);
    exit(code);
}

void fatalx(int code, const char *fmt, ...)
{
    EMIT("fatal", 0);
    exit(code);
}
