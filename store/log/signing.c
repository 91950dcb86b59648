/*
 * signing.c - the files under STATE/checkpoints. Comes in: tree heads. Goes
 * out: signed notes.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "log/signing.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "config/array.h"
#include "store/layout.h"
#include "store/record.h"

#define INTENT ".intent"

struct signing {
    char *dir;
    char origin[NOTE_NAME];
    struct note_signer *signer;
    struct merkle_head *head;
    size_t n, size;
    struct merkle_range range; /* of leaves read back */
};

static struct path file_of(const struct signing *s, uint64_t size,
                           const char *suffix)
{
    char name[64];

    snprintf(name, sizeof(name), "%" PRIu64 "%s", size, suffix);
    return layout_path(s->dir, name);
}

static int add_head(struct signing *s, const struct merkle_head *head)
{
    struct merkle_head *p = array_grow(s->head, &s->size, s->n, 1, sizeof *p);

    if (p == NULL)
        return -ENOMEM;
    s->head = p;
    s->head[s->n++] = *head;
    return 0;
}

/* Reads one file: a note's signature is checked, an intent is plain text. */
static int read_file(const struct signing *s, const char *path, bool signed_,
                     struct merkle_head *ret_head, char *ret_note)
{
    struct note_seals seals;
    struct checkpoint c;
    struct span text;
    char *bytes;
    size_t n;
    int rc = file_load(path, SIGNING_NOTE - 1, &bytes, &n);

    if (rc != 0)
        return rc;
    text = span_of(bytes, n);
    if ((signed_ && note_open(text, note_signer_key(s->signer), 1, &text,
                              &seals) != NOTE_GOOD) ||
        checkpoint_parse(text, &c) != PARSE_OK ||
        strcmp(c.origin, s->origin) != 0)
        rc = -EBADMSG;
    if (rc == 0) {
        *ret_head = c.head;
        memcpy(ret_note, bytes, n + 1);
    }
    free(bytes);
    return rc;
}

static bool ends_with(const char *name, const char *end)
{
    size_t n = strlen(name), m = strlen(end);

    return n >= m && strcmp(name + n - m, end) == 0;
}

/* A name in the directory: a head, or something to pass over. */
static int read_entry(struct signing *s, const char *name)
{
    bool intent = ends_with(name, INTENT);
    size_t digits = strlen(name) - (intent ? strlen(INTENT) : 0);
    char note[SIGNING_NOTE];
    struct merkle_head head;
    uint64_t size;
    int rc;

    if (name[0] == '.' || ends_with(name, ".new"))
        return 0;
    if (record_parse_u64(span_of(name, digits), &size) != PARSE_OK)
        return -EBADMSG;
    rc = read_file(s, layout_path(s->dir, name).text, !intent, &head, note);
    if (rc == 0 && head.size != size)
        rc = -EBADMSG;
    return rc != 0 ? rc : add_head(s, &head);
}

static int by_size(const void *a, const void *b)
{
    uint64_t x = ((const struct merkle_head *)a)->size;
    uint64_t y = ((const struct merkle_head *)b)->size;

    return x < y ? -1 : x > y;
}

static int read_dir(struct signing *s, char *ret_bad)
{
    DIR *d = opendir(s->dir);
    int rc = d == NULL ? -errno : 0;

    while (rc == 0) {
        const struct dirent *e = readdir(d);

        if (e == NULL)
            break;
        rc = read_entry(s, e->d_name);
        if (rc != 0)
            snprintf(ret_bad, NOTE_NAME, "%s", e->d_name);
    }
    if (d != NULL)
        closedir(d);
    if (s->n != 0)
        qsort(s->head, s->n, sizeof *s->head, by_size);
    return rc;
}

int signing_open(const char *state_dir, const char *origin,
                 const uint8_t seed[32], struct signing **ret_s, char *ret_bad)
{
    struct path dir = layout_path(state_dir, LAYOUT_CHECKPOINTS);
    struct signing *s = calloc(1, sizeof *s);
    int rc;

    if (s == NULL)
        return -ENOMEM;
    s->dir = strdup(dir.text);
    rc = s->dir == NULL ? -ENOMEM : note_signer_open(origin, seed, &s->signer);
    if (rc == 0) {
        /* note_signer_open took it: it fits. */
        memcpy(s->origin, origin, strlen(origin) + 1);
        rc = file_make_dir(s->dir, 0750);
    }
    if (rc == 0)
        rc = read_dir(s, ret_bad);
    if (rc != 0)
        signing_close(s);
    else
        *ret_s = s;
    return rc;
}

void signing_close(struct signing *s)
{
    if (s == NULL)
        return;
    note_signer_close(s->signer);
    free(s->head);
    free(s->dir);
    free(s);
}

const struct note_key *signing_key(const struct signing *s)
{
    return note_signer_key(s->signer);
}

const struct merkle_head *signing_heads(const struct signing *s, size_t *ret_n)
{
    *ret_n = s->n;
    return s->head;
}

uint64_t signing_last_size(const struct signing *s)
{
    return s->n == 0 ? 0 : s->head[s->n - 1].size;
}

/* Reads back the leaves that were not yet and holds their root against the
 * head: a bit that flipped in memory or on disk must not be signed. */
static int check_head(struct signing *s, struct leaflog *log,
                      const struct merkle_head *head)
{
    uint8_t root[MERKLE_HASH];

    while (s->range.size < head->size) {
        struct leaf leaf;
        int rc = leaflog_read(log, s->range.size, &leaf);

        if (rc != 0)
            return rc;
        merkle_range_append(&s->range, leaf.unit);
    }
    merkle_range_root(&s->range, root);
    return s->range.size == head->size &&
                   memcmp(root, head->root, MERKLE_HASH) == 0
               ? 0
               : -EBADMSG;
}

/* Has this size another root? Has it this one already? */
static int check_signed(const struct signing *s, const struct merkle_head *head)
{
    for (size_t i = s->n; i-- > 0 && s->head[i].size >= head->size;)
        if (s->head[i].size == head->size &&
            memcmp(s->head[i].root, head->root, MERKLE_HASH) != 0)
            return -EEXIST;
    return 0;
}

/* An intent that was read at start, or stayed from a write that failed. */
static bool is_known(const struct signing *s, const struct merkle_head *head)
{
    for (size_t i = s->n; i-- > 0;)
        if (memcmp(&s->head[i], head, sizeof *head) == 0)
            return true;
    return false;
}

static int sign_new(struct signing *s, const struct merkle_head *head,
                    char ret_note[SIGNING_NOTE])
{
    struct path intent = file_of(s, head->size, INTENT);
    struct path path = file_of(s, head->size, "");
    struct checkpoint c = {.head = *head};
    char text[SIGNING_NOTE];
    int rc;

    memcpy(c.origin, s->origin, sizeof(c.origin));
    rc = checkpoint_print(&c, text, sizeof(text));
    if (rc == 0)
        rc = file_replace(intent.text, span_str(text), 0640);
    if (rc == 0 && !is_known(s, head))
        rc = add_head(s, head);
    if (rc == 0)
        rc = note_sign(s->signer, span_str(text), ret_note, SIGNING_NOTE);
    if (rc == 0)
        rc = file_replace(path.text, span_str(ret_note), 0640);
    /* One that stays says what the note says. */
    if (rc == 0)
        (void)unlink(intent.text);
    return rc;
}

int signing_resume(struct signing *s, const struct merkle_range *range)
{
    size_t n = s->n;
    int rc = 0;

    s->range = *range;
    for (size_t i = 0; i < n && rc == 0; i++) {
        struct merkle_head head = s->head[i];
        char note[SIGNING_NOTE];

        if (access(file_of(s, head.size, "").text, F_OK) != 0)
            rc = sign_new(s, &head, note);
    }
    return rc;
}

int signing_sign(struct signing *s, struct leaflog *log,
                 const struct merkle_head *head, char ret_note[SIGNING_NOTE])
{
    struct merkle_head on_disk;
    int rc = check_head(s, log, head);

    if (rc == 0)
        rc = check_signed(s, head);
    if (rc == 0)
        rc = read_file(s, file_of(s, head->size, "").text, true, &on_disk,
                       ret_note);
    return rc == -ENOENT ? sign_new(s, head, ret_note) : rc;
}

int signing_each(struct signing *s, uint64_t above,
                 int (*take)(void *ctx, const struct merkle_head *head,
                             const char *note),
                 void *ctx)
{
    int rc = 0;

    for (size_t i = 0; i < s->n && rc == 0; i++) {
        char note[SIGNING_NOTE];
        struct merkle_head head;

        if (s->head[i].size <= above)
            continue;
        rc = read_file(s, file_of(s, s->head[i].size, "").text, true, &head,
                       note);
        if (rc == 0)
            rc = take(ctx, &head, note);
        else if (rc == -ENOENT)
            rc = 0; /* an intent: not signed yet */
    }
    return rc;
}
