/*
 * sandbox.c - dropping the user, no_new_privs, and a seccomp filter built
 * from a few lists of system calls. What is not listed kills the process:
 * a call that nobody expected is a take-over or a bug, and both must stop.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "config/sandbox.h"

#include <errno.h>
#include <grp.h>
#include <pwd.h>
#include <seccomp.h>
#include <stddef.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

/* Memory, time, signals, descriptors that are already open. */
static const char *const base_calls[] = {"read",
                                         "readv",
                                         "pread64",
                                         "preadv",
                                         "write",
                                         "writev",
                                         "pwrite64",
                                         "lseek",
                                         "close",
                                         "dup",
                                         "dup2",
                                         "dup3",
                                         "fcntl",
                                         "fstat",
                                         "newfstatat",
                                         "statx",
                                         "poll",
                                         "ppoll",
                                         "select",
                                         "pselect6",
                                         "epoll_create1",
                                         "epoll_ctl",
                                         "epoll_wait",
                                         "epoll_pwait",
                                         "eventfd2",
                                         "pipe2",
                                         "timerfd_create",
                                         "timerfd_settime",
                                         "timerfd_gettime",
                                         "signalfd4",
                                         "brk",
                                         "mmap",
                                         "munmap",
                                         "mremap",
                                         "madvise",
                                         "mprotect",
                                         "futex",
                                         "sched_yield",
                                         "sched_getaffinity",
                                         "getrandom",
                                         "clock_gettime",
                                         "clock_nanosleep",
                                         "nanosleep",
                                         "gettimeofday",
                                         "time",
                                         "times",
                                         "getrusage",
                                         "getpid",
                                         "gettid",
                                         "getuid",
                                         "geteuid",
                                         "getgid",
                                         "getegid",
                                         "getppid",
                                         "uname",
                                         "sysinfo",
                                         "rt_sigaction",
                                         "rt_sigprocmask",
                                         "rt_sigreturn",
                                         "rt_sigtimedwait",
                                         "sigaltstack",
                                         "restart_syscall",
                                         "exit",
                                         "exit_group",
                                         "tgkill",
                                         "set_robust_list",
                                         "rseq",
                                         "prlimit64",
                                         "getrlimit",
                                         "sendto",
                                         "recvfrom",
                                         "sendmsg",
                                         "recvmsg",
                                         "sendmmsg",
                                         "recvmmsg",
                                         "shutdown",
                                         "getsockopt",
                                         "setsockopt",
                                         "getsockname",
                                         "getpeername",
                                         "setitimer",
                                         "alarm",
                                         "pause",
                                         "membarrier",
                                         NULL};

/* SQLite does two things even when only reading: fchown, it gives a file it
 * shares its owner; ftruncate, the first reader after the writer died begins
 * the shared memory anew. */
static const char *const read_calls[] = {"open",
                                         "openat",
                                         "access",
                                         "faccessat",
                                         "faccessat2",
                                         "stat",
                                         "lstat",
                                         "readlink",
                                         "readlinkat",
                                         "getdents64",
                                         "getcwd",
                                         "statfs",
                                         "fstatfs",
                                         "flock",
                                         "fadvise64",
                                         "inotify_init1",
                                         "fchown",
                                         "ftruncate",
                                         "inotify_add_watch",
                                         "inotify_rm_watch",
                                         NULL};

static const char *const write_calls[] = {
    "creat",           "mkdir",     "mkdirat",   "rename",          "renameat",
    "renameat2",       "unlink",    "unlinkat",  "rmdir",           "link",
    "linkat",          "fsync",     "fdatasync", "sync_file_range", "ftruncate",
    "truncate",        "fallocate", "chmod",     "fchmod",          "fchmodat",
    "chown",           "fchown",    "fchownat",  "umask",           "utimensat",
    "copy_file_range", NULL};

static const char *const unix_calls[] = {"socket",  "socketpair", "connect",
                                         "bind",    "listen",     "accept",
                                         "accept4", NULL};
static const char *const inet_calls[] = {"accept", "accept4", NULL};
static const char *const thread_calls[] = {"clone", "clone3", "set_tid_address",
                                           "sched_setaffinity", NULL};
static const char *const exec_calls[] = {
    "execve",     "execveat",        "fork",   "vfork", "clone",
    "clone3",     "wait4",           "waitid", "kill",  "setpgid",
    "arch_prctl", "set_tid_address", NULL};

struct permission {
    unsigned bit; /* 0: always */
    const char *const *calls;
};

static const struct permission permissions[] = {
    {0, base_calls},
    {SANDBOX_READ_FILES | SANDBOX_WRITE_FILES, read_calls},
    {SANDBOX_WRITE_FILES, write_calls},
    {SANDBOX_UNIX, unix_calls},
    {SANDBOX_INET, inet_calls},
    {SANDBOX_THREADS, thread_calls},
    {SANDBOX_EXEC, exec_calls},
};

static int allow_calls(scmp_filter_ctx ctx, const char *const *calls)
{
    int rc = 0;

    for (; rc == 0 && *calls != NULL; calls++) {
        int nr = seccomp_syscall_resolve_name(*calls);

        if (nr != __NR_SCMP_ERROR)
            rc = seccomp_rule_add(ctx, SCMP_ACT_ALLOW, nr, 0);
    }
    return rc;
}

/* The C library asks a character device whether it is a terminal. */
static int allow_isatty(scmp_filter_ctx ctx)
{
    return seccomp_rule_add(ctx, SCMP_ACT_ALLOW, SCMP_SYS(ioctl), 1,
                            SCMP_A1(SCMP_CMP_EQ, TCGETS));
}

/* Sockets of the Unix family only: the first argument of socket(2). */
static int allow_unix_family(scmp_filter_ctx ctx)
{
    int rc = allow_calls(ctx, unix_calls + 2); /* without socket, socketpair */

    if (rc == 0)
        rc = seccomp_rule_add(ctx, SCMP_ACT_ALLOW, SCMP_SYS(socket), 1,
                              SCMP_A0(SCMP_CMP_EQ, 1 /* AF_UNIX */));
    if (rc == 0)
        rc = seccomp_rule_add(ctx, SCMP_ACT_ALLOW, SCMP_SYS(socketpair), 1,
                              SCMP_A0(SCMP_CMP_EQ, 1 /* AF_UNIX */));
    return rc;
}

static int load_filter(unsigned allow)
{
    scmp_filter_ctx ctx = seccomp_init(SCMP_ACT_KILL_PROCESS);
    int rc = ctx == NULL ? -ENOMEM : allow_isatty(ctx);

    for (size_t i = 0; rc == 0 && i < sizeof permissions / sizeof *permissions;
         i++) {
        const struct permission *p = &permissions[i];

        if (p->bit != 0 && (allow & p->bit) == 0)
            continue;
        rc = p->bit == SANDBOX_UNIX ? allow_unix_family(ctx)
                                    : allow_calls(ctx, p->calls);
    }
    if (rc == 0)
        rc = seccomp_load(ctx);
    seccomp_release(ctx);
    return rc;
}

static int drop_user(const char *user)
{
    const struct passwd *pw;

    if (user == NULL || *user == '\0' || geteuid() != 0)
        return 0;
    errno = 0;
    pw = getpwnam(user);
    if (pw == NULL)
        return errno != 0 ? -errno : -ENOENT;
    if (initgroups(user, pw->pw_gid) != 0 ||
        setresgid(pw->pw_gid, pw->pw_gid, pw->pw_gid) != 0 ||
        setresuid(pw->pw_uid, pw->pw_uid, pw->pw_uid) != 0)
        return -errno;
    return setuid(0) == 0 ? -EPERM : 0; /* it must not be undone */
}

int sandbox_enter(const char *user, unsigned allow)
{
    const struct rlimit no_core = {0, 0};
    int rc = drop_user(user);

    if (rc != 0)
        return rc;
    if (setrlimit(RLIMIT_CORE, &no_core) != 0 ||
        prctl(PR_SET_DUMPABLE, 0) != 0 ||
        prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0)
        return -errno;
    return load_filter(allow);
}
