/*
 * ledger.c - one batch after another into log, vault and index.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "ledger/ledger.h"

#include <errno.h>
#include <inttypes.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/rand.h>
#include <stdio.h>
#include <string.h>

#include "config/clock.h"
#include "index/index_row.h"
#include "ledger/ledger_state.h"
#include "store/base64.h"
#include "store/query.h"
#include "store/record.h"

/* A payload on its way into the batch. */
struct sealed {
    struct vault_entry entry;
    uint8_t salt[VAULT_SALT];
    struct span bytes;
};

/* Place of a name in the kind's list, from *at on; false if it is not there.
 * The list is walked once over all payloads, so their order is checked. */
static bool find_place(const char **at, uint32_t *place, struct span name)
{
    while (**at != '\0') {
        size_t n = strcspn(*at, " ");
        bool found = span_eq(span_of(*at, n), name);

        *at += n;
        *at += strspn(*at, " ");
        (*place)++;
        if (found)
            return true;
    }
    return false;
}

static int check_payloads(const struct ledger_put *p,
                          struct sealed s[INDEX_PAYLOADS], const char **ret_why)
{
    const char *at = p->kind->payloads;
    uint32_t place = 0;

    *ret_why = "too many payloads";
    if (p->n_payloads > INDEX_PAYLOADS)
        return -EINVAL;
    for (size_t i = 0; i < p->n_payloads; i++) {
        *ret_why = "a payload is not of this kind, or out of order";
        if (!find_place(&at, &place, p->payloads[i].name))
            return -EINVAL;
        *ret_why = "a payload is too long";
        if (p->payloads[i].bytes.n > VAULT_PAYLOAD_MAX)
            return -EINVAL;
        s[i].bytes = p->payloads[i].bytes;
        s[i].entry.place = place - 1;
        s[i].entry.len = s[i].bytes.n;
    }
    return 0;
}

/* A salt and a commitment for each. */
static int commit_to(struct sealed *s, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (RAND_priv_bytes(s[i].salt, VAULT_SALT) != 1)
            return -EIO;
        vault_commitment(s[i].salt, s[i].bytes, s[i].entry.commitment);
    }
    return 0;
}

/* The leaf's text. -EINVAL if it does not fit. */
static int write_leaf(struct ledger *l, const struct ledger_put *p,
                      const struct sealed *s, size_t *ret_n)
{
    size_t size = sizeof(l->leaf);
    int n = snprintf(l->leaf, size,
                     "assay-rec/v1\ntype %s\nseq %" PRIu64 "\ntime_ns %" PRId64
                     "\n%.*s",
                     p->kind->name, logfile_next(l->log), clock_wall_ns(),
                     (int)p->body.n, (const char *)p->body.p);

    for (size_t i = 0; i < p->n_payloads && n >= 0 && (size_t)n < size; i++) {
        struct span name = p->payloads[i].name;
        char commitment[48];

        base64_encode(span_of(s[i].entry.commitment, VAULT_HASH), commitment);
        n += snprintf(l->leaf + n, size - (size_t)n,
                      "%.*s_commit %s\n%.*s_len %zu\n", (int)name.n,
                      (const char *)name.p, commitment, (int)name.n,
                      (const char *)name.p, s[i].bytes.n);
    }
    if (n < 0 || n > RECORD_MAX)
        return -EINVAL;
    *ret_n = (size_t)n;
    return 0;
}

static int append(struct ledger *l, struct sealed *s, size_t n, size_t leaf_n,
                  struct ledger_ack *ret_ack)
{
    struct ledger_ack ack = {.seq = logfile_next(l->log)};
    int rc = logfile_append(l->log, span_of(l->leaf, leaf_n), ack.unit);

    for (size_t i = 0; i < n && rc == 0; i++) {
        s[i].entry.seq = ack.seq;
        memcpy(s[i].entry.unit, ack.unit, sizeof(ack.unit));
        rc = vault_append(l->vault, &s[i].entry, s[i].salt, s[i].bytes);
    }
    if (rc != 0)
        l->failed = rc;
    else
        *ret_ack = ack;
    return rc;
}

int ledger_put(struct ledger *l, const struct ledger_put *p,
               struct ledger_ack *ret_ack, const char **ret_why)
{
    struct sealed s[INDEX_PAYLOADS];
    size_t n;
    int rc;

    *ret_why = "an earlier record of the batch failed";
    if (l->failed != 0)
        return l->failed;
    if (!record_check_body(p->kind, p->body, ret_why))
        return -EINVAL;
    rc = check_payloads(p, s, ret_why);
    if (rc != 0)
        return rc;
    *ret_why = "no randomness";
    if (commit_to(s, p->n_payloads) != 0)
        return -EINVAL;
    *ret_why = "the record is too long";
    rc = write_leaf(l, p, s, &n);
    if (rc != 0)
        return rc;
    *ret_why = "the disk does not take it";
    return append(l, s, p->n_payloads, n, ret_ack);
}

int ledger_known(struct ledger *l, const struct kind *k, struct span body,
                 struct ledger_ack *ret_ack)
{
    struct recent_leaf leaf;
    int rc;

    if (l->recent == NULL)
        l->recent = recent_new(l->reader);
    if (l->recent == NULL)
        return -ENOMEM;
    rc = recent_find(l->recent, logfile_count(l->log), k, body, &leaf);
    if (rc == 0) {
        ret_ack->seq = leaf.seq;
        memcpy(ret_ack->unit, leaf.unit, MERKLE_HASH);
    }
    return rc;
}

/* Nothing of the batch may stay. */
static int drop_batch(struct ledger *l, int why)
{
    logfile_abandon(l->log);
    l->failed = 0;
    return vault_abandon(l->vault) == 0 ? why : -ENOTRECOVERABLE;
}

int ledger_commit(struct ledger *l)
{
    int rc = l->failed != 0 ? l->failed : vault_commit(l->vault);

    if (rc == -ENOTRECOVERABLE)
        return rc;
    if (rc != 0)
        return drop_batch(l, rc);
    /* If the log now fails its payloads stay in the vault without a leaf: the
     * index would take a later leaf's for theirs, so they go as well. */
    rc = logfile_commit(l->log);
    if (rc == 0) {
        l->vault_end = vault_end(l->vault);
        return 0;
    }
    if (rc != -ENOTRECOVERABLE && vault_cut(l->vault, l->vault_end) != 0)
        rc = -ENOTRECOVERABLE;
    return rc;
}

int ledger_follow(struct ledger *l, uint64_t max, bool *ret_more)
{
    uint64_t end = logfile_count(l->log);
    int rc = indexer_forward(l->index, l->reader, l->vault, end, max);

    *ret_more = indexer_leaves(l->index) < end;
    return rc != 0 ? rc : indexer_tidy(l->index);
}

static int add_note(void *index, const struct merkle_head *head,
                    const char *note)
{
    return indexer_add_checkpoint(index, head, note);
}

int ledger_add_notes(struct ledger *l, struct indexer *x)
{
    return signing_each(l->signing, indexer_last_checkpoint(x), add_note, x);
}

int ledger_checkpoint(struct ledger *l, char ret_note[LEDGER_NOTE])
{
    struct merkle_head head = logfile_head(l->log);
    int rc = signing_sign(l->signing, l->reader, &head, ret_note);

    return rc != 0 ? rc : ledger_add_notes(l, l->index);
}

uint64_t ledger_unsigned(const struct ledger *l)
{
    return logfile_count(l->log) - signing_last_size(l->signing);
}

const char *ledger_dir(const struct ledger *l)
{
    return l->state_dir;
}

sqlite3 *ledger_db(const struct ledger *l)
{
    return indexer_db(l->index);
}

uint64_t ledger_indexed(const struct ledger *l)
{
    return indexer_leaves(l->index);
}

int ledger_leaf(struct ledger *l, uint64_t seq, struct leaf *ret_leaf)
{
    return leaflog_read(l->reader, seq, ret_leaf);
}

/* Where the index says the payload is. */
static int locate(struct ledger *l, uint64_t seq, const char *name,
                  uint64_t *ret_offset)
{
    static const char sql[] =
        "SELECT offset FROM vault WHERE seq=?1 AND name=?2";
    int rc = 0;
    struct query q = query_open(ledger_db(l), sql, &rc);

    query_bind_u64(&q, 1, seq);
    query_bind_text(&q, 2, span_str(name));
    if (!query_next(&q))
        rc = rc != 0 ? rc : -ENOENT;
    else if (query_null(&q, 0))
        rc = -ENODATA;
    else
        *ret_offset = query_u64(&q, 0);
    query_close(&q);
    return rc;
}

int ledger_payload(struct ledger *l, uint64_t seq, const char *name,
                   uint8_t **ret_bytes, size_t *ret_n)
{
    uint64_t offset = 0;
    int rc = locate(l, seq, name, &offset);

    return rc != 0 ? rc : vault_read(l->vault, offset, ret_bytes, ret_n);
}

/* seq of the row with this unit in a kind's table. */
static int find_in(struct ledger *l, const struct kind *k,
                   const uint8_t unit[MERKLE_HASH], uint64_t *ret_seq)
{
    char *sql =
        sqlite3_mprintf("SELECT seq FROM \"%w\" WHERE unit=?1", k->name);
    int rc = 0;
    struct query q = query_open(ledger_db(l), sql, &rc);

    sqlite3_free(sql);
    query_bind_bytes(&q, 1, span_of(unit, MERKLE_HASH));
    return query_one(&q, ret_seq);
}

int ledger_find(struct ledger *l, const uint8_t unit[MERKLE_HASH],
                uint64_t *ret_seq, const struct kind **ret_kind)
{
    int rc = -ENOENT;

    for (const struct kind *k = kinds; k->name != NULL && rc == -ENOENT; k++) {
        if (*k->payloads == '\0')
            continue;
        rc = find_in(l, k, unit, ret_seq);
        if (rc == 0)
            *ret_kind = k;
    }
    return rc;
}

int ledger_derive(const struct ledger *l, struct span purpose,
                  uint8_t ret_secret[32])
{
    unsigned n = 32;

    return HMAC(EVP_sha256(), l->keys.vault, KEY_BYTES, purpose.p, purpose.n,
                ret_secret, &n) != NULL
               ? 0
               : -EIO;
}
