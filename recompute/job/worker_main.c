/*
 * worker_main.c - assay-recompute: settings, then the worker's loop or one
 * command.
 * SPDX-License-Identifier: Apache-2.0
 */
#include <string.h>

#include "config/exit.h"
#include "daemon/daemon.h"
#include "job/job.h"

/* A packet is replayed on machines that have no settings. */
static bool is_replay(int argc, char **argv)
{
    return argc > 0 && strcmp(argv[0], "replay") == 0;
}

static int run(const struct settings *s, bool once, int argc, char **argv)
{
    if (argc == 0)
        return worker_run(s, once);
    if (is_replay(argc, argv))
        return worker_replay(s, argc, argv);
    return strcmp(argv[0], "register") == 0 ? worker_register(s, argc, argv)
                                            : EXIT_USAGE;
}

int main(int argc, char **argv)
{
    static const struct daemon_program program = {
        .name = "assay-recompute",
        .usage =
            "usage: assay-recompute [-nv] [-c FILE] [--once]\n"
            "       assay-recompute [-v] [-c FILE] register NAME DIR [ENGINE]\n"
            "       assay-recompute [-v] [-c FILE] replay FILE [--against "
            "DIR]\n"
            "           [--repeat N] [--trace]\n",
        .operands = true,
        .run = run,
        .is_free = is_replay,
    };

    return daemon_main(&program, argc, argv);
}
