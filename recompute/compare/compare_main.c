/*
 * compare_main.c - assay-compare: settings, then the loop.
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <getopt.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>

#include "compare/comparer.h"
#include "config/exit.h"
#include "config/log.h"
#include "config/settings.h"

volatile sig_atomic_t compare_stop;

static const struct option options[] = {
    {"once", no_argument, NULL, 'o'},
    {"help", no_argument, NULL, 'h'},
    {"version", no_argument, NULL, 'V'},
    {NULL, 0, NULL, 0},
};

struct call {
    const char *settings_path;
    bool once, check_only;
    int verbose;
};

static int usage(FILE *out)
{
    fputs("usage: assay-compare [-nv] [-c FILE] [--once]\n", out);
    return EXIT_USAGE;
}

static void on_signal(int signal)
{
    (void)signal; /* both mean the same */
    compare_stop = 1;
}

static void catch_signals(void)
{
    struct sigaction stop = {.sa_handler = on_signal};

    (void)sigaction(SIGTERM, &stop, NULL); /* cannot fail for these three */
    (void)sigaction(SIGINT, &stop, NULL);
    (void)signal(SIGPIPE, SIG_IGN);
}

static int run(const struct call *call)
{
    struct settings *s = NULL;
    int err = settings_load(call->settings_path, stderr, &s), rc;

    if (err != 0) {
        errno = -err;
        if (err != -EINVAL)
            log_warn("cannot read settings");
        return EXIT_SETTINGS;
    }
    rc = call->check_only ? EXIT_GOOD : comparer_run(s, call->once);
    settings_close(s);
    return rc;
}

int main(int argc, char **argv)
{
    struct call call = {0};
    int opt;

    while ((opt = getopt_long(argc, argv, "c:nvh", options, NULL)) != -1) {
        switch (opt) {
        case 'c':
            call.settings_path = optarg;
            break;
        case 'n':
            call.check_only = true;
            break;
        case 'v':
            call.verbose++;
            break;
        case 'o':
            call.once = true;
            break;
        case 'V':
            return printf("assay-compare %s\n", ASSAY_VERSION) > 0 ? 0 : 4;
        case 'h':
            (void)usage(stdout); /* asked for: no error */
            return EXIT_GOOD;
        default:
            return usage(stderr);
        }
    }
    if (optind != argc)
        return usage(stderr);
    log_init("assay-compare", call.verbose);
    catch_signals();
    return run(&call);
}
