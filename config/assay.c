/*
 * assay.c - the front command: finds the verb in the table and executes the
 * room's program, or runs the verb itself when it is about the settings.
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <getopt.h>
#include <libgen.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "config/exit.h"
#include "config/log.h"
#include "verb.h"

enum { ARGUMENTS_MAX = 4096 };

/* The arguments of the program to execute, NULL at the end. */
struct arguments {
    char *item[ARGUMENTS_MAX + 1];
    int n;
};

static void add(struct arguments *a, const char *text)
{
    if (a->n == ARGUMENTS_MAX)
        fatalx(EXIT_USAGE, "more than %d arguments", ARGUMENTS_MAX);
    a->item[a->n++] = (char *)(uintptr_t)text; /* execv does not write to it */
}

/*
 * Executes the program that lies beside this one or, in a build tree, in its
 * room's directory. Returns only when there is none.
 */
static void execute(const struct verb *v, struct arguments *a)
{
    char self[PATH_MAX], path[PATH_MAX + 64];
    ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);
    const char *here;

    if (n < 0)
        fatal(EXIT_IO, "cannot find own path");
    self[n] = '\0';
    here = dirname(self);
    (void)snprintf(path, sizeof path, "%s/%s", here, v->program);
    (void)execv(path, a->item);
    if (errno == ENOENT) {
        (void)snprintf(path, sizeof path, "%s/../%s/%s", here, v->room,
                       v->program);
        (void)execv(path, a->item);
    }
    fatal(EXIT_IO, "cannot execute program=%s", v->program);
}

static int run_verb(const struct call *call, const struct verb *v, int argc,
                    char **argv)
{
    static struct arguments a;
    char words[128];

    if (v->program == NULL)
        return v->run(call, argc, argv);
    add(&a, v->program);
    if (call->settings_path != NULL) {
        add(&a, "-c");
        add(&a, call->settings_path);
    }
    (void)snprintf(words, sizeof words, "%s", v->arguments);
    for (char *w = strtok(words, " "); w != NULL; w = strtok(NULL, " "))
        add(&a, w);
    if (call->json)
        add(&a, "--json");
    for (int i = 0; i < argc; i++)
        add(&a, argv[i]);
    execute(v, &a);
    return EXIT_IO;
}

static int unknown(const char *word)
{
    const struct verb *near = verb_near(word);

    if (near != NULL)
        log_warnx("no verb \"%s\", did you mean \"%s\"? try: assay help", word,
                  near->words);
    else
        log_warnx("no verb \"%s\", try: assay help", word);
    return EXIT_USAGE;
}

static int help(int argc, char **argv)
{
    const struct verb *v;
    int used;

    if (argc == 0) {
        verb_help();
        return EXIT_GOOD;
    }
    v = verb_find(argc, argv, &used);
    if (v == NULL)
        return unknown(argv[0]);
    verb_usage(v);
    return EXIT_GOOD;
}

int main(int argc, char **argv)
{
    static const struct option options[] = {
        {"json", no_argument, NULL, 'j'},
        {"help", no_argument, NULL, 'h'},
        {"version", no_argument, NULL, 'V'},
        {NULL, 0, NULL, 0},
    };
    struct call call = {NULL, false};
    const struct verb *v;
    int opt, used = 0;

    log_init("assay", 0);
    while ((opt = getopt_long(argc, argv, "+c:h", options, NULL)) != -1) {
        if (opt == 'c')
            call.settings_path = optarg;
        else if (opt == 'j')
            call.json = true;
        else if (opt == 'V')
            return printf("assay %s\n", ASSAY_VERSION) > 0 ? 0 : EXIT_IO;
        else
            return opt == 'h' ? help(0, NULL) : EXIT_USAGE;
    }
    argc -= optind;
    argv += optind;
    if (argc == 0) {
        verb_help();
        return EXIT_USAGE;
    }
    if (strcmp(argv[0], "help") == 0)
        return help(argc - 1, argv + 1);
    v = verb_find(argc, argv, &used);
    if (v == NULL)
        return unknown(argv[0]);
    if (argc > used &&
        (strcmp(argv[used], "-h") == 0 || strcmp(argv[used], "--help") == 0))
        return help(used, argv);
    return run_verb(&call, v, argc - used, argv + used);
}
