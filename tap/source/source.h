/*
 * source.h - where frames come from: one table of back ends.
 * Comes in: what to listen to (an interface, a file, a DPDK port). Goes out:
 * frames with their capture time, and what the back end knows about loss.
 *
 *     source_open(name) --> backends: the table of this build
 *                             |
 *              pcap           |            dpdk
 *     live, or a file of      |   a port, polled; or a file
 *     any byte order          |   through its driver net_pcap
 *              |              |              |
 *              +-------> backend <-----------+
 *                  counts, and collects bursts
 *                             |
 *     source_read(frames) <---+
 *
 * A program asks source_read in a loop. Live and file sources of libpcap and
 * the ports of DPDK all look the same; only source_fd differs (DPDK polls).
 * backend.c does what all share; pcap, dpdk and backends see backend.h, and
 * that sees this header.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef TAP_SOURCE_H
#define TAP_SOURCE_H

#include <stddef.h>
#include <stdint.h>

/* The link types the decoder knows; numbered by us, not by any back end. */
enum link_type {
    LINK_ETHERNET,
    LINK_NULL,   /* 4 bytes address family, either byte order (BSD loopback) */
    LINK_RAW_IP, /* IPv4 or IPv6, told apart by the first nibble */
    LINK_SLL,    /* Linux cooked, version 1 */
    LINK_SLL2    /* Linux cooked, version 2 */
};

/* One captured frame, borrowed until the function it is given to returns. */
struct frame {
    const uint8_t *p;
    uint32_t n;      /* bytes captured */
    uint32_t wire_n; /* bytes on the wire, >= n; 0: not known */
    int64_t time_ns; /* since 1970 */
    enum link_type link;
};

/* Frames in the order in which they came, at most SOURCE_BURST: several at
 * once, so that memory which one needs can come while another is looked at. */
typedef void (*frames_fn)(void *ctx, const struct frame *f, size_t n);

enum { SOURCE_BURST = 32 };

struct source_config {
    const char *interface; /* live: name of the interface, or "any" */
    const char *file;      /* or a capture file; exactly one of both is set */
    const char *filter;    /* BPF text; NULL or "": everything */
    uint32_t snaplen;
    uint64_t buffer_bytes; /* live: the ring in the kernel */
    const char *eal;       /* dpdk: more EAL arguments, blanks between them */
    int64_t idle_end_ns;   /* dpdk over a file: this long without a packet is
                              the end (rx_burst has no end of file) */
};

/* Totals since open, except where said. Zero also means "cannot know". */
struct source_stats {
    uint64_t frames;
    uint64_t frame_bytes;     /* captured bytes */
    uint64_t cut_frames;      /* n < wire_n */
    uint64_t ring_drops;      /* loss `ring`: our reading was too slow */
    uint64_t interface_drops; /* loss `interface`: kernel's NIC counters */
    uint64_t nic_drops;       /* loss `nic`: DPDK imissed, ierrors, no mbuf */
    uint64_t truncated_files; /* loss `truncated_file`: the file ends within
                                 a packet, or goes on as garbage */
    uint64_t bad_times;       /* stamps that no int64_t of ns can hold */
};

enum source_state {
    SOURCE_MORE, /* frames came, ask again at once */
    SOURCE_IDLE, /* live and nothing there now: poll source_fd */
    SOURCE_END,  /* the file is read (or, dpdk, silent for idle_end_ns) */
    SOURCE_ERROR /* source_why says what; frames before it stand */
};

struct source;

/* The table; ends with a NULL name. Names: "pcap", "dpdk". */
struct source_ops {
    const char *name;
    int (*open)(const struct source_config *c, struct source *s);
    enum source_state (*read)(struct source *s, size_t max);
    void (*stats)(struct source *s); /* brings s->stats up to date */
    void (*close)(struct source *s);
};
extern const struct source_ops *const source_backends[];

/*
 * Opens a source of the back end called name. why (size bytes) tells a person
 * what is wrong, with the file's or interface's name, on failure:
 * -ENOENT no such back end in this build, -EINVAL not a capture file, a bad
 * filter or a link type that we cannot decode, or the errno of opening.
 * The strings of c are borrowed for the call.
 */
int source_open(const char *name, const struct source_config *c, char *why,
                size_t size, struct source **ret_s);
void source_close(struct source *s);

/* Calls fn for at most max frames that are there now; never waits longer than
 * it takes to hand them over. */
enum source_state source_read(struct source *s, size_t max, frames_fn fn,
                              void *ctx);
/* A descriptor for poll(2) that is readable when frames are there; -1 if the
 * source must be polled by asking it (files, DPDK). */
int source_fd(const struct source *s);
/* Callable from inside the sandbox: opens nothing. */
void source_stats(struct source *s, struct source_stats *ret_stats);
/* The reason of SOURCE_ERROR, or of a truncated file; "" if there is none. */
const char *source_why(const struct source *s);
/* "live:eth0" or "file:a.pcap" (the name without its directories). */
const char *source_label(const struct source *s);

#endif
