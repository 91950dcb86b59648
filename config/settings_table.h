/*
 * settings_table.h - the shape of the table of settings, for settings.c,
 * which reads a file against it, and settings_doc.c, which prints it.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef CONFIG_SETTINGS_TABLE_H
#define CONFIG_SETTINGS_TABLE_H

#include <stdint.h>

enum setting_type { SETTING_INT, SETTING_BOOL, SETTING_STR, SETTING_LIST };

struct setting {
    const char *key; /* dotted path in the file */
    enum setting_type type;
    int64_t min, max;    /* INT: the range; STR: length in bytes */
    int64_t number;      /* default of INT and BOOL */
    const char *text;    /* default of STR; of LIST: items split by spaces */
    const char *choices; /* STR: the words allowed, split by spaces, or NULL */
    const char *doc;     /* one sentence or two, with the unit */
};

extern const struct setting settings_table[]; /* ends with a NULL key */

#endif
