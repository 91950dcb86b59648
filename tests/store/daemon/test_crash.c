/*
 * test_crash.c - assay-store is killed 100 times at random moments while
 * three connections press it. Whatever it acknowledged must be there: the
 * leaf, its payload, the checkpoints it signed; the index must be the one that
 * log and vault give.
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "config/log.h"
#include "daemon_run.h"
#include "ledger/ledger.h"
#include "store/client.h"
#include "store/layout.h"
#include "store/leaflog.h"
#include "store/note.h"
#include "tables.h"
#include "vault/keys.h"

enum {
    KILLS = 100,
    LONGEST_MS = 500, /* of life before a kill */
    WINDOW = 64,
    PAYLOAD_MAX = 200000,
    WAIT_MS = 20000
};

/* What the store has acknowledged. */
struct acked {
    uint64_t seq;
    unsigned number; /* of the record: its payload follows from it */
    uint8_t unit[MERKLE_HASH];
};

struct run {
    struct daemon_run d;
    struct acked *acked;
    size_t n, size;
    struct merkle_head *head; /* signed */
    size_t n_heads;
    unsigned next_number;
    uint8_t bytes[PAYLOAD_MAX];
};

__attribute__((noreturn)) static void die(const char *what)
{
    fprintf(stderr, "test_crash: %s\n", what);
    abort();
}

static uint32_t mix(uint32_t x)
{
    x = (x ^ x >> 16) * 0x7feb352d;
    x = (x ^ x >> 15) * 0x846ca68b;
    return x ^ x >> 16;
}

/* The payload of record number: mostly short, sometimes long. */
static struct span payload_of(struct run *r, unsigned number)
{
    uint32_t x = mix(number);
    size_t n = x % 8 == 0 ? x / 8 % PAYLOAD_MAX : x / 8 % 3000;

    for (size_t i = 0; i < n && i < 64; i++)
        r->bytes[i] = (uint8_t)(x >> i % 24);
    memset(r->bytes + 64, (int)(x & 255), n > 64 ? n - 64 : 0);
    return span_of(r->bytes, n);
}

static int send_one(struct run *r, struct store_client *c)
{
    unsigned number = r->next_number++;
    struct payload payload = {"resp", payload_of(r, number)};
    struct record record;
    struct put p = {"exchange", &record, &payload, 1};

    sample_exchange(&record, number);
    return store_send(c, &p, number);
}

static void keep_ack(struct run *r, const struct put_ack *ack)
{
    if (r->n == r->size) {
        r->size = r->size != 0 ? 2 * r->size : 4096;
        r->acked = realloc(r->acked, r->size * sizeof *r->acked);
        if (r->acked == NULL)
            die("memory");
    }
    r->acked[r->n].seq = ack->seq;
    r->acked[r->n].number = (unsigned)ack->tag;
    memcpy(r->acked[r->n++].unit, ack->unit, MERKLE_HASH);
}

/* Takes what was acknowledged; false when the connection is gone. */
static bool take_acks(struct run *r, struct store_client *c, int wait_ms)
{
    struct put_ack ack;
    int rc;

    while (store_unacked(c) != 0) {
        rc = store_next_ack(c, wait_ms, &ack);
        if (rc == -EAGAIN)
            return true;
        if (rc == -EPIPE)
            return false;
        if (rc != 0)
            die("a record was refused");
        keep_ack(r, &ack);
    }
    return true;
}

static bool sign(struct run *r, struct store_client *c)
{
    struct merkle_head *head = &r->head[r->n_heads];
    char note[2048], *end;
    struct checkpoint cp;

    if (store_checkpoint(c, note, sizeof(note)) != 0)
        return false;
    end = strstr(note, "\n\n");
    if (end == NULL || checkpoint_parse(span_of(note, (size_t)(end - note) + 1),
                                        &cp) != PARSE_OK)
        die("not a checkpoint");
    *head = cp.head;
    r->n_heads++;
    return true;
}

/* Kills the daemon after a while, from a process of its own: at any moment of
 * what goes on here. */
static pid_t start_killer(const struct run *r, unsigned after_us)
{
    pid_t pid = fork();

    if (pid < 0)
        die("fork");
    if (pid != 0)
        return pid;
    (void)usleep(after_us); /* a signal that ends it early does no harm */
    _exit(kill(r->d.pid, SIGKILL) == 0 ? 0 : 1);
}

/* Presses until the connections break. */
static void press(struct run *r, struct store_client *tap[2],
                  struct store_client *sampler)
{
    bool alive = true;

    for (unsigned turn = 0; alive; turn++) {
        for (int i = 0; i < 2; i++) {
            alive = alive && take_acks(r, tap[i], 0);
            if (alive && store_unacked(tap[i]) < WINDOW)
                alive = send_one(r, tap[i]) == 0;
        }
        if (alive && turn % 50 == 49)
            alive = sign(r, sampler);
        if (alive && store_unacked(tap[0]) >= WINDOW &&
            store_unacked(tap[1]) >= WINDOW) {
            struct pollfd p = {store_fd(tap[0]), POLLIN, 0};

            (void)poll(&p, 1, 5); /* or time: the other one may be first */
        }
    }
    for (int i = 0; i < 2; i++)
        (void)take_acks(r, tap[i], 0); /* the last ones on the way */
}

static void one_life(struct run *r, unsigned life_us)
{
    struct store_client *tap[2] = {NULL, NULL}, *sampler = NULL;
    pid_t killer;
    int status;

    daemon_start(&r->d);
    killer = start_killer(r, life_us);
    if (store_connect(r->d.run, "tap", WAIT_MS / 100, &tap[0]) == 0 &&
        store_connect(r->d.run, "tap", WAIT_MS / 100, &tap[1]) == 0 &&
        store_connect(r->d.run, "sampler", WAIT_MS / 100, &sampler) == 0)
        press(r, tap, sampler);
    store_close(tap[0]);
    store_close(tap[1]);
    store_close(sampler);
    if (waitpid(killer, &status, 0) != killer || status != 0)
        die("the daemon was not there to be killed");
    if (waitpid(r->d.pid, &status, 0) != r->d.pid || !WIFSIGNALED(status))
        die("the daemon ended by itself");
}

static void live_in_peace(struct run *r)
{
    struct store_client *c;

    daemon_start(&r->d);
    if (store_connect(r->d.run, "tap", WAIT_MS, &c) != 0)
        die("the last start");
    store_close(c);
    if (daemon_signal(&r->d, SIGTERM) != 0)
        die("the last stop");
}

static void check_leaves(struct run *r)
{
    struct merkle_range range;
    struct leaflog *log;
    struct leaf leaf;
    size_t acked = 0, head = 0;

    if (leaflog_open(r->d.state, &log) != 0)
        die("log");
    merkle_range_init(&range);
    for (uint64_t seq = 0; leaflog_read(log, seq, &leaf) == 0; seq++) {
        uint8_t root[MERKLE_HASH];

        merkle_range_append(&range, leaf.unit);
        merkle_range_root(&range, root);
        for (; acked < r->n && r->acked[acked].seq == seq; acked++)
            if (memcmp(r->acked[acked].unit, leaf.unit, MERKLE_HASH) != 0)
                die("an acknowledged leaf is another");
        for (; head < r->n_heads && r->head[head].size == seq + 1; head++)
            if (memcmp(r->head[head].root, root, MERKLE_HASH) != 0)
                die("a signed root is another");
    }
    if (acked != r->n || head != r->n_heads)
        die("an acknowledged leaf is missing");
    leaflog_close(log);
}

static void check_payloads(struct run *r)
{
    struct ledger_config config = {.state_dir = r->d.state,
                                   .origin = "test.example/log"};
    struct ledger_start start;
    struct ledger *l;
    struct keys keys;

    if (keys_open(r->d.state, false, &keys) != 0)
        die("keys");
    config.keys = &keys;
    if (ledger_open(&config, &l, &start) != 0)
        die(start.why);
    if (start.lost != 0)
        die("payloads are lost");
    for (size_t i = 0; i < r->n; i++) {
        struct span expected = payload_of(r, r->acked[i].number);
        uint8_t *bytes;
        size_t n;

        if (ledger_payload(l, r->acked[i].seq, "resp", &bytes, &n) != 0 ||
            !span_eq(span_of(bytes, n), expected))
            die("a payload is missing or another");
        free(bytes);
    }
    ledger_close(l, true);
}

static void check_index(struct run *r)
{
    struct path index = layout_path(r->d.state, LAYOUT_INDEX);
    struct path kept = layout_path(r->d.state, "kept.db");

    if (tables_keep(index.text, kept.text) != 0 ||
        daemon_run_word(&r->d, "--rebuild") != 0)
        die("rebuild");
    if (tables_differ(kept.text, index.text) != 0)
        die("the index is not the one that log and vault give");
}

static int by_seq(const void *a, const void *b)
{
    const struct acked *x = a, *y = b;

    return x->seq < y->seq ? -1 : x->seq > y->seq;
}

int main(int argc, char **argv)
{
    static struct run r;
    uint32_t seed = (uint32_t)time(NULL);
    unsigned lives = 0;

    if (argc < 2)
        return 2;
    if (argc > 2)
        seed = (uint32_t)strtoul(argv[2], NULL, 10);
    log_init("test_crash", 0);
    daemon_make(&r.d, argv[1], "checkpoint_s = 1");
    r.head = calloc(1000000, sizeof *r.head);
    if (r.head == NULL)
        die("memory");
    /* Lives grow longer where a busy machine lets none come to anything. */
    for (; lives < KILLS || r.n < KILLS; lives++)
        one_life(&r,
                 mix(seed + lives) % ((lives / KILLS + 1) * LONGEST_MS * 1000));
    qsort(r.acked, r.n, sizeof *r.acked, by_seq);
    live_in_peace(&r);
    check_leaves(&r);
    check_payloads(&r);
    check_index(&r);
    printf("seed=%u kills=%u acknowledged=%zu checkpoints=%zu\n", seed, lives,
           r.n, r.n_heads);
    daemon_remove(&r.d);
    return 0;
}
