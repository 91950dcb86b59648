/*
 * settings_doc.c - prints the table of settings as scdoc source, the body of
 * assay.conf(5). Run at build time.
 * SPDX-License-Identifier: Apache-2.0
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "settings_table.h"

/* scdoc takes _ and * for markup. */
static void print_plain(const char *text)
{
    for (; *text != '\0'; text++) {
        if (strchr("_*\\#", *text) != NULL)
            putchar('\\');
        putchar(*text);
    }
}

static void print_default(const struct setting *s)
{
    switch (s->type) {
    case SETTING_INT:
        printf("whole number, %" PRId64 " to %" PRId64 ", default %" PRId64,
               s->min, s->max, s->number);
        break;
    case SETTING_BOOL:
        printf("true or false, default %s", s->number != 0 ? "true" : "false");
        break;
    case SETTING_STR:
        printf("string, default \"");
        print_plain(s->text);
        putchar('"');
        break;
    case SETTING_LIST:
        printf("list of strings, default [");
        print_plain(s->text);
        putchar(']');
        break;
    }
}

int main(void)
{
    printf("assay.conf(5)\n\n# NAME\n\nassay.conf - the settings of assay\n\n"
           "# DESCRIPTION\n\nOne file for all programs, read once at start, "
           "in the syntax of libconfig: groups *name: { key = value; };*, "
           "strings in double quotes, comments with #. A key that is left out "
           "has its default; an unknown key, a wrong type or a value out of "
           "range stops the program with exit code 3. *assay config check* "
           "reads the file and names everything wrong with it.\n\n"
           "# SETTINGS\n\n");
    for (const struct setting *s = settings_table; s->key != NULL; s++) {
        putchar('*');
        print_plain(s->key);
        printf("*\n\t");
        print_default(s);
        if (s->choices != NULL) {
            printf("; one of: ");
            print_plain(s->choices);
        }
        printf(".++\n");
        print_plain(s->doc);
        printf("\n\n");
    }
    printf("# FILES\n\n_/etc/assay/assay.conf_\n\n# SEE ALSO\n\n"
           "*assay*(1), *assay-store*(8), *assay-tap*(8)\n");
    return 0;
}
