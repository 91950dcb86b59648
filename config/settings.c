/*
 * settings.c - assay.conf read against the table of settings.
 * Comes in: a libconfig file. Goes out: a value for every row of the table,
 * or every complaint with file and line.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "config/settings.h"

#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <libconfig.h>
#include <stdlib.h>
#include <string.h>

#include "config/array.h"
#include "settings_table.h"

struct value {
    int64_t number;
    char *text;
    char **items;
    size_t n_items, items_size;
};

struct settings {
    size_t n;
    struct value values[]; /* one a row of the table, in its order */
};

/* What is being read, and where complaints go. */
struct reader {
    struct settings *settings;
    FILE *errors;
    const char *path;
    unsigned complaints;
};

static size_t table_rows(void)
{
    size_t n = 0;

    while (settings_table[n].key != NULL)
        n++;
    return n;
}

/* The row with this key, or -1. */
static int row_of(const char *key)
{
    for (int i = 0; settings_table[i].key != NULL; i++)
        if (strcmp(settings_table[i].key, key) == 0)
            return i;
    return -1;
}

static bool is_group_of_table(const char *key)
{
    size_t n = strlen(key);

    for (const struct setting *s = settings_table; s->key != NULL; s++)
        if (strncmp(s->key, key, n) == 0 && s->key[n] == '.')
            return true;
    return false;
}

static void complain(struct reader *r, const config_setting_t *at,
                     const char *key, const char *what)
{
    const char *file = config_setting_source_file(at);

    fprintf(r->errors, "%s:%u: %s: %s\n", file != NULL ? file : r->path,
            config_setting_source_line(at), key, what);
    r->complaints++;
}

static bool word_allowed(const char *choices, const char *word)
{
    size_t n = strlen(word);

    for (const char *p = choices; p != NULL && *p != '\0';) {
        size_t len = strcspn(p, " ");

        if (len == n && memcmp(p, word, n) == 0)
            return true;
        p += len + (p[len] == ' ');
    }
    return false;
}

static void read_int(struct reader *r, const config_setting_t *at, int row)
{
    const struct setting *s = &settings_table[row];
    long long v = config_setting_get_int64(at);
    char what[160];

    if (v >= s->min && v <= s->max) {
        r->settings->values[row].number = v;
        return;
    }
    (void)snprintf(what, sizeof what,
                   "%lld is out of range (allowed %" PRId64 " to %" PRId64 ")",
                   v, s->min, s->max);
    complain(r, at, s->key, what);
}

static void read_str(struct reader *r, const config_setting_t *at, int row)
{
    const struct setting *s = &settings_table[row];
    const char *text = config_setting_get_string(at);
    int64_t n = (int64_t)strlen(text);
    char what[400];

    if (s->choices != NULL && !word_allowed(s->choices, text))
        (void)snprintf(what, sizeof what, "\"%.64s\" is no choice (allowed %s)",
                       text, s->choices);
    else if (n < s->min || n > s->max)
        (void)snprintf(what, sizeof what,
                       "\"%.64s\" has %" PRId64 " bytes (allowed %" PRId64
                       " to %" PRId64 ")",
                       text, n, s->min, s->max);
    else {
        free(r->settings->values[row].text);
        r->settings->values[row].text = strdup(text);
        return;
    }
    complain(r, at, s->key, what);
}

static void free_items(struct value *v)
{
    for (size_t i = 0; i < v->n_items; i++)
        free(v->items[i]);
    free(v->items);
    v->items = NULL;
    v->n_items = v->items_size = 0;
}

static int add_item(struct value *v, const char *text, size_t n)
{
    char **items =
        array_grow(v->items, &v->items_size, v->n_items, 1, sizeof *items);

    if (items == NULL)
        return -ENOMEM;
    v->items = items;
    v->items[v->n_items] = strndup(text, n);
    if (v->items[v->n_items] == NULL)
        return -ENOMEM;
    v->n_items++;
    return 0;
}

static void read_list(struct reader *r, const config_setting_t *at, int row)
{
    const struct setting *s = &settings_table[row];
    struct value *v = &r->settings->values[row];
    int n = config_setting_length(at);

    free_items(v);
    for (int i = 0; i < n; i++) {
        const config_setting_t *e = config_setting_get_elem(at, (unsigned)i);
        const char *text = config_setting_get_string(e);

        if (text == NULL || *text == '\0' || (int64_t)strlen(text) > s->max)
            complain(r, e, s->key, "a list holds non-empty strings only");
        else if (add_item(v, text, strlen(text)) != 0)
            complain(r, e, s->key, "out of memory");
    }
}

static const char *const type_names[] = {
    [SETTING_INT] = "a whole number",
    [SETTING_BOOL] = "true or false",
    [SETTING_STR] = "a string",
    [SETTING_LIST] = "a list of strings",
};

static bool type_fits(const config_setting_t *at, enum setting_type type)
{
    switch (type) {
    case SETTING_INT:
        return config_setting_type(at) == CONFIG_TYPE_INT ||
               config_setting_type(at) == CONFIG_TYPE_INT64;
    case SETTING_BOOL:
        return config_setting_type(at) == CONFIG_TYPE_BOOL;
    case SETTING_STR:
        return config_setting_type(at) == CONFIG_TYPE_STRING;
    case SETTING_LIST:
        return config_setting_is_array(at) || config_setting_is_list(at);
    }
    return false;
}

static void read_value(struct reader *r, const config_setting_t *at,
                       const char *key)
{
    int row = row_of(key);
    char what[96];

    if (row < 0) {
        complain(r, at, key, "no such setting (see assay.conf(5))");
        return;
    }
    if (!type_fits(at, settings_table[row].type)) {
        (void)snprintf(what, sizeof what, "wrong type (allowed: %s)",
                       type_names[settings_table[row].type]);
        complain(r, at, key, what);
        return;
    }
    if (settings_table[row].type == SETTING_INT)
        read_int(r, at, row);
    else if (settings_table[row].type == SETTING_BOOL)
        r->settings->values[row].number = config_setting_get_bool(at);
    else if (settings_table[row].type == SETTING_STR)
        read_str(r, at, row);
    else
        read_list(r, at, row);
}

/* Groups are at most two deep in the table, so this recursion is too. */
static void read_group(struct reader *r, const config_setting_t *group,
                       const char *prefix)
{
    int n = config_setting_length(group);

    for (int i = 0; i < n; i++) {
        const config_setting_t *at =
            config_setting_get_elem(group, (unsigned)i);
        char key[256];

        (void)snprintf(key, sizeof key, "%s%s%s", prefix,
                       *prefix != '\0' ? "." : "", config_setting_name(at));
        if (config_setting_is_group(at) && is_group_of_table(key))
            read_group(r, at, key);
        else
            read_value(r, at, key);
    }
}

static int set_default(struct value *v, const struct setting *s)
{
    int rc = 0;

    v->number = s->number;
    if (s->type == SETTING_STR) {
        v->text = strdup(s->text);
        rc = v->text == NULL ? -ENOMEM : 0;
    }
    if (s->type == SETTING_LIST)
        for (const char *p = s->text; rc == 0 && *p != '\0';) {
            size_t n = strcspn(p, " ");

            rc = add_item(v, p, n);
            p += n + (p[n] == ' ');
        }
    return rc;
}

static int settings_new(struct settings **ret_s)
{
    size_t n = table_rows();
    struct settings *s = calloc(1, sizeof *s + n * sizeof s->values[0]);
    int rc = s == NULL ? -ENOMEM : 0;

    if (s != NULL)
        s->n = n;
    for (size_t i = 0; rc == 0 && i < n; i++)
        rc = set_default(&s->values[i], &settings_table[i]);
    if (rc != 0)
        settings_close(s);
    else
        *ret_s = s;
    return rc;
}

static int parse_file(struct reader *r, config_t *file)
{
    FILE *f = fopen(r->path, "re");
    int rc = 0;

    if (f == NULL) {
        rc = -errno;
        fprintf(r->errors, "%s: %s\n", r->path, strerror(errno));
        return rc;
    }
    if (config_read(file, f) != CONFIG_TRUE) {
        const char *name = config_error_file(file);

        fprintf(r->errors, "%s:%d: %s\n", name != NULL ? name : r->path,
                config_error_line(file), config_error_text(file));
        r->complaints++;
    } else {
        read_group(r, config_root_setting(file), "");
    }
    (void)fclose(f); /* opened for reading */
    return r->complaints != 0 ? -EINVAL : 0;
}

int settings_load(const char *path, FILE *errors, struct settings **ret_s)
{
    struct reader r = {NULL, errors, path != NULL ? path : SETTINGS_PATH, 0};
    config_t file;
    int rc = settings_new(&r.settings);

    if (rc != 0)
        return rc;
    config_init(&file);
    rc = parse_file(&r, &file);
    config_destroy(&file);
    if (rc != 0)
        settings_close(r.settings);
    else
        *ret_s = r.settings;
    return rc;
}

void settings_close(struct settings *s)
{
    if (s == NULL)
        return;
    for (size_t i = 0; i < s->n; i++) {
        free(s->values[i].text);
        free_items(&s->values[i]);
    }
    free(s);
}

static const struct value *value_of(const struct settings *s, const char *key,
                                    enum setting_type type)
{
    int row = row_of(key);

    assert(row >= 0 && settings_table[row].type == type);
    return &s->values[row];
}

int64_t settings_int(const struct settings *s, const char *key)
{
    return value_of(s, key, SETTING_INT)->number;
}

bool settings_bool(const struct settings *s, const char *key)
{
    return value_of(s, key, SETTING_BOOL)->number != 0;
}

const char *settings_str(const struct settings *s, const char *key)
{
    return value_of(s, key, SETTING_STR)->text;
}

size_t settings_count(const struct settings *s, const char *key)
{
    return value_of(s, key, SETTING_LIST)->n_items;
}

const char *settings_item(const struct settings *s, const char *key, size_t i)
{
    const struct value *v = value_of(s, key, SETTING_LIST);

    assert(i < v->n_items);
    return v->items[i];
}
