/*
 * command.c - the table of commands, and those that act once.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "command/command.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "config/clock.h"
#include "config/exit.h"
#include "config/log.h"
#include "sampler/chain.h"
#include "store/record.h"

static int run_close(struct sampler *, const struct settings *, int, char **);
static int run_reveal(struct sampler *, const struct settings *, int, char **);
static int run_certify(struct sampler *, const struct settings *, int, char **);
static int run_enrol(struct sampler *, const struct settings *, int, char **);
static int run_policy(struct sampler *, const struct settings *, int, char **);

const struct command commands[] = {
    {"run", "", "close epochs by time and count, finish what is pending",
     command_run, NULL},
    {"close", "[--reason TEXT]",
     "seal the epoch and draw if nothing is awaited", run_close, NULL},
    {"reveal", "PARTY HEX|-", "record a party's contribution, then draw",
     run_reveal, NULL},
    {"list", "[--json]", "show the epochs and what each waits for",
     command_list, NULL},
    {"certify", "EPOCH [--now]", "state what the epoch's verdicts are worth",
     run_certify, NULL},
    {"enrol", "PARTY HEAD", "record the head of a party's reveal chain",
     run_enrol, NULL},
    {"policy", "FILE", "record the sampling policy from now on", run_policy,
     NULL},
    {"chain", "new --length K FILE | head FILE | next FILE",
     "a party's own tool: make a chain, reveal its next value", NULL,
     command_chain},
    {NULL, NULL, NULL, NULL, NULL},
};

int command_failed(const char *what, int err)
{
    switch (err) {
    case -ENOKEY:
        log_warnx("%s: no policy is recorded, see: assay-sampler policy", what);
        return EXIT_SETTINGS;
    case -EKEYREJECTED:
        log_warnx("%s: the value does not lead to the party's chain", what);
        return EXIT_BAD;
    case -EPERM:
    case -EACCES:
        errno = -err;
        log_warn("%s", what);
        return EXIT_NOT_PERMITTED;
    case -ETIMEDOUT:
    case -EAGAIN:
        errno = -err;
        log_warn("%s", what);
        return EXIT_AGAIN;
    default:
        errno = -err;
        log_warn("%s", what);
        return EXIT_IO;
    }
}

uint64_t command_now_ns(void)
{
    return (uint64_t)clock_wall_ns();
}

int command_read(const char *path, char *text, size_t size, size_t *ret_n)
{
    bool own = strcmp(path, "-") != 0;
    int fd = own ? open(path, O_RDONLY | O_CLOEXEC) : STDIN_FILENO, err = 0;
    size_t n = 0;
    ssize_t got = 1;

    if (fd < 0)
        return -errno;
    while (got > 0 && n < size - 1) {
        got = read(fd, text + n, size - 1 - n);
        if (got > 0)
            n += (size_t)got;
    }
    if (got < 0)
        err = -errno;
    else if (got > 0)
        err = -EFBIG;
    if (own)
        (void)close(fd); /* only read */
    if (err != 0)
        return err;
    text[n] = '\0';
    *ret_n = n;
    return 0;
}

static int bad_usage(const char *name)
{
    for (const struct command *c = commands; c->name != NULL; c++)
        if (strcmp(c->name, name) == 0)
            fprintf(stderr, "usage: assay-sampler %s %s\n", name, c->operands);
    return EXIT_USAGE;
}

static void log_stalled(const struct epoch_status *st)
{
    if (st->stalled)
        log_warnx("SEED_STALLED epoch=%" PRIu64 " party=%s", st->epoch,
                  st->missing);
}

int command_advance_all(struct sampler *s, bool *ret_waiting)
{
    uint64_t first = 1, last = 0;
    int err = epochs_last(&s->epochs, &last);

    if (err == 0)
        err = epochs_first_pending(&s->epochs, &first);
    *ret_waiting = false;
    for (uint64_t e = first; err == 0 && e <= last; e++) {
        struct epoch_status st;

        err = epoch_advance(s, e, command_now_ns(), false, &st);
        if (err == 0 && st.state == EPOCH_CLOSED)
            *ret_waiting = true;
    }
    return err;
}

/* After a close or a reveal: as far as it goes; 75 when a reveal is missing. */
static int advance(struct sampler *s, uint64_t epoch)
{
    struct epoch_status st;
    bool waiting;
    int err = command_advance_all(s, &waiting);

    if (err == 0)
        err = epoch_status(s, epoch, command_now_ns(), &st);
    if (err != 0)
        return command_failed("cannot go on", err);
    log_stalled(&st);
    if (st.state == EPOCH_CLOSED && st.missing[0] != '\0')
        printf("epoch %" PRIu64 ": waits for a reveal of %s\n", epoch,
               st.missing);
    else if (st.state == EPOCH_CLOSED)
        printf("epoch %" PRIu64 ": waits for the epoch before\n", epoch);
    else
        printf("epoch %" PRIu64 ": %" PRIu64 " of %" PRIu64 " drawn\n", epoch,
               st.drawn, st.close.units);
    return st.state == EPOCH_CLOSED ? EXIT_AGAIN : EXIT_GOOD;
}

static int run_close(struct sampler *s, const struct settings *set, int argc,
                     char **argv)
{
    const char *reason = "command";
    uint64_t epoch;
    int err, rc;

    (void)set;
    if (argc == 3 && strcmp(argv[1], "--reason") == 0)
        reason = argv[2];
    else if (argc != 1)
        return bad_usage(argv[0]);
    err = sampler_lock(s);
    if (err == 0)
        err = epoch_close(s, reason, &epoch);
    rc = err == 0 ? advance(s, epoch)
                  : command_failed("cannot close the epoch", err);
    sampler_unlock(s);
    return rc;
}

/* HEX or, for "-", one line of stdin. */
static bool value_of(const char *word, uint8_t value[32])
{
    char text[128];
    size_t n = strlen(word);

    if (strcmp(word, "-") == 0) {
        if (command_read("-", text, sizeof text, &n) != 0)
            return false;
        n -= n > 0 && text[n - 1] == '\n';
        word = text;
    }
    return record_parse_hex(span_of(word, n), value, 32) == PARSE_OK;
}

static int run_reveal(struct sampler *s, const struct settings *set, int argc,
                      char **argv)
{
    uint8_t value[32];
    uint64_t epoch;
    int err, rc;

    (void)set;
    if (argc != 3 || !value_of(argv[2], value))
        return bad_usage(argv[0]);
    err = sampler_lock(s);
    if (err == 0)
        err = epoch_reveal(s, argv[1], value, &epoch);
    if (err == -ENOENT) {
        log_warnx("no epoch waits for party=%s", argv[1]);
        rc = EXIT_IO;
    } else
        rc = err == 0 ? advance(s, epoch)
                      : command_failed("cannot take the reveal", err);
    sampler_unlock(s);
    return rc;
}

static int certified(const struct epoch_status *st)
{
    printf("epoch %" PRIu64 ": ", st->epoch);
    if (st->state == EPOCH_CERTIFIED) {
        printf("certified, %" PRIu64 " drawn\n", st->drawn);
        return EXIT_GOOD;
    }
    if (st->state == EPOCH_DRAWN)
        printf("%" PRIu64 " of %" PRIu64 " drawn units have no verdict\n",
               st->pending, st->drawn);
    else
        printf("not drawn yet\n");
    return EXIT_AGAIN;
}

static int run_certify(struct sampler *s, const struct settings *set, int argc,
                       char **argv)
{
    bool now = argc == 3 && strcmp(argv[2], "--now") == 0;
    struct epoch_status st;
    uint64_t epoch;
    int err, rc;

    (void)set;
    if ((argc != 2 && !now) ||
        record_parse_u64(span_str(argv[1]), &epoch) != PARSE_OK)
        return bad_usage(argv[0]);
    err = sampler_lock(s);
    if (err == 0)
        err = epoch_advance(s, epoch, command_now_ns(), now, &st);
    rc = err == 0 ? certified(&st) : command_failed("cannot certify", err);
    sampler_unlock(s);
    return rc;
}

static int run_enrol(struct sampler *s, const struct settings *set, int argc,
                     char **argv)
{
    uint64_t last = 0;
    uint8_t head[32];
    struct record r;
    int err;

    (void)set;
    if (argc != 3 || strlen(argv[1]) >= POLICY_NAME || !value_of(argv[2], head))
        return bad_usage(argv[0]);
    err = sampler_lock(s);
    if (err == 0)
        err = epochs_last(&s->epochs, &last);
    record_init(&r);
    record_text(&r, "party", span_str(argv[1]));
    record_hex(&r, "head", span_of(head, 32));
    record_u64(&r, "epoch", last + 1);
    if (err == 0)
        err = writer_put(&s->writer, "chain", &r);
    sampler_unlock(s);
    if (err != 0)
        return command_failed("cannot enrol", err);
    printf("party %s reveals from epoch %" PRIu64 " on\n", argv[1], last + 1);
    return EXIT_GOOD;
}

/* Every party of a policy must have enrolled: else no epoch could be drawn. */
static int parties_enrolled(struct sampler *s, const struct policy *p)
{
    for (size_t i = 0; i < p->n_parties; i++) {
        struct epochs_chain c;
        int err =
            epochs_chain(&s->epochs, p->party[i], INT64_MAX, INT64_MAX, &c);

        if (err == -ENOENT)
            log_warnx("no chain is enrolled party=%s", p->party[i]);
        if (err != 0)
            return err;
    }
    return 0;
}

static int put_policy(struct sampler *s, const struct policy *p,
                      struct span text)
{
    struct record r;
    int err = sampler_lock(s);

    record_init(&r);
    record_hex(&r, "sha256", span_of(p->sha256, 32));
    record_text(&r, "text", text);
    if (err == 0)
        err = parties_enrolled(s, p);
    if (err == 0)
        err = writer_put(&s->writer, "policy", &r);
    sampler_unlock(s);
    return err;
}

static int run_policy(struct sampler *s, const struct settings *set, int argc,
                      char **argv)
{
    char text[POLICY_MAX + 2];
    struct policy_error why;
    struct policy p;
    size_t n = 0;
    int err;

    (void)set;
    if (argc != 2)
        return bad_usage(argv[0]);
    err = command_read(argv[1], text, sizeof text, &n);
    if (err != 0)
        return command_failed(argv[1], err);
    if (policy_parse(span_of(text, n), &p, &why) != PARSE_OK) {
        log_warnx("%s:%u: %s", argv[1], why.line, why.why);
        return EXIT_SETTINGS;
    }
    err = put_policy(s, &p, span_of(text, n));
    return err == 0 ? EXIT_GOOD
                    : command_failed("cannot record the policy", err);
}
