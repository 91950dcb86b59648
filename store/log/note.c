/*
 * note.c - opening and signing notes. Comes in: a note and the keys that are
 * trusted, or a text and a private key. Goes out: the text that was signed and
 * by whom, or the note.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "store/note.h"

#include <errno.h>
#include <openssl/evp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "store/base64.h"

#define DASH "\xe2\x80\x94 " /* EM DASH and a space */

/* A signature is at most an ECDSA or cosignature; others are skipped, but must
 * be base64: the largest known one is ML-DSA-44 with 2,420 bytes. */
enum { BLOB_MAX = 4096, ID_BYTES = 4 };

struct note_signer {
    struct note_key key;
    EVP_PKEY *private_key;
};

/* Splits a note at its last empty line. */
static bool split(struct span note, struct span *ret_text,
                  struct span *ret_seals)
{
    for (size_t i = note.n; i-- > 1;) {
        if (note.p[i] != '\n' || note.p[i - 1] != '\n')
            continue;
        *ret_text = span_of(note.p, i);
        *ret_seals = span_of(note.p + i + 1, note.n - i - 1);
        return true;
    }
    return false;
}

/* A signature line, taken apart. */
struct line {
    struct span name;
    uint8_t blob[BLOB_MAX];
    size_t n;
};

static bool parse_line(struct span text, struct line *ret_l)
{
    size_t dash = strlen(DASH);
    const uint8_t *space;

    if (text.n <= dash || memcmp(text.p, DASH, dash) != 0)
        return false;
    text = span_of(text.p + dash, text.n - dash);
    space = memchr(text.p, ' ', text.n);
    if (space == NULL)
        return false;
    ret_l->name = span_of(text.p, (size_t)(space - text.p));
    text = span_of(space + 1, text.n - ret_l->name.n - 1);
    return note_name_good(ret_l->name) &&
           base64_decode(text, ret_l->blob, BLOB_MAX, &ret_l->n) == PARSE_OK &&
           ret_l->n > ID_BYTES;
}

static bool key_matches(const struct note_key *k, const struct line *l)
{
    return span_eq_str(l->name, k->name) &&
           memcmp(k->id, l->blob, ID_BYTES) == 0;
}

static bool has_sealed(const struct note_seals *seals, size_t key)
{
    for (size_t i = 0; i < seals->n; i++)
        if (seals->seal[i].key == key)
            return true;
    return false;
}

/* Everything that checking one line needs, and what has been found. */
struct opening {
    const struct note_key *keys;
    size_t n_keys;
    struct span text;
    struct note_seals seals;
};

static enum note_result check_line(struct opening *o, const struct line *l)
{
    struct span signature = span_of(l->blob + ID_BYTES, l->n - ID_BYTES);

    for (size_t i = 0; i < o->n_keys; i++) {
        struct note_seal seal = {.key = i};

        if (!key_matches(&o->keys[i], l) || has_sealed(&o->seals, i))
            continue;
        if (!note_key_verify(&o->keys[i], o->text, signature, &seal.time_s))
            return NOTE_FORGED;
        if (o->seals.n < NOTE_SEALS)
            o->seals.seal[o->seals.n++] = seal;
        return NOTE_GOOD;
    }
    return NOTE_GOOD;
}

static enum note_result check_seals(struct opening *o, struct span seals)
{
    while (seals.n != 0) {
        const uint8_t *lf = memchr(seals.p, '\n', seals.n);
        enum note_result r;
        struct line l;
        size_t n;

        if (lf == NULL)
            return NOTE_MALFORMED;
        n = (size_t)(lf - seals.p);
        if (!parse_line(span_of(seals.p, n), &l))
            return NOTE_MALFORMED;
        r = check_line(o, &l);
        if (r != NOTE_GOOD)
            return r;
        seals = span_of(lf + 1, seals.n - n - 1);
    }
    return o->seals.n != 0 ? NOTE_GOOD : NOTE_UNSIGNED;
}

enum note_result note_open(struct span note, const struct note_key *keys,
                           size_t n_keys, struct span *ret_text,
                           struct note_seals *ret_seals)
{
    struct opening o = {.keys = keys, .n_keys = n_keys};
    enum note_result r;
    struct span seals;

    if (note.n > NOTE_MAX || !note_text_good(note, true) ||
        !split(note, &o.text, &seals) || seals.n == 0)
        return NOTE_MALFORMED;
    r = check_seals(&o, seals);
    if (r == NOTE_GOOD) {
        *ret_text = o.text;
        *ret_seals = o.seals;
    }
    return r;
}

const char *note_result_text(enum note_result r)
{
    switch (r) {
    case NOTE_GOOD:
        return "good";
    case NOTE_MALFORMED:
        return "not a signed note";
    case NOTE_UNSIGNED:
        return "not signed by a known key";
    case NOTE_FORGED:
        return "a signature does not verify";
    }
    return "?";
}

int note_signer_open(const char *name, const uint8_t seed[32],
                     struct note_signer **ret_s)
{
    struct note_signer *s;
    size_t n = ED25519_KEY;

    if (!note_name_good(span_str(name)))
        return -EINVAL;
    s = calloc(1, sizeof *s);
    if (s == NULL)
        return -ENOMEM;
    memcpy(s->key.name, name, strlen(name) + 1); /* good names fit */
    s->key.type = NOTE_ED25519;
    s->key.public_n = ED25519_KEY;
    s->private_key =
        EVP_PKEY_new_raw_private_key(EVP_PKEY_ED25519, NULL, seed, n);
    if (s->private_key == NULL ||
        EVP_PKEY_get_raw_public_key(s->private_key, s->key.public_key, &n) !=
            1) {
        note_signer_close(s);
        return -EIO;
    }
    note_key_identify(&s->key);
    *ret_s = s;
    return 0;
}

void note_signer_close(struct note_signer *s)
{
    if (s == NULL)
        return;
    EVP_PKEY_free(s->private_key);
    free(s);
}

const struct note_key *note_signer_key(const struct note_signer *s)
{
    return &s->key;
}

static int sign(const struct note_signer *s, struct span text,
                uint8_t ret_signature[ED25519_SIGNATURE])
{
    EVP_MD_CTX *ctx = EVP_MD_CTX_new();
    size_t n = ED25519_SIGNATURE;
    bool good =
        ctx != NULL &&
        EVP_DigestSignInit(ctx, NULL, NULL, NULL, s->private_key) == 1 &&
        EVP_DigestSign(ctx, ret_signature, &n, text.p, text.n) == 1;

    EVP_MD_CTX_free(ctx);
    return good ? 0 : -EIO;
}

int note_sign(const struct note_signer *s, struct span text, char *ret_note,
              size_t size)
{
    uint8_t blob[ID_BYTES + ED25519_SIGNATURE];
    char base64[(sizeof(blob) + 2) / 3 * 4 + 1];
    int n;

    if (text.n == 0 || text.n > NOTE_MAX || text.p[text.n - 1] != '\n' ||
        !note_text_good(text, true))
        return -EINVAL;
    memcpy(blob, s->key.id, ID_BYTES);
    n = sign(s, text, blob + ID_BYTES);
    if (n != 0)
        return n;
    base64_encode(span_of(blob, sizeof(blob)), base64);
    n = snprintf(ret_note, size, "%.*s\n" DASH "%s %s\n", (int)text.n,
                 (const char *)text.p, s->key.name, base64);
    return n > 0 && (size_t)n < size ? 0 : -ENOBUFS;
}
