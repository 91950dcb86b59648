/*
 * cgi_main.c - assay.cgi: one request, one process. Comes in: the CGI
 * environment and a body; goes out: the answer. Holds a read-only index, and
 * for a form the store's socket for the page's own records.
 *
 * Which settings file: CGI variable ASSAY_CONF, which only the web server
 * sets (no request header maps to it). Called by hand it takes the flags every
 * program has; under a web server argv is foreign text and not looked at.
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include "config/exit.h"
#include "config/log.h"
#include "config/sandbox.h"
#include "config/settings.h"
#include "site.h"

enum { CPU_S = 10, MEMORY_BYTES = 1 << 30 };

static void limit(void)
{
    const struct rlimit cpu = {CPU_S, CPU_S}, core = {0, 0};

    if (setrlimit(RLIMIT_CPU, &cpu) != 0 || setrlimit(RLIMIT_CORE, &core) != 0)
        fatal(EXIT_IO, "limits");
    if (prctl(PR_SET_DUMPABLE, 0) != 0)
        fatal(EXIT_IO, "not dumpable");
}

static void confine(enum method method)
{
    unsigned allow = SANDBOX_READ_FILES;
    int err;

    if (method == METHOD_POST)
        allow |= SANDBOX_UNIX;
    err = sandbox_enter("", allow);
    if (err != 0)
        fatalx(EXIT_NOT_PERMITTED, "cannot enter the sandbox: %s",
               strerror(-err));
}

static bool read_key(const char *path, uint8_t key[PAGE_KEY_BYTES])
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    bool whole;

    if (fd < 0)
        return false;
    whole = read(fd, key, PAGE_KEY_BYTES) == PAGE_KEY_BYTES;
    (void)close(fd); /* only read from */
    return whole;
}

static struct site site_of(const struct settings *s)
{
    struct site site = {
        .state_dir = settings_str(s, "store.state_dir"),
        .run_dir = settings_str(s, "store.run_dir"),
        .static_url = settings_str(s, "web.static_url"),
        .actor = settings_str(s, "web.actor"),
        .reveal = settings_bool(s, "web.reveal"),
        .quiet_ns = settings_int(s, "check.traffic_s") * 1000000000,
        .deadline_ms = (int)settings_int(s, "web.deadline_ms"),
    };

    site.has_key = read_key(settings_str(s, "web.key_file"), site.key);
    return site;
}

static struct settings *load(const char *path)
{
    struct settings *s;
    int err = settings_load(path, stderr, &s);

    if (err != 0)
        fatalx(EXIT_SETTINGS, "settings: %s", strerror(-err));
    return s;
}

static int usage(FILE *to, int code)
{
    fputs("usage: assay.cgi [-c FILE] [-n] [-v] [-h]\n"
          "Run by a web server; -n only checks the settings.\n",
          to);
    return code;
}

/* By hand: nothing to serve. */
static int by_hand(int argc, char **argv)
{
    const char *path = NULL;
    bool check = false;
    int c;

    while ((c = getopt(argc, argv, "c:nvh")) != -1)
        switch (c) {
        case 'c':
            path = optarg;
            break;
        case 'n':
            check = true;
            break;
        case 'v':
            log_init("assay.cgi", 1);
            break;
        case 'h':
            return usage(stdout, EXIT_GOOD);
        default:
            return usage(stderr, EXIT_USAGE);
        }
    if (!check)
        return usage(stderr, EXIT_USAGE);
    settings_close(load(path));
    return EXIT_GOOD;
}

int main(int argc, char **argv)
{
    static char out[65536]; /* given, stdio asks no terminal: no ioctl */
    struct settings *s;
    struct site site;
    bool sent;

    log_init("assay.cgi", 0);
    if (getenv("GATEWAY_INTERFACE") == NULL)
        return by_hand(argc, argv);
    if (setvbuf(stdout, out, _IOFBF, sizeof out) != 0)
        fatalx(EXIT_IO, "standard output");
    limit();
    s = load(getenv("ASSAY_CONF"));
    site = site_of(s);
    sent = site_serve(&site, environ, STDIN_FILENO, stdout, confine);
    explicit_bzero(&site, sizeof site);
    settings_close(s);
    return sent ? EXIT_GOOD : EXIT_IO;
}
