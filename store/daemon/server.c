/*
 * server.c - the loop of assay-store.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "daemon/server.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "config/clock.h"
#include "config/log.h"
#include "daemon/batch.h"
#include "daemon/operation.h"
#include "daemon/peer.h"

enum {
    BACKLOG = 16,
    PEERS = 64,
    RETRY_MS = 1000,             /* after a full disk */
    TURN_BYTES = 8 * 1024 * 1024 /* taken from one peer in one turn */
};

struct server {
    struct server_config config;
    struct batch batch;
    struct jobs *jobs;
    int listener[ROLES];
    struct peer *peer[PEERS];
    size_t n_peers;
    bool busy; /* jobs have more to do */
    int64_t next_checkpoint_ms;
    int said_checkpoint, said_jobs;
    bool said_away[ROLES]; /* that this user was turned away last */
    uid_t away[ROLES];
};

/* The socket's mode lets everybody knock; the uid decides who comes in. */
static int listen_at(const char *run_dir, const char *role, int *ret_fd)
{
    struct sockaddr_un a = {.sun_family = AF_UNIX};
    int n =
        snprintf(a.sun_path, sizeof(a.sun_path), "%s/%s.sock", run_dir, role);
    int fd, rc = 0;

    if (n < 0 || (size_t)n >= sizeof(a.sun_path))
        return -ENAMETOOLONG;
    if (unlink(a.sun_path) != 0 && errno != ENOENT)
        return -errno;
    fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0)
        return -errno;
    if (bind(fd, (const struct sockaddr *)&a, sizeof(a)) != 0 ||
        chmod(a.sun_path, 0666) != 0 || listen(fd, BACKLOG) != 0)
        rc = -errno;
    if (rc != 0)
        close(fd);
    else
        *ret_fd = fd;
    return rc;
}

int server_open(const struct server_config *config, struct ledger *l,
                struct jobs *j, struct server **ret_s)
{
    struct server *s = calloc(1, sizeof *s);
    int rc = 0;

    if (s == NULL)
        return -ENOMEM;
    s->config = *config;
    batch_init(&s->batch, l);
    s->jobs = j;
    s->next_checkpoint_ms = clock_steady_ms();
    for (size_t i = 0; i < ROLES; i++)
        s->listener[i] = -1;
    for (size_t i = 0; i < ROLES && rc == 0; i++)
        rc = listen_at(config->run_dir, role_rows[i].name, &s->listener[i]);
    if (rc != 0)
        server_close(s);
    else
        *ret_s = s;
    return rc;
}

void server_close(struct server *s)
{
    if (s == NULL)
        return;
    for (size_t i = 0; i < s->n_peers; i++)
        peer_close(s->peer[i]);
    for (size_t i = 0; i < ROLES; i++)
        if (s->listener[i] >= 0)
            close(s->listener[i]);
    batch_fini(&s->batch);
    free(s);
}

/* Who is not let in is told so, and the log once: it may knock for ever. */
static void turn_away(struct server *s, size_t role, int fd, uid_t uid)
{
    struct frame_out out = {0};
    size_t begun = frame_begin(&out, FRAME_REFUSED, FRAME_NO_CALL);
    char why[128];

    (void)snprintf(why, sizeof(why), "role %s is for uid %ld, this is uid %ld",
                   role_rows[role].name, (long)s->config.uid[role], (long)uid);
    frame_add_be(&out, EPERM, 4);
    frame_add(&out, span_str(why));
    frame_end(&out, begun);
    if (!out.failed)
        (void)send(fd, out.p, out.n, MSG_NOSIGNAL | MSG_DONTWAIT);
    frame_out_fini(&out);
    close(fd);
    if (!s->said_away[role] || s->away[role] != uid)
        log_warnx("connection refused: %s", why);
    s->said_away[role] = true;
    s->away[role] = uid;
}

static void accept_peer(struct server *s, size_t role)
{
    int fd = accept4(s->listener[role], NULL, NULL, SOCK_CLOEXEC);
    struct ucred who = {.uid = (uid_t)-1};
    socklen_t n = sizeof(who);

    if (fd < 0)
        return; /* it is gone again */
    if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &who, &n) != 0 ||
        who.uid != s->config.uid[role]) {
        turn_away(s, role, fd, who.uid);
        return;
    }
    if (s->n_peers == PEERS) {
        log_warnx("too many connections role=%s", role_rows[role].name);
        close(fd);
        return;
    }
    s->peer[s->n_peers] =
        peer_open(fd, role_rows[role].role, role_rows[role].name);
    s->n_peers += s->peer[s->n_peers] != NULL;
}

/* Takes the frames that are whole. */
static void take_frames(struct server *s, struct peer *p)
{
    struct frame f;
    size_t at = 0;

    while (s->batch.fatal == 0 && peer_frame(p, &at, &f)) {
        operation_do(&s->batch, p, &f);
        if (s->batch.fatal == 0 && batch_is_full(&s->batch))
            (void)batch_commit(&s->batch); /* the peers are told */
    }
    peer_consume(p, at);
}

/* One connection's turn: as long as it has something, within a bound. */
static void serve(struct server *s, struct peer *p)
{
    size_t total = 0, n;

    do {
        n = peer_receive(p);
        total += n;
        take_frames(s, p);
    } while (n != 0 && total < TURN_BYTES && !p->dead && s->batch.fatal == 0);
}

static void end_dead(struct server *s)
{
    for (size_t i = 0; i < s->n_peers;) {
        if (!s->peer[i]->dead) {
            i++;
            continue;
        }
        peer_close(s->peer[i]);
        s->peer[i] = s->peer[--s->n_peers];
    }
}

static void sign(struct server *s)
{
    char note[LEDGER_NOTE];

    s->next_checkpoint_ms = clock_steady_ms() + 1000 * s->config.checkpoint_s;
    if (ledger_unsigned(s->batch.ledger) != 0)
        batch_say("checkpoint", ledger_checkpoint(s->batch.ledger, note),
                  &s->said_checkpoint);
}

/* One piece of the jobs' work, made durable and indexed at once: its record
 * tells the next piece what is done. */
static void work(struct server *s)
{
    bool did = false;
    int rc = jobs_step(s->jobs, &did), committed;

    s->busy = false;
    if (rc == 0 && !did)
        return;
    committed = batch_commit(&s->batch);
    if (rc == 0)
        rc = committed;
    batch_say("jobs", rc, &s->said_jobs);
    if (rc == 0)
        rc = batch_follow(&s->batch, true);
    s->busy = rc == 0;
}

/* Until the next thing that is due. */
static int64_t wait_ms(const struct server *s)
{
    int64_t until = s->next_checkpoint_ms, ms;

    if (s->batch.behind && s->batch.follow_ms < until)
        until = s->batch.follow_ms;
    if (s->said_jobs != 0 && clock_steady_ms() + RETRY_MS < until)
        until = clock_steady_ms() + RETRY_MS;
    ms = until - clock_steady_ms();
    return s->busy || ms < 0 ? 0 : ms;
}

static size_t fill_polls(const struct server *s, struct pollfd *polls)
{
    size_t n = 0;

    for (size_t i = 0; i < ROLES; i++)
        polls[n++] = (struct pollfd){.fd = s->listener[i], .events = POLLIN};
    for (size_t i = 0; i < s->n_peers; i++) {
        const struct peer *p = s->peer[i];
        short events = (short)((peer_may_read(p) ? POLLIN : 0) |
                               (peer_wants_write(p) ? POLLOUT : 0));

        polls[n++] = (struct pollfd){.fd = p->fd, .events = events};
    }
    return n;
}

/* What poll found: frames first, then newcomers, who wait for the next turn. */
static void serve_all(struct server *s, const struct pollfd *polls)
{
    size_t n = s->n_peers;

    for (size_t i = 0; i < n && s->batch.fatal == 0; i++) {
        short found = polls[ROLES + i].revents;

        if ((found & (POLLIN | POLLHUP | POLLERR)) != 0)
            serve(s, s->peer[i]);
    }
    for (size_t i = 0; i < ROLES; i++)
        if ((polls[i].revents & POLLIN) != 0)
            accept_peer(s, i);
}

/* Makes durable what came in. Who is not the tap finds its own records in the
 * index when it is told that they are there. */
static void commit_turn(struct server *s)
{
    if (s->batch.n != 0 && s->batch.fatal == 0)
        (void)batch_commit(&s->batch); /* the peers are told */
    if (s->batch.fatal == 0 && s->batch.ahead)
        (void)batch_follow(&s->batch, true); /* said, and tried again */
    s->batch.ahead = false;
}

/* What is due now, after the answers. */
static void do_due(struct server *s)
{
    if (s->batch.fatal == 0 && s->batch.behind &&
        clock_steady_ms() >= s->batch.follow_ms)
        (void)batch_follow(&s->batch, false); /* said, and tried again */
    if (s->batch.fatal == 0)
        work(s);
    if (s->batch.fatal == 0 && clock_steady_ms() >= s->next_checkpoint_ms)
        sign(s);
}

static int turn(struct server *s, const sigset_t *mask)
{
    struct pollfd polls[ROLES + PEERS];
    size_t n = fill_polls(s, polls);
    int64_t ms = wait_ms(s);
    struct timespec wait = {ms / 1000, ms % 1000 * 1000000};

    if (ppoll(polls, n, &wait, mask) < 0)
        return errno == EINTR ? 0 : -errno;
    serve_all(s, polls);
    commit_turn(s);
    for (size_t i = 0; i < s->n_peers && s->batch.fatal == 0; i++)
        peer_send(s->peer[i]);
    end_dead(s);
    do_due(s);
    return s->batch.fatal;
}

int server_run(struct server *s, const volatile sig_atomic_t *stop,
               const sigset_t *mask)
{
    int rc = 0;

    while (rc == 0 && !*stop)
        rc = turn(s, mask);
    if (rc == 0) {
        sign(s);
        /* For who reads while no store runs; else the next start does it. */
        (void)batch_follow(&s->batch, true);
    }
    return rc;
}
