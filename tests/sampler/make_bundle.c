/*
 * make_bundle.c - writes the bundle of a world: make_bundle LIE DIR. Prints
 * the key to verify it with. Without arguments: the names of all lies.
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdio.h>

#include "export.h"
#include "world.h"

static int list(void)
{
    for (enum lie lie = 0; lie < LIES; lie++)
        puts(lie_name(lie));
    return 0;
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
