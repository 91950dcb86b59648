/*
 * export_main.c - assay-export: one epoch of the state directory, read-only,
 * into a directory.
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bundle/export.h"
#include "config/array.h"
#include "config/exit.h"
#include "config/log.h"
#include "config/sandbox.h"
#include "config/settings.h"
#include "store/index.h"
#include "store/leaflog.h"
#include "store/query.h"
#include "store/record.h"

struct own_note {
    uint64_t size;
    uint8_t *bytes; /* owned */
    size_t n;
};

struct notes {
    struct own_note *own;
    size_t n, size;
    struct export_note *notes; /* borrowed from own, once all are there */
};

static int read_leaf(void *context, uint64_t seq, struct span *ret_leaf)
{
    struct leaf leaf;
    int err = leaflog_read(context, seq, &leaf);

    if (err == 0)
        *ret_leaf = leaf.bytes;
    return err;
}

static void notes_fini(struct notes *all)
{
    for (size_t i = 0; i < all->n; i++)
        free(all->own[i].bytes);
    free(all->own);
    free(all->notes);
}

static int note_add(struct notes *all, uint64_t size, struct span bytes)
{
    struct own_note *own =
        array_grow(all->own, &all->size, all->n, 1, sizeof *own);

    if (own == NULL)
        return -ENOMEM;
    all->own = own;
    own += all->n;
    *own = (struct own_note){size, malloc(bytes.n + 1), bytes.n};
    if (own->bytes == NULL)
        return -ENOMEM;
    if (bytes.n > 0)
        memcpy(own->bytes, bytes.p, bytes.n);
    all->n++;
    return 0;
}

static int notes_ready(struct notes *all)
{
    all->notes = calloc(all->n + 1, sizeof *all->notes);
    if (all->notes == NULL)
        return -ENOMEM;
    for (size_t i = 0; i < all->n; i++)
        all->notes[i] = (struct export_note){
            all->own[i].size, span_of(all->own[i].bytes, all->own[i].n)};
    return 0;
}

static int notes_load(const char *state_dir, struct notes *all)
{
    sqlite3 *db;
    struct query q;
    int err = index_open_readonly(state_dir, &db);

    if (err != 0)
        return err;
    q = query_open(db, "SELECT size, note FROM checkpoint ORDER BY size", &err);
    while (query_next(&q))
        err = note_add(all, query_u64(&q, 0), query_span(&q, 1));
    query_close(&q);
    (void)sqlite3_close(db); /* only read */
    return err == 0 ? notes_ready(all) : err;
}

static int export_to(const char *state_dir, uint64_t epoch, const char *dir)
{
    struct export_source source = {.read = read_leaf};
    struct notes notes = {0};
    struct bundle b = {.n = 0};
    struct leaflog *log;
    int err = leaflog_open(state_dir, &log);

    if (err != 0)
        return err;
    err = notes_load(state_dir, &notes);
    source.count = leaflog_count(log);
    source.context = log;
    source.notes = notes.notes;
    source.n_notes = notes.n;
    if (err == 0)
        err = export_epoch(&source, epoch, &b);
    if (err == 0)
        err = bundle_write(&b, dir);
    bundle_fini(&b);
    notes_fini(&notes);
    leaflog_close(log);
    return err;
}

static int finish(int err, uint64_t epoch, const char *dir)
{
    if (err == 0) {
        printf("epoch %" PRIu64 " exported to %s\n", epoch, dir);
        return EXIT_GOOD;
    }
    errno = -err;
    if (err == -EAGAIN) {
        log_warnx("no signed checkpoint covers the epoch yet epoch=%" PRIu64,
                  epoch);
        return EXIT_AGAIN;
    }
    if (err == -ENOENT)
        log_warnx("no such epoch, or no record epoch=%" PRIu64, epoch);
    else
        log_warn("cannot export epoch=%" PRIu64 " dir=%s", epoch, dir);
    return err == -EBADMSG ? EXIT_BAD : EXIT_IO;
}

static int usage(FILE *out)
{
    fputs("usage: assay-export [-nv] [-c FILE] EPOCH DIR\n", out);
    return EXIT_USAGE;
}

int main(int argc, char **argv)
{
    static const struct option options[] = {
        {"help", no_argument, NULL, 'h'},
        {"version", no_argument, NULL, 'V'},
        {NULL, 0, NULL, 0},
    };
    const char *path = NULL;
    struct settings *set;
    bool check = false;
    uint64_t epoch = 0;
    int opt, rc = EXIT_GOOD, verbose = 0;

    log_init("assay-export", 0);
    while ((opt = getopt_long(argc, argv, "c:nvh", options, NULL)) != -1) {
        if (opt == 'c')
            path = optarg;
        else if (opt == 'n')
            check = true;
        else if (opt == 'v')
            log_init("assay-export", ++verbose);
        else if (opt == 'V')
            return printf("assay-export %s\n", ASSAY_VERSION) > 0 ? 0 : EXIT_IO;
        else
            return opt == 'h' ? (usage(stdout), EXIT_GOOD) : usage(stderr);
    }
    if (!check &&
        (argc - optind != 2 ||
         record_parse_u64(span_str(argv[optind]), &epoch) != PARSE_OK))
        return usage(stderr);
    if (settings_load(path, stderr, &set) != 0)
        return EXIT_SETTINGS;
    if (!check && sandbox_enter("", SANDBOX_READ_FILES | SANDBOX_WRITE_FILES))
        fatalx(EXIT_NOT_PERMITTED, "cannot give up rights");
    if (!check)
        rc = finish(export_to(settings_str(set, "store.state_dir"), epoch,
                              argv[optind + 1]),
                    epoch, argv[optind + 1]);
    settings_close(set);
    return rc;
}
