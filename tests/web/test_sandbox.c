/*
 * test_sandbox.c - the running assay.cgi has given up its rights by the time
 * that it answers: looked at from outside, while a full pipe holds it.
 * argv[1]: assay.cgi.
 * SPDX-License-Identifier: Apache-2.0
 */
#include <fcntl.h>
#include <poll.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "fixture.h"

enum { WAIT_MS = 30000, PIPE_BYTES = 4096 };

static const char *cgi;

/* Starts it for a page that is longer than the pipe. */
static pid_t start(const char *conf, int *ret_out)
{
    char conf_var[400];
    char *vars[] = {"GATEWAY_INTERFACE=CGI/1.1",
                    "REQUEST_METHOD=GET",
                    "SCRIPT_NAME=/assay",
                    "PATH_INFO=/exchanges",
                    conf_var,
                    NULL};
    int out[2];
    pid_t pid;

    (void)snprintf(conf_var, sizeof conf_var, "ASSAY_CONF=%s", conf);
    assert_int_equal(pipe(out), 0);
    assert_int_equal(fcntl(out[1], F_SETPIPE_SZ, PIPE_BYTES), PIPE_BYTES);
    pid = fork();
    if (pid == 0) {
        int null = open("/dev/null", O_RDONLY);

        if (null < 0 || dup2(null, 0) < 0 || dup2(out[1], 1) < 0)
            _exit(126);
        close(out[0]);
        close(out[1]);
        execve(cgi, (char *const[]){"assay.cgi", NULL}, vars);
        _exit(127);
    }
    assert_true(pid > 0);
    close(out[1]);
    *ret_out = out[0];
    return pid;
}

/* A line of the process's status, behind its name and a tab. */
static void line_of(pid_t pid, const char *name, char *ret_value, size_t size)
{
    char path[64], line[256];
    size_t n = strlen(name);
    FILE *f;

    *ret_value = '\0';
    (void)snprintf(path, sizeof path, "/proc/%d/status", (int)pid);
    f = fopen(path, "r");
    assert_non_null(f);
    while (fgets(line, sizeof line, f) != NULL)
        if (strncmp(line, name, n) == 0 && line[n] == ':')
            (void)snprintf(ret_value, size, "%s",
                           strtok(line + n + 1, " \t\n"));
    fclose(f);
}

static void the_running_page_is_in_its_sandbox(void **state)
{
    struct pollfd in = {.events = POLLIN};
    char conf[300], seccomp[16], privileges[16], page[PIPE_BYTES];
    struct world w;
    int status = -1;
    size_t n = 0;
    FILE *f;
    pid_t pid;

    (void)state;
    world_open(&w, NULL);
    (void)snprintf(conf, sizeof conf, "%s/assay.conf", w.f.dir);
    f = fopen(conf, "w");
    assert_non_null(f);
    fprintf(f, "store = { state_dir = \"%s\"; };\n", w.f.dir);
    fclose(f);
    pid = start(conf, &in.fd);
    assert_int_equal(poll(&in, 1, WAIT_MS), 1);
    line_of(pid, "Seccomp", seccomp, sizeof seccomp);
    line_of(pid, "NoNewPrivs", privileges, sizeof privileges);
    for (ssize_t k; (k = read(in.fd, page, sizeof page)) > 0;)
        n += (size_t)k;
    close(in.fd);
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(status, 0);
    assert_true(n > PIPE_BYTES);       /* so the pipe did hold it */
    assert_string_equal(seccomp, "2"); /* a filter, proc(5) */
    assert_string_equal(privileges, "1");
    (void)unlink(conf);
    world_close(&w);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_running_page_is_in_its_sandbox),
    };

    if (argc < 2)
        return 2;
    cgi = argv[1];
    return cmocka_run_group_tests(tests, NULL, NULL);
}
