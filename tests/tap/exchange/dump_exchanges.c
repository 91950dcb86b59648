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
#include "feed/feed.h"
#include "net/net.h"
#include "store/sha256.h"

struct dump {
    struct conn_table *conns;
    struct dissector *dissector;
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
    struct dissection out;
    const struct exchange *x = &out.x;

    dissector_read(d->dissector, s, &out);
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
        side("req", &x->req, out.req_body);
        side("resp", &x->resp, out.resp_body);
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
               (unsigned long long)x->gap_bytes,
               feed_is_post(x->method, x->target), out.not_understood == NULL);
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

static void totals(const struct dump *d, const struct net *net)
{
    const struct stream_counters *s = net_stream_counters(net);
    struct conn_counters c;
    struct net_counters f;

    net_counters(net, &f);
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
    for (int i = 0; i < CAUSES; i++)
        printf(",\"%s\":%llu", packet_cause_name((enum packet_cause)i),
               (unsigned long long)f.unparsed[i]);
    printf("}\n");
}

/* The defaults of the settings' table. */
static void defaults(struct net_config *ret_c)
{
    struct settings *s;

    if (settings_load("/dev/null", stderr, &s) != 0)
        abort();
    net_config_read(s, ret_c);
    settings_close(s);
}

static int play(struct dump *d, const char *backend, const char *file)
{
    struct source_config sc = {
        .file = file, .snaplen = 262144, .idle_end_ns = 1000000000};
    struct stream_handler h;
    struct net_config nc;
    struct source *src;
    struct net *net;
    enum source_state st;
    char why[512];

    defaults(&nc);
    conn_stream_handler(d->conns, &h);
    if (source_open(backend, &sc, why, sizeof why, &src) != 0) {
        fprintf(stderr, "%s\n", why);
        return EXIT_IO;
    }
    if (net_open(&nc, &h, &net) != 0)
        return EXIT_IO;
    do {
        st = source_read(src, 256, net_frames, net);
    } while (st == SOURCE_MORE || st == SOURCE_IDLE);
    if (st == SOURCE_ERROR)
        fprintf(stderr, "%s\n", source_why(src));
    net_flush(net);
    totals(d, net);
    net_close(net);
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
    struct net_config nc;
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
    defaults(&nc);
    cc.connections = nc.stream.streams;
    if (conn_open(&cc, &ch, &d.conns) != 0 ||
        dissector_open(cc.message_max, &d.dissector) != 0)
        return EXIT_IO;
    code = play(&d, backend, argv[optind]);
    dissector_close(d.dissector);
    conn_close(d.conns);
    return code;
}
