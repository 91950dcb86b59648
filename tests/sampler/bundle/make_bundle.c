/*
 * make_bundle.c - writes the bundle of a world: make_bundle LIE DIR. Prints
 * the key to verify it with. make_bundle --leaves LIE N: prints the leaves of a
 * world with N exchanges an epoch (corpus/bundle is made with it). Without
 * arguments: the names of all lies.
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bundle/export.h"
#include "world.h"

static int list(void)
{
    for (enum lie lie = 0; lie < LIES; lie++)
        puts(lie_name(lie));
    return 0;
}

static int leaves(enum lie lie, unsigned exchanges)
{
    struct world w;
    bool good = true;

    world_make_sized(&w, lie, exchanges);
    for (size_t i = 0; good && i < w.n; i++)
        good = fwrite(w.leaves[i].text, w.leaves[i].n, 1, stdout) == 1;
    world_fini(&w);
    return good ? 0 : 1;
}

int main(int argc, char **argv)
{
    struct export_note notes[64];
    struct export_source s;
    struct bundle b;
    struct world w;
    int err;

    if (argc == 1)
        return list();
    if (argc == 4 && strcmp(argv[1], "--leaves") == 0 &&
        lie_find(argv[2]) != LIES)
        return leaves(lie_find(argv[2]), (unsigned)atoi(argv[3]));
    if (argc != 3 || lie_find(argv[1]) == LIES)
        return 2;
    world_make(&w, lie_find(argv[1]));
    world_source(&w, notes, &s);
    err = export_epoch(&s, 2, &b);
    if (err == 0) {
        err = bundle_write(&b, argv[2]);
        bundle_fini(&b);
    }
    puts(w.vkey);
    world_fini(&w);
    return err == 0 ? 0 : 1;
}
