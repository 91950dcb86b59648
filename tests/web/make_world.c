/*
 * make_world.c - writes the index of fixture.h's world into an empty
 * directory and prints the units by name, for the tests in a browser.
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdio.h>

#include "fixture.h"

int main(int argc, char **argv)
{
    struct world w;

    if (argc != 2) {
        fputs("usage: make_world DIR\n", stderr);
        return 2;
    }
    world_open(&w, argv[1]);
    printf("match %s\ntoken %s\nlogprob %s\nlength %s\nenvelope %s\n"
           "unstable %s\nuncheckable %s\nwaiting %s\nundrawn %s\n",
           w.match.hex, w.token.hex, w.logprob.hex, w.length.hex,
           w.envelope.hex, w.unstable.hex, w.uncheckable.hex, w.waiting.hex,
           w.undrawn.hex);
    sqlite3_close(w.f.db);
    return 0;
}
