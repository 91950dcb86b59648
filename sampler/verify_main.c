/*
 * verify_main.c - assay-verify: a bundle and a key in, a table of checks and
 * the statement they prove out. Opens nothing but the directory given.
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "config/exit.h"
#include "config/log.h"
#include "config/sandbox.h"
#include "verify/verify.h"

static int usage(FILE *out)
{
    fputs("usage: assay-verify DIR [--key VKEY] [--since CHECKPOINT] "
          "[--json]\n",
          out);
    return EXIT_USAGE;
}

static int read_since(const char *path, uint8_t note[NOTE_MAX],
                      struct span *ret_note)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t n;

    if (fd < 0)
        return -errno;
    n = read(fd, note, NOTE_MAX);
    if (n < 0)
        n = -errno;
    (void)close(fd); /* only read */
    if (n < 0)
        return (int)n;
    *ret_note = span_of(note, (size_t)n);
    return 0;
}

static int run(const char *dir, const struct verify_options *o, bool json)
{
    static struct report report;
    char why[BUNDLE_WHY];
    struct bundle b = {.n = 0};
    int err = bundle_read(dir, &b, why);

    if (err == -EBADMSG)
        verify_refused(why, &report);
    else if (err != 0) {
        errno = -err;
        fatal(EXIT_IO, "cannot read dir=%s", dir);
    } else
        verify_bundle(&b, o, &report);
    bundle_fini(&b);
    if (!json)
        report_print(&report, stdout);
    else if (!report_print_json(&report, stdout))
        return EXIT_IO;
    return fflush(stdout) == 0 ? report_exit(&report) : EXIT_IO;
}

int main(int argc, char **argv)
{
    static const struct option options[] = {
        {"key", required_argument, NULL, 'k'},
        {"since", required_argument, NULL, 's'},
        {"json", no_argument, NULL, 'j'},
        {"help", no_argument, NULL, 'h'},
        {"version", no_argument, NULL, 'V'},
        {NULL, 0, NULL, 0},
    };
    static uint8_t note[NOTE_MAX];
    struct verify_options o = {NULL, {NULL, 0}};
    const char *since = NULL;
    bool json = false;
    int opt, err;

    log_init("assay-verify", 0);
    /* -c FILE comes from the front command; no settings are needed here. */
    while ((opt = getopt_long(argc, argv, "c:h", options, NULL)) != -1) {
        if (opt == 'k')
            o.vkey = optarg;
        else if (opt == 's')
            since = optarg;
        else if (opt == 'j')
            json = true;
        else if (opt == 'V')
            return printf("assay-verify %s\n", ASSAY_VERSION) > 0 ? 0 : EXIT_IO;
        else if (opt != 'c')
            return opt == 'h' ? (usage(stdout), EXIT_GOOD) : usage(stderr);
    }
    if (argc - optind != 1)
        return usage(stderr);
    if (sandbox_enter("", SANDBOX_READ_FILES) != 0)
        fatalx(EXIT_NOT_PERMITTED, "cannot give up rights");
    err = since == NULL ? 0 : read_since(since, note, &o.since);
    if (err != 0) {
        errno = -err;
        fatal(EXIT_IO, "cannot read checkpoint=%s", since);
    }
    return run(argv[optind], &o, json);
}
