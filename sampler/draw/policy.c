/*
 * policy.c - the sampling policy: a strict parser fed line by line, and what a
 * policy decides. Comes in: text. Goes out: a struct, or line and reason.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sampler/policy.h"

#include <stdio.h>
#include <string.h>

#include "sampler/bound.h"
#include "store/record.h"
#include "store/sha256.h"

enum { WORDS = 8 };

/* What may still come; lines come in this order. */
enum stage {
    WANT_HEAD,
    WANT_CONFIDENCE,
    WANT_PARTY,
    WANT_REVEAL, /* or another party */
    WANT_ANSWER,
    WANT_STRATUM
};

struct parser {
    struct policy *p;
    enum stage stage;
    bool no_party;
    struct span word[WORDS];
    size_t n;
};

static bool name_valid(struct span s)
{
    if (s.n == 0 || s.n >= POLICY_NAME)
        return false;
    for (size_t i = 0; i < s.n; i++) {
        uint8_t c = s.p[i];
        bool plain = (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');

        if (!plain && (i == 0 || (c != '-' && c != '_' && c != '.')))
            return false;
    }
    return true;
}

static void name_copy(char out[POLICY_NAME], struct span s)
{
    memcpy(out, s.p, s.n);
    out[s.n] = '\0';
}

/* "12.5%" as 125000 ppm; at most four decimals. */
static bool percent(struct span s, uint32_t *ret_ppm)
{
    uint32_t v = 0;
    int decimals = -1; /* none seen */

    if (s.n < 2 || s.n > 8 || s.p[s.n - 1] != '%' || s.p[0] == '.' ||
        s.p[s.n - 2] == '.' || (s.p[0] == '0' && s.n > 2 && s.p[1] != '.'))
        return false;
    for (size_t i = 0; i + 1 < s.n; i++) {
        if (s.p[i] == '.' && decimals < 0) {
            decimals = 0;
            continue;
        }
        if (s.p[i] < '0' || s.p[i] > '9' || decimals == 4)
            return false;
        v = v * 10 + (uint32_t)(s.p[i] - '0');
        decimals += decimals >= 0;
    }
    for (int i = decimals < 0 ? 0 : decimals; i < 4; i++)
        v *= 10;
    *ret_ppm = v;
    return true;
}

char *policy_percent(uint32_t ppm, char text[POLICY_PERCENT])
{
    int n = snprintf(text, POLICY_PERCENT, "%u.%04u", ppm / 10000 % 1000,
                     ppm % 10000);

    while (text[n - 1] == '0')
        n--;
    n -= text[n - 1] == '.';
    text[n] = '%';
    text[n + 1] = '\0';
    return text;
}

static const char *line_confidence(struct parser *q)
{
    uint32_t *c = &q->p->confidence_ppm;

    if (q->n != 2 || !percent(q->word[1], c) || *c < PPM / 2 || *c >= PPM)
        return "confidence is a percentage from 50% to below 100%";
    return NULL;
}

static const char *line_party(struct parser *q)
{
    struct policy *p = q->p;

    if (q->n != 2 || !name_valid(q->word[1]))
        return "a party is one name of a-z 0-9 . _ -";
    if (q->no_party || (p->n_parties > 0 && span_eq_str(q->word[1], "none")))
        return "party none stands alone";
    if (span_eq_str(q->word[1], "none")) {
        q->no_party = true;
        return NULL;
    }
    for (size_t i = 0; i < p->n_parties; i++)
        if (span_eq_str(q->word[1], p->party[i]))
            return "a party is named twice";
    if (p->n_parties == POLICY_PARTIES)
        return "too many parties";
    name_copy(p->party[p->n_parties++], q->word[1]);
    return NULL;
}

static const char *line_seconds(struct parser *q, uint64_t *ret_s)
{
    if (q->n != 2 || record_parse_u64(q->word[1], ret_s) != PARSE_OK ||
        *ret_s == 0 || *ret_s > 366 * 86400)
        return "a time is a number of seconds, at most a year";
    return NULL;
}

static const char *parse_match(struct span word, struct policy_stratum *s)
{
    static const struct {
        const char *prefix;
        enum policy_match match;
    } valued[] = {{"model=", MATCH_MODEL}, {"api=", MATCH_API}};

    if (span_eq_str(word, "any"))
        s->match = MATCH_ANY;
    else if (span_eq_str(word, "incomplete"))
        s->match = MATCH_INCOMPLETE;
    else if (span_eq_str(word, "unknown"))
        s->match = MATCH_UNKNOWN;
    else {
        for (size_t i = 0; i < sizeof valued / sizeof valued[0]; i++) {
            size_t n = strlen(valued[i].prefix);

            if (word.n <= n || memcmp(word.p, valued[i].prefix, n) != 0)
                continue;
            s->match = valued[i].match;
            if (record_parse_text(span_of(word.p + n, word.n - n), s->value,
                                  sizeof s->value, &s->value_n) == PARSE_OK)
                return NULL;
        }
        return "a match is any, incomplete, unknown, model=TEXT or api=TEXT";
    }
    return NULL;
}

/* The words behind "draw". */
static const char *parse_size(const struct span *w, size_t n,
                              struct policy_stratum *s)
{
    static const char why[] =
        "a size is all, a number, or bad SHARE% [at CONFIDENCE%]";

    if (n == 1 && span_eq_str(w[0], "all")) {
        s->size = SIZE_ALL;
        return NULL;
    }
    if (n == 1) {
        s->size = SIZE_NUMBER;
        return record_parse_u64(w[0], &s->number) == PARSE_OK ? NULL : why;
    }
    s->size = SIZE_BAD;
    if ((n != 2 && n != 4) || !span_eq_str(w[0], "bad") ||
        !percent(w[1], &s->share_ppm) || s->share_ppm == 0 ||
        s->share_ppm > PPM)
        return why;
    if (n == 4 &&
        (!span_eq_str(w[2], "at") || !percent(w[3], &s->confidence_ppm) ||
         s->confidence_ppm < PPM / 2 || s->confidence_ppm >= PPM))
        return why;
    return NULL;
}

static const char *line_stratum(struct parser *q)
{
    struct policy *p = q->p;
    struct policy_stratum *s = &p->stratum[p->n_strata];
    const char *why;

    if (p->n_strata == POLICY_STRATA)
        return "too many strata";
    if (q->n < 5 || !span_eq_str(q->word[3], "draw") || !name_valid(q->word[1]))
        return "a stratum is: stratum NAME MATCH draw SIZE";
    if (p->n_strata > 0 && p->stratum[p->n_strata - 1].match == MATCH_ANY)
        return "a stratum behind the one that matches any";
    for (size_t i = 0; i < p->n_strata; i++)
        if (span_eq_str(q->word[1], p->stratum[i].name))
            return "a stratum is named twice";
    name_copy(s->name, q->word[1]);
    s->confidence_ppm = p->confidence_ppm;
    why = parse_match(q->word[2], s);
    if (why == NULL)
        why = parse_size(q->word + 4, q->n - 4, s);
    if (why == NULL)
        p->n_strata++;
    return why;
}

/* One line's words; q->stage says what it must be. */
static const char *line(struct parser *q)
{
    struct span key = q->word[0];

    switch (q->stage) {
    case WANT_HEAD:
        q->stage++;
        return q->n == 1 && span_eq_str(key, "assay-policy/v1")
                   ? NULL
                   : "the first line is assay-policy/v1";
    case WANT_CONFIDENCE:
        q->stage++;
        return span_eq_str(key, "confidence") ? line_confidence(q)
                                              : "confidence is missing";
    case WANT_PARTY:
        q->stage++;
        return span_eq_str(key, "party") ? line_party(q)
                                         : "a party is missing, or party none";
    case WANT_REVEAL:
        if (span_eq_str(key, "party"))
            return line_party(q);
        q->stage++;
        return span_eq_str(key, "reveal_within")
                   ? line_seconds(q, &q->p->reveal_within_s)
                   : "reveal_within is missing";
    case WANT_ANSWER:
        q->stage++;
        return span_eq_str(key, "answer_within")
                   ? line_seconds(q, &q->p->answer_within_s)
                   : "answer_within is missing";
    case WANT_STRATUM:
        return span_eq_str(key, "stratum") ? line_stratum(q)
                                           : "only strata may follow";
    }
    return "unreachable";
}

/* Splits at single spaces; an empty word, or one too many, is refused. */
static bool split(struct span text, struct parser *q)
{
    const uint8_t *start = text.p;

    q->n = 0;
    for (size_t i = 0; i <= text.n; i++) {
        if (i < text.n && (text.p[i] < 0x20 || text.p[i] > 0x7e))
            return false;
        if (i < text.n && text.p[i] != ' ')
            continue;
        if (text.p + i == start || q->n == WORDS)
            return false;
        q->word[q->n++] = span_of(start, (size_t)(text.p + i - start));
        start = text.p + i + 1;
    }
    return true;
}

/* Takes the next line, without its LF; false at the end or when the LF is
 * missing, which leaves bytes in c. */
static bool next_line(struct cursor *c, struct span *ret_line)
{
    const uint8_t *lf =
        cursor_left(c) == 0 ? NULL : memchr(c->p, '\n', cursor_left(c));

    if (lf == NULL)
        return false;
    *ret_line = cursor_take(c, (size_t)(lf - c->p));
    (void)cursor_take(c, 1); /* the LF */
    return true;
}

static const char *parse_lines(struct span text, struct parser *q,
                               unsigned *ret_line)
{
    struct cursor c = cursor_of(text);
    const char *why = NULL;
    struct span l;

    for (*ret_line = 1; next_line(&c, &l); ++*ret_line) {
        if (l.n == 0 || l.p[0] == '#')
            continue;
        why = split(l, q) ? line(q) : "words are parted by one space";
        if (why != NULL)
            return why;
    }
    if (cursor_left(&c) != 0)
        return "the last line has no LF";
    if (q->p->n_strata == 0 ||
        q->p->stratum[q->p->n_strata - 1].match != MATCH_ANY)
        return "the last stratum must match any";
    return NULL;
}

enum parse policy_parse(struct span text, struct policy *ret_p,
                        struct policy_error *ret_e)
{
    struct policy p = {0};
    struct parser q = {.p = &p};

    ret_e->line = 0;
    ret_e->why = text.n > POLICY_MAX ? "the policy is too long"
                                     : parse_lines(text, &q, &ret_e->line);
    if (ret_e->why != NULL)
        return PARSE_BAD;
    sha256(text, p.sha256);
    *ret_p = p;
    return PARSE_OK;
}

static bool matches(const struct policy_stratum *s,
                    const struct policy_facts *f)
{
    struct span value = span_of(s->value, s->value_n);

    switch (s->match) {
    case MATCH_ANY:
        return true;
    case MATCH_INCOMPLETE:
        return !f->complete;
    case MATCH_UNKNOWN:
        return f->api.n == 0;
    case MATCH_MODEL:
        return span_eq(f->model, value);
    case MATCH_API:
        return span_eq(f->api, value);
    }
    return false;
}

uint32_t policy_stratum_of(const struct policy *p,
                           const struct policy_facts *facts)
{
    uint32_t i = 0;

    while (i + 1 < p->n_strata && !matches(&p->stratum[i], facts))
        i++;
    return i;
}

uint64_t policy_sample(const struct policy *p, size_t stratum, uint64_t units)
{
    const struct policy_stratum *s = &p->stratum[stratum];

    if (units == 0 || s->size == SIZE_ALL)
        return units;
    if (s->size == SIZE_NUMBER)
        return s->number < units ? s->number : units;
    return bound_sample_size(units, bound_units_of(s->share_ppm, units),
                             risk_of(s->confidence_ppm, 1));
}
