/*
 * feed.c - the batch feed's emitter. Comes in: passes. Goes out: POSTs of one
 * or more NDJSON lines; the next one leaves when the last was answered.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "feed.h"

#include <errno.h>
#include <jansson.h>
#include <netdb.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "cheat.h"
#include "config/exit.h"
#include "config/log.h"
#include "recompute/sequence.h"

enum { ANSWER_MAX = 4096, POST_BYTES = 256 * 1024, RETRY_MS = 200 };

struct feed {
    const char *engine, *host, *port;
    char name[17]; /* random: "feed" of the messages */
    uint64_t seq;
    int fd;
    int64_t retry_ms; /* when to connect again */

    char *lines; /* not yet answered */
    size_t n_lines, in_post;
    char *post; /* being sent: head and lines[0..in_post) */
    size_t n_post, sent;
    char answer[ANSWER_MAX];
    size_t n_answer;
};

static int64_t clock_ms(void)
{
    struct timespec t;

    (void)clock_gettime(CLOCK_MONOTONIC, &t); /* exists on Linux */
    return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

int feed_open(const char *engine, const char *host, const char *port,
              struct feed **ret_f)
{
    struct feed *f = calloc(1, sizeof *f);
    uint64_t bits;

    if (f == NULL)
        return -ENOMEM;
    if (getrandom(&bits, sizeof(bits), 0) != sizeof(bits)) {
        free(f);
        return -errno;
    }
    f->engine = engine;
    f->host = host;
    f->port = port;
    f->fd = -1;
    (void)snprintf(f->name, sizeof(f->name), "%016llx",
                   (unsigned long long)bits);
    *ret_f = f;
    return 0;
}

void feed_close(struct feed *f)
{
    if (f == NULL)
        return;
    if (f->fd >= 0)
        (void)close(f->fd); /* nothing more to lose */
    free(f->lines);
    free(f->post);
    free(f);
}

static json_t *made(json_t *j)
{
    if (j == NULL)
        fatalx(EXIT_IO, "no memory");
    return j;
}

/* As told, also where a cheat uses others. */
static json_t *params_of(const struct answer *a)
{
    const struct sampling *s = &a->call->request.sampling;

    return made(json_pack("{s:f,s:i,s:f,s:f,s:I,s:I,s:b}", "temperature",
                          (double)s->temperature, "top_k", (int)s->top_k,
                          "top_p", (double)s->top_p, "min_p", (double)s->min_p,
                          "seed", (json_int_t)s->seed, "max_tokens",
                          (json_int_t)a->call->request.max_tokens, "ignore_eos",
                          (int)a->call->request.ignore_eos));
}

static json_t *member_of(struct answer *a, const struct member *m)
{
    json_t *j = made(json_pack("{s:s,s:i,s:I,s:I,s:i}", "id", a->call->id,
                               "choice", (int)a->index, "start",
                               (json_int_t)sequence_length(m->sequence), "n",
                               (json_int_t)m->n, "cached", 0));
    json_t *prompt;

    if (a->announced)
        return j;
    a->announced = true;
    prompt = made(json_array());
    for (size_t i = 0; i < a->g.params.n_prompt; i++)
        if (json_array_append_new(prompt,
                                  json_integer(a->g.params.prompt[i])) != 0)
            fatalx(EXIT_IO, "no memory");
    if (json_object_set_new(j, "prompt", prompt) != 0 ||
        json_object_set_new(j, "params", params_of(a)) != 0)
        fatalx(EXIT_IO, "no memory");
    return j;
}

static void add_line(struct feed *f, const json_t *j)
{
    char *text = json_dumps(j, JSON_COMPACT);
    size_t n = text != NULL ? strlen(text) : 0;
    char *grown = realloc(f->lines, f->n_lines + n + 1);

    if (text == NULL || grown == NULL)
        fatalx(EXIT_IO, "no memory");
    text[n] = '\n'; /* in place of its NUL */
    memcpy(grown + f->n_lines, text, n + 1);
    f->lines = grown;
    f->n_lines += n + 1;
    free(text);
}

void feed_pass(struct feed *f, uint64_t step, struct answer *const *answers,
               const struct member *members, size_t n)
{
    json_t *list = made(json_array()), *j;
    struct timespec t;
    char time_ns[32];

    (void)clock_gettime(CLOCK_REALTIME, &t); /* exists on Linux */
    (void)snprintf(time_ns, sizeof(time_ns), "%lld%09ld", (long long)t.tv_sec,
                   t.tv_nsec);
    for (size_t i = 0; i < n; i++)
        if (answers[i]->call->cheat != CHEAT_UNREPORTED &&
            json_array_append_new(list, member_of(answers[i], &members[i])))
            fatalx(EXIT_IO, "no memory");
    if (json_array_size(list) == 0) {
        json_decref(list); /* a pass of unreported members alone */
        return;
    }
    j = made(json_pack("{s:s,s:s,s:s,s:I,s:I,s:s,s:i,s:o}", "assay",
                       "batch-step/1", "engine", f->engine, "feed", f->name,
                       "seq", (json_int_t)f->seq++, "step", (json_int_t)step,
                       "time_ns", time_ns, "padded", 0, "members", list));
    add_line(f, j);
    json_decref(j);
}

static void disconnect(struct feed *f)
{
    if (f->fd >= 0)
        (void)close(f->fd); /* the lines are kept */
    f->fd = -1;
    f->in_post = 0;
    f->retry_ms = clock_ms() + RETRY_MS;
}

static void connect_to(struct feed *f)
{
    struct addrinfo hints = {.ai_socktype = SOCK_STREAM}, *a;

    if (getaddrinfo(f->host, f->port, &hints, &a) != 0) {
        disconnect(f);
        return;
    }
    f->fd =
        socket(a->ai_family, a->ai_socktype | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (f->fd < 0 || (connect(f->fd, a->ai_addr, a->ai_addrlen) != 0 &&
                      errno != EINPROGRESS))
        disconnect(f);
    freeaddrinfo(a);
}

/* Lines up to POST_BYTES, whole ones, at least one. */
static void begin_post(struct feed *f)
{
    size_t n = f->n_lines;
    const char *end;
    char *post;
    int head;

    if (n > POST_BYTES) {
        end = memrchr(f->lines, '\n', POST_BYTES);
        if (end == NULL)
            end = memchr(f->lines, '\n', n);
        n = (size_t)(end - f->lines) + 1;
    }
    post = realloc(f->post, n + 512);
    if (post == NULL)
        fatalx(EXIT_IO, "no memory");
    head = snprintf(post, 512,
                    "POST /assay/v1/steps HTTP/1.1\r\nHost: %.200s\r\n"
                    "Content-Type: application/x-ndjson\r\n"
                    "Content-Length: %zu\r\n\r\n",
                    f->host, n);
    memcpy(post + head, f->lines, n);
    f->post = post;
    f->n_post = (size_t)head + n;
    f->in_post = n;
    f->sent = f->n_answer = 0;
}

static void send_post(struct feed *f)
{
    ssize_t n;

    while (f->sent < f->n_post) {
        n = send(f->fd, f->post + f->sent, f->n_post - f->sent, MSG_NOSIGNAL);
        if (n < 0 && (errno == EAGAIN || errno == ENOTCONN))
            return;
        if (n < 0) {
            disconnect(f);
            return;
        }
        f->sent += (size_t)n;
    }
}

/* The whole answer is there: its lines are done, or go again. */
static void take_answer(struct feed *f)
{
    if (f->n_answer >= 10 && f->answer[9] == '2') {
        memmove(f->lines, f->lines + f->in_post, f->n_lines - f->in_post);
        f->n_lines -= f->in_post;
        f->in_post = 0;
        return;
    }
    log_warnx("feed: refused, sent again: %.30s", f->answer);
    disconnect(f);
}

static bool answer_whole(const struct feed *f)
{
    const char *end = strstr(f->answer, "\r\n\r\n"), *len;

    if (end == NULL)
        return false;
    len = strcasestr(f->answer, "\r\nContent-Length:");
    if (len == NULL || len > end)
        return true;
    return f->n_answer >=
           (size_t)(end + 4 - f->answer) + strtoul(len + 17, NULL, 10);
}

static void receive(struct feed *f)
{
    ssize_t n = recv(f->fd, f->answer + f->n_answer,
                     sizeof(f->answer) - 1 - f->n_answer, 0);

    if (n < 0 && (errno == EAGAIN || errno == ENOTCONN))
        return;
    if (n <= 0) {
        disconnect(f);
        return;
    }
    f->n_answer += (size_t)n;
    f->answer[f->n_answer] = '\0';
    if (f->in_post > 0 && answer_whole(f))
        take_answer(f);
}

void feed_run(struct feed *f)
{
    if (f->fd < 0 && f->n_lines > 0 && clock_ms() >= f->retry_ms)
        connect_to(f);
    if (f->fd >= 0 && f->in_post == 0 && f->n_lines > 0)
        begin_post(f);
    if (f->fd >= 0 && f->in_post > 0)
        send_post(f);
    if (f->fd >= 0)
        receive(f);
}

bool feed_idle(const struct feed *f)
{
    return f->n_lines == 0;
}
