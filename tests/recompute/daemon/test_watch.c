/*
 * test_watch.c - files that lie in a directory, files that come, and the names
 * of units.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "daemon/watch.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "daemon/daemon.h"

enum { WAIT_MS = 120000 };

static char dir[] = "/tmp/assay-watch-XXXXXX";

static int make_dir(void **state)
{
    (void)state;
    strcpy(dir + sizeof dir - 7, "XXXXXX");
    return mkdtemp(dir) == NULL ? -1 : 0;
}

static void path_of(const char *name, char path[128])
{
    (void)snprintf(path, 128, "%s/%s", dir, name);
}

static void drop(const char *name)
{
    char path[128];

    path_of(name, path);
    assert_int_equal(unlink(path), 0);
}

static int drop_dir(void **state)
{
    (void)state;
    return rmdir(dir);
}

/* As the store does it: written under another name, then renamed. */
static void put(const char *name)
{
    char path[128], beside[128];
    int fd;

    path_of(name, path);
    path_of(".beside", beside);
    fd = open(beside, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    assert_true(fd >= 0);
    assert_int_equal(close(fd), 0);
    assert_int_equal(rename(beside, path), 0);
}

static void gives_what_is_there_and_then_what_comes(void **state)
{
    struct watch_name name;
    struct watch *in;

    (void)state;
    put("one");
    assert_int_equal(watch_open(dir, NULL, &in), 0);
    assert_int_equal(watch_next(in, 0, &name), 0);
    assert_string_equal(name.text, "one");
    assert_int_equal(watch_next(in, 0, &name), -EAGAIN);
    put("two");
    assert_int_equal(watch_next(in, WAIT_MS, &name), 0);
    assert_string_equal(name.text, "two");
    put("one");
    assert_int_equal(watch_next(in, WAIT_MS, &name), 0);
    assert_string_equal(name.text, "one");
    assert_int_equal(watch_next(in, 0, &name), -EAGAIN);
    watch_close(in);
    drop("one");
    drop("two");
}

static void a_file_that_came_before_the_listing_is_not_missed(void **state)
{
    struct watch_name name;
    struct watch *in;

    (void)state;
    assert_int_equal(watch_open(dir, NULL, &in), 0);
    put("early");
    assert_int_equal(watch_next(in, WAIT_MS, &name), 0);
    assert_string_equal(name.text, "early");
    watch_close(in);
    drop("early");
}

static void again_gives_every_name_again(void **state)
{
    struct watch_name name;
    struct watch *in;

    (void)state;
    put("one");
    assert_int_equal(watch_open(dir, NULL, &in), 0);
    assert_int_equal(watch_next(in, 0, &name), 0);
    assert_int_equal(watch_next(in, 0, &name), -EAGAIN);
    watch_again(in);
    assert_int_equal(watch_next(in, 0, &name), 0);
    assert_string_equal(name.text, "one");
    watch_close(in);
    drop("one");
}

/* The loop has looked at the flag, and does not wait yet. */
static void a_signal_just_before_the_wait_is_not_missed(void **state)
{
    struct watch_name name;
    struct watch *in;

    (void)state;
    assert_int_equal(daemon_catch_signals(), 0);
    assert_int_equal(watch_open(dir, NULL, &in), 0);
    assert_int_equal(raise(SIGTERM), 0);
    assert_int_equal(watch_next(in, 60000, &name), -EINTR);
    assert_int_equal(daemon_stop, 1);
    watch_close(in);
}

static void a_directory_that_is_not_there_is_an_error(void **state)
{
    struct watch *in;

    (void)state;
    assert_int_equal(watch_open("/tmp/assay-watch-none", NULL, &in), -ENOENT);
}

static void names_of_units_are_read_strictly(void **state)
{
    static const char hex[] =
        "a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5";
    char name[128];
    uint64_t epoch;
    uint8_t unit[32];

    (void)state;
    (void)snprintf(name, sizeof name, "12-%s-1.result", hex);
    assert_true(watch_unit(name, &epoch, unit));
    assert_int_equal(epoch, 12);
    assert_int_equal(unit[31], 0xa5);
    (void)snprintf(name, sizeof name, "012-%s.job", hex);
    assert_false(watch_unit(name, &epoch, unit));
    (void)snprintf(name, sizeof name, "12-%.63s.job", hex);
    assert_false(watch_unit(name, &epoch, unit));
    (void)snprintf(name, sizeof name, "12%s", hex);
    assert_false(watch_unit(name, &epoch, unit));
    assert_false(watch_unit("-", &epoch, unit));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gives_what_is_there_and_then_what_comes),
        cmocka_unit_test(a_file_that_came_before_the_listing_is_not_missed),
        cmocka_unit_test(again_gives_every_name_again),
        cmocka_unit_test(a_directory_that_is_not_there_is_an_error),
        cmocka_unit_test(a_signal_just_before_the_wait_is_not_missed),
        cmocka_unit_test(names_of_units_are_read_strictly),
    };

    return cmocka_run_group_tests(tests, make_dir, drop_dir);
}
