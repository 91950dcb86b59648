/*
 * listener.c - the feed listener's connections. One request at a time each:
 * read whole, handed over, answered; then the next on the same connection.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "feed/listener.h"

#include <errno.h>
#include <netdb.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "http1/head.h"
#include "http1/http1.h"

enum { READ_BYTES = 64 * 1024, WHERE_MAX = 280 };

struct client {
    int fd; /* -1: none, or gone while its post is under way */
    struct http1 http;
    struct head head;
    bool in_body, waiting, last;
    uint8_t *text; /* head, then body */
    size_t n, size, head_n;
    struct post post;
    uint64_t used; /* when it was last served, to find the idlest */
};

struct listener {
    int fd;
    listener_fn body;
    void *ctx;
    uint64_t clock;
    struct client clients[LISTENER_CONNECTIONS];
};

/* ---- the socket */

static int split_where(const char *where, char *host, const char **ret_port)
{
    const char *colon = strrchr(where, ':');
    size_t n = colon == NULL ? 0 : (size_t)(colon - where);
    const char *from = where;

    if (colon == NULL || n >= WHERE_MAX || colon[1] == '\0')
        return -EINVAL;
    if (n >= 2 && where[0] == '[' && where[n - 1] == ']') {
        from++;
        n -= 2;
    }
    memcpy(host, from, n);
    host[n] = '\0';
    *ret_port = colon + 1;
    return 0;
}

static int open_address(const struct addrinfo *a)
{
    int one = 1;
    int fd =
        socket(a->ai_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);

    if (fd < 0)
        return -errno;
    if (setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one) != 0 ||
        bind(fd, a->ai_addr, a->ai_addrlen) != 0 || listen(fd, 64) != 0) {
        int err = -errno;

        close(fd);
        return err;
    }
    return fd;
}

int listener_socket(const char *where, int *ret_fd)
{
    struct addrinfo hints = {.ai_socktype = SOCK_STREAM,
                             .ai_flags = AI_NUMERICSERV};
    struct addrinfo *list;
    char host[WHERE_MAX];
    const char *port;
    int fd = split_where(where, host, &port);

    if (fd != 0)
        return fd;
    if (getaddrinfo(host[0] == '\0' ? "127.0.0.1" : host, port, &hints,
                    &list) != 0)
        return -EINVAL;
    fd = -EINVAL;
    for (const struct addrinfo *a = list; a != NULL && fd < 0; a = a->ai_next)
        fd = open_address(a);
    freeaddrinfo(list);
    if (fd < 0)
        return fd;
    *ret_fd = fd;
    return 0;
}

/* ---- clients */

static void client_begin(struct client *c)
{
    http1_init(&c->http);
    memset(&c->head, 0, sizeof c->head);
    memset(&c->post, 0, sizeof c->post);
    c->in_body = c->waiting = c->last = false;
    c->n = c->head_n = 0;
}

/* The post, if one is under way, stays until it is settled. */
static void client_drop(struct client *c)
{
    if (c->fd >= 0)
        close(c->fd);
    c->fd = -1;
    free(c->text);
    c->text = NULL;
    c->size = 0;
    if (c->post.left == 0)
        client_begin(c);
}

static void answer(struct client *c, const char *status)
{
    char text[256];
    int n = snprintf(text, sizeof text, "HTTP/1.1 %s\r\n%s%s\r\n", status,
                     status[0] == '2' ? "" : "Content-Length: 0\r\n",
                     c->last ? "Connection: close\r\n" : "");

    if (send(c->fd, text, (size_t)n, MSG_NOSIGNAL | MSG_DONTWAIT) != n ||
        c->last)
        client_drop(c);
    else
        client_begin(c);
}

static void refuse(struct client *c, const char *status)
{
    c->last = true;
    answer(c, status);
}

static bool keep(struct client *c, struct span s)
{
    size_t size = c->size != 0 ? c->size : READ_BYTES;
    uint8_t *p;

    while (size - c->n < s.n)
        size *= 2;
    if (size != c->size) {
        p = realloc(c->text, size);
        if (p == NULL)
            return false;
        c->text = p;
        c->size = size;
    }
    memcpy(c->text + c->n, s.p, s.n);
    c->n += s.n;
    return true;
}

/* The head is there: is it a feed message? True: go on. */
static bool head_read(struct client *c)
{
    struct span raw = span_of(c->text, c->n);
    bool feed;

    head_parse(raw, HEAD_REQUEST, &c->head);
    feed = feed_is_post(range_of(raw, c->head.method),
                        range_of(raw, c->head.target));
    c->last = c->head.minor == 0;
    c->head_n = c->n;
    c->in_body = true;
    if (c->head.broken || c->head.content.n > 0 || c->head.transfer.n > 0)
        refuse(c, "400 Bad Request");
    else if (!feed)
        refuse(c, "404 Not Found");
    else if (c->head.framing == HTTP1_LENGTH &&
             c->head.length > LISTENER_POST_MAX)
        refuse(c, "413 Content Too Large");
    else
        return true;
    return false;
}

static void post_read(struct listener *l, struct client *c)
{
    c->waiting = true;
    l->body(l->ctx, &c->post, span_of(c->text + c->head_n, c->n - c->head_n));
}

/* One step of the parser; false: stop, the client was answered or dropped, or
 * its request is whole. */
static bool take_step(struct listener *l, struct client *c, struct span *in)
{
    struct http1_piece piece;
    enum http1_step step = http1_next(&c->http, *in, &piece);
    bool wanted = piece.kind == HTTP1_CONTENT ||
                  (piece.kind == HTTP1_FRAMING && !c->in_body);

    if (wanted && (c->n + piece.n > c->head_n + LISTENER_POST_MAX ||
                   !keep(c, span_of(in->p, piece.n)))) {
        refuse(c, "413 Content Too Large");
        return false;
    }
    *in = span_of(in->p + piece.n, in->n - piece.n);
    if (step == HTTP1_LINE &&
        !head_start_line(span_of(c->text, c->n), HEAD_REQUEST)) {
        refuse(c, "400 Bad Request");
        return false;
    }
    if (step == HTTP1_HEAD) {
        if (!head_read(c))
            return false;
        if (!http1_body(&c->http, c->head.framing, c->head.length))
            return true;
        step = HTTP1_END;
    }
    if (step == HTTP1_END) {
        post_read(l, c);
        return false;
    }
    if (step == HTTP1_BROKEN || step == HTTP1_TOO_LONG)
        refuse(c, "400 Bad Request");
    return step == HTTP1_MORE || step == HTTP1_LINE;
}

/* Who sends the next request before this one is answered has to wait: what is
 * left of the read is more than we look at, so it is refused. */
static void client_read(struct listener *l, struct client *c)
{
    uint8_t bytes[READ_BYTES];
    ssize_t n = recv(c->fd, bytes, sizeof bytes, MSG_DONTWAIT);
    struct span in;

    if (n < 0 && (errno == EAGAIN || errno == EINTR))
        return;
    if (n <= 0) {
        client_drop(c);
        return;
    }
    in = span_of(bytes, (size_t)n);
    while (in.n > 0 && take_step(l, c, &in))
        continue;
    if (c->fd >= 0 && c->waiting && in.n > 0)
        c->last = true;
}

static void client_settle(struct client *c)
{
    if (!c->waiting || c->post.left > 0)
        return;
    if (c->fd < 0)
        client_begin(c);
    else if (c->post.lost)
        answer(c, "503 Service Unavailable");
    else if (c->post.bad > 0)
        answer(c, "400 Bad Request");
    else
        answer(c, "204 No Content");
}

/* ---- the listener */

int listener_open(int fd, listener_fn body, void *ctx, struct listener **ret_l)
{
    struct listener *l = calloc(1, sizeof *l);

    if (l == NULL)
        return -ENOMEM;
    l->fd = fd;
    l->body = body;
    l->ctx = ctx;
    for (size_t i = 0; i < LISTENER_CONNECTIONS; i++)
        l->clients[i].fd = -1;
    *ret_l = l;
    return 0;
}

void listener_close(struct listener *l)
{
    if (l == NULL)
        return;
    for (size_t i = 0; i < LISTENER_CONNECTIONS; i++)
        client_drop(&l->clients[i]);
    close(l->fd);
    free(l);
}

static bool is_free(const struct client *c)
{
    return c->fd < 0 && c->post.left == 0;
}

static void accept_client(struct listener *l)
{
    struct client *c = NULL;
    int fd = accept4(l->fd, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);

    if (fd < 0)
        return; /* it went away */
    for (size_t i = 0; i < LISTENER_CONNECTIONS; i++) {
        struct client *k = &l->clients[i];

        if (k->post.left > 0)
            continue;
        if (c == NULL || (is_free(k) && !is_free(c)) ||
            (is_free(k) == is_free(c) && k->used < c->used))
            c = k;
    }
    if (c == NULL) {
        close(fd);
        return;
    }
    client_drop(c); /* the idlest, if none is free */
    c->fd = fd;
    c->used = ++l->clock;
}

size_t listener_poll(const struct listener *l, struct pollfd *fds)
{
    size_t n = 0;

    fds[n++] = (struct pollfd){.fd = l->fd, .events = POLLIN};
    for (size_t i = 0; i < LISTENER_CONNECTIONS; i++)
        if (l->clients[i].fd >= 0 && !l->clients[i].waiting)
            fds[n++] =
                (struct pollfd){.fd = l->clients[i].fd, .events = POLLIN};
    return n;
}

void listener_serve(struct listener *l, const struct pollfd *fds, size_t n)
{
    for (size_t i = 1; i < n; i++) {
        for (size_t k = 0; k < LISTENER_CONNECTIONS && fds[i].revents != 0;
             k++) {
            if (l->clients[k].fd != fds[i].fd)
                continue;
            l->clients[k].used = ++l->clock;
            client_read(l, &l->clients[k]);
            break;
        }
    }
    if (n > 0 && fds[0].revents != 0)
        accept_client(l);
}

void listener_settle(struct listener *l)
{
    for (size_t k = 0; k < LISTENER_CONNECTIONS; k++)
        client_settle(&l->clients[k]);
}
