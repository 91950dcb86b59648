/*
 * fuzz_note.c - any bytes as a note, a checkpoint and a verifier key: what is
 * read is printed as it was; no changed note keeps its signature.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "fuzz.h"

#include <stdlib.h>
#include <string.h>

#include "store/note.h"

static const char *const vkeys[] = {
    "example.com/foo+530d903a+AekyeRrm56hApGFkyQR4ZCbV54Id2LKaANYcrnKv3U2k",
    "certifier.example/unit-0001+29df225c+"
    "AddamAGCsQq31Uv+08lkBzoO4XLz2qYjJa8CGmj3B1Ea",
    "witness.example/w1+04d2d833+BD1AF8PoQ4lakrcKp00bfrycmCzPLsSWjMDNVfEq9GYM",
    "certifier.example/unit-0001+5a7a78cc+AjBZMBMGByqGSM49AgEGCCqGSM49AwEHA0IA"
    "BGD+1LolWp0xyWHrdMY1bWjASbiSO2H6bOZpYi5g8p+2eQP+EAi4vJmkGunpVii8ZPLxsgwt"
    "fp9Rd6PClNRGIpk=",
};

/* The texts that these keys signed. */
static const char *const signed_texts[] = {
    "This is an example message.\n",
    "certifier.example/unit-0001\n7\n"
    "3bib5AOAnjJXUNPSY814kpwpQreUKjS3fhIslZSnTIw=\n",
};

static void check(bool good)
{
    if (!good)
        abort();
}

static void try_key(struct span bytes)
{
    char text[NOTE_VKEY];
    struct note_key k;

    if (note_key_parse(bytes, &k) != PARSE_OK)
        return;
    note_key_print(&k, text);
    check(span_eq_str(bytes, text));
}

static void try_checkpoint(struct span bytes)
{
    char text[NOTE_NAME + 128];
    struct checkpoint c, again;

    if (checkpoint_parse(bytes, &c) != PARSE_OK)
        return;
    check(checkpoint_print(&c, text, sizeof(text)) == 0);
    check(checkpoint_parse(span_str(text), &again) == PARSE_OK);
    check(memcmp(&c, &again, sizeof(c)) == 0);
    check(bytes.n >= strlen(text) && memcmp(bytes.p, text, strlen(text)) == 0);
}

static void try_note(struct span bytes)
{
    struct note_key keys[4];
    struct note_seals seals;
    struct span text;

    for (size_t i = 0; i < 4; i++)
        check(note_key_parse(span_str(vkeys[i]), &keys[i]) == PARSE_OK);
    if (note_open(bytes, keys, 4, &text, &seals) != NOTE_GOOD)
        return;
    check(seals.n != 0 && text.p == bytes.p && text.n < bytes.n);
    check(span_eq_str(text, signed_texts[0]) ||
          span_eq_str(text, signed_texts[1]));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    struct span bytes = span_of(data, n);

    try_key(bytes);
    try_checkpoint(bytes);
    try_note(bytes);
    return 0;
}
