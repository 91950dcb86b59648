/*
 * settings.h - the one settings file, assay.conf, read once at start.
 * Comes in: a libconfig file. Goes out: values by key, or every wrong key with
 * file, line, value and the allowed range. All keys are rows of one table in
 * config/settings.c; assay.conf(5) is generated from it. A key that is not in
 * the file has its default. Asking for a key that the table lacks, or with the
 * wrong type, is a bug of ours and aborts.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef CONFIG_SETTINGS_H
#define CONFIG_SETTINGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#define SETTINGS_PATH "/etc/assay/assay.conf"

struct settings;

/*
 * Reads path (NULL: SETTINGS_PATH). All complaints go to errors, one a line,
 * "file:line: key: what is wrong (allowed ...)". Returns 0, -EINVAL after at
 * least one complaint, or the errno of opening. The caller closes *ret_s.
 */
int settings_load(const char *path, FILE *errors, struct settings **ret_s);
void settings_close(struct settings *s);

/* Keys are dotted paths: "store.state_dir". Strings live as long as s. */
int64_t settings_int(const struct settings *s, const char *key);
bool settings_bool(const struct settings *s, const char *key);
const char *settings_str(const struct settings *s, const char *key);
/* Lists of strings: count, and element i. */
size_t settings_count(const struct settings *s, const char *key);
const char *settings_item(const struct settings *s, const char *key, size_t i);

#endif
