/*
 * verb.h - the table of verbs of the front command.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef CONFIG_VERB_H
#define CONFIG_VERB_H

#include <stdbool.h>

/* What was given before the verb. */
struct call {
    const char *settings_path; /* -c; NULL: the default */
    bool json;
};

struct verb {
    const char *words;     /* "epoch close" */
    const char *operands;  /* for the usage line */
    const char *program;   /* executed; NULL: run is called instead */
    const char *room;      /* where the build tree has the program */
    const char *arguments; /* put before the user's own, split by spaces */
    int (*run)(const struct call *call, int argc, char **argv);
    const char *doc;
};

extern const struct verb verbs[]; /* ends with NULL words */

/* Prints all verbs, or one with its usage, to stdout. */
void verb_help(void);
void verb_usage(const struct verb *v);
/* The verb that argv begins with and, in *ret_used, how many words it has;
 * NULL if there is none. */
const struct verb *verb_find(int argc, char **argv, int *ret_used);
/* The verb whose words are nearest to argv[0], or NULL if none is near. */
const struct verb *verb_near(const char *word);

/* Verbs that the front command runs itself; they return an exit code. */
int config_check(const struct call *call, int argc, char **argv);
int config_show(const struct call *call, int argc, char **argv);

#endif
