/*
 * server.c - the loop of assay-store.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "daemon/server_state.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "config/log.h"

enum {
    BACKLOG = 16,
    RETRY_MS = 1000,      /* after a full disk */
    FOLLOW_LEAVES = 8192, /* read into the index in one turn */
    /* The tap's records may wait for the index: a transaction for each batch
     * would write the same pages over and over. */
    FOLLOW_MS = 100,
    TURN_BYTES = 8 * 1024 * 1024 /* taken from one peer in one turn */
};

const char *const server_role_names[SERVER_ROLES] = {
    "tap", "sampler", "recompute", "compare", "web"};
static const enum role roles[SERVER_ROLES] = {
    ROLE_TAP, ROLE_SAMPLER, ROLE_RECOMPUTE, ROLE_COMPARE, ROLE_WEB};

static int64_t now_ms(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

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
    struct server *s = calloc(1, sizeof(*s));
    int rc = 0;

    if (s == NULL)
        return -ENOMEM;
    s->config = *config;
    s->ledger = l;
    s->jobs = j;
    s->next_checkpoint_ms = now_ms();
    for (size_t i = 0; i < SERVER_ROLES; i++)
        s->listener[i] = -1;
    for (size_t i = 0; i < SERVER_ROLES && rc == 0; i++)
        rc = listen_at(config->run_dir, server_role_names[i], &s->listener[i]);
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
    for (size_t i = 0; i < SERVER_ROLES; i++)
        if (s->listener[i] >= 0)
            close(s->listener[i]);
    free(s->pending);
    free(s);
}

/* Who is not let in is told so, and the log once: it may knock for ever. */
static void turn_away(struct server *s, size_t role, int fd, uid_t uid)
{
    struct frame_out out = {0};
    size_t begun = frame_begin(&out, FRAME_REFUSED, FRAME_NO_CALL);
    char why[128];

    (void)snprintf(why, sizeof(why), "role %s is for uid %ld, this is uid %ld",
                   server_role_names[role], (long)s->config.uid[role],
                   (long)uid);
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
    if (s->n_peers == SERVER_PEERS) {
        log_warnx("too many connections role=%s", server_role_names[role]);
        close(fd);
        return;
    }
    s->peer[s->n_peers] = peer_open(fd, roles[role], server_role_names[role]);
    s->n_peers += s->peer[s->n_peers] != NULL;
}

/* Answers everything that waits for the batch. */
static void answer(struct server *s, int rc)
{
    for (size_t i = 0; i < s->n_pending; i++) {
        const struct pending *w = &s->pending[i];

        if (w->code != 0)
            peer_refuse(w->peer, w->tag, w->code, w->why);
        else if (rc != 0)
            peer_refuse(w->peer, w->tag, -rc, strerror(-rc));
        else
            peer_ack(w->peer, w->tag, w->ack.seq, w->ack.unit);
    }
    s->n_pending = 0;
    s->batch_bytes = 0;
}

int server_commit(struct server *s)
{
    int rc = ledger_commit(s->ledger);

    if (rc == -ENOTRECOVERABLE) {
        s->fatal = rc;
        return rc; /* nobody is told anything: nothing is known */
    }
    if (rc != 0 && rc != s->said_commit)
        log_warnx("records refused: %s", strerror(-rc));
    if (rc == 0 && s->said_commit != 0)
        log_info("records are taken again");
    s->said_commit = rc;
    s->behind = s->behind || rc == 0;
    answer(s, rc);
    return rc;
}

/* Says a failure once, until it is another or none. */
static void say(const char *what, int rc, int *said)
{
    if (rc != 0 && rc != *said)
        log_warnx("%s: %s", what, strerror(-rc));
    if (rc == 0 && *said != 0)
        log_info("%s: works again", what);
    *said = rc;
}

int server_follow(struct server *s, bool all)
{
    bool more = true;
    int rc = 0;

    while (rc == 0 && more) {
        rc = ledger_follow(s->ledger, FOLLOW_LEAVES, &more);
        if (!all)
            break;
    }
    say("index", rc, &s->said_follow);
    s->behind = rc != 0 || more;
    s->follow_ms = now_ms() + (rc != 0 ? RETRY_MS : FOLLOW_MS);
    return rc;
}

/* Takes the frames that are whole. */
static void take_frames(struct server *s, struct peer *p)
{
    struct frame f;
    size_t at = 0;

    while (s->fatal == 0 && peer_frame(p, &at, &f)) {
        server_frame(s, p, &f);
        if (s->batch_failed || s->n_pending >= BATCH_RECORDS ||
            s->batch_bytes >= BATCH_BYTES) {
            s->batch_failed = false;
            (void)server_commit(s); /* the peers are told */
        }
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
    } while (n != 0 && total < TURN_BYTES && !p->dead && s->fatal == 0);
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

    s->next_checkpoint_ms = now_ms() + 1000 * s->config.checkpoint_s;
    if (ledger_unsigned(s->ledger) != 0)
        say("checkpoint", ledger_checkpoint(s->ledger, note),
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
    committed = server_commit(s);
    if (rc == 0)
        rc = committed;
    say("jobs", rc, &s->said_jobs);
    if (rc == 0)
        rc = server_follow(s, true);
    s->busy = rc == 0;
}

/* Until the next thing that is due. */
static int64_t wait_ms(const struct server *s)
{
    int64_t until = s->next_checkpoint_ms, ms;

    if (s->behind && s->follow_ms < until)
        until = s->follow_ms;
    if (s->said_jobs != 0 && now_ms() + RETRY_MS < until)
        until = now_ms() + RETRY_MS;
    ms = until - now_ms();
    return s->busy || ms < 0 ? 0 : ms;
}

static size_t fill_polls(const struct server *s, struct pollfd *polls)
{
    size_t n = 0;

    for (size_t i = 0; i < SERVER_ROLES; i++)
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

    for (size_t i = 0; i < n && s->fatal == 0; i++) {
        short found = polls[SERVER_ROLES + i].revents;

        if ((found & (POLLIN | POLLHUP | POLLERR)) != 0)
            serve(s, s->peer[i]);
    }
    for (size_t i = 0; i < SERVER_ROLES; i++)
        if ((polls[i].revents & POLLIN) != 0)
            accept_peer(s, i);
}

/* Makes durable what came in. Who is not the tap finds its own records in the
 * index when it is told that they are there. */
static void commit_turn(struct server *s)
{
    if (s->n_pending != 0 && s->fatal == 0)
        (void)server_commit(s); /* the peers are told */
    if (s->fatal == 0 && s->ahead)
        (void)server_follow(s, true); /* said, and tried again */
    s->ahead = false;
}

/* What is due now, after the answers. */
static void do_due(struct server *s)
{
    if (s->fatal == 0 && s->behind && now_ms() >= s->follow_ms)
        (void)server_follow(s, false); /* said, and tried again */
    if (s->fatal == 0)
        work(s);
    if (s->fatal == 0 && now_ms() >= s->next_checkpoint_ms)
        sign(s);
}

static int turn(struct server *s, const sigset_t *mask)
{
    struct pollfd polls[SERVER_ROLES + SERVER_PEERS];
    size_t n = fill_polls(s, polls);
    int64_t ms = wait_ms(s);
    struct timespec wait = {ms / 1000, ms % 1000 * 1000000};

    if (ppoll(polls, n, &wait, mask) < 0)
        return errno == EINTR ? 0 : -errno;
    serve_all(s, polls);
    commit_turn(s);
    for (size_t i = 0; i < s->n_peers && s->fatal == 0; i++)
        peer_send(s->peer[i]);
    end_dead(s);
    do_due(s);
    return s->fatal;
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
        (void)server_follow(s, true);
    }
    return rc;
}
