/*
 * compare_main.c - assay-compare: settings, then the loop.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "comparer/comparer.h"
#include "daemon/daemon.h"

static int run(const struct settings *s, bool once, int argc, char **argv)
{
    (void)argc; /* it takes no operands */
    (void)argv;
    return comparer_run(s, once);
}

int main(int argc, char **argv)
{
    static const struct daemon_program program = {
        .name = "assay-compare",
        .usage = "usage: assay-compare [-nv] [-c FILE] [--once]\n",
        .run = run,
    };

    return daemon_main(&program, argc, argv);
}
