/*
 * test_store.c - the page's forms against a real assay-store: what is written
 * stands in the log and on the next page, and stored content comes out only by
 * an opening that is on record. argv[1]: the assay-store to start.
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "epoch_records.h"
#include "forms.h"
#include "store/client.h"
#include "store/differences.h"
#include "store/exchange.h"
#include "store/index.h"

static const char *program; /* assay-store */

struct box {
    char dir[64], state_dir[80], run_dir[80];
    pid_t store;
    struct site site;
    struct unit_name unit, verdict;
};

static void start_store(struct box *b)
{
    char path[96];
    FILE *f;

    (void)snprintf(path, sizeof path, "%s/assay.conf", b->dir);
    f = fopen(path, "w");
    assert_non_null(f);
    fprintf(f, "store = { state_dir = \"%s\"; run_dir = \"%s\"; };\n",
            b->state_dir, b->run_dir);
    assert_int_equal(fclose(f), 0);
    b->store = fork();
    assert_true(b->store >= 0);
    if (b->store == 0) {
        execl(program, program, "-c", path, (char *)NULL);
        _exit(127);
    }
}

static struct unit_name name_of(const uint8_t unit[32])
{
    struct unit_name name;

    for (int i = 0; i < 32; i++)
        (void)sprintf(name.hex + 2 * i, "%02x", unit[i]);
    return name;
}

static struct put_ack add(struct box *b, const char *role, const struct put *p)
{
    struct store_client *c;
    struct put_ack ack;

    assert_int_equal(store_connect(b->run_dir, role, 10000, &c), 0);
    assert_int_equal(store_put(c, p, &ack), 0);
    store_close(c);
    return ack;
}

static void add_exchange(struct box *b, uint8_t unit[32])
{
    struct exchange x = {
        .tap = span_str("tap0"),
        .source = span_str("live:lo"),
        .client = span_str("127.0.0.1:1"),
        .server = span_str("127.0.0.1:2"),
        .method = span_str("POST"),
        .target = span_str("/v1/completions"),
        .status = 200,
        .model = span_str("tiny"),
        .api_id = span_str("cmpl-1"),
        .complete = true,
        .req = {.raw = span_str("the prompt")},
        .resp = {.raw = span_str("the answer")},
    };
    const struct payload payloads[] = {{"req", x.req.raw},
                                       {"resp", x.resp.raw}};
    struct record r;
    struct put_ack ack;

    record_init(&r);
    assert_true(exchange_record(&x, &r));
    ack = add(b, "tap", &(struct put){"exchange", &r, payloads, 2});
    memcpy(unit, ack.unit, 32);
    b->unit = name_of(unit);
}

static void put_numbers(struct record *r, const char *const *keys)
{
    for (; *keys != NULL; keys++)
        record_u64(r, *keys, 1);
}

/* No verdict is taken for a unit that was not drawn. */
static void draw_unit(struct box *b, const uint8_t unit[32])
{
    struct store_client *c;
    char note[2048];

    assert_int_equal(store_connect(b->run_dir, "sampler", 10000, &c), 0);
    assert_int_equal(put_close(c, 1), 0);
    assert_int_equal(store_checkpoint(c, note, sizeof note), 0);
    assert_int_equal(put_seed(c, 1), 0);
    assert_int_equal(put_draw_of(c, 1, 1, unit), 0);
    store_close(c);
}

static void add_verdict(struct box *b, const uint8_t unit[32])
{
    static const uint8_t zeros[32];
    struct difference_row row = {
        .position = 1,
        .claimed = {true, 8415, span_str(" cat"), true, 0xbf8520e9},
        .recomputed = {true, 8420, span_str(" <car>"), true, 0xbf8507c8}};
    struct differences d = {.rows = &row, .n_rows = 1};
    struct span zero = span_of(zeros, sizeof zeros);
    struct payload payload = {.name = "differences"};
    char *bytes;
    size_t n;
    struct record r;
    struct put_ack ack;

    assert_int_equal(differences_write(&d, &bytes, &n), 0);
    payload.bytes = span_of(bytes, n);
    record_init(&r);
    record_u64(&r, "epoch", 1);
    record_hex(&r, "object", span_of(unit, 32));
    record_text(&r, "verdict", span_str("MISMATCH"));
    record_text(&r, "class", span_str("token"));
    record_text(&r, "reason", span_str(""));
    record_text(&r, "route", span_str("invariant"));
    record_text(&r, "level", span_str(""));
    record_hex(&r, "manifest", zero);
    record_hex(&r, "result_digest", zero);
    put_numbers(&r, (const char *const[]){"runs", "runs_differ", "choices",
                                          "tokens", "tokens_differ", "logprobs",
                                          "logprobs_differ", "length_differ",
                                          "envelope_differ", NULL});
    record_text(&r, "envelope", span_str(""));
    record_u64(&r, "choice", 0);
    record_u64(&r, "position", 1);
    record_text(&r, "claimed_token", span_str("8415"));
    record_text(&r, "recomputed_token", span_str("8420"));
    record_text(&r, "claimed_bits", span_str("bf8520e9"));
    record_text(&r, "recomputed_bits", span_str("bf8507c8"));
    record_u64(&r, "evidence_bits", 14);
    record_u64(&r, "forward_runs", 0);
    record_text(&r, "detail", span_str(""));
    ack = add(b, "compare", &(struct put){"verdict", &r, &payload, 1});
    b->verdict = name_of(ack.unit);
    free(bytes);
}

/* Until the index shows what was added. */
static void wait_for(struct box *b, const char *text)
{
    char path[128];

    (void)snprintf(path, sizeof path, "/m/%s", b->unit.hex);
    for (int i = 0; i < 12000; i++) {
        const struct timespec step = {.tv_nsec = 10000000};
        struct answer a = fetch(&b->site, path);
        bool there = strstr(a.body, text) != NULL;

        free(a.all);
        if (there)
            return;
        (void)nanosleep(&step, NULL);
    }
    fail_msg("the index never showed: %s", text);
}

static int open_box(void **state)
{
    struct box *b = calloc(1, sizeof *b);
    uint8_t unit[32];

    strcpy(b->dir, "/tmp/assay-box-XXXXXX");
    assert_non_null(mkdtemp(b->dir));
    (void)snprintf(b->state_dir, sizeof b->state_dir, "%s/state", b->dir);
    (void)snprintf(b->run_dir, sizeof b->run_dir, "%s/run", b->dir);
    start_store(b);
    b->site = (struct site){.state_dir = b->state_dir,
                            .run_dir = b->run_dir,
                            .static_url = "/static",
                            .actor = "",
                            .reveal = true,
                            .has_key = true,
                            .deadline_ms = 120000};
    add_exchange(b, unit);
    draw_unit(b, unit);
    add_verdict(b, unit);
    wait_for(b, "MISMATCH token");
    *state = b;
    return 0;
}

static int close_box(void **state)
{
    struct box *b = *state;
    char command[96];
    int status;

    (void)kill(b->store, SIGTERM);
    assert_int_equal(waitpid(b->store, &status, 0), b->store);
    assert_true(WIFEXITED(status));
    (void)snprintf(command, sizeof command, "rm -rf '%s'", b->dir);
    assert_int_equal(system(command), 0);
    free(b);
    return 0;
}

static struct answer send(struct box *b, const char *user, const char *what,
                          const char *rest)
{
    char path[128], action[160], body[1024];
    struct unit_name token, base;

    (void)snprintf(path, sizeof path, "/m/%s", b->unit.hex);
    (void)snprintf(action, sizeof action, "%s/%s", path, what);
    token = hidden_value(&b->site, user, path, action, "token");
    base = hidden_value(&b->site, user, path, action, "base");
    (void)snprintf(body, sizeof body, "token=%s&base=%s&%s", token.hex,
                   base.hex, rest);
    return send_form(&b->site, &(struct sent){.user = user,
                                              .site = "same-origin",
                                              .origin = "",
                                              .path = action,
                                              .body = body});
}

static void expect_on_page(struct box *b, const char *text)
{
    char path[128];
    struct answer a;

    (void)snprintf(path, sizeof path, "/m/%s", b->unit.hex);
    a = fetch(&b->site, path);
    if (strstr(a.body, text) == NULL)
        fail_msg("not on the page: %s", text);
    free(a.all);
}

static void a_decision_stands_on_the_next_page(void **state)
{
    struct box *b = *state;
    struct answer a = send(b, "alice", "review",
                           "action=decide&disposition=profile_mismatch&note="
                           "int8+%3Cweights%3E");
    char location[160];

    if (a.status != 303)
        fail_msg("%d %s", a.status, a.body);
    (void)snprintf(location, sizeof location, "/assay/m/%s#trail", b->unit.hex);
    assert_string_equal(answer_field(&a, "Location"), location);
    free(a.all);
    expect_on_page(b, "decided \xc2\xb7 alice");
    expect_on_page(b, "int8 &lt;weights&gt;");
    a = send(b, "alice", "review", "action=confirm");
    assert_int_equal(a.status, 422);
    free(a.all);
    a = send(b, "bob", "review", "action=confirm");
    assert_int_equal(a.status, 303);
    free(a.all);
    expect_on_page(b, "confirmed \xc2\xb7 bob");
}

static void content_is_shown_by_an_opening_on_record(void **state)
{
    struct box *b = *state;
    struct answer a;

    expect_on_page(b, "8415\xe2\x80\x9d</bdi>");
    a = send(b, "carol", "reveal", "reason=looking+closer");
    if (a.status != 200)
        fail_msg("%d %s", a.status, a.body);
    assert_non_null(strstr(a.body, "\xe2\x90\xa3"
                                   "cat"));
    assert_non_null(strstr(a.body, "\xe2\x90\xa3&lt;car&gt;"));
    assert_string_equal(answer_field(&a, "Cache-Control"), "no-store");
    free(a.all);
    wait_for(b, "opened content");
    expect_on_page(b, "carol");
    expect_on_page(b, "looking closer");
}

static void the_page_may_add_no_other_kind(void **state)
{
    struct box *b = *state;
    struct store_client *c;
    struct put_ack ack;
    struct record r;

    record_init(&r);
    record_hex(&r, "sha256", span_of((const uint8_t[32]){0}, 32));
    record_text(&r, "text", span_str("x"));
    assert_int_equal(store_connect(b->run_dir, "web", 1000, &c), 0);
    assert_int_equal(
        store_put(c, &(struct put){.kind = "policy", .record = &r}, &ack),
        -EPERM);
    store_close(c);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_decision_stands_on_the_next_page),
        cmocka_unit_test(content_is_shown_by_an_opening_on_record),
        cmocka_unit_test(the_page_may_add_no_other_kind),
    };

    if (argc != 2)
        return 2;
    program = argv[1];
    return cmocka_run_group_tests(tests, open_box, close_box);
}
