/*
 * main.c - assay-prover: an OpenAI-compatible engine on assay's own kernels,
 * honest, or cheating on request. The demo's and the tests' inference server.
 * SPDX-License-Identifier: Apache-2.0
 */
#include <getopt.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cheat.h"
#include "config/exit.h"
#include "config/log.h"
#include "feed.h"
#include "http.h"
#include "prover.h"
#include "recompute/error.h"
#include "recompute/model.h"
#include "recompute/template.h"
#include "recompute/tokenizer.h"

enum { FEED_MS = 2, IDLE_MS = 500, LAST_ROUNDS = 30000 };

static volatile sig_atomic_t ending;

struct options {
    const char *model, *name, *engine, *listen, *port, *feed_host, *feed_port;
    const char *cheat;
    struct forward_options forward;
    size_t budget, running;
    struct cheats cheats;
};

static const char usage[] =
    "usage: assay-prover --model DIR [--name NAME] [--engine NAME]\n"
    "  [--listen ADDRESS] [--port PORT] [--feed HOST:PORT] [--threads N]\n"
    "  [--kernels ref|avx2|avx512] [--budget TOKENS] [--running N]\n"
    "  [--cheat other-weights|altered-token|temperature|hidden-member|\n"
    "           unreported|cached-answer]\n"
    "  [--cheat-every N] [--cheat-request K] [--cheat-log FILE]\n"
    "  [--hidden-out FILE]\n"
    "Prints \"listening ADDRESS PORT\" when it serves; ends on SIGTERM.\n";

static const struct option longs[] = {
    {"model", 1, NULL, 'm'},         {"name", 1, NULL, 'n'},
    {"engine", 1, NULL, 'e'},        {"listen", 1, NULL, 'l'},
    {"port", 1, NULL, 'p'},          {"feed", 1, NULL, 'f'},
    {"threads", 1, NULL, 't'},       {"kernels", 1, NULL, 'k'},
    {"budget", 1, NULL, 'b'},        {"running", 1, NULL, 'r'},
    {"cheat", 1, NULL, 'c'},         {"cheat-every", 1, NULL, 'E'},
    {"cheat-request", 1, NULL, 'K'}, {"cheat-log", 1, NULL, 'L'},
    {"hidden-out", 1, NULL, 'H'},    {NULL, 0, NULL, 0},
};

static uint64_t number(const char *text, uint64_t max)
{
    char *end;
    uint64_t v = strtoull(text, &end, 10);

    if (*text < '0' || *text > '9' || *end != '\0' || v > max)
        fatalx(EXIT_USAGE, "not a number from 0 to %llu: \"%s\"",
               (unsigned long long)max, text);
    return v;
}

static FILE *open_log(const char *path)
{
    FILE *f = fopen(path, "ae");

    if (f == NULL)
        fatal(EXIT_IO, "%s", path);
    return f;
}

static void split_feed(struct options *o, char *text)
{
    char *colon = strrchr(text, ':');

    if (colon == NULL)
        fatalx(EXIT_USAGE, "not HOST:PORT: \"%s\"", text);
    *colon = '\0';
    o->feed_host = text;
    o->feed_port = colon + 1;
}

static void read_option(struct options *o, int c, char *value)
{
    switch (c) {
    case 'm':
        o->model = value;
        break;
    case 'n':
        o->name = value;
        break;
    case 'e':
        o->engine = value;
        break;
    case 'l':
        o->listen = value;
        break;
    case 'p':
        o->port = value;
        break;
    case 'f':
        split_feed(o, value);
        break;
    case 't':
        o->forward.threads = (unsigned)number(value, 256);
        break;
    case 'k':
        o->forward.kernels = value;
        break;
    case 'b':
        o->budget = number(value, 1 << 20);
        break;
    case 'r':
        o->running = number(value, 1024);
        break;
    case 'c':
        if (!cheat_find(value, &o->cheats.kind))
            fatalx(EXIT_USAGE, "no such cheat: \"%s\"", value);
        break;
    case 'E':
        o->cheats.every = number(value, UINT32_MAX);
        break;
    case 'K':
        o->cheats.request = number(value, UINT32_MAX);
        break;
    case 'L':
        o->cheats.log = open_log(value);
        break;
    case 'H':
        o->cheats.hidden = open_log(value);
        break;
    default:
        (void)fputs(usage, stderr);
        exit(EXIT_USAGE);
    }
}

static void read_options(struct options *o, int argc, char **argv)
{
    for (int c; (c = getopt_long(argc, argv, "", longs, NULL)) != -1;)
        read_option(o, c, optarg);
    if (o->model == NULL || optind != argc || o->running == 0 ||
        o->budget < o->running) {
        (void)fputs(usage, stderr);
        exit(EXIT_USAGE);
    }
}

static void open_model(struct prover *p, const struct options *o)
{
    struct tokenizer *tokenizer;
    struct error error;
    int err = model_open(o->model, &p->model, &error);

    if (err == 0)
        err = tokenizer_open(o->model, &tokenizer, &error);
    if (err == 0)
        err = template_open(o->model, &p->requests.template, &error);
    if (err == 0 && o->cheats.kind == CHEAT_OTHER_WEIGHTS)
        err = model_open_rounded(o->model, &p->rounded, &error);
    if (err != 0)
        fatalx(EXIT_IO, "%s", error.text);
    p->requests.tokenizer = tokenizer;
    p->requests.config = model_config(p->model);
}

static void on_signal(int number)
{
    (void)number; /* all that come here end it */
    ending = 1;
}

static void catch_signals(void)
{
    struct sigaction sa = {.sa_handler = on_signal};

    if (sigaction(SIGTERM, &sa, NULL) != 0 ||
        sigaction(SIGINT, &sa, NULL) != 0 ||
        signal(SIGPIPE, SIG_IGN) == SIG_ERR)
        fatal(EXIT_IO, "sigaction");
}

/* How long to wait for the network: not at all while answers run, shortly
 * while the feed is under way. */
static int patience_ms(const struct prover *p)
{
    if (engine_busy(p->engine))
        return 0;
    return p->feed != NULL && !feed_idle(p->feed) ? FEED_MS : IDLE_MS;
}

static void serve(struct prover *p, struct MHD_Daemon *d)
{
    int rounds = LAST_ROUNDS; /* for what the feed has not told yet */

    while (!ending ||
           (p->feed != NULL && !feed_idle(p->feed) && rounds-- > 0)) {
        http_run(d, patience_ms(p));
        if (!ending)
            engine_step(p->engine);
        if (p->feed != NULL)
            feed_run(p->feed);
    }
}

int main(int argc, char **argv)
{
    static struct options o = {.name = "model",
                               .engine = "e0",
                               .listen = "127.0.0.1",
                               .port = "8000",
                               .budget = 256,
                               .running = 32};
    static struct prover p;
    struct MHD_Daemon *d;

    log_init("assay-prover", 0);
    read_options(&o, argc, argv);
    p.name = o.name;
    p.cheats = &o.cheats;
    open_model(&p, &o);
    if (engine_open(&p, &o.forward, o.budget, o.running, &p.engine) != 0)
        fatalx(EXIT_IO, "cannot compute here");
    if (o.feed_host != NULL &&
        feed_open(o.engine, o.feed_host, o.feed_port, &p.feed) != 0)
        fatalx(EXIT_IO, "feed");
    catch_signals();
    d = http_open(&p, o.listen, (uint16_t)number(o.port, 65535));
    if (d == NULL)
        fatalx(EXIT_IO, "cannot listen on %s %s", o.listen, o.port);
    printf("listening %s %u\n", o.listen, http_port(d));
    if (fflush(stdout) != 0)
        fatal(EXIT_IO, "stdout");
    serve(&p, d);
    http_close(d);
    engine_close(p.engine);
    feed_close(p.feed);
    cheats_fini(&o.cheats);
    model_close(p.rounded);
    model_close(p.model);
    tokenizer_close((struct tokenizer *)p.requests.tokenizer);
    return EXIT_GOOD;
}
