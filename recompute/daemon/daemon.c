/*
 * daemon.c - how a daemon of the room starts: daemon.h.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "daemon/daemon.h"

#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "config/exit.h"
#include "config/log.h"
#include "config/sandbox.h"
#include "config/settings.h"

volatile sig_atomic_t daemon_stop;
static int stop_fd = -1;

static const struct option options[] = {
    {"once", no_argument, NULL, 'o'},
    {"help", no_argument, NULL, 'h'},
    {"version", no_argument, NULL, 'V'},
    {NULL, 0, NULL, 0},
};

/* How it was called. */
struct call {
    const struct daemon_program *program;
    const char *settings_path;
    bool once, check_only;
    int verbose;
};

static int usage(const struct call *c, FILE *out)
{
    fputs(c->program->usage, out);
    return EXIT_USAGE;
}

static void on_signal(int signal)
{
    int err = errno;

    (void)signal; /* both mean the same */
    daemon_stop = 1;
    (void)eventfd_write(stop_fd, 1); /* fails when it counted 2^64 signals */
    errno = err;
}

int daemon_catch_signals(void)
{
    struct sigaction stop = {.sa_handler = on_signal};

    stop_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (stop_fd < 0)
        return -errno;
    (void)sigaction(SIGTERM, &stop, NULL); /* cannot fail for these three */
    (void)sigaction(SIGINT, &stop, NULL);
    (void)signal(SIGPIPE, SIG_IGN);
    return 0;
}

int daemon_stop_fd(void)
{
    return stop_fd;
}

static bool needs_settings(const struct call *c, int argc, char **argv)
{
    return c->settings_path != NULL || access(SETTINGS_PATH, F_OK) == 0 ||
           c->program->is_free == NULL || !c->program->is_free(argc, argv);
}

static int run(const struct call *c, int argc, char **argv)
{
    struct settings *s = NULL;
    int err = 0, rc = EXIT_GOOD;

    if (needs_settings(c, argc, argv))
        err = settings_load(c->settings_path, stderr, &s);
    if (err != 0) {
        errno = -err;
        if (err != -EINVAL)
            log_warn("cannot read settings");
        return EXIT_SETTINGS;
    }
    if (!c->check_only)
        rc = c->program->run(s, c->once, argc, argv);
    settings_close(s);
    return rc == EXIT_USAGE ? usage(c, stderr) : rc;
}

/* False: the call is over, *ret_rc is its exit code. */
static bool read_options(struct call *c, int argc, char **argv, int *ret_rc)
{
    int opt;

    while ((opt = getopt_long(argc, argv, "+c:nvh", options, NULL)) != -1) {
        switch (opt) {
        case 'c':
            c->settings_path = optarg;
            break;
        case 'n':
            c->check_only = true;
            break;
        case 'v':
            c->verbose++;
            break;
        case 'o':
            c->once = true;
            break;
        case 'V':
            *ret_rc = printf("%s %s\n", c->program->name, ASSAY_VERSION) > 0
                          ? EXIT_GOOD
                          : EXIT_IO;
            return false;
        case 'h':
            (void)usage(c, stdout); /* asked for: no error */
            *ret_rc = EXIT_GOOD;
            return false;
        default:
            *ret_rc = usage(c, stderr);
            return false;
        }
    }
    return true;
}

int daemon_main(const struct daemon_program *p, int argc, char **argv)
{
    struct call call = {.program = p};
    int err, rc;

    if (!read_options(&call, argc, argv, &rc))
        return rc;
    if (optind != argc && !p->operands)
        return usage(&call, stderr);
    log_init(p->name, call.verbose);
    err = daemon_catch_signals();
    if (err != 0)
        fatalx(EXIT_IO, "signals: %s", strerror(-err));
    return run(&call, argc - optind, argv + optind);
}

void daemon_give_up_rights(const char *user, unsigned allow)
{
    int err = sandbox_enter(user, allow);

    if (err != 0) {
        errno = -err;
        fatal(EXIT_NOT_PERMITTED, "cannot give up rights");
    }
}
