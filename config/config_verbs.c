/*
 * config_verbs.c - the verbs about the settings file: check and show.
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "config/exit.h"
#include "config/settings.h"
#include "settings_table.h"
#include "verb.h"

static int print_json(json_t *object)
{
    int rc = object == NULL ? -1
                            : json_dumpf(object, stdout,
                                         JSON_INDENT(1) | JSON_ENSURE_ASCII);

    json_decref(object);
    return rc == 0 && putchar('\n') == '\n' ? EXIT_GOOD : EXIT_IO;
}

/* The complaints, one a line, as a JSON array. */
static json_t *lines_json(const char *lines)
{
    json_t *list = json_array();

    while (*lines != '\0') {
        size_t n = strcspn(lines, "\n");

        json_array_append_new(list, json_stringn(lines, n));
        lines += n + (lines[n] == '\n');
    }
    return list;
}

static int report_json(const char *path, int rc, const char *complaints)
{
    json_t *o =
        json_pack("{s:s, s:s, s:b, s:o}", "schema", "assay.config/1", "file",
                  path, "good", rc == 0, "complaints", lines_json(complaints));
    int code = print_json(o);

    return rc != 0 ? EXIT_SETTINGS : code;
}

int config_check(const struct call *call, int argc, char **argv)
{
    const char *path =
        call->settings_path != NULL ? call->settings_path : SETTINGS_PATH;
    struct settings *s = NULL;
    char *complaints = NULL;
    size_t n = 0;
    FILE *errors = open_memstream(&complaints, &n);
    int rc, code;

    (void)argv;
    if (errors == NULL || argc != 0) {
        fprintf(stderr, "usage: assay [-c FILE] [--json] config check\n");
        return argc != 0 ? EXIT_USAGE : EXIT_IO;
    }
    rc = settings_load(path, errors, &s);
    (void)fclose(errors); /* memory: it cannot fail to be written */
    if (call->json) {
        code = report_json(path, rc, complaints);
    } else {
        fputs(complaints, stderr);
        code = rc != 0 ? EXIT_SETTINGS : EXIT_GOOD;
        if (rc == 0)
            printf("%s: good\n", path);
    }
    settings_close(s);
    free(complaints);
    return code;
}

static json_t *value_json(const struct settings *s, const struct setting *row)
{
    json_t *list;

    switch (row->type) {
    case SETTING_INT:
        return json_integer(settings_int(s, row->key));
    case SETTING_BOOL:
        return json_boolean(settings_bool(s, row->key));
    case SETTING_STR:
        return json_string(settings_str(s, row->key));
    case SETTING_LIST:
        list = json_array();
        for (size_t i = 0; i < settings_count(s, row->key); i++)
            json_array_append_new(list,
                                  json_string(settings_item(s, row->key, i)));
        return list;
    }
    return NULL;
}

static void print_value(const struct settings *s, const struct setting *row)
{
    json_t *v = value_json(s, row);
    char *text = json_dumps(v, JSON_ENCODE_ANY | JSON_ENSURE_ASCII);

    printf("%s = %s\n", row->key, text != NULL ? text : "?");
    free(text);
    json_decref(v);
}

int config_show(const struct call *call, int argc, char **argv)
{
    struct settings *s = NULL;
    json_t *all = json_object();
    int code = EXIT_GOOD;

    (void)argv;
    if (argc != 0) {
        json_decref(all);
        fprintf(stderr, "usage: assay [-c FILE] [--json] config show\n");
        return EXIT_USAGE;
    }
    if (settings_load(call->settings_path, stderr, &s) != 0) {
        json_decref(all);
        return EXIT_SETTINGS;
    }
    for (const struct setting *row = settings_table; row->key != NULL; row++)
        if (call->json)
            json_object_set_new(all, row->key, value_json(s, row));
        else
            print_value(s, row);
    if (call->json)
        code = print_json(json_pack("{s:s, s:O}", "schema", "assay.settings/1",
                                    "settings", all));
    json_decref(all);
    settings_close(s);
    return code;
}
