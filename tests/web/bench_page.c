/*
 * bench_page.c - how long a page takes over 100,000 exchanges, as the web
 * server sees it: one process a request, from start to the last byte; and its
 * processor time, which a busy machine does not change much. Prints "key value
 * unit" lines. argv[1]: assay.cgi. argv[2]: exchanges, if not
 * 100,000.
 * SPDX-License-Identifier: Apache-2.0
 */
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "fixture.h"

enum { EXCHANGES = 100000, DRAWN = 600, RUNS = 15 };

static const int64_t day_ns = INT64_C(1795953600000000000);

static struct unit_name exchange(struct fixture *f, int i)
{
    char time[32], id[32];
    const char *model = i % 5 == 0 ? "llama-3.3-70b" : "gpt-oss-20b";

    (void)snprintf(time, sizeof time, "%" PRId64,
                   day_ns + (int64_t)i * 10000000);
    (void)snprintf(id, sizeof id, "chatcmpl-%d", i);
    return ADD(f, "exchange", "tap", "tap0", "source", "live:eth0", "client",
               "10.0.0.7:40100", "server", "10.0.0.2:8000", "req_first_ns",
               time, "req_last_ns", time, "resp_first_ns", time, "resp_last_ns",
               time, "method", "POST", "target", "/v1/chat/completions",
               "status", "200", "api", "openai.chat", "model", model, "api_id",
               id, "streamed", "1", "events", "300", "tokens_in", "120",
               "tokens_out", "300", "tokens_from", "usage", "complete",
               i % 1000 == 7 ? "0" : "1", "cause", i % 1000 == 7 ? "gap" : "");
}

static void step(struct fixture *f, int i)
{
    char text[8][64], number[16];
    const char *pairs[32] = {"engine", "e0", "step", number, "padded", "8"};
    size_t n = 6;

    (void)snprintf(number, sizeof number, "%d", i);
    for (int j = 0; j < 8; j++) {
        (void)snprintf(text[j], sizeof text[j], "chatcmpl-%d,0,0,128,0,120,",
                       8 * i + j);
        pairs[n++] = "member";
        pairs[n++] = text[j];
    }
    fixture_add(f, "batch_step", pairs);
}

static void close_epoch(struct fixture *f, int epoch, uint64_t first,
                        const struct unit_name *units, int n)
{
    const char *pairs[2 * DRAWN / 20 + 8];
    char number[16], begin[24], end[24], count[16], drawn[DRAWN / 20][128];
    size_t at = 0;

    (void)snprintf(number, sizeof number, "%d", epoch);
    (void)snprintf(begin, sizeof begin, "%llu", (unsigned long long)first);
    (void)snprintf(end, sizeof end, "%llu", (unsigned long long)f->seq);
    (void)snprintf(count, sizeof count, "%d", n);
    ADD(f, "frame_close", "epoch", number, "first", begin, "end", end, "n",
        count, "seen", count);
    pairs[at++] = "epoch";
    pairs[at++] = number;
    for (int i = 0; i < DRAWN / 20; i++) {
        (void)snprintf(drawn[i], sizeof drawn[i], "%d,0,%s", i,
                       units[(size_t)i * (size_t)n / (DRAWN / 20)].hex);
        pairs[at++] = "drawn";
        pairs[at++] = drawn[i];
    }
    pairs[at] = NULL;
    fixture_add(f, "draw", pairs);
    for (int i = 0; i < DRAWN / 20; i++)
        ADD(f, "verdict", "epoch", number, "object",
            units[(size_t)i * (size_t)n / (DRAWN / 20)].hex, "verdict",
            i == 0 ? "MISMATCH" : "MATCH", "class", i == 0 ? "token" : "-",
            "position", "5", "claimed_token", "1", "recomputed_token", "2",
            "claimed_bits", "bf8520e9", "recomputed_bits", "bf8507c8");
    ADD(f, "certificate", "epoch", number, "seen", count, "frame", count,
        "drawn", "30", "match", "29", "mismatch", "1", "confidence_ppm",
        "990000", "bound_ppm", "150000");
}

/* 20 epochs over the first half; the second half is still open. Returns the
 * unit of a mismatch. */
static struct unit_name fill(struct fixture *f, int n)
{
    struct unit_name *units = calloc((size_t)n, sizeof *units), mismatch;
    int epochs = 20, size = n / 2 / epochs;

    if (units == NULL)
        abort();
    fixture_seal(f);
    for (int i = 0; i < n; i++) {
        uint64_t first = f->seq;

        if (i < size * epochs && i % size == 0) {
            for (int j = 0; j < size; j++)
                units[i + j] = exchange(f, i + j);
            for (int j = 0; j < size / 8; j++)
                step(f, i / 8 + j);
            close_epoch(f, 1 + i / size, first, units + i, size);
            i += size - 1;
        } else {
            units[i] = exchange(f, i);
        }
    }
    fixture_seal(f);
    fixture_commit(f);
    mismatch = units[0];
    free(units);
    return mismatch;
}

static double seconds(void)
{
    struct timespec t = {0};

    (void)clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

struct cost {
    double wall, cpu; /* seconds */
};

static double cpu_of(const struct rusage *u)
{
    return (double)(u->ru_utime.tv_sec + u->ru_stime.tv_sec) +
           (double)(u->ru_utime.tv_usec + u->ru_stime.tv_usec) / 1e6;
}

static struct cost run_once(const char *cgi, char *const *vars)
{
    double start = seconds();
    struct rusage usage;
    int status;
    pid_t pid = fork();

    if (pid == 0) {
        int null = open("/dev/null", O_RDWR);

        if (null < 0 || dup2(null, 0) < 0 || dup2(null, 1) < 0)
            _exit(126);
        execve(cgi, (char *const[]){"assay.cgi", NULL}, vars);
        _exit(127);
    }
    if (pid < 0 || wait4(pid, &status, 0, &usage) != pid || status != 0) {
        fprintf(stderr, "bench_page: %s failed\n", cgi);
        exit(1);
    }
    return (struct cost){seconds() - start, cpu_of(&usage)};
}

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

/* Medians of RUNS. */
static void measure(const char *cgi, const char *conf, const char *key,
                    const char *path, const char *query)
{
    char path_var[256], query_var[256], conf_var[512];
    char *vars[] = {"GATEWAY_INTERFACE=CGI/1.1",
                    "REQUEST_METHOD=GET",
                    "SCRIPT_NAME=/assay",
                    path_var,
                    query_var,
                    conf_var,
                    NULL};
    double wall[RUNS], cpu[RUNS];

    (void)snprintf(path_var, sizeof path_var, "PATH_INFO=%s", path);
    (void)snprintf(query_var, sizeof query_var, "QUERY_STRING=%s", query);
    (void)snprintf(conf_var, sizeof conf_var, "ASSAY_CONF=%s", conf);
    (void)run_once(cgi, vars); /* warms the page cache */
    for (int i = 0; i < RUNS; i++) {
        struct cost c = run_once(cgi, vars);

        wall[i] = c.wall;
        cpu[i] = c.cpu;
    }
    qsort(wall, RUNS, sizeof *wall, ascending);
    qsort(cpu, RUNS, sizeof *cpu, ascending);
    printf("page_%s %.1f ms\npage_%s_cpu %.1f ms\n", key, 1000 * wall[RUNS / 2],
           key, 1000 * cpu[RUNS / 2]);
}

int main(int argc, char **argv)
{
    struct fixture f;
    struct unit_name mismatch;
    char conf[300], path[128];
    int n = argc > 2 ? atoi(argv[2]) : EXCHANGES;
    FILE *out;

    if (argc < 2 || n < 1000) {
        fputs("usage: bench_page ASSAY.CGI [EXCHANGES]\n", stderr);
        return 2;
    }
    fixture_open(&f, NULL);
    mismatch = fill(&f, n);
    (void)snprintf(conf, sizeof conf, "%s/assay.conf", f.dir);
    out = fopen(conf, "w");
    if (out == NULL)
        return 4;
    fprintf(out, "store = { state_dir = \"%s\"; };\n", f.dir);
    fclose(out);
    (void)snprintf(path, sizeof path, "/m/%s", mismatch.hex);
    printf("page_exchanges %d rows\n", n);
    measure(argv[1], conf, "overview", "/", "");
    measure(argv[1], conf, "list", "/exchanges", "");
    measure(argv[1], conf, "list_model", "/exchanges", "model=llama-3.3-70b");
    measure(argv[1], conf, "list_incomplete", "/exchanges", "complete=0");
    measure(argv[1], conf, "list_first_epoch", "/exchanges", "epoch=1");
    measure(argv[1], conf, "list_match", "/exchanges", "result=MATCH");
    measure(argv[1], conf, "list_waiting", "/exchanges", "result=waiting");
    measure(argv[1], conf, "mismatches", "/mismatches", "review=open");
    measure(argv[1], conf, "mismatch", path, "");
    measure(argv[1], conf, "epoch", "/epochs/20", "");
    measure(argv[1], conf, "coverage", "/coverage", "");
    (void)unlink(conf);
    fixture_close(&f);
    return 0;
}
