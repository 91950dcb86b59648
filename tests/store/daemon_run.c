/*
 * daemon_run.c - an assay-store of the tests.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "daemon_run.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "store/exchange.h"

__attribute__((noreturn)) static void die(const char *what)
{
    perror(what);
    abort();
}

void daemon_make(struct daemon_run *d, const char *program, const char *more)
{
    const char *tmp = getenv("TMPDIR");
    FILE *f;

    memset(d, 0, sizeof *d);
    snprintf(d->program, sizeof(d->program), "%s", program);
    snprintf(d->dir, sizeof(d->dir), "%s/assay-store-XXXXXX",
             tmp != NULL ? tmp : "/tmp");
    if (mkdtemp(d->dir) == NULL)
        die(d->dir);
    snprintf(d->state, sizeof(d->state), "%s/state", d->dir);
    snprintf(d->run, sizeof(d->run), "%s/run", d->dir);
    snprintf(d->conf, sizeof(d->conf), "%s/assay.conf", d->dir);
    f = fopen(d->conf, "w");
    if (f == NULL)
        die(d->conf);
    fprintf(f,
            "origin = \"test.example/log\";\n"
            "store: { state_dir = \"%s\"; run_dir = \"%s\"; %s };\n",
            d->state, d->run, more);
    if (fclose(f) != 0)
        die(d->conf);
}

void daemon_remove(struct daemon_run *d)
{
    char command[512];

    snprintf(command, sizeof(command), "rm -rf '%s'", d->dir);
    if (system(command) != 0)
        die(command);
}

static void redirect(const struct daemon_run *d)
{
    char path[300];
    int fd;

    snprintf(path, sizeof(path), "%s/stderr.txt", d->dir);
    fd = open(path, O_WRONLY | O_CREAT | O_APPEND, 0600);
    if (fd < 0 || dup2(fd, 2) < 0)
        die(path);
}

static pid_t spawn(const struct daemon_run *d, const char *word)
{
    pid_t pid = fork();

    if (pid < 0)
        die("fork");
    if (pid != 0)
        return pid;
    /* A test that fails leaves no daemon behind. */
    if (prctl(PR_SET_PDEATHSIG, SIGKILL) != 0)
        die("prctl");
    redirect(d);
    if (d->max_file_bytes != 0) {
        const struct rlimit limit = {(rlim_t)d->max_file_bytes,
                                     (rlim_t)d->max_file_bytes};

        signal(SIGXFSZ, SIG_IGN);
        if (setrlimit(RLIMIT_FSIZE, &limit) != 0)
            die("setrlimit");
    }
    execl(d->program, "assay-store", "-c", d->conf, word, (char *)NULL);
    die(d->program);
}

void daemon_start(struct daemon_run *d)
{
    d->pid = spawn(d, NULL);
}

static int wait_for(pid_t pid)
{
    int status;

    while (waitpid(pid, &status, 0) < 0)
        if (errno != EINTR)
            die("waitpid");
    return status;
}

int daemon_signal(struct daemon_run *d, int signal_number)
{
    if (kill(d->pid, signal_number) != 0)
        die("kill");
    return wait_for(d->pid);
}

int daemon_run_word(struct daemon_run *d, const char *word)
{
    return wait_for(spawn(d, word));
}

long long daemon_cpu_ns(const struct daemon_run *d)
{
    char path[64];
    unsigned long user = 0, system_ = 0;
    FILE *f;

    snprintf(path, sizeof(path), "/proc/%ld/stat", (long)d->pid);
    f = fopen(path, "r");
    if (f == NULL || fscanf(f,
                            "%*d %*s %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u "
                            "%*u %lu %lu",
                            &user, &system_) != 2)
        die(path);
    fclose(f);
    return (long long)(user + system_) * 1000000000 / sysconf(_SC_CLK_TCK);
}

void sample_exchange(struct record *r, unsigned n)
{
    char id[32];
    struct exchange x = {
        .tap = span_str("t0"),
        .source = span_str("live:eth0"),
        .client = span_str("10.1.2.3:50123"),
        .server = span_str("10.1.2.4:8000"),
        .stream = n,
        .method = span_str("POST"),
        .target = span_str("/v1/chat/completions"),
        .status = 200,
        .api = span_str("openai.chat"),
        .model = span_str("stories260k"),
        .streamed = true,
        .events = 34,
        .tokens_in = 17,
        .tokens_out = 32,
        .complete = true,
        .req = {.first_ns = 1764417600000000000 + n,
                .last_ns = 1764417600000000000 + n},
        .resp = {.first_ns = 1764417600100000000 + n,
                 .last_ns = 1764417600100000000 + n},
    };

    snprintf(id, sizeof(id), "chatcmpl-%08x", n);
    x.api_id = span_str(id);
    if (!exchange_record(&x, r))
        abort();
}
