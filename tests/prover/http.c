/*
 * http.c - requests in, bytes out. libmicrohttpd speaks HTTP/1.1 (keep-alive,
 * pipelining, chunks); here stand the routes and the two ways of answering: a
 * whole body when the call has ended, or its events as they come. A connection
 * that waits for the engine is suspended; http_wake resumes it.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "http.h"

#include <arpa/inet.h>
#include <jansson.h>
#include <microhttpd.h>
#include <stdlib.h>
#include <string.h>

#include "config/exit.h"
#include "config/log.h"
#include "prover.h"
#include "recompute/model.h"
#include "recompute/model_config.h"

enum { BODY_MAX = 16 << 20, BLOCK_BYTES = 16 << 10 };

static enum MHD_Result send_body(struct call *c, int status, const char *type)
{
    struct MHD_Response *r = MHD_create_response_from_buffer(
        c->n_out, c->out, MHD_RESPMEM_MUST_COPY);
    enum MHD_Result result = MHD_NO;

    if (r != NULL &&
        MHD_add_response_header(r, "Content-Type", type) == MHD_YES)
        result = MHD_queue_response(c->connection, (unsigned)status, r);
    MHD_destroy_response(r);
    return result;
}

static enum MHD_Result send_error(struct call *c, int status, const char *why)
{
    call_error(c, status, why);
    return send_body(c, status, "application/json");
}

/* The bytes of one event at a time, so that each is a chunk of its own. */
static ssize_t next_bytes(void *cls, uint64_t pos, char *buf, size_t max)
{
    struct call *c = cls;
    size_t n = c->n_out - c->sent;
    const char *end;

    (void)pos; /* c->sent says the same */
    if (n == 0 && c->finished)
        return MHD_CONTENT_READER_END_OF_STREAM;
    if (n == 0) {
        c->suspended = true;
        MHD_suspend_connection(c->connection);
        return 0;
    }
    end = memmem(c->out + c->sent, n, "\n\n", 2);
    if (end != NULL)
        n = (size_t)(end - (c->out + c->sent)) + 2;
    n = n < max ? n : max;
    memcpy(buf, c->out + c->sent, n);
    c->sent += n;
    return (ssize_t)n;
}

static enum MHD_Result send_events(struct call *c)
{
    struct MHD_Response *r = MHD_create_response_from_callback(
        MHD_SIZE_UNKNOWN, BLOCK_BYTES, next_bytes, c, NULL);
    enum MHD_Result result = MHD_NO;

    if (r != NULL &&
        MHD_add_response_header(r, "Content-Type", "text/event-stream") ==
            MHD_YES &&
        MHD_add_response_header(r, "Cache-Control", "no-cache") == MHD_YES)
        result = MHD_queue_response(c->connection, MHD_HTTP_OK, r);
    MHD_destroy_response(r);
    return result;
}

void http_wake(struct call *c)
{
    if (!c->suspended)
        return;
    c->suspended = false;
    MHD_resume_connection(c->connection);
}

static enum MHD_Result generate_route(struct call *c, bool chat)
{
    const char *why = "";
    int status;

    if (c->finished) /* resumed: the engine is done with it */
        return send_body(c, MHD_HTTP_OK, "application/json");
    c->chat = chat;
    status = call_begin(c, &why);
    if (status != 0)
        return send_error(c, status, why);
    engine_add(c->prover->engine, c);
    if (c->finished)
        return send_body(c, MHD_HTTP_SERVICE_UNAVAILABLE, "application/json");
    if (c->streamed)
        return send_events(c);
    c->suspended = true;
    MHD_suspend_connection(c->connection);
    return MHD_YES;
}

static enum MHD_Result models_route(struct call *c)
{
    json_t *j =
        json_pack("{s:s,s:[{s:s,s:s,s:i,s:s,s:i}]}", "object", "list", "data",
                  "id", c->prover->name, "object", "model", "created", 0,
                  "owned_by", "assay-prover", "max_model_len",
                  (int)c->prover->requests.config->context);
    char *text = json_dumps(j, JSON_COMPACT);

    if (text == NULL)
        fatalx(EXIT_IO, "no memory");
    call_write(c, text, strlen(text));
    free(text);
    json_decref(j);
    return send_body(c, MHD_HTTP_OK, "application/json");
}

static const struct route {
    const char *method, *path;
} routes[] = {
    {"POST", "/v1/completions"}, {"POST", "/v1/chat/completions"},
    {"GET", "/v1/models"},       {"GET", "/health"},
    {"POST", "/assay/v1/steps"}, /* a feed sent to ourselves: taken, passed
                                    over; the tap reads it on the wire */
};

static enum MHD_Result route(struct call *c, const char *method,
                             const char *path)
{
    size_t i = 0, n = sizeof(routes) / sizeof(routes[0]);

    while (i < n && strcmp(path, routes[i].path) != 0)
        i++;
    if (i == n)
        return send_error(c, MHD_HTTP_NOT_FOUND, "there is no such page");
    if (strcmp(method, routes[i].method) != 0)
        return send_error(c, MHD_HTTP_METHOD_NOT_ALLOWED,
                          "not with this method");
    if (i < 2)
        return generate_route(c, i == 1);
    if (i == 2)
        return models_route(c);
    return send_body(c, i == 3 ? MHD_HTTP_OK : MHD_HTTP_NO_CONTENT,
                     "text/plain");
}

static enum MHD_Result take_body(struct call *c, const char *bytes, size_t n)
{
    uint8_t *grown;

    if (n > BODY_MAX - c->n_body)
        return MHD_NO; /* ends the connection */
    grown = realloc(c->body, c->n_body + n);
    if (grown == NULL)
        return MHD_NO;
    memcpy(grown + c->n_body, bytes, n);
    c->body = grown;
    c->n_body += n;
    return MHD_YES;
}

/* The library's type of function. */
/* NOLINTNEXTLINE(readability-function-size) */
static enum MHD_Result on_request(void *cls, struct MHD_Connection *connection,
                                  const char *url, const char *method,
                                  const char *version, const char *data,
                                  size_t *n, void **state)
{
    struct call *c = *state;
    enum MHD_Result result;

    (void)version; /* the library speaks it */
    if (c == NULL) {
        c = calloc(1, sizeof *c);
        if (c == NULL)
            return MHD_NO;
        c->prover = cls;
        c->connection = connection;
        *state = c;
        return MHD_YES;
    }
    if (*n > 0) {
        result = take_body(c, data, *n);
        *n = 0;
        return result;
    }
    return route(c, method, url);
}

/* The reply was sent, or the client has gone. */
static void on_end(void *cls, struct MHD_Connection *connection, void **state,
                   enum MHD_RequestTerminationCode why)
{
    struct call *c = *state;

    (void)cls;
    (void)connection;
    (void)why; /* both ways the call is over */
    if (c == NULL)
        return;
    engine_remove(c->prover->engine, c);
    call_free(c);
    *state = NULL;
}

struct MHD_Daemon *http_open(struct prover *p, const char *address,
                             uint16_t port)
{
    struct sockaddr_in sa = {.sin_family = AF_INET, .sin_port = htons(port)};

    if (inet_pton(AF_INET, address, &sa.sin_addr) != 1)
        return NULL;
    return MHD_start_daemon(
        MHD_USE_EPOLL | MHD_ALLOW_SUSPEND_RESUME, port, NULL, NULL, on_request,
        p, MHD_OPTION_SOCK_ADDR, &sa, MHD_OPTION_NOTIFY_COMPLETED, on_end, NULL,
        MHD_OPTION_LISTENING_ADDRESS_REUSE, 1u, MHD_OPTION_END);
}

void http_close(struct MHD_Daemon *d)
{
    MHD_stop_daemon(d);
}

uint16_t http_port(struct MHD_Daemon *d)
{
    const union MHD_DaemonInfo *i =
        MHD_get_daemon_info(d, MHD_DAEMON_INFO_BIND_PORT);

    return i != NULL ? i->port : 0;
}

void http_run(struct MHD_Daemon *d, int wait_ms)
{
    if (MHD_run_wait(d, wait_ms) != MHD_YES)
        fatalx(EXIT_IO, "http");
}
