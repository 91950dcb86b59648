/*
 * log.h - log lines on stderr: one line each, lower case, key=value.
 * Comes in: a printf format and its arguments. Goes out: one line, prefixed
 * with the program and the level; control and non-ASCII bytes are escaped, so
 * foreign text cannot forge a line. Never log the content of an exchange.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef CONFIG_LOG_H
#define CONFIG_LOG_H

/* name: the program, kept (a string literal). verbose > 0 shows log_debug. */
void log_init(const char *name, int verbose);

void log_debug(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
void log_info(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
/* log_warn appends strerror(errno), log_warnx does not. */
void log_warn(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
void log_warnx(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
/* fatal logs (with errno; fatalx without) and exits with code. */
void fatal(int code, const char *fmt, ...)
    __attribute__((format(printf, 2, 3), noreturn));
void fatalx(int code, const char *fmt, ...)
    __attribute__((format(printf, 2, 3), noreturn));

#endif
