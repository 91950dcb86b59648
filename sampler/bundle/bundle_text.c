/*
 * bundle_text.c - draw.txt, verdicts.txt, frame.bin and the README.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "bundle/bundle_text.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "seed/hex.h"

const char *outcome_text(enum outcome o)
{
    static const char *const names[OUTCOMES] = {
        [OUTCOME_MATCH] = "MATCH",
        [OUTCOME_MISMATCH] = "MISMATCH",
        [OUTCOME_UNSTABLE] = "UNSTABLE",
        [OUTCOME_UNCHECKABLE] = "UNCHECKABLE",
        [OUTCOME_UNANSWERED] = "UNANSWERED"};

    return names[o];
}

static char *finish(FILE *f, char **text)
{
    bool bad = ferror(f) != 0;

    if (fclose(f) != 0 || bad) {
        free(*text);
        return NULL;
    }
    return *text;
}

char *bundle_text_draw(uint64_t epoch, const uint8_t seed[SEED_BYTES],
                       const struct frame *f, const struct draw *d)
{
    char *text = NULL, hex[HEX_TEXT(32)], unit[HEX_TEXT(32)];
    size_t n;
    FILE *out = open_memstream(&text, &n);

    if (out == NULL)
        return NULL;
    fprintf(out, "assay-draw/v1\nepoch %" PRIu64 "\nseed %s\n", epoch,
            hex_print(span_of(seed, SEED_BYTES), hex));
    fprintf(out, "drawn %zu of %zu\n", d->n, f->n);
    for (size_t i = 0; i < d->n; i++) {
        const struct frame_unit *u = &f->units[d->units[i].index];

        fprintf(out, "%" PRIu64 " %" PRIu32 " %s %s\n", d->units[i].index,
                u->stratum,
                hex_print(span_of(d->units[i].ticket, DRAW_TICKET), hex),
                hex_print(span_of(u->unit, sizeof u->unit), unit));
    }
    return finish(out, &text);
}

char *bundle_text_verdicts(uint64_t epoch, const struct draw *d,
                           const struct frame *f, const struct answers *a)
{
    char *text = NULL, unit[HEX_TEXT(32)];
    size_t n;
    FILE *out = open_memstream(&text, &n);

    if (out == NULL)
        return NULL;
    fprintf(out, "assay-verdicts/v1\nepoch %" PRIu64 "\n", epoch);
    for (size_t i = 0; i < d->n; i++) {
        const struct frame_unit *u = &f->units[d->units[i].index];
        const struct answer *answer = answers_find(a, u->unit);

        fprintf(out, "%" PRIu64 " %s %s %" PRIu64 "\n", d->units[i].index,
                hex_print(span_of(u->unit, sizeof u->unit), unit),
                outcome_text(answers_outcome(answer)), answer->verdicts);
    }
    return finish(out, &text);
}

uint8_t *bundle_text_frame(const struct frame *f, size_t *ret_n)
{
    uint8_t *bytes = malloc(f->n * FRAME_ENTRY + 1);

    if (bytes == NULL)
        return NULL;
    for (size_t i = 0; i < f->n; i++)
        frame_entry(f, i, bytes + i * FRAME_ENTRY);
    *ret_n = f->n * FRAME_ENTRY;
    return bytes;
}

static const char readme_head[] =
    "One epoch of an assay log, for verification without the appliance.\n\n"
    "  origin      %s\n"
    "  epoch       %" PRIu64 "\n"
    "  log size    %" PRIu64 " leaves, signed in ./checkpoint\n\n"
    "With the program, and the log's public key from a source you trust:\n\n"
    "  assay-verify . --key VKEY\n\n"
    "By hand, in this folder. VKEY is NAME+ID+BASE64.\n\n"
    "1. No file was damaged on the way:\n"
    "     sha256sum -c manifest.sha256\n\n";

static const char readme_signature[] =
    "2. The checkpoint is signed by the log's key (the text ends before the\n"
    "   empty line; the last 64 bytes of the signature line are Ed25519):\n"
    "     sed '/^$/,$d' checkpoint > /tmp/text\n"
    "     tail -n 1 checkpoint | sed 's/.* //' | base64 -d | tail -c 64 \\\n"
    "       > /tmp/signature\n"
    "     ( printf '\\060\\052\\060\\005\\006\\003\\053\\145\\160\\003\\041"
    "\\000'\n"
    "       printf %s \"${VKEY##*+}\" | base64 -d | tail -c 32 ) > /tmp/key\n"
    "     openssl pkeyutl -verify -pubin -keyform DER -inkey /tmp/key \\\n"
    "       -rawin -in /tmp/text -sigfile /tmp/signature\n\n"
    "3. A leaf has the hash at its place (here leaf N, its text in "
    "/tmp/leaf):\n"
    "     ( printf '\\000'; cat /tmp/leaf ) | sha256sum\n"
    "     tail -c +$((N * 32 + 1)) log/hashes | head -c 32 | xxd -p -c 32\n"
    "   The hashes give the checkpoint's root (RFC 6962 section 2.1).\n\n";

static const char readme_draw[] =
    "4. The policy and the seed are what the records say:\n"
    "     sha256sum epoch-%" PRIu64 "/policy.txt epoch-%" PRIu64 "/seed.txt\n\n"
    "5. A unit's ticket; of each stratum the smallest were drawn:\n"
    "     SEED=$(sha256sum epoch-%" PRIu64 "/seed.txt | cut -d' ' -f1)\n"
    "     ( printf 'assay-ticket/v1\\000'; printf %%s UNIT | xxd -r -p ) |\n"
    "       openssl dgst -sha256 -mac HMAC -macopt hexkey:$SEED\n\n"
    "Records to read in log/leaves (by their line `seq`):\n";

static void readme_leaf(FILE *out, const char *what,
                        const struct bundle_leaf *l)
{
    if (l == NULL)
        fprintf(out, "  %-12s none\n", what);
    else
        fprintf(out, "  %-12s %" PRIu64 "\n", what, l->seq);
}

char *bundle_text_readme(const struct readme_facts *f)
{
    const struct dossier *d = f->d;
    char *text = NULL;
    size_t n;
    FILE *out = open_memstream(&text, &n);

    if (out == NULL)
        return NULL;
    fprintf(out, readme_head, f->origin, d->epoch, f->size);
    fputs(readme_signature, out);
    fprintf(out, readme_draw, d->epoch, d->epoch, d->epoch);
    readme_leaf(out, "policy", d->policy);
    readme_leaf(out, "frame_close", d->close);
    readme_leaf(out, "seed", d->seed);
    readme_leaf(out, "draw", d->draw);
    readme_leaf(out, "certificate", d->certificate);
    return finish(out, &text);
}
