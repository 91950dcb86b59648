/*
 * dump_exchanges.c - a capture file through the whole tap, without a store:
 * dump_exchanges [-b BACKEND] FILE. One JSON object a line: each exchange with
 * lengths and digests of its parts, each run of stray bytes, each gap, at the
 * end the totals. With -q only the totals (for measuring). Exit 4: the file
 * cannot be read.
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "config/exit.h"
#include "config/settings.h"
#include "exchange/conn.h"
#include "exchange/dissect.h"
#include "net/net.h"
#include "store/sha256.h"

struct dump {
    struct conn_table *conns;
    struct shaper *shaper;
    bool quiet;
};

/* Bytes as a JSON string, each byte a character of Latin-1. */
static void text(const char *key, struct span s)
{
    printf("\"%s\":\"", key);
    for (size_t i = 0; i < s.n; i++) {
        uint8_t c = s.p[i];

        if (c < 0x20 || c >= 0x7f || c == '"' || c == '\\')
            printf("\\u%04x", c);
        else
            putchar(c);
    }
    printf("\",");
}

static void digest(const char *key, struct span s)
{
    uint8_t h[SHA256_BYTES];

    sha256(s, h);
    printf("\"%s\":[%zu,\"", key, s.n);
    for (size_t i = 0; i < sizeof h; i++)
        printf("%02x", h[i]);
    printf("\"],");
}

static void side(const char *name, const struct exchange_side *x,
                 struct span body)
{
    struct span pieces = span_of(NULL, 0);
    uint8_t *owned = NULL;
    struct exchange_side bare = *x;

    bare.body = span_of(NULL, 0);
    if (exchange_body(&bare, &pieces, &owned) != 0)
        abort();
    printf("\"%s\":{", name);
    digest("raw", x->raw);
    digest("coded", pieces);
    digest("body", body);
    printf("\"pieces\":%zu,\"first_ns\":%lld,\"last_ns\":%lld},",
           x->map.n / EXCHANGE_PIECE_BYTES, (long long)x->first_ns,
           (long long)x->last_ns);
    free(owned);
}

static void exchange(void *ctx, struct slot *s)
{
    struct dump *d = ctx;
    struct shape sh;
    const struct exchange *x = &sh.x;

    shaper_shape(d->shaper, s, &sh);
    if (!d->quiet) {
        printf("{\"kind\":\"exchange\",");
        text("method", x->method);
        text("target", x->target);
        text("client", x->client);
        text("server", x->server);
        text("api", x->api);
        text("model", x->model);
        text("api_id", x->api_id);
        text("cause", x->cause);
        text("tokens_from", x->tokens_from);
        side("req", &x->req, sh.req_body);
        side("resp", &x->resp, sh.resp_body);
        printf("\"has_req\":%d,\"has_resp\":%d,\"interim\":%d,", s->req.begun,
               s->resp.line_ok, s->resp.interim);
        printf("\"stream\":%llu,\"index\":%llu,\"status\":%llu,"
               "\"complete\":%d,\"streamed\":%d,\"events\":%llu,"
               "\"choices\":%llu,\"tokens_in\":%llu,\"tokens_out\":%llu,\"gap_"
               "bytes\":%llu,"
               "\"feed\":%d,\"understood\":%d}\n",
               (unsigned long long)x->stream, (unsigned long long)x->index,
               (unsigned long long)x->status, x->complete, x->streamed,
               (unsigned long long)x->events, (unsigned long long)x->choices,
               (unsigned long long)x->tokens_in,
               (unsigned long long)x->tokens_out,
               (unsigned long long)x->gap_bytes, sh.feed,
               sh.not_understood == NULL);
    }
    conn_recycle(d->conns, s);
}

static void stray(void *ctx, const struct conn_stray *s)
{
    struct dump *d = ctx;

    if (d->quiet)
        return;
    printf("{\"kind\":\"stray\",\"cause\":\"%s\",\"bytes\":%llu,"
           "\"client\":\"%s\",\"server\":\"%s\",",
           s->cause, (unsigned long long)s->bytes, s->client, s->server);
    text("sample", s->sample);
    printf("\"stream\":%llu}\n", (unsigned long long)s->stream);
}

static void gap(void *ctx, const struct conn_gap *g)
{
    struct dump *d = ctx;

    if (!d->quiet)
        printf("{\"kind\":\"gap\",\"bytes\":%llu,\"side\":%d,\"cause\":%d,"
               "\"client\":\"%s\"}\n",
               (unsigned long long)g->gap->n, g->side, g->gap->cause,
               g->client);
}

static void totals(const struct dump *d, const struct wire *w)
{
    const struct stream_counters *s = wire_stream_counters(w);
    struct conn_counters c;
    struct wire_counters f;

    wire_counters(w, &f);
    conn_counters(d->conns, &c);
    printf("{\"kind\":\"totals\",\"frames\":%llu,\"exchanges\":%llu,"
           "\"payload\":%llu,\"attributed\":%llu,\"retransmitted\":%llu,"
           "\"stray\":%llu,\"refused\":%llu,\"delivered\":%llu,"
           "\"gap\":%llu,\"overflow\":%llu,\"buffers_used\":%u",
           (unsigned long long)f.frames, (unsigned long long)c.exchanges,
           (unsigned long long)s->payload_bytes,
           (unsigned long long)c.attributed_bytes,
           (unsigned long long)s->retransmitted_bytes,
           (unsigned long long)c.stray_bytes,
           (unsigned long long)s->refused_bytes,
           (unsigned long long)s->delivered_bytes,
           (unsigned long long)s->gap_bytes,
           (unsigned long long)c.overflow_bytes, conn_fill(d->conns));
    for (int i = 0; i < WIRE_CAUSES; i++)
        printf(",\"%s\":%llu", wire_cause_name((enum wire_cause)i),
               (unsigned long long)f.unparsed[i]);
    printf("}\n");
}

/* The defaults of the settings' table. */
static void defaults(struct wire_config *ret_c)
{
    struct settings *s;

    if (settings_load("/dev/null", stderr, &s) != 0)
        abort();
    wire_config_read(s, ret_c);
    settings_close(s);
}

static int play(struct dump *d, const char *backend, const char *file)
{
    struct source_config sc = {
        .file = file, .snaplen = 262144, .idle_end_ns = 1000000000};
    struct stream_handler h;
    struct wire_config wc;
    struct source *src;
    struct wire *w;
    enum source_state st;
    char why[512];

    defaults(&wc);
    conn_stream_handler(d->conns, &h);
    if (source_open(backend, &sc, why, sizeof why, &src) != 0) {
        fprintf(stderr, "%s\n", why);
        return EXIT_IO;
    }
    if (wire_open(&wc, &h, &w) != 0)
        return EXIT_IO;
    do {
        st = source_batch(src, 256, wire_frames, w);
    } while (st == SOURCE_MORE || st == SOURCE_IDLE);
    if (st == SOURCE_ERROR)
        fprintf(stderr, "%s\n", source_why(src));
    wire_flush(w);
    totals(d, w);
    wire_close(w);
    source_close(src);
    return st == SOURCE_ERROR ? EXIT_IO : EXIT_GOOD;
}

int main(int argc, char **argv)
{
    struct dump d = {.quiet = false};
    const char *backend = "pcap";
    struct conn_config cc = {.exchanges = 1 << 16,
                             .buffer_bytes = (size_t)1 << 30,
                             .message_max = 64 << 20};
    struct conn_handler ch = {exchange, stray, gap, &d};
    struct wire_config wc;
    int opt, code;

    while ((opt = getopt(argc, argv, "b:q")) != -1) {
        if (opt == 'b')
            backend = optarg;
        else if (opt == 'q')
            d.quiet = true;
        else
            return EXIT_USAGE;
    }
    if (optind + 1 != argc)
        return EXIT_USAGE;
    defaults(&wc);
    cc.connections = wc.stream.streams;
    if (conn_open(&cc, &ch, &d.conns) != 0 ||
        shaper_open(cc.message_max, &d.shaper) != 0)
        return EXIT_IO;
    code = play(&d, backend, argv[optind]);
    shaper_close(d.shaper);
    conn_close(d.conns);
    return code;
}
