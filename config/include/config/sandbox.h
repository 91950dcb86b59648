/*
 * sandbox.h - giving up rights, after opening and before the loop.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef CONFIG_SANDBOX_H
#define CONFIG_SANDBOX_H

/* What a process still may do after sandbox_enter; bits are or-ed. */
enum sandbox_allow {
    SANDBOX_READ_FILES = 1 << 0,  /* open files for reading */
    SANDBOX_WRITE_FILES = 1 << 1, /* create, write, rename, unlink files */
    SANDBOX_UNIX = 1 << 2,        /* accept and connect Unix sockets */
    SANDBOX_INET = 1 << 3,        /* accept on open Internet sockets */
    SANDBOX_THREADS = 1 << 4,     /* start threads */
    SANDBOX_EXEC = 1 << 5         /* execute other programs */
};

/*
 * If user is not empty and we are root: drops to user and its groups for good.
 * Then no_new_privs, no core dumps, and a seccomp filter that allows plain
 * memory, time, signal and open-descriptor calls and what allow names; any
 * other call kills the process. Returns 0 or a negative errno.
 */
int sandbox_enter(const char *user, unsigned allow);

#endif
