/*
 * settings_table.c - every key of assay.conf, one row each, grouped by room.
 * assay.conf(5) is printed from these rows.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "settings_table.h"

#include <stddef.h>

/* Each macro is one initialiser, which clang-format takes for a block. */
/* clang-format off */
#define INT(key, min, max, def, doc) \
    {key, SETTING_INT, min, max, def, NULL, NULL, doc}
#define BOOL(key, def, doc) \
    {key, SETTING_BOOL, 0, 1, def, NULL, NULL, doc}
#define STR(key, min, max, def, doc) \
    {key, SETTING_STR, min, max, 0, def, NULL, doc}
#define WORD(key, words, def, doc) \
    {key, SETTING_STR, 1, 64, 0, def, words, doc}
#define LIST(key, def, doc) \
    {key, SETTING_LIST, 1, 4096, 0, def, NULL, doc}
/* clang-format on */

const struct setting settings_table[] = {
    STR("origin", 1, 255, "assay.example/unit-0001",
        "Name of this log, as it stands in every checkpoint. Never change it "
        "once the log has been started."),

    STR("store.state_dir", 1, 4000, "/var/lib/assay",
        "Directory of the log, the vault, the index, jobs and keys."),
    STR("store.run_dir", 1, 90, "/run/assay",
        "Directory of the sockets, one for each role."),
    STR("store.user", 0, 64, "",
        "User that assay-store becomes after start; empty: stays."),
    STR("store.user_tap", 0, 64, "",
        "User whose processes may add what the tap records; empty: the "
        "store's own user."),
    STR("store.user_sampler", 0, 64, "", "The same for assay-sampler."),
    STR("store.user_recompute", 0, 64, "", "The same for assay-recompute."),
    STR("store.user_compare", 0, 64, "", "The same for assay-compare."),
    STR("store.user_web", 0, 64, "", "The same for assay.cgi."),
    INT("store.checkpoint_s", 1, 86400, 60,
        "Seconds between signed checkpoints while the log grows."),
    WORD("store.job_mode", "blind forced", "blind",
         "How drawn requests are run again: blind (the worker never sees the "
         "answer) or forced (it is given the claimed token ids)."),
    INT("store.job_forced_percent", 1, 100, 100,
        "In forced mode, the share of the jobs that are forced; the others "
        "are blind. Which ones, nobody outside the store can tell."),
    INT("store.job_runs", 1, 100, 2,
        "How often a worker repeats each job; repeats that differ make the "
        "verdict UNSTABLE."),

    STR("tap.name", 1, 63, "tap0",
        "Name of this tap, as it stands in what it records."),
    STR("tap.user", 0, 64, "",
        "User that assay-tap becomes after start; empty: stays."),
    STR("tap.feed_listen", 0, 255, "",
        "Address and port on which assay-tap itself takes the engines' batch "
        "feed, \"127.0.0.1:8901\", \"[::1]:8901\"; empty: only from the "
        "tapped wire."),
    INT("tap.exchanges", 256, 1048576, 65536,
        "Exchanges open, or waiting to be recorded, at once."),
    INT("tap.messages_mib", 8, 262144, 1024,
        "Memory for the messages of these exchanges, in MiB; used as needed."),
    INT("tap.message_max_mib", 1, 1024, 64,
        "Longest message kept, decoded as well; of longer ones the beginning "
        "is kept and the exchange is incomplete."),
    INT("tap.interval_s", 1, 86400, 60,
        "Seconds between the accounts of what was seen, not understood and "
        "lost."),
    INT("tap.samples", 0, 1000, 16,
        "In each interval, records a cause that name one occurrence; further "
        "ones are added up."),
    WORD("tap.source", "pcap dpdk", "pcap",
         "Back end that captures: libpcap, or the poll-mode drivers of DPDK."),
    STR("tap.interface", 0, 63, "",
        "Interface to listen to; \"any\" is all of them."),
    STR("tap.filter", 0, 4000, "",
        "BPF filter text of the capture; empty: everything. What it leaves out "
        "is not even counted, so it stands in no account of loss."),
    INT("tap.snaplen", 256, 524288, 262144,
        "Bytes captured of each frame; offload makes frames of 64 KiB and "
        "more."),
    INT("tap.buffer_mib", 1, 4096, 256,
        "The kernel's ring for captured frames, in MiB."),
    STR("tap.eal", 0, 4000, "",
        "Arguments for the environment layer of DPDK, separated by blanks."),
    INT("tap.streams", 16, 16777216, 65536,
        "Connections held at once. When full, the one silent longest ends."),
    INT("tap.segments", 64, 4194304, 32768,
        "Pool of 2 KiB blocks for bytes that wait for missing ones, and for "
        "recent ones to compare retransmissions with."),
    INT("tap.held_kib", 64, 65536, 1024,
        "Most KiB that may wait in one direction of a connection."),
    INT("tap.history_kib", 1, 1024, 4,
        "Recent KiB kept in each direction to compare retransmissions with; 64 "
        "times as many while they are not acknowledged."),
    INT("tap.fragments", 1, 65536, 256,
        "Fragmented IP datagrams held at once, 64 KiB each."),
    INT("tap.fragment_s", 1, 3600, 30,
        "Seconds that a fragmented datagram is waited for."),
    INT("tap.ack_grace_ms", 1, 60000, 500,
        "Milliseconds that bytes which their receiver has acknowledged are "
        "waited for before they are a gap."),
    INT("tap.one_sided_ms", 1, 600000, 2000,
        "The same where no acknowledgement tells that they were received."),
    INT("tap.half_open_s", 1, 3600, 5,
        "Seconds until a connection that was not accepted is forgotten."),
    INT("tap.idle_s", 1, 864000, 1800,
        "Seconds of silence until a connection is taken to have ended."),
    INT("tap.linger_s", 1, 3600, 5,
        "Seconds until a connection that was reset has ended: its sender may "
        "disprove it by going on. The same for one closed by the one side that "
        "is seen."),

    STR("web.static_url", 1, 255, "/static",
        "Where the web server serves the page's style sheet."),
    STR("web.key_file", 0, 4000, "/etc/assay/web.key",
        "File with 32 random bytes, readable for the page alone, that its "
        "forms are signed with. Without it the page takes no form."),
    STR("web.actor", 0, 64, "",
        "Who acts on the page when the web server names nobody: for a demo "
        "without log-in; empty: nobody may."),
    BOOL("web.reveal", 0,
         "Whether people on the page may open stored content; each opening is "
         "recorded."),
    INT("web.deadline_ms", 10, 60000, 2000,
        "Milliseconds that the queries of one page may take."),

    STR("sampler.user", 0, 64, "",
        "User that assay-sampler becomes after start; empty: stays."),
    INT("sampler.close_after_s", 0, 31536000, 0,
        "Seconds after which `assay-sampler run` closes an epoch that has "
        "exchanges; 0: never by time."),
    INT("sampler.close_after_exchanges", 0, 1000000000, 0,
        "Exchanges after which `assay-sampler run` closes an epoch; 0: never "
        "by count."),
    INT("sampler.poll_ms", 20, 60000, 500,
        "Milliseconds between two looks of `assay-sampler run`."),
    BOOL("sampler.feed_required", 0,
         "A batch feed belongs to this site: exchanges without any are "
         "findings even if no feed has ever spoken."),
    INT("sampler.feed_slack_ms", 0, 3600000, 10000,
        "Milliseconds by which the clocks of engine and tap may differ and "
        "the feed may lag when batch steps are matched with exchanges."),
    INT("sampler.feed_settle_ms", 0, 60000, 1000,
        "Milliseconds between fixing the end of an epoch and matching, so "
        "that late batch steps arrive."),

    STR("recompute.user", 0, 64, "",
        "User that assay-recompute becomes after start; empty: stays."),
    STR("recompute.name", 1, 63, "worker0",
        "Name of this worker, as it stands in its results."),
    LIST("recompute.models", "",
         "Model directories that jobs may be run with; which one a job needs, "
         "its manifest says. One that no engine can open is logged, and its "
         "requests are UNCHECKABLE (docs/engines.md)."),
    STR("recompute.recipes", 1, 255, "/usr/share/assay/recipes",
        "Folder of the recipes: how the builds of an engine compute."),
    INT("recompute.threads", 0, 1024, 0,
        "Threads of a forward pass; 0: one for each CPU. The results do not "
        "depend on it."),
    STR("compare.user", 0, 64, "",
        "User that assay-compare becomes after start; empty: stays."),
    INT("compare.deadline_s", 1, 31536000, 86400,
        "Seconds after which a job without a result is UNCHECKABLE."),

    INT("check.traffic_s", 1, 86400, 300,
        "Health: seconds since the tap's last account of its traffic before "
        "silence is an alarm."),
    INT("check.unsigned_s", 1, 86400, 600,
        "Health: seconds that a recorded exchange may wait for a signed "
        "checkpoint."),
    INT("check.job_s", 1, 864000, 3600,
        "Health: seconds that a drawn unit may wait for its verdict."),
    INT("check.disk_free_mb", 1, 1000000000, 1024,
        "Health: MiB that must be free where the state directory lies."),

    {NULL, SETTING_INT, 0, 0, 0, NULL, NULL, NULL},
};
