/*
 * test_sandbox.c - what a process can no longer do. Each test runs in a child,
 * since the rights do not come back.
 * SPDX-License-Identifier: Apache-2.0
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <fcntl.h>
#include <grp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "config/sandbox.h"

enum { NOBODY = 65534 };

/* Runs act in a sandboxed child; returns its wait status. */
static int run(unsigned allow, void (*act)(void))
{
    pid_t pid = fork();
    int status = -1;

    if (pid == 0) {
        if (sandbox_enter("", allow) != 0)
            _exit(99);
        act();
        _exit(7);
    }
    assert_true(pid > 0);
    assert_int_equal(waitpid(pid, &status, 0), pid);
    return status;
}

static void lives(int status)
{
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 7);
}

static void is_killed(int status)
{
    assert_true(WIFSIGNALED(status));
    assert_int_equal(WTERMSIG(status), SIGSYS);
}

/* SQLite's first step in shared memory that a dead writer left; the file is
 * standard input. */
static void truncate_input(void)
{
    if (ftruncate(STDIN_FILENO, 3) != 0)
        _exit(8);
}

static void allocate(void)
{
    char *p = malloc(4 << 20);

    if (p == NULL)
        _exit(8);
    memset(p, 1, 4 << 20);
    free(p);
}

static void print_to_null(void)
{
    if (printf("x\n") < 0 || fflush(stdout) != 0)
        _exit(8);
}

static void open_file(void)
{
    if (open("/dev/null", O_RDONLY | O_CLOEXEC) < 0)
        _exit(8);
}

static void make_directory(void)
{
    (void)rmdir("/tmp/assay-no-such-directory");
    _exit(8);
}

static void unix_socket(void)
{
    if (socket(AF_UNIX, SOCK_STREAM, 0) < 0)
        _exit(8);
}

static void inet_socket(void)
{
    (void)socket(AF_INET, SOCK_STREAM, 0);
    _exit(8);
}

static void execute(void)
{
    execl("/bin/true", "true", (char *)NULL);
    _exit(8);
}

static void memory_is_always_allowed(void **state)
{
    (void)state;
    lives(run(0, allocate));
}

static void printing_to_a_character_device_is_allowed(void **state)
{
    int status, out = dup(STDOUT_FILENO);

    (void)state;
    fflush(stdout);
    assert_non_null(freopen("/dev/null", "w", stdout));
    status = run(0, print_to_null);
    assert_true(dup2(out, STDOUT_FILENO) == STDOUT_FILENO);
    close(out);
    lives(status);
}

static void opening_a_file_needs_its_permission(void **state)
{
    (void)state;
    is_killed(run(SANDBOX_UNIX, open_file));
    lives(run(SANDBOX_READ_FILES, open_file));
}

static void a_reader_begins_shared_memory_anew(void **state)
{
    FILE *f = tmpfile();
    int in = dup(STDIN_FILENO);

    (void)state;
    assert_non_null(f);
    assert_true(dup2(fileno(f), STDIN_FILENO) == STDIN_FILENO);
    lives(run(SANDBOX_READ_FILES, truncate_input));
    is_killed(run(SANDBOX_UNIX, truncate_input));
    assert_true(dup2(in, STDIN_FILENO) == STDIN_FILENO);
    close(in);
    fclose(f);
}

static void changing_the_disk_needs_its_permission(void **state)
{
    (void)state;
    is_killed(run(SANDBOX_READ_FILES, make_directory));
}

static void only_unix_sockets_can_be_made(void **state)
{
    (void)state;
    lives(run(SANDBOX_UNIX, unix_socket));
    is_killed(run(SANDBOX_UNIX, inet_socket));
    is_killed(run(0, unix_socket));
}

static void nothing_is_executed(void **state)
{
    (void)state;
    is_killed(run(SANDBOX_READ_FILES | SANDBOX_WRITE_FILES | SANDBOX_UNIX |
                      SANDBOX_INET | SANDBOX_THREADS,
                  execute));
}

static void root_becomes_the_user_for_good(void **state)
{
    int status;
    pid_t pid;

    (void)state;
    if (geteuid() != 0)
        skip();
    pid = fork();
    if (pid == 0) {
        if (sandbox_enter("nobody", SANDBOX_READ_FILES) != 0)
            _exit(99);
        _exit(geteuid() == 0 || getegid() == 0 ? 8 : 7);
    }
    assert_int_equal(waitpid(pid, &status, 0), pid);
    lives(status);
}

/* A child that is of `user` with root's groups, then sandboxed, and waits until
 * the other end of the pipe closes; it is there when this returns. */
static pid_t start(bool become, int *ret_go)
{
    const gid_t groups[] = {0, 4, 6};
    int go[2], ready[2];
    char c = 0;
    pid_t pid;

    assert_int_equal(pipe(go), 0);
    assert_int_equal(pipe(ready), 0);
    pid = fork();
    if (pid == 0) {
        close(go[1]);
        if (become && (setresgid(NOBODY, NOBODY, NOBODY) != 0 ||
                       setresuid(NOBODY, NOBODY, NOBODY) != 0 ||
                       prctl(PR_SET_DUMPABLE, 1) != 0))
            _exit(98);
        if (!become && setgroups(3, groups) != 0)
            _exit(97);
        if (sandbox_enter(become ? "" : "nobody", 0) != 0)
            _exit(99);
        (void)!write(ready[1], "x", 1);
        (void)!read(go[0], &c, 1); /* its end is the word */
        _exit(7);
    }
    assert_true(pid > 0);
    close(go[0]);
    close(ready[1]);
    assert_int_equal(read(ready[0], &c, 1), 1);
    close(ready[0]);
    *ret_go = go[1];
    return pid;
}

static void end(pid_t pid, int go)
{
    int status = -1;

    close(go);
    assert_int_equal(waitpid(pid, &status, 0), pid);
    lives(status);
}

/* The line of /proc/PID/file that begins with name, or an empty one. */
static void line_of(pid_t pid, const char *file, const char *name,
                    char ret_line[256])
{
    char path[64], line[256];
    FILE *f;

    *ret_line = '\0';
    (void)snprintf(path, sizeof path, "/proc/%d/%s", (int)pid, file);
    f = fopen(path, "r");
    assert_non_null(f);
    while (fgets(line, sizeof line, f) != NULL)
        if (strncmp(line, name, strlen(name)) == 0)
            (void)snprintf(ret_line, 256, "%s", line + strlen(name));
    fclose(f);
}

static void assert_words(char *line, const char *first, const char *second)
{
    assert_string_equal(strtok(line, " \t\n"), first);
    if (second == NULL)
        assert_null(strtok(NULL, " \t\n"));
    else
        assert_string_equal(strtok(NULL, " \t\n"), second);
}

static void what_is_given_up_shows_from_outside(void **state)
{
    char groups[256], user[256], core[256], filter[256], privileges[256];
    pid_t pid;
    int go;

    (void)state;
    if (geteuid() != 0)
        skip();
    pid = start(false, &go);
    line_of(pid, "status", "Groups:", groups);
    line_of(pid, "status", "Uid:", user);
    line_of(pid, "status", "Seccomp:", filter);
    line_of(pid, "status", "NoNewPrivs:", privileges);
    line_of(pid, "limits", "Max core file size", core);
    end(pid, go);
    assert_words(groups, "65534", NULL); /* none of root's */
    assert_words(user, "65534", "65534");
    assert_words(filter, "2", NULL);
    assert_words(privileges, "1", NULL);
    assert_words(core, "0", "0");
}

/* Whether a process of this user can look into another. */
static bool can_look_into(pid_t pid)
{
    char path[64];
    int status = -1;
    pid_t other = fork();

    (void)snprintf(path, sizeof path, "/proc/%d/environ", (int)pid);
    if (other == 0) {
        if (setresgid(NOBODY, NOBODY, NOBODY) != 0 ||
            setresuid(NOBODY, NOBODY, NOBODY) != 0)
            _exit(98);
        _exit(open(path, O_RDONLY | O_CLOEXEC) < 0 ? 7 : 8);
    }
    assert_true(other > 0);
    assert_int_equal(waitpid(other, &status, 0), other);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) != 98);
    return WEXITSTATUS(status) == 8;
}

/* A change of user alone does that as well, until the next program. */
static void its_own_user_cannot_look_into_it(void **state)
{
    pid_t pid;
    int go;

    (void)state;
    if (geteuid() != 0)
        skip();
    pid = start(true, &go);
    assert_false(can_look_into(pid));
    end(pid, go);
}

static void an_unknown_user_is_an_error(void **state)
{
    int status;
    pid_t pid;

    (void)state;
    if (geteuid() != 0)
        skip();
    pid = fork();
    if (pid == 0)
        _exit(sandbox_enter("no-such-user", 0) == 0 ? 8 : 7);
    assert_int_equal(waitpid(pid, &status, 0), pid);
    lives(status);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(memory_is_always_allowed),
        cmocka_unit_test(printing_to_a_character_device_is_allowed),
        cmocka_unit_test(opening_a_file_needs_its_permission),
        cmocka_unit_test(a_reader_begins_shared_memory_anew),
        cmocka_unit_test(changing_the_disk_needs_its_permission),
        cmocka_unit_test(only_unix_sockets_can_be_made),
        cmocka_unit_test(nothing_is_executed),
        cmocka_unit_test(root_becomes_the_user_for_good),
        cmocka_unit_test(what_is_given_up_shows_from_outside),
        cmocka_unit_test(its_own_user_cannot_look_into_it),
        cmocka_unit_test(an_unknown_user_is_an_error),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
