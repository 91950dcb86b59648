/*
 * sampler_main.c - assay-sampler: settings, rights, then one command or the
 * loop of `run`.
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "command/command.h"
#include "config/exit.h"
#include "config/log.h"
#include "config/sandbox.h"
#include "config/settings.h"

static const struct option options[] = {
    {"help", no_argument, NULL, 'h'},
    {"version", no_argument, NULL, 'V'},
    {NULL, 0, NULL, 0},
};

static int usage(FILE *out)
{
    fputs("usage: assay-sampler [-nv] [-c FILE] COMMAND\n", out);
    for (const struct command *c = commands; c->name != NULL; c++)
        fprintf(out, "  %-8s %-28s %s\n", c->name, c->operands, c->doc);
    return EXIT_USAGE;
}

static const struct command *find(const char *name)
{
    for (const struct command *c = commands; c->name != NULL; c++)
        if (strcmp(c->name, name) == 0)
            return c;
    return NULL;
}

/* The record is opened first: for root SQLite gives its helper files an owner,
 * which is one call more than this program may make later. */
static int with_record(const struct command *c, const struct settings *set,
                       int argc, char **argv)
{
    const char *state_dir = settings_str(set, "store.state_dir");
    struct sampler s;
    int err = sampler_open(state_dir, settings_str(set, "store.run_dir"), &s);
    int rc;

    if (err == -EKEYREJECTED)
        fatalx(EXIT_IO, "the VRF key is not the one in the log state_dir=%s",
               state_dir);
    if (err != 0) {
        errno = -err;
        fatal(EXIT_IO, "cannot open the record state_dir=%s", state_dir);
    }
    err = sandbox_enter(settings_str(set, "sampler.user"),
                        SANDBOX_READ_FILES | SANDBOX_UNIX);
    if (err != 0) {
        errno = -err;
        fatal(EXIT_NOT_PERMITTED, "cannot give up rights");
    }
    s.feed = (struct findings_options){
        settings_bool(set, "sampler.feed_required"),
        settings_int(set, "sampler.feed_slack_ms") * 1000000,
        settings_int(set, "sampler.feed_settle_ms") * 1000000};
    rc = c->run(&s, set, argc, argv);
    sampler_fini(&s);
    return rc;
}

int main(int argc, char **argv)
{
    const char *path = NULL;
    const struct command *c;
    struct settings *set;
    int opt, verbose = 0, check = 0, rc;

    log_init("assay-sampler", 0);
    while ((opt = getopt_long(argc, argv, "+c:nvh", options, NULL)) != -1) {
        if (opt == 'c')
            path = optarg;
        else if (opt == 'n')
            check = 1;
        else if (opt == 'v')
            log_init("assay-sampler", ++verbose);
        else if (opt == 'V')
            return printf("assay-sampler %s\n", ASSAY_VERSION) > 0 ? 0 : 4;
        else
            return opt == 'h' ? (usage(stdout), EXIT_GOOD) : usage(stderr);
    }
    argc -= optind;
    argv += optind;
    c = argc > 0 ? find(argv[0]) : NULL;
    if (c == NULL && !check)
        return usage(stderr);
    if (c != NULL && c->alone != NULL)
        return c->alone(argc, argv);
    if (settings_load(path, stderr, &set) != 0)
        return EXIT_SETTINGS;
    rc = check ? EXIT_GOOD : with_record(c, set, argc, argv);
    settings_close(set);
    return rc;
}
