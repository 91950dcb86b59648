/*
 * verb.c - the table of verbs and finding one in it.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "verb.h"

#include <stdio.h>
#include <string.h>

const struct verb verbs[] = {
    {"status", "", "assay-status", "store", "", NULL,
     "show what the appliance has recorded, drawn and checked"},
    {"check", "", "assay-status", "store", "--check", NULL,
     "say whether the appliance is healthy, for a probe"},
    {"play", "FILE...", "assay-tap", "tap", "", NULL,
     "run capture files through the tap into the store"},
    {"model register", "NAME DIR", "assay-recompute", "recompute", "register",
     NULL, "record a model's digests as the ones declared for a name"},
    {"epoch close", "", "assay-sampler", "sampler", "close", NULL,
     "seal the epoch: its frame, signed, before anything is drawn"},
    {"epoch reveal", "PARTY SECRET", "assay-sampler", "sampler", "reveal", NULL,
     "give a party's contribution to the draw"},
    {"epoch certify", "EPOCH", "assay-sampler", "sampler", "certify", NULL,
     "state what the epoch's verdicts are worth"},
    {"epoch list", "", "assay-sampler", "sampler", "list", NULL,
     "show the epochs and what each waits for"},
    {"replay", "FILE", "assay-recompute", "recompute", "replay", NULL,
     "run a job packet here and print the result"},
    {"export", "EPOCH DIR", "assay-export", "sampler", "", NULL,
     "write an epoch as a directory that a stranger can verify"},
    {"verify", "DIR --key VKEY", "assay-verify", "sampler", "", NULL,
     "check an exported epoch without database or network"},
    {"rebuild", "", "assay-store", "store", "--rebuild", NULL,
     "make the index anew from the log and the vault"},
    {"config check", "", NULL, NULL, NULL, config_check,
     "read the settings file and name everything wrong with it"},
    {"config show", "", NULL, NULL, NULL, config_show,
     "print every setting as it is in force"},
    {NULL},
};

void verb_usage(const struct verb *v)
{
    printf("usage: assay [-c FILE] [--json] %s%s%s\n\n%s\n", v->words,
           *v->operands != '\0' ? " " : "", v->operands, v->doc);
    if (v->program != NULL)
        printf("see %s for more\n", v->program);
}

void verb_help(void)
{
    printf("usage: assay [-c FILE] [--json] VERB ...\n\n");
    for (const struct verb *v = verbs; v->words != NULL; v++) {
        char call[64];

        (void)snprintf(call, sizeof call, "%s %s", v->words, v->operands);
        printf("  %-28s %s\n", call, v->doc);
    }
    printf("\nassay help VERB shows one; assay --version prints the version\n"
           "exit codes: 0 good, 1 bad answer, 2 usage, 3 settings, 4 I/O or "
           "not found,\n  5 not permitted, 6 not everything checked, 75 try "
           "again, 130 interrupted\n");
}

/* How many of argv's words the verb's words are; 0 if they differ. */
static int match(const char *words, int argc, char **argv)
{
    int used = 0;

    while (*words != '\0') {
        size_t n = strcspn(words, " ");

        if (used == argc || strlen(argv[used]) != n ||
            memcmp(argv[used], words, n) != 0)
            return 0;
        used++;
        words += n + (words[n] == ' ');
    }
    return used;
}

const struct verb *verb_find(int argc, char **argv, int *ret_used)
{
    for (const struct verb *v = verbs; v->words != NULL; v++) {
        int used = match(v->words, argc, argv);

        if (used != 0) {
            *ret_used = used;
            return v;
        }
    }
    return NULL;
}

/* Levenshtein distance of a's first n bytes and b; words are short. */
static size_t distance(const char *a, size_t n, const char *b)
{
    size_t row[64], m = strlen(b);

    if (m >= sizeof row / sizeof *row)
        return m;
    for (size_t j = 0; j <= m; j++)
        row[j] = j;
    for (size_t i = 1; i <= n; i++) {
        size_t diagonal = row[0];

        row[0] = i;
        for (size_t j = 1; j <= m; j++) {
            size_t best = diagonal + (a[i - 1] != b[j - 1]);

            diagonal = row[j];
            if (row[j] + 1 < best)
                best = row[j] + 1;
            if (row[j - 1] + 1 < best)
                best = row[j - 1] + 1;
            row[j] = best;
        }
    }
    return row[m];
}

const struct verb *verb_near(const char *word)
{
    const struct verb *best = NULL;
    size_t best_distance = 3;

    for (const struct verb *v = verbs; v->words != NULL; v++) {
        size_t d = distance(v->words, strcspn(v->words, " "), word);

        if (d < best_distance) {
            best_distance = d;
            best = v;
        }
    }
    return best;
}
