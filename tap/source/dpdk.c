/*
 * dpdk.c - frames through a poll-mode driver of DPDK 22.11.
 * Comes in: a port, named as DPDK names it (PCI address or virtual device),
 * or a capture file through the driver net_pcap, which stands in for a port
 * where there is none. Goes out: frames; multi-segment buffers are joined.
 *
 * What differs from libpcap: the length on the wire is unknown where the
 * driver cut a frame; net_pcap stamps microseconds, and other drivers get our
 * own stamp when the burst is read; a file's end is a time without packets.
 * Built by itself, with the processor flags that DPDK's headers need.
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <fcntl.h>
#include <pcap/pcap.h>
#include <rte_dev.h>
#include <rte_eal.h>
#include <rte_errno.h>
#include <rte_ethdev.h>
#include <rte_mbuf.h>
#include <rte_mbuf_dyn.h>
#include <rte_mempool.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "source/backend.h"

enum {
    POOL_MBUFS = 8191,
    RX_RING = 1024,
    BURST = 64,
    FRAME_MAX = 1 << 19,
    EAL_ARGS = 64
};

struct dpdk_source {
    struct rte_mempool *pool;
    uint8_t *joined; /* a frame of several segments */
    int64_t idle_end_ns;
    int64_t last_ns; /* of the last frame, monotonic */
    uint64_t stamp_flag;
    int stamp_offset; /* in an mbuf; -1: the driver does not stamp */
    int file;         /* descriptor, or -1 */
    uint16_t port;
    bool started;
    bool virtual; /* the device is ours to remove */
    bool ended;
    char device[64];
};

static int64_t clock_ns(clockid_t id)
{
    struct timespec t = {0};

    (void)clock_gettime(id, &t); /* both clocks exist */
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

/* The environment layer: once in a process. */

static size_t add_args(char *text, char **args, size_t n)
{
    char *save = NULL;

    for (char *a = strtok_r(text, " ", &save); a != NULL && n < EAL_ARGS;
         a = strtok_r(NULL, " ", &save))
        args[n++] = a;
    return n;
}

/*
 * Without huge pages, devices and files of its own: what a file needs. A
 * port's operator gives arguments in tap.eal.
 */
static int start_eal(struct source *s, const struct source_config *c)
{
    static bool done; /* DPDK cannot be initialised again */
    char alone[] = "--no-huge -m 256 --no-pci --no-shconf -l 0";
    char base[] = "assay-tap --no-telemetry --log-level=lib.*:error";
    char more[4096];
    char *args[EAL_ARGS + 1] = {NULL};
    cpu_set_t cpus;
    size_t n;
    int rc;

    if (done)
        return 0;
    (void)snprintf(more, sizeof(more), "%s", c->eal != NULL ? c->eal : "");
    n = add_args(base, args, 0);
    if (c->file != NULL)
        n = add_args(alone, args, n);
    n = add_args(more, args, n);
    CPU_ZERO(&cpus);
    (void)sched_getaffinity(0, sizeof(cpus), &cpus); /* empty if it fails */
    rc = rte_eal_init((int)n, args);
    if (rc < 0) {
        source_say(s, "DPDK does not start: %s", rte_strerror(rte_errno));
        return -EIO;
    }
    if (c->file != NULL && CPU_COUNT(&cpus) > 0)
        (void)sched_setaffinity(0, sizeof(cpus), &cpus); /* as before */
    done = true;
    return 0;
}

/* The device. */

/* net_pcap takes any link type for Ethernet, and any garbage for empty. */
static int check_file(struct source *s, const char *name)
{
    char why[PCAP_ERRBUF_SIZE] = "";
    pcap_t *p = pcap_open_offline(name, why);
    int dlt;

    if (p == NULL) {
        int rc = access(name, R_OK) != 0 ? -errno : -EINVAL;

        source_say(s, "%s: %s", name, why);
        return rc;
    }
    dlt = pcap_datalink(p);
    pcap_close(p);
    if (dlt == DLT_EN10MB)
        return 0;
    source_say(s, "%s: link type %d is not Ethernet, which DPDK needs", name,
               dlt);
    return -EINVAL;
}

/* A virtual device that plays the file; by descriptor, since a name may hold
 * what separates arguments. */
static int add_file(struct source *s, struct dpdk_source *d, const char *name)
{
    static unsigned number;
    char args[64];
    int rc = check_file(s, name);

    if (rc != 0)
        return rc;
    d->file = open(name, O_RDONLY | O_CLOEXEC);
    if (d->file < 0)
        return -errno;
    (void)snprintf(d->device, sizeof(d->device), "net_pcap_assay%u", number++);
    (void)snprintf(args, sizeof(args), "rx_pcap=/proc/self/fd/%d", d->file);
    if (rte_eal_hotplug_add("vdev", d->device, args) != 0) {
        source_say(s, "%s: the driver net_pcap refuses it: %s", name,
                   rte_strerror(rte_errno));
        return -EIO;
    }
    d->virtual = true;
    return 0;
}

static int find_port(struct source *s, struct dpdk_source *d,
                     const struct source_config *c)
{
    int rc = 0;

    if (c->file != NULL)
        rc = add_file(s, d, c->file);
    else
        (void)snprintf(d->device, sizeof(d->device), "%s", c->interface);
    if (rc != 0)
        return rc;
    if (rte_eth_dev_get_port_by_name(d->device, &d->port) != 0) {
        source_say(s, "DPDK has no port \"%s\" (%u ports)", d->device,
                   rte_eth_dev_count_avail());
        return -ENODEV;
    }
    return 0;
}

static int start_port(struct source *s, struct dpdk_source *d)
{
    const struct rte_eth_conf conf = {0};
    char name[32];
    int rc;

    (void)snprintf(name, sizeof(name), "assay%u", d->port);
    d->pool = rte_pktmbuf_pool_create(name, POOL_MBUFS, 0, 0,
                                      RTE_MBUF_DEFAULT_BUF_SIZE, SOCKET_ID_ANY);
    if (d->pool == NULL) {
        source_say(s, "%s: no memory for buffers: %s", d->device,
                   rte_strerror(rte_errno));
        return -ENOMEM;
    }
    rc = rte_eth_dev_configure(d->port, 1, 1, &conf);
    if (rc == 0)
        rc = rte_eth_rx_queue_setup(d->port, 0, RX_RING, SOCKET_ID_ANY, NULL,
                                    d->pool);
    if (rc == 0)
        rc = rte_eth_tx_queue_setup(d->port, 0, 64, SOCKET_ID_ANY, NULL);
    if (rc == 0)
        rc = rte_eth_dev_start(d->port);
    if (rc != 0) {
        source_say(s, "%s: port does not start: %s", d->device,
                   rte_strerror(-rc));
        return -EIO;
    }
    d->started = true;
    (void)rte_eth_promiscuous_enable(d->port); /* some drivers always are */
    return 0;
}

/* Of all drivers net_pcap alone is known to stamp, and in which unit. */
static void find_stamp(struct dpdk_source *d)
{
    struct rte_eth_dev_info info;
    int flag;

    d->stamp_offset = -1;
    if (rte_eth_dev_info_get(d->port, &info) != 0 ||
        strcmp(info.driver_name, "net_pcap") != 0)
        return;
    flag = rte_mbuf_dynflag_lookup(RTE_MBUF_DYNFLAG_RX_TIMESTAMP_NAME, NULL);
    if (flag < 0)
        return;
    d->stamp_flag = UINT64_C(1) << flag;
    d->stamp_offset =
        rte_mbuf_dynfield_lookup(RTE_MBUF_DYNFIELD_TIMESTAMP_NAME, NULL);
}

static void dpdk_source_close(struct source *s)
{
    struct dpdk_source *d = s->state;

    if (d->started) {
        (void)rte_eth_dev_stop(d->port);  /* it goes away, */
        (void)rte_eth_dev_close(d->port); /* whatever it says */
    }
    if (d->virtual)
        (void)rte_eal_hotplug_remove("vdev", d->device);
    rte_mempool_free(d->pool);
    if (d->file >= 0)
        (void)close(d->file); /* it was only read */
    free(d->joined);
    free(d);
}

static int dpdk_source_open(const struct source_config *c, struct source *s)
{
    struct dpdk_source *d;
    int rc;

    if (c->filter != NULL && c->filter[0] != '\0') {
        source_say(s, "a filter is for the back end pcap only");
        return -EINVAL;
    }
    d = calloc(1, sizeof *d);
    if (d == NULL)
        return -ENOMEM;
    s->state = d;
    s->link = LINK_ETHERNET;
    d->file = -1;
    d->idle_end_ns = c->file != NULL ? c->idle_end_ns : INT64_MAX;
    d->joined = malloc(FRAME_MAX);
    rc = d->joined == NULL ? -ENOMEM : start_eal(s, c);
    if (rc == 0)
        rc = find_port(s, d, c);
    if (rc == 0)
        rc = start_port(s, d);
    if (rc != 0) {
        dpdk_source_close(s);
        return rc;
    }
    find_stamp(d);
    d->last_ns = clock_ns(CLOCK_MONOTONIC);
    return 0;
}

static int64_t stamp_of(struct source *s, const struct dpdk_source *d,
                        const struct rte_mbuf *m, int64_t burst_ns)
{
    uint64_t us;

    if (d->stamp_offset < 0 || !(m->ol_flags & d->stamp_flag))
        return burst_ns;
    us = *RTE_MBUF_DYNFIELD(m, d->stamp_offset, const uint64_t *);
    return source_time(s, (int64_t)(us / 1000000),
                       (int64_t)(us % 1000000) * 1000);
}

/* The segments of a frame, one after the other; *ret_n bytes of them. */
static const uint8_t *join(const struct dpdk_source *d,
                           const struct rte_mbuf *m, uint32_t *ret_n)
{
    uint32_t n = 0;

    if (m->next == NULL) {
        *ret_n = m->data_len;
        return rte_pktmbuf_mtod(m, const uint8_t *);
    }
    for (; m != NULL && m->data_len <= FRAME_MAX - n; m = m->next) {
        memcpy(d->joined + n, rte_pktmbuf_mtod(m, const uint8_t *),
               m->data_len);
        n += m->data_len;
    }
    *ret_n = n;
    return d->joined;
}

static void take_mbuf(struct source *s, const struct dpdk_source *d,
                      struct rte_mbuf *m, int64_t burst_ns)
{
    struct frame f = {.link = s->link};

    f.p = join(d, m, &f.n);
    /* net_pcap of 22.11 takes the length of a frame over 64 KiB modulo 64 KiB
     * for its segments, and only pkt_len tells. */
    if (f.n < rte_pktmbuf_pkt_len(m))
        f.wire_n = rte_pktmbuf_pkt_len(m);
    f.time_ns = stamp_of(s, d, m, burst_ns);
    source_emit(s, &f);
    rte_pktmbuf_free(m);
}

static enum source_state dpdk_source_read(struct source *s, size_t max)
{
    struct dpdk_source *d = s->state;
    struct rte_mbuf *mbufs[BURST];
    int64_t now_ns;
    uint16_t n;

    if (d->ended)
        return SOURCE_END;
    n = rte_eth_rx_burst(d->port, 0, mbufs,
                         max < BURST ? (uint16_t)max : BURST);
    if (n == 0) {
        now_ns = clock_ns(CLOCK_MONOTONIC);
        d->ended = now_ns - d->last_ns >= d->idle_end_ns;
        return d->ended ? SOURCE_END : SOURCE_IDLE;
    }
    now_ns = clock_ns(CLOCK_REALTIME);
    for (uint16_t i = 0; i < n; i++)
        take_mbuf(s, d, mbufs[i], now_ns);
    d->last_ns = clock_ns(CLOCK_MONOTONIC);
    return SOURCE_MORE;
}

static void dpdk_source_stats(struct source *s)
{
    const struct dpdk_source *d = s->state;
    struct rte_eth_stats now;

    if (rte_eth_stats_get(d->port, &now) == 0)
        s->stats.nic_drops = now.imissed + now.ierrors + now.rx_nombuf;
}

const struct source_ops source_dpdk = {
    .name = "dpdk",
    .open = dpdk_source_open,
    .read = dpdk_source_read,
    .stats = dpdk_source_stats,
    .close = dpdk_source_close,
};
