/*
 * daemon_fixture.c - a running assay-store and what is put into it.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "daemon_fixture.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "store/exchange.h"
#include "tables.h"

const char *fixture_program;

struct store_client *connect_as(struct daemon_run *d, const char *role)
{
    struct store_client *c;

    assert_int_equal(store_connect(d->run, role, WAIT_MS, &c), 0);
    return c;
}

void start(struct daemon_run *d, const char *more)
{
    daemon_make(d, fixture_program, more);
    daemon_start(d);
}

void stop(struct daemon_run *d)
{
    int status = daemon_signal(d, SIGTERM);

    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
    daemon_remove(d);
}

struct path index_of(const struct daemon_run *d)
{
    return layout_path(d->state, LAYOUT_INDEX);
}

/* Waits until the query gives this number. */
void await(const struct daemon_run *d, const char *sql, long long n)
{
    for (int i = 0; i < WAIT_MS / 20; i++) {
        if (tables_query(index_of(d).text, sql) == n)
            return;
        (void)poll(NULL, 0, 20);
    }
    fail_msg("%s: not %lld", sql, n);
}

void await_file(struct path path)
{
    for (int i = 0; i < WAIT_MS / 20 && access(path.text, F_OK) != 0; i++)
        (void)poll(NULL, 0, 20);
    assert_int_equal(access(path.text, F_OK), 0);
}

int put_kind(struct store_client *c, const char *kind, const struct record *r,
             struct put_ack *ack)
{
    struct put p = {kind, r, NULL, 0};

    return store_put(c, &p, ack);
}

/* An exchange whose request and answer have bodies of one piece each. */
int put_exchange(struct store_client *c, unsigned n, bool whole,
                 struct put_ack *ack)
{
    static const char req[] = "POST / HTTP/1.1\r\n\r\n{\"a\":1}";
    static const char resp[] = "HTTP/1.1 200 OK\r\n\r\n{\"b\":2}";
    uint8_t map[EXCHANGE_PIECE_BYTES] = {[7] = 19, [11] = 7};
    struct span piece = span_of(map, sizeof(map));
    struct payload payloads[] = {{"req", span_str(req)},
                                 {"req_map", piece},
                                 {"resp", span_str(resp)},
                                 {"resp_map", piece}};
    struct record r;
    struct put p = {"exchange", &r, payloads, 4};
    char *complete;

    sample_exchange(&r, n);
    r.text[r.n - 1] = '\0';
    complete = strstr(r.text, "complete 1");
    r.text[r.n - 1] = '\n';
    if (!whole)
        complete[strlen("complete ")] = '0';
    return store_put(c, &p, ack);
}
