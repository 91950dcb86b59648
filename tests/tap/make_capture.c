/*
 * make_capture.c - writes a capture of many streamed answers at once.
 * Usage: make_capture FILE [ANSWERS [EVENTS]]; by default 2,000 answers of
 * 400 token events, one packet an event, an acknowledgement for every four,
 * all connections interleaved: about 1,014,000 packets, 350 MB. The same
 * arguments give the same bytes.
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { HEAD = 14 + 20 + 20, MTU_PAYLOAD = 1446, ACK_EVERY = 4 };
enum { FIN = 1, SYN = 2, PSH = 8, ACK = 16 };

struct answer {
    uint32_t client, port;
    uint32_t seq[2]; /* next number of client and server */
};

static FILE *out;
static uint64_t now_us = UINT64_C(1764417600000000);

static void put16(uint8_t *p, unsigned v)
{
    p[0] = (uint8_t)(v >> 8);
    p[1] = (uint8_t)v;
}

static void put32(uint8_t *p, uint32_t v)
{
    put16(p, v >> 16);
    put16(p + 2, v & 0xffff);
}

/* The sum of RFC 1071, not yet folded. */
static uint32_t sum16(const uint8_t *p, size_t n, uint32_t sum)
{
    for (size_t i = 0; i + 1 < n; i += 2)
        sum += (uint32_t)(p[i] << 8 | p[i + 1]);
    if (n % 2 != 0)
        sum += (uint32_t)p[n - 1] << 8;
    return sum;
}

static uint16_t fold(uint32_t sum)
{
    while (sum >> 16 != 0)
        sum = (sum & 0xffff) + (sum >> 16);
    return (uint16_t)~sum;
}

static void ip_header(uint8_t *p, const struct answer *a, int from, size_t n)
{
    const uint32_t server = 0x0a000001;

    p[0] = 0x45;
    put16(p + 2, (unsigned)(40 + n));
    p[6] = 0x40; /* do not fragment */
    p[8] = 64;
    p[9] = 6;
    put32(p + 12, from == 0 ? a->client : server);
    put32(p + 16, from == 0 ? server : a->client);
    put16(p + 10, fold(sum16(p, 20, 0)));
}

static void tcp_header(uint8_t *ip, const struct answer *a, int from,
                       uint8_t flags, size_t n)
{
    uint8_t *p = ip + 20;

    put16(p, from == 0 ? a->port : 8000);
    put16(p + 2, from == 0 ? 8000 : a->port);
    put32(p + 4, a->seq[from]);
    put32(p + 8, flags & ACK ? a->seq[!from] : 0);
    p[12] = 0x50;
    p[13] = flags;
    put16(p + 14, 64000);
    put16(p + 16,
          fold(sum16(ip + 12, 8, sum16(p, 20 + n, 6 + 20 + (uint32_t)n))));
}

/* One packet; from: 0 client, 1 server. */
static void packet(struct answer *a, int from, uint8_t flags, const char *text)
{
    uint8_t frame[HEAD + MTU_PAYLOAD] = {
        2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 2, 8, 0,
    };
    size_t n = strlen(text);
    uint32_t record[4] = {(uint32_t)(now_us / 1000000),
                          (uint32_t)(now_us % 1000000), (uint32_t)(HEAD + n),
                          (uint32_t)(HEAD + n)};

    memcpy(frame + HEAD, text, n);
    ip_header(frame + 14, a, from, n);
    tcp_header(frame + 14, a, from, flags, n);
    if (fwrite(record, sizeof(record), 1, out) != 1 ||
        fwrite(frame, HEAD + n, 1, out) != 1) {
        perror("make_capture");
        exit(4);
    }
    a->seq[from] += (uint32_t)n + ((flags & (SYN | FIN)) != 0);
    now_us++;
}

static void begin(struct answer *a, uint32_t i)
{
    char body[256], text[640];
    int n = snprintf(body, sizeof(body),
                     "{\"model\":\"bench\",\"stream\":true,\"seed\":%u,"
                     "\"messages\":[{\"role\":\"user\",\"content\":"
                     "\"Tell me story number %u.\"}]}",
                     i, i);

    a->client = 0x0a010000 + i;
    a->port = 20000 + i % 40000;
    a->seq[0] = i * 2654435761u; /* some of them wrap */
    a->seq[1] = i * 2246822519u;
    packet(a, 0, SYN, "");
    packet(a, 1, SYN | ACK, "");
    packet(a, 0, ACK, "");
    (void)snprintf(text, sizeof(text),
                   "POST /v1/chat/completions HTTP/1.1\r\nHost: 10.0.0.1:8000"
                   "\r\nUser-Agent: bench/1\r\nContent-Type: application/json"
                   "\r\nContent-Length: %d\r\n\r\n%s",
                   n, body);
    packet(a, 0, PSH | ACK, text);
    packet(a, 1, PSH | ACK,
           "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream; "
           "charset=utf-8\r\nTransfer-Encoding: chunked\r\n\r\n");
}

static void event(struct answer *a, uint32_t i, uint32_t k)
{
    static const char *const words[] = {
        " once", " there", " was", " a",    " little", " girl",  " named",
        " who",  " liked", " to",  " play", " in",     " the",   " garden",
        " with", " her",   " dog", ".",     " They",   " walked"};
    char data[400], text[440];
    int n = snprintf(
        data, sizeof(data),
        "data: {\"id\":\"chatcmpl-%08x%08x%08x\",\"object\":"
        "\"chat.completion.chunk\",\"created\":1764417600,\"model\":\"bench\","
        "\"choices\":[{\"index\":0,\"delta\":{\"content\":\"%s\"},"
        "\"logprobs\":null,\"finish_reason\":null}],"
        "\"system_fingerprint\":\"fp_1\"}\n\n",
        i, i * 7919u, i * 104729u, words[(i + k) % 20]);

    (void)snprintf(text, sizeof(text), "%x\r\n%s\r\n", (unsigned)n, data);
    packet(a, 1, PSH | ACK, text);
    if (k % ACK_EVERY == ACK_EVERY - 1)
        packet(a, 0, ACK, "");
}

static void end(struct answer *a)
{
    packet(a, 1, PSH | ACK, "e\r\ndata: [DONE]\n\n\r\n0\r\n\r\n");
    packet(a, 0, ACK | FIN, "");
    packet(a, 1, ACK | FIN, "");
    packet(a, 0, ACK, "");
}

/* Conversations side by side, an event of each in turn. False: no memory. */
static bool converse(uint32_t n, uint32_t events)
{
    struct answer *all = calloc(n != 0 ? n : 1, sizeof *all);

    if (all == NULL)
        return false;
    for (uint32_t i = 0; i < n; i++)
        begin(&all[i], i);
    for (uint32_t k = 0; k < events; k++)
        for (uint32_t i = 0; i < n; i++)
            event(&all[i], i, k);
    for (uint32_t i = 0; i < n; i++)
        end(&all[i]);
    free(all);
    return true;
}

int main(int argc, char **argv)
{
    const uint32_t head[6] = {0xa1b2c3d4, 0x00040002, 0, 0, 262144, 1};
    uint32_t n = argc > 2 ? (uint32_t)strtoul(argv[2], NULL, 10) : 2000;
    uint32_t events = argc > 3 ? (uint32_t)strtoul(argv[3], NULL, 10) : 400;

    if (argc < 2) {
        fprintf(stderr, "usage: make_capture FILE [ANSWERS [EVENTS]]\n");
        return 2;
    }
    out = fopen(argv[1], "wb");
    if (out == NULL || fwrite(head, sizeof(head), 1, out) != 1 ||
        !converse(n, events) || fclose(out) != 0) {
        perror(argv[1]);
        return 4;
    }
    return 0;
}
