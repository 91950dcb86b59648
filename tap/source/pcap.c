/*
 * pcap.c - frames through libpcap: live, or from a pcap or pcapng file.
 * Comes in: AF_PACKET's ring, or a file of any byte order and time unit. Goes
 * out: frames with nanosecond stamps, drops as the kernel counts them.
 *
 * Live, the ring is TPACKET_V3 with a long timeout; immediate mode would
 * divide the ring by the largest frame. Nothing is opened once the source
 * runs, so that it works in a sandbox without files: libpcap would read the
 * interface's counters by name if it had set promiscuous mode itself.
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/if_packet.h>
#include <net/if.h>
#include <pcap/pcap.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "source/backend.h"

enum { READ_BUFFER = 1 << 18, RING_TIMEOUT_MS = 100, COUNTERS = 2 };

/* Frames that the interface lost before the kernel's ring saw them. Not
 * rx_dropped: it counts captured frames that no protocol wanted, too. */
static const char *const counter_names[COUNTERS] = {"rx_missed_errors",
                                                    "rx_fifo_errors"};

struct pcap_source {
    pcap_t *pcap;
    bool live;
    bool ended;
    char *name;
    char *buffer;          /* of the file's stream */
    uint32_t last_drop;    /* libpcap's 32-bit total at the last look */
    int counter[COUNTERS]; /* descriptors */
    uint64_t counter_start[COUNTERS];
};

static const struct {
    int dlt;
    enum link_type link;
} link_types[] = {
    {DLT_EN10MB, LINK_ETHERNET}, {DLT_NULL, LINK_NULL},
    {DLT_LOOP, LINK_NULL},       {DLT_RAW, LINK_RAW_IP},
    {DLT_IPV4, LINK_RAW_IP},     {DLT_IPV6, LINK_RAW_IP},
    {DLT_LINUX_SLL, LINK_SLL},   {DLT_LINUX_SLL2, LINK_SLL2},
};

static int choose_link(struct source *s, const struct pcap_source *p)
{
    int dlt = pcap_datalink(p->pcap);
    const char *name = pcap_datalink_val_to_name(dlt);

    for (size_t i = 0; i < sizeof(link_types) / sizeof(link_types[0]); i++) {
        if (link_types[i].dlt == dlt) {
            s->link = link_types[i].link;
            return 0;
        }
    }
    source_say(s, "%s: link type %d (%s) is not one that can be decoded",
               p->name, dlt, name != NULL ? name : "unknown");
    return -EINVAL;
}

static int set_filter(struct source *s, const struct pcap_source *p,
                      const char *filter)
{
    struct bpf_program program;
    int rc = 0;

    if (filter == NULL || filter[0] == '\0')
        return 0;
    if (pcap_compile(p->pcap, &program, filter, 1, PCAP_NETMASK_UNKNOWN) != 0) {
        source_say(s, "filter \"%.100s\": %s", filter, pcap_geterr(p->pcap));
        return -EINVAL;
    }
    if (pcap_setfilter(p->pcap, &program) != 0) {
        source_say(s, "filter \"%.100s\": %s", filter, pcap_geterr(p->pcap));
        rc = -EIO;
    }
    pcap_freecode(&program);
    return rc;
}

/* Files. */

static int open_file(struct source *s, struct pcap_source *p)
{
    char why[PCAP_ERRBUF_SIZE] = "";
    FILE *file = fopen(p->name, "rbe");
    int rc;

    if (file == NULL) {
        rc = -errno;
        source_say(s, "%s: %s", p->name, strerror(-rc));
        return rc;
    }
    p->buffer = malloc(READ_BUFFER);
    if (p->buffer != NULL)
        (void)setvbuf(file, p->buffer, _IOFBF, READ_BUFFER); /* or its own */
    p->pcap = pcap_fopen_offline_with_tstamp_precision(
        file, PCAP_TSTAMP_PRECISION_NANO, why);
    if (p->pcap == NULL) {
        source_say(s, "%s: not a capture file: %s", p->name, why);
        (void)fclose(file); /* it was only read */
        return -EINVAL;
    }
    return 0;
}

/* Live. */

static int activation_error(int rc)
{
    switch (rc) {
    case PCAP_ERROR_PERM_DENIED:
    case PCAP_ERROR_PROMISC_PERM_DENIED:
        return -EPERM;
    case PCAP_ERROR_NO_SUCH_DEVICE:
        return -ENODEV;
    case PCAP_ERROR_IFACE_NOT_UP:
        return -ENETDOWN;
    default:
        return -EIO;
    }
}

static int activate(struct source *s, struct pcap_source *p,
                    const struct source_config *c)
{
    uint64_t bytes = c->buffer_bytes < INT32_MAX ? c->buffer_bytes : INT32_MAX;
    char why[PCAP_ERRBUF_SIZE] = "";
    int rc;

    p->pcap = pcap_create(p->name, why);
    if (p->pcap == NULL) {
        source_say(s, "%s: %s", p->name, why);
        return -EIO;
    }
    /* These fail only once active. */
    (void)pcap_set_snaplen(p->pcap, (int)c->snaplen);
    (void)pcap_set_timeout(p->pcap, RING_TIMEOUT_MS);
    (void)pcap_set_buffer_size(p->pcap, (int)bytes);
    (void)pcap_set_tstamp_precision(p->pcap, PCAP_TSTAMP_PRECISION_NANO);
    rc = pcap_activate(p->pcap);
    if (rc < 0) {
        source_say(s, "%s: %s: %s", p->name, pcap_statustostr(rc),
                   pcap_geterr(p->pcap));
        return activation_error(rc);
    }
    return 0;
}

/* Promiscuous, by our own hand: see the head of this file. */
static int set_promiscuous(struct source *s, const struct pcap_source *p)
{
    struct packet_mreq req = {.mr_type = PACKET_MR_PROMISC};
    unsigned index = if_nametoindex(p->name);

    if (strcmp(p->name, "any") == 0)
        return 0;
    req.mr_ifindex = (int)index;
    if (index == 0 ||
        setsockopt(pcap_fileno(p->pcap), SOL_PACKET, PACKET_ADD_MEMBERSHIP,
                   &req, sizeof(req)) != 0) {
        int rc = -errno;

        source_say(s, "%s: promiscuous mode: %s", p->name, strerror(-rc));
        return rc;
    }
    return 0;
}

/* The value of a counter file, from its start; 0 if it cannot be read. */
static uint64_t read_counter(int fd)
{
    char text[32];
    ssize_t n = fd < 0 ? -1 : pread(fd, text, sizeof(text) - 1, 0);

    if (n <= 0)
        return 0;
    text[n] = '\0';
    return strtoull(text, NULL, 10);
}

static void open_counters(struct pcap_source *p)
{
    char path[160];

    for (int i = 0; i < COUNTERS; i++) {
        (void)snprintf(path, sizeof(path), "/sys/class/net/%.64s/statistics/%s",
                       p->name, counter_names[i]);
        p->counter[i] = open(path, O_RDONLY | O_CLOEXEC);
        p->counter_start[i] = read_counter(p->counter[i]);
    }
}

static int open_live(struct source *s, struct pcap_source *p,
                     const struct source_config *c)
{
    char why[PCAP_ERRBUF_SIZE] = "";
    int rc = activate(s, p, c);

    if (rc != 0)
        return rc;
    rc = set_promiscuous(s, p);
    if (rc != 0)
        return rc;
    if (pcap_setnonblock(p->pcap, 1, why) != 0) {
        source_say(s, "%s: %s", p->name, why);
        return -EIO;
    }
    open_counters(p);
    s->fd = pcap_get_selectable_fd(p->pcap);
    return 0;
}

static void pcap_source_close(struct source *s)
{
    struct pcap_source *p = s->state;

    if (p == NULL)
        return;
    if (p->pcap != NULL)
        pcap_close(p->pcap); /* and the file with it */
    for (int i = 0; i < COUNTERS; i++)
        if (p->counter[i] >= 0)
            (void)close(p->counter[i]); /* it was only read */
    free(p->buffer);
    free(p->name);
    free(p);
}

static int pcap_source_open(const struct source_config *c, struct source *s)
{
    struct pcap_source *p = calloc(1, sizeof *p);
    int rc;

    if (p == NULL)
        return -ENOMEM;
    for (int i = 0; i < COUNTERS; i++)
        p->counter[i] = -1;
    s->state = p;
    p->live = c->file == NULL;
    p->name = strdup(p->live ? c->interface : c->file);
    if (p->name == NULL)
        rc = -ENOMEM;
    else
        rc = p->live ? open_live(s, p, c) : open_file(s, p);
    if (rc == 0)
        rc = choose_link(s, p);
    if (rc == 0)
        rc = set_filter(s, p, c->filter);
    if (rc != 0)
        pcap_source_close(s);
    return rc;
}

/* libpcap's frame function. */
static void take_packet(u_char *user, const struct pcap_pkthdr *h,
                        const u_char *bytes)
{
    struct source *s = (struct source *)(void *)user;
    int64_t sec = h->ts.tv_sec;
    struct frame f = {.p = bytes, .n = h->caplen, .link = s->link};

    /* The seconds of a pcap file are unsigned; libpcap 1.10 extends their
     * sign from 2038 on. */
    if (sec < 0 && sec >= INT32_MIN)
        sec += INT64_C(1) << 32;
    f.wire_n = h->len > h->caplen ? h->len : h->caplen;
    f.time_ns = source_time(s, sec, h->ts.tv_usec); /* ns, as asked for */
    source_emit(s, &f);
}

/* A file that ends within a packet has lost the rest; anything else that is
 * wrong with it is an error, and what came before stands. */
static enum source_state file_broken(struct source *s, struct pcap_source *p)
{
    FILE *file = pcap_file(p->pcap);

    p->ended = true;
    source_say(s, "%s: %s", p->name, pcap_geterr(p->pcap));
    s->stats.truncated_files = 1;
    return feof(file) && !ferror(file) ? SOURCE_END : SOURCE_ERROR;
}

static enum source_state pcap_source_read(struct source *s, size_t max)
{
    struct pcap_source *p = s->state;
    int n;

    if (p->ended)
        return SOURCE_END;
    n = pcap_dispatch(p->pcap, max < INT32_MAX ? (int)max : INT32_MAX,
                      take_packet, (u_char *)(void *)s);
    if (n > 0)
        return SOURCE_MORE;
    if (p->live) {
        if (n == 0)
            return SOURCE_IDLE;
        source_say(s, "%s: %s", p->name, pcap_geterr(p->pcap));
        return SOURCE_ERROR;
    }
    if (n < 0)
        return file_broken(s, p);
    p->ended = true;
    return SOURCE_END;
}

static void pcap_source_stats(struct source *s)
{
    struct pcap_source *p = s->state;
    struct pcap_stat now;

    if (!p->live || pcap_stats(p->pcap, &now) != 0)
        return;
    s->stats.ring_drops += (uint32_t)(now.ps_drop - p->last_drop);
    p->last_drop = now.ps_drop;
    s->stats.interface_drops = 0;
    for (int i = 0; i < COUNTERS; i++) {
        uint64_t count = read_counter(p->counter[i]);

        if (count > p->counter_start[i]) /* it may have been reset */
            s->stats.interface_drops += count - p->counter_start[i];
    }
}

const struct source_ops source_pcap = {
    .name = "pcap",
    .open = pcap_source_open,
    .read = pcap_source_read,
    .stats = pcap_source_stats,
    .close = pcap_source_close,
};
