/*
 * command_run.c - the daemon: closes epochs by time and count, and brings what
 * is pending as far as it goes. All it knows stands in the record, so it may
 * be killed at any moment.
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <time.h>

#include "command/command.h"
#include "config/exit.h"
#include "config/log.h"
#include "config/settings.h"

static volatile sig_atomic_t stop;

static void on_signal(int number)
{
    (void)number;
    stop = 1;
}

static int catch_signals(void)
{
    struct sigaction a = {.sa_handler = on_signal};

    if (sigaction(SIGTERM, &a, NULL) != 0 || sigaction(SIGINT, &a, NULL) != 0)
        return -errno;
    a.sa_handler = SIG_IGN;
    return sigaction(SIGPIPE, &a, NULL) == 0 ? 0 : -errno;
}

/* When the epoch that is open began, and how much it has. */
static int open_epoch(struct sampler *s, uint64_t *ret_from_ns,
                      uint64_t *ret_exchanges)
{
    struct record_place at = {0, s->epochs.genesis_ns};
    struct epoch_close c = {.end = 0};
    uint64_t last = 0;
    int err = epochs_last(&s->epochs, &last);

    if (err == 0 && last > 0)
        err = epochs_frame_close(&s->epochs, last, &c, &at);
    *ret_from_ns = at.time_ns;
    return err == 0 ? epochs_exchanges(&s->epochs, c.end, ret_exchanges) : err;
}

/* Why the open epoch should be closed now, or NULL; one without exchanges
 * stays open, and what else was seen or lost is counted in the next. */
static int due(struct sampler *s, const struct settings *set,
               const char **ret_why)
{
    uint64_t after_s = (uint64_t)settings_int(set, "sampler.close_after_s");
    uint64_t after_n =
        (uint64_t)settings_int(set, "sampler.close_after_exchanges");
    uint64_t now = command_now_ns(), from = 0, n = 0;
    int err = open_epoch(s, &from, &n);

    *ret_why = NULL;
    if (err != 0 || n == 0)
        return err;
    if (after_n != 0 && n >= after_n)
        *ret_why = "count";
    else if (after_s != 0 && now > from && (now - from) / 1000000000 >= after_s)
        *ret_why = "time";
    return 0;
}

/* Looks twice, with the barrier in between: a sampler that was killed may have
 * closed it already. */
static int close_if_due(struct sampler *s, const struct settings *set)
{
    const char *why;
    uint64_t epoch;
    int err = due(s, set, &why);

    if (err == 0 && why != NULL)
        err = sampler_settle(s);
    if (err == 0 && why != NULL)
        err = due(s, set, &why);
    return err == 0 && why != NULL ? epoch_close(s, why, &epoch) : err;
}

/* Says once for each epoch that its seed has stalled. */
static int watch_stalled(struct sampler *s, uint64_t *said)
{
    uint64_t first = 1, last = 0;
    int err = epochs_last(&s->epochs, &last);

    if (err == 0)
        err = epochs_first_pending(&s->epochs, &first);
    if (first <= *said)
        first = *said + 1;
    for (uint64_t e = first; err == 0 && e <= last; e++) {
        struct epoch_status st;

        err = epoch_status(s, e, command_now_ns(), &st);
        if (err != 0 || !st.stalled)
            continue;
        log_warnx("SEED_STALLED epoch=%" PRIu64 " party=%s", e, st.missing);
        *said = e;
    }
    return err;
}

static int turn(struct sampler *s, const struct settings *set, uint64_t *said)
{
    bool waiting;
    int err = sampler_lock(s);

    if (err == 0)
        err = close_if_due(s, set);
    if (err == 0)
        err = command_advance_all(s, &waiting);
    if (err == 0 && waiting)
        err = watch_stalled(s, said);
    sampler_unlock(s);
    return err;
}

int command_run(struct sampler *s, const struct settings *set, int argc,
                char **argv)
{
    int64_t poll_ms = settings_int(set, "sampler.poll_ms");
    const struct timespec wait = {poll_ms / 1000, poll_ms % 1000 * 1000000};
    uint64_t said = 0;
    int last_err = 0;

    (void)argv;
    if (argc != 1) {
        fputs("usage: assay-sampler run\n", stderr);
        return EXIT_USAGE;
    }
    if (catch_signals() != 0)
        return EXIT_IO;
    log_info("running origin=%s", s->epochs.origin);
    while (!stop) {
        int err = turn(s, set, &said);

        /* The same trouble is said once: the store may be away for hours. */
        if (err == -EACCES)
            return command_failed("cannot go on", err);
        if (err != 0 && err != last_err)
            (void)command_failed("cannot go on, will try again", err);
        last_err = err;
        (void)nanosleep(&wait, NULL); /* a signal ends the wait */
    }
    log_info("stopped");
    return EXIT_GOOD;
}
