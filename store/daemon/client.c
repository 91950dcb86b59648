/*
 * client.c - the other end of the store's sockets. Comes in: records and
 * payloads. Goes out: acknowledgements, notes, revealed payloads.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "store/client.h"

#include <assert.h>
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "config/array.h"
#include "config/clock.h"
#include "config/log.h"
#include "daemon/frame.h"

enum { READ_BYTES = 65536, RETRY_MS = 20 };

struct store_client {
    int fd;
    size_t unacked;
    uint64_t next_tag;    /* of calls that wait */
    struct frame_out out; /* kept between calls for its memory */
    uint8_t *in;          /* received, not yet looked at from in_at on */
    size_t in_at, in_n, in_size;
    bool broken, heard; /* heard: a frame has come */
    bool turned_away;
};

static int connect_to(const char *run_dir, const char *role)
{
    struct sockaddr_un a = {.sun_family = AF_UNIX};
    int n =
        snprintf(a.sun_path, sizeof(a.sun_path), "%s/%s.sock", run_dir, role);
    int fd, rc;

    if (n < 0 || (size_t)n >= sizeof(a.sun_path))
        return -ENAMETOOLONG;
    fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return -errno;
    if (connect(fd, (const struct sockaddr *)&a, sizeof(a)) == 0)
        return fd;
    rc = -errno;
    close(fd);
    return rc;
}

static bool may_appear(int rc)
{
    return rc == -ENOENT || rc == -ECONNREFUSED || rc == -EAGAIN;
}

int store_connect(const char *run_dir, const char *role, int wait_ms,
                  struct store_client **ret_c)
{
    int64_t until_ms = clock_steady_ms() + wait_ms;
    struct store_client *c;
    int fd = connect_to(run_dir, role);

    while (may_appear(fd) && clock_steady_ms() < until_ms) {
        (void)poll(NULL, 0, RETRY_MS); /* a sleep that may end early */
        fd = connect_to(run_dir, role);
    }
    if (fd < 0)
        return fd;
    c = calloc(1, sizeof *c);
    if (c == NULL) {
        close(fd);
        return -ENOMEM;
    }
    c->fd = fd;
    *ret_c = c;
    return 0;
}

void store_close(struct store_client *c)
{
    if (c == NULL)
        return;
    close(c->fd);
    frame_out_fini(&c->out);
    free(c->in);
    free(c);
}

int store_fd(const struct store_client *c)
{
    return c->fd;
}

size_t store_unacked(const struct store_client *c)
{
    return c->unacked;
}

static int broken(struct store_client *c)
{
    c->broken = true;
    return c->turned_away ? -EACCES : -EPIPE;
}

static int make_room(struct store_client *c, size_t n)
{
    uint8_t *p;

    if (c->in_at != 0) {
        memmove(c->in, c->in + c->in_at, c->in_n - c->in_at);
        c->in_n -= c->in_at;
        c->in_at = 0;
    }
    p = array_grow(c->in, &c->in_size, c->in_n, n, 1);
    if (p == NULL)
        return -ENOMEM;
    c->in = p;
    return 0;
}

/* The first words of a store that does not let this user in. */
static bool is_turned_away(struct store_client *c)
{
    struct frame f;
    size_t used;

    if (c->heard || c->in_n == 0 ||
        frame_parse(span_of(c->in, c->in_n), &f, &used) != PARSE_OK)
        return false;
    c->heard = true;
    if (f.op != FRAME_REFUSED || f.tag != FRAME_NO_CALL || f.body.n < 4)
        return false;
    log_warnx("the store does not let us in: %.*s", (int)f.body.n - 4,
              (const char *)f.body.p + 4);
    return true;
}

/* Takes what has arrived, at least one byte; only after poll said so. */
static int receive(struct store_client *c)
{
    ssize_t n;

    if (make_room(c, READ_BYTES) != 0)
        return -ENOMEM;
    n = recv(c->fd, c->in + c->in_n, c->in_size - c->in_n, MSG_DONTWAIT);
    if (n > 0)
        c->in_n += (size_t)n;
    c->turned_away = c->turned_away || is_turned_away(c);
    if (c->turned_away)
        return broken(c);
    if (n > 0 || (n < 0 && (errno == EINTR || errno == EAGAIN)))
        return 0;
    return broken(c);
}

/* Waits for readable, or for what else is asked; -EAGAIN: time is up. */
static int wait_for(struct store_client *c, short events, int64_t until_ms,
                    short *ret_events)
{
    struct pollfd p = {.fd = c->fd, .events = events};
    int64_t left_ms = until_ms - clock_steady_ms();
    int n;

    if (c->broken)
        return broken(c);
    if (until_ms != INT64_MAX && left_ms < 0)
        left_ms = 0;
    n = poll(&p, 1, until_ms == INT64_MAX ? -1 : (int)left_ms);
    if (n < 0 && errno != EINTR)
        return -errno;
    if (n == 0)
        return -EAGAIN;
    *ret_events = n < 0 ? 0 : p.revents;
    return 0;
}

/* Writes c->out. Answers are taken in meanwhile: the store stops reading from
 * who does not read. */
static int send_out(struct store_client *c)
{
    size_t sent = 0;

    while (sent < c->out.n) {
        short events = 0;
        ssize_t n = send(c->fd, c->out.p + sent, c->out.n - sent,
                         MSG_NOSIGNAL | MSG_DONTWAIT);
        int rc = 0;

        if (n > 0) {
            sent += (size_t)n;
            continue;
        }
        if (n < 0 && errno != EAGAIN && errno != EINTR) {
            (void)receive(c); /* it may have said why */
            return broken(c);
        }
        rc = wait_for(c, POLLIN | POLLOUT, INT64_MAX, &events);
        if (rc == 0 && (events & (POLLIN | POLLHUP | POLLERR)) != 0)
            rc = receive(c);
        if (rc != 0)
            return rc;
    }
    return 0;
}

/* The next frame from the store, borrowed until the next call. */
static int next_frame(struct store_client *c, int64_t until_ms,
                      struct frame *ret_f)
{
    for (;;) {
        struct span got = span_of(NULL, 0);
        short events = 0;
        size_t used;
        int rc;

        if (c->in_n != c->in_at)
            got = span_of(c->in + c->in_at, c->in_n - c->in_at);
        switch (frame_parse(got, ret_f, &used)) {
        case PARSE_OK:
            c->in_at += used;
            return 0;
        case PARSE_BAD:
            return broken(c);
        case PARSE_MORE:
            break;
        }
        rc = wait_for(c, POLLIN, until_ms, &events);
        if (rc == 0 && events != 0)
            rc = receive(c);
        if (rc != 0)
            return rc;
    }
}

/* A refusal: logged, and its errno. */
static int refusal(struct store_client *c, const struct frame *f)
{
    struct cursor cur = cursor_of(f->body);
    uint32_t code = cursor_be32(&cur);
    struct span why = cursor_take(&cur, cursor_left(&cur));

    if (cur.bad || code == 0 || code > 4095)
        return broken(c);
    log_warnx("the store refused: %.*s", (int)why.n, (const char *)why.p);
    return -(int)code;
}

int store_send(struct store_client *c, const struct put *p, uint64_t tag)
{
    const struct record *r = p->record;
    size_t begun;
    int rc;

    if (r->full)
        return -EMSGSIZE;
    c->out.n = 0;
    c->out.failed = false;
    begun = frame_begin(&c->out, p->again ? FRAME_PUT_AGAIN : FRAME_PUT, tag);
    frame_add_text(&c->out, span_str(p->kind));
    frame_add_be(&c->out, r->n, 4);
    frame_add(&c->out, span_of(r->text, r->n));
    frame_add_be(&c->out, p->n_payloads, 1);
    for (size_t i = 0; i < p->n_payloads; i++) {
        frame_add_text(&c->out, span_str(p->payloads[i].name));
        frame_add_be(&c->out, p->payloads[i].bytes.n, 4);
        frame_add(&c->out, p->payloads[i].bytes);
    }
    frame_end(&c->out, begun);
    if (c->out.failed)
        return -EMSGSIZE;
    rc = c->broken ? broken(c) : send_out(c);
    if (rc == 0)
        c->unacked++;
    return rc;
}

int store_next_ack(struct store_client *c, int wait_ms, struct put_ack *ret_ack)
{
    int64_t until_ms = wait_ms < 0 ? INT64_MAX : clock_steady_ms() + wait_ms;
    struct put_ack ack;
    struct cursor cur;
    struct frame f;
    int rc;

    if (c->unacked == 0)
        return -EAGAIN;
    rc = next_frame(c, until_ms, &f);
    if (rc != 0)
        return rc;
    c->unacked--;
    if (f.op == FRAME_REFUSED) {
        ret_ack->tag = f.tag;
        return refusal(c, &f);
    }
    cur = cursor_of(f.body);
    ack.tag = f.tag;
    ack.seq = cursor_be64(&cur);
    if (f.op != FRAME_ACK || cursor_left(&cur) != sizeof(ack.unit))
        return broken(c);
    memcpy(ack.unit, cur.p, sizeof(ack.unit));
    *ret_ack = ack;
    return 0;
}

int store_put(struct store_client *c, const struct put *p,
              struct put_ack *ret_ack)
{
    uint64_t tag = c->next_tag++;
    struct put_ack ack;
    int rc;

    assert(c->unacked == 0);
    rc = store_send(c, p, tag);
    if (rc == 0)
        rc = store_next_ack(c, -1, &ack);
    if (rc == 0 && ack.tag != tag)
        return broken(c);
    if (rc == 0)
        *ret_ack = ack;
    return rc;
}

/* Sends c->out and takes the one answer, which must be of this operation. */
static int ask(struct store_client *c, enum frame_op op, struct frame *ret_f)
{
    int rc;

    assert(c->unacked == 0);
    if (c->out.failed)
        return -EMSGSIZE;
    rc = c->broken ? broken(c) : send_out(c);
    if (rc == 0)
        rc = next_frame(c, INT64_MAX, ret_f);
    if (rc == 0 && ret_f->op == FRAME_REFUSED)
        return refusal(c, ret_f);
    if (rc == 0 && ret_f->op != op)
        return broken(c);
    return rc;
}

int store_checkpoint(struct store_client *c, char *note, size_t size)
{
    struct frame f;
    int rc;

    c->out.n = 0;
    c->out.failed = false;
    frame_end(&c->out, frame_begin(&c->out, FRAME_CHECKPOINT, c->next_tag++));
    rc = ask(c, FRAME_NOTE, &f);
    if (rc != 0)
        return rc;
    if (f.body.n >= size)
        return -ENOBUFS;
    memcpy(note, f.body.p, f.body.n);
    note[f.body.n] = '\0';
    return 0;
}

int store_reveal(struct store_client *c, const struct reveal *r,
                 uint8_t **ret_bytes, size_t *ret_n)
{
    struct frame f;
    size_t begun;
    uint8_t *bytes;
    int rc;

    c->out.n = 0;
    c->out.failed = false;
    begun = frame_begin(&c->out, FRAME_REVEAL, c->next_tag++);
    frame_add(&c->out, span_of(r->unit, 32));
    frame_add_text(&c->out, span_str(r->payload));
    frame_add_text(&c->out, span_str(r->actor));
    frame_add_text(&c->out, span_str(r->reason));
    frame_end(&c->out, begun);
    rc = ask(c, FRAME_BYTES, &f);
    if (rc != 0)
        return rc;
    bytes = malloc(f.body.n + 1);
    if (bytes == NULL)
        return -ENOMEM;
    memcpy(bytes, f.body.p, f.body.n);
    *ret_bytes = bytes;
    *ret_n = f.body.n;
    return 0;
}
