/*
 * operation.c - what a peer may ask of the store: operation.h.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "daemon/operation.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "config/log.h"
#include "index/precedence.h"
#include "store/kind.h"
#include "store/query.h"
#include "store/record.h"

/* Kinds that stand once in an epoch, and in order: asked of an index that has
 * everything before them. */
static int check_precedence(struct batch *b, const struct ledger_put *p,
                            const char **ret_why)
{
    int rc;

    if (!precedence_binds(p->kind))
        return 0;
    *ret_why = "the records before it cannot be read";
    rc = batch_commit(b) == -ENOTRECOVERABLE ? b->fatal : 0;
    if (rc == 0)
        rc = batch_follow(b, true);
    if (rc == 0)
        rc = precedence_check(ledger_db(b->ledger), p->kind, p->body, ret_why);
    return rc;
}

static int put(struct batch *b, const struct frame_put *in, bool again,
               struct pending *w)
{
    struct ledger_payload payloads[FRAME_PAYLOADS];
    struct ledger_put out = {.kind = kind_of(in->kind),
                             .body = in->body,
                             .payloads = payloads,
                             .n_payloads = in->n_payloads};
    int rc;

    w->why = "no such kind";
    if (out.kind == NULL)
        return -EINVAL;
    w->why = "this role may not add this kind";
    if ((out.kind->roles & w->peer->role) == 0)
        return -EPERM;
    if (again) {
        w->why = "the log cannot be read";
        /* Its old connection was read to the end, and committed, in the turn
         * that let in the new one. */
        rc = ledger_known(b->ledger, out.kind, out.body, &w->ack);
        if (rc != -ENOENT)
            return rc;
    }
    for (size_t i = 0; i < in->n_payloads; i++) {
        payloads[i].name = in->payload[i].name;
        payloads[i].bytes = in->payload[i].bytes;
    }
    rc = check_precedence(b, &out, &w->why);
    return rc != 0 ? rc : ledger_put(b->ledger, &out, &w->ack, &w->why);
}

static void on_put(struct batch *b, struct peer *p, const struct frame *f)
{
    struct pending w = {.peer = p, .tag = f->tag};
    struct frame_put in;
    int rc;

    if (frame_parse_put(f->body, &in) != PARSE_OK) {
        log_warnx("malformed record, connection ended role=%s", p->role_name);
        p->dead = true;
        return;
    }
    rc = put(b, &in, f->op == FRAME_PUT_AGAIN, &w);
    if (b->fatal != 0)
        return; /* nobody is told anything */
    if (rc == -EINVAL || rc == -EPERM || rc == -EEXIST)
        log_warnx("record refused role=%s kind=%.*s: %s", p->role_name,
                  (int)in.kind.n, (const char *)in.kind.p, w.why);
    else if (rc != 0)
        b->failed = true;
    if (p->role != ROLE_TAP)
        b->ahead = true;
    w.code = -rc;
    batch_add(b, &w);
    b->bytes += f->body.n;
}

static void on_checkpoint(struct batch *b, struct peer *p,
                          const struct frame *f)
{
    char note[LEDGER_NOTE];
    int rc;

    if (batch_commit(b) == -ENOTRECOVERABLE)
        return;
    if (p->role != ROLE_SAMPLER) {
        peer_refuse(p, f->tag, EPERM, "this role may not sign checkpoints");
        return;
    }
    /* Whoever reads the checkpoint finds in the index what it covers. */
    rc = batch_follow(b, true);
    if (rc == 0)
        rc = ledger_checkpoint(b->ledger, note);
    if (rc != 0)
        peer_refuse(p, f->tag, -rc, "the checkpoint could not be signed");
    else
        peer_answer(p, FRAME_NOTE, f->tag, span_str(note));
}

/* Is the unit one that was drawn? */
static bool is_drawn(struct batch *b, struct span unit)
{
    int rc = 0;
    struct query q = query_open(
        ledger_db(b->ledger), "SELECT 1 FROM draw_drawn WHERE object=?1", &rc);
    uint64_t one;

    query_bind_bytes(&q, 1, unit);
    return query_one(&q, &one) == 0;
}

/* Who opens what, and why, stands in the log before a byte goes out. */
static int log_access(struct batch *b, const struct frame_reveal *r)
{
    struct ledger_put p = {.kind = kind_find("access")};
    struct ledger_ack ack;
    const char *why;
    struct record a;
    int rc;

    record_init(&a);
    record_text(&a, "actor", r->actor);
    record_hex(&a, "object", r->unit);
    record_text(&a, "payload", r->payload);
    record_text(&a, "reason", r->reason);
    p.body = span_of(a.text, a.n);
    if (a.full)
        return -EMSGSIZE;
    rc = ledger_put(b->ledger, &p, &ack, &why);
    return batch_commit(b) != 0 && rc == 0 ? -EIO : rc;
}

static int reveal(struct batch *b, const struct peer *p,
                  const struct frame_reveal *r, uint8_t **ret_bytes,
                  size_t *ret_n)
{
    const struct kind *kind;
    char name[64];
    uint64_t seq;
    int rc;

    if (r->payload.n >= sizeof(name))
        return -ENOENT;
    memcpy(name, r->payload.p, r->payload.n);
    name[r->payload.n] = '\0';
    rc = batch_follow(b, true);
    if (rc != 0)
        return rc;
    if (p->role != ROLE_WEB && p->role != ROLE_COMPARE)
        return -EPERM;
    if (p->role == ROLE_COMPARE && !is_drawn(b, r->unit))
        return -EPERM;
    rc = ledger_find(b->ledger, r->unit.p, &seq, &kind);
    if (rc == 0)
        rc = log_access(b, r);
    return rc != 0 ? rc
                   : ledger_payload(b->ledger, seq, name, ret_bytes, ret_n);
}

static const char *reveal_refusal(int rc)
{
    switch (rc) {
    case -EPERM:
        return "this role may not open this payload";
    case -ENOENT:
        return "no such record or payload";
    case -ENODATA:
        return "the payload is lost";
    case -EBADMSG:
        return "the payload is damaged or its key is destroyed";
    }
    return "the payload could not be read";
}

static void on_reveal(struct batch *b, struct peer *p, const struct frame *f)
{
    struct frame_reveal r;
    uint8_t *bytes;
    size_t n;
    int rc;

    if (frame_parse_reveal(f->body, &r) != PARSE_OK) {
        log_warnx("malformed question, connection ended role=%s", p->role_name);
        p->dead = true;
        return;
    }
    if (batch_commit(b) == -ENOTRECOVERABLE)
        return;
    rc = reveal(b, p, &r, &bytes, &n);
    if (rc != 0) {
        peer_refuse(p, f->tag, -rc, reveal_refusal(rc));
        return;
    }
    peer_answer(p, FRAME_BYTES, f->tag, span_of(bytes, n));
    free(bytes);
}

void operation_do(struct batch *b, struct peer *p, const struct frame *f)
{
    switch (f->op) {
    case FRAME_PUT:
    case FRAME_PUT_AGAIN:
        on_put(b, p, f);
        break;
    case FRAME_CHECKPOINT:
        on_checkpoint(b, p, f);
        break;
    case FRAME_REVEAL:
        on_reveal(b, p, f);
        break;
    default:
        log_warnx("an answer where a question belongs, connection ended "
                  "role=%s",
                  p->role_name);
        p->dead = true;
    }
}
