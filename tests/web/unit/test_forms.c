/*
 * test_forms.c - which forms the page refuses, and that it keeps what was
 * written: web/page/form.h, web/db/review.h, web/unit/unit_post.c. No store
 * runs here, so the forms that are taken end with 503; test_web_store.c goes on
 * from there. SPDX-License-Identifier: Apache-2.0
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>
#include <openssl/hmac.h>

#include "forms.h"
#include "html/format.h"

static int open_world(void **state)
{
    struct world *w = malloc(sizeof *w);

    world_open(w, NULL);
    *state = w;
    return 0;
}

static int close_world(void **state)
{
    world_close(*state);
    free(*state);
    return 0;
}

struct draft {
    char path[128], action[160], body[1024];
    struct sent sent;
};

/* A good form by alice on the page of a unit; rest: its fields, encoded. */
static void draft(struct world *w, const struct unit_name *unit,
                  const char *action, const char *rest, struct draft *d)
{
    struct unit_name token, base;

    (void)snprintf(d->path, sizeof d->path, "/m/%s", unit->hex);
    (void)snprintf(d->action, sizeof d->action, "%s/%s", d->path, action);
    token = hidden_value(&w->f.site, "alice", d->path, d->action, "token");
    base = hidden_value(&w->f.site, "alice", d->path, d->action, "base");
    assert_int_equal(strlen(token.hex), 64);
    (void)snprintf(d->body, sizeof d->body, "token=%s&base=%s&%s", token.hex,
                   base.hex, rest);
    d->sent = (struct sent){.user = "alice",
                            .site = "same-origin",
                            .origin = "",
                            .path = d->action,
                            .body = d->body};
}

static void expect(struct world *w, const struct sent *s, int status,
                   const char *text)
{
    struct answer a = send_form(&w->f.site, s);

    if (a.status != status || strstr(a.body, text) == NULL)
        fail_msg("%d %s", a.status, a.body);
    free(a.all);
}

static void a_good_form_reaches_the_store(void **state)
{
    struct world *w = *state;
    struct draft d;

    draft(w, &w->token, "review", "action=note&note=seen", &d);
    expect(w, &d.sent, 503, "The store cannot be reached");
}

static void refuses_forms_of_other_sites(void **state)
{
    static const char *const sites[] = {"cross-site", "same-site", "none",
                                        "anything"};
    struct world *w = *state;
    struct draft d;

    draft(w, &w->token, "review", "action=note&note=seen", &d);
    for (size_t i = 0; i < sizeof sites / sizeof *sites; i++) {
        d.sent.site = sites[i];
        expect(w, &d.sent, 403, "not sent from our own page");
    }
}

static void asks_for_the_origin_where_the_site_is_not_told(void **state)
{
    struct world *w = *state;
    struct draft d;

    draft(w, &w->token, "review", "action=note&note=seen", &d);
    d.sent.site = "";
    expect(w, &d.sent, 403, "not sent from our own page");
    d.sent.origin = "http://box:8443.evil.test";
    expect(w, &d.sent, 403, "not sent from our own page");
    d.sent.origin = "https://box:8443"; /* the server says plain http */
    expect(w, &d.sent, 403, "not sent from our own page");
    d.sent.origin = "http://box:8443";
    expect(w, &d.sent, 503, "The store cannot be reached");
}

static void refuses_tokens_that_are_not_its_own(void **state)
{
    struct world *w = *state;
    struct draft d;

    draft(w, &w->token, "review", "action=note&note=seen", &d);
    d.body[6] = d.body[6] == '0' ? '1' : '0';
    expect(w, &d.sent, 403, "too old or not ours");
    d.sent.body = "action=note&note=seen";
    expect(w, &d.sent, 403, "too old or not ours");
}

static void a_token_is_good_for_one_user_and_one_path(void **state)
{
    struct world *w = *state;
    struct draft d;
    char other[160];

    draft(w, &w->token, "review", "action=note&note=seen", &d);
    d.sent.user = "mallory";
    expect(w, &d.sent, 403, "too old or not ours");
    d.sent.user = "alice";
    (void)snprintf(other, sizeof other, "/m/%s/review", w->logprob.hex);
    d.sent.path = other;
    expect(w, &d.sent, 403, "too old or not ours");
}

/* The token that alice's form of this path had so many hours ago. */
static struct text token_of(const struct world *w, const char *path, int back)
{
    unsigned char mac[32];
    unsigned int n = sizeof mac;
    char text[512];
    int len =
        snprintf(text, sizeof text, "assay-form/1\nalice\nBasic\n%s\n%lld",
                 path, (long long)time(NULL) / 3600 - back);

    assert_non_null(HMAC(EVP_sha256(), w->f.site.key, sizeof w->f.site.key,
                         (const unsigned char *)text, (size_t)len, mac, &n));
    return format_hex(span_of(mac, n), n);
}

static void a_token_is_good_for_this_hour_and_the_next(void **state)
{
    static const struct {
        int back, status;
        const char *text;
    } cases[] = {{-1, 403, "too old or not ours"},
                 {2, 403, "too old or not ours"},
                 {24, 403, "too old or not ours"},
                 {47, 403, "too old or not ours"},
                 {1, 503, "The store cannot be reached"},
                 {0, 503, "The store cannot be reached"}};
    struct world *w = *state;
    struct draft d;

    draft(w, &w->token, "review", "action=note&note=seen", &d);
    if (time(NULL) % 3600 >= 3590)
        sleep(12); /* it is one hour for all that follows */
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct text token = token_of(w, d.action, cases[i].back);

        memcpy(d.body + strlen("token="), token.s, 64);
        expect(w, &d.sent, cases[i].status, cases[i].text);
    }
}

static void a_token_depends_on_the_key(void **state)
{
    struct world *w = *state;
    struct draft d;

    draft(w, &w->token, "review", "action=note&note=seen", &d);
    w->f.site.key[0] ^= 1;
    expect(w, &d.sent, 403, "too old or not ours");
    w->f.site.key[0] ^= 1;
    w->f.site.has_key = false;
    expect(w, &d.sent, 403, "Forms are switched off here");
    w->f.site.has_key = true;
}

static void nobody_may_do_nothing(void **state)
{
    struct world *w = *state;
    struct draft d;
    struct answer a;

    draft(w, &w->token, "review", "action=note&note=seen", &d);
    d.sent.user = "";
    expect(w, &d.sent, 403, "Nobody is logged in");
    a = fetch(&w->f.site, d.path);
    assert_null(strstr(a.body, "<form class=\"post\""));
    free(a.all);
}

static void a_stale_form_is_a_409_that_keeps_the_words(void **state)
{
    struct world *w = *state;
    struct draft d;

    draft(w, &w->token, "review",
          "action=decide&disposition=capture_fault&note=my+%3Clong%3E+words",
          &d);
    ADD(&w->f, "review", "object", w->token.hex, "actor", "bob", "action",
        "note", "note", "bob was first");
    fixture_commit(&w->f);
    expect(w, &d.sent, 409, "Somebody added to this case");
    expect(w, &d.sent, 409, "my &lt;long&gt; words</textarea>");
    expect(w, &d.sent, 409, "value=\"capture_fault\" checked");
    expect(w, &d.sent, 409, "bob was first");
}

static void a_new_verdict_makes_a_form_stale(void **state)
{
    struct world *w = *state;
    struct draft d;

    draft(w, &w->token, "review", "action=note&note=seen", &d);
    ADD(&w->f, "verdict", "epoch", "1", "object", w->token.hex, "verdict",
        "MATCH", "class", "-");
    fixture_commit(&w->f);
    expect(w, &d.sent, 409, "Somebody added to this case");
}

static void rules_of_review_are_kept(void **state)
{
    static const struct {
        const char *form, *why;
    } cases[] = {
        {"action=decide&note=x", "A decision needs a disposition."},
        {"action=decide&disposition=cheating&note=x",
         "A decision needs a disposition."},
        {"action=decide&disposition=inconclusive",
         "A decision needs a reason."},
        {"action=note&note=", "A note needs words."},
        {"action=confirm&note=x", "Only a decided case can be confirmed."},
        {"action=reopen", "This case is open."},
        {"action=release", "Nobody holds this case."},
        {"action=delete", "There is no such action."},
        {"", "There is no such action."},
    };
    struct world *w = *state;
    struct draft d;

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        draft(w, &w->logprob, "review", cases[i].form, &d);
        expect(w, &d.sent, 422, cases[i].why);
    }
}

static void unstable_is_never_put_down_to_the_provider(void **state)
{
    struct world *w = *state;
    struct draft d;

    draft(w, &w->unstable, "review",
          "action=decide&disposition=provider_deviation&note=x", &d);
    expect(w, &d.sent, 422, "Only a MISMATCH can be put down");
}

static void a_second_person_must_confirm(void **state)
{
    struct world *w = *state;
    struct draft d;

    ADD(&w->f, "review", "object", w->length.hex, "actor", "alice", "action",
        "decide", "disposition", "provider_deviation", "note", "short");
    fixture_commit(&w->f);
    draft(w, &w->length, "review", "action=confirm", &d);
    expect(w, &d.sent, 422, "A second person must confirm");
    draft(w, &w->length, "review",
          "action=decide&disposition=inconclusive&note=x", &d);
    expect(w, &d.sent, 422, "This case is decided; reopen it first.");
    ADD(&w->f, "review", "object", w->envelope.hex, "actor", "bob", "action",
        "decide", "disposition", "provider_deviation", "note", "short");
    fixture_commit(&w->f);
    draft(w, &w->envelope, "review", "action=confirm", &d);
    expect(w, &d.sent, 503, "The store cannot be reached");
}

static void a_new_verdict_opens_a_decided_case(void **state)
{
    struct world *w = *state;
    struct answer a;
    char path[128];

    (void)snprintf(path, sizeof path, "/m/%s", w->envelope.hex);
    ADD(&w->f, "review", "object", w->envelope.hex, "actor", "bob", "action",
        "decide", "disposition", "capture_fault", "note", "x");
    fixture_commit(&w->f);
    a = fetch(&w->f.site, path);
    assert_non_null(strstr(a.body, "decided \xc2\xb7 bob"));
    free(a.all);
    a = fetch(&w->f.site, "/mismatches.json?review=closed");
    assert_non_null(strstr(a.body, w->envelope.hex));
    free(a.all);
    ADD(&w->f, "verdict", "epoch", "1", "object", w->envelope.hex, "verdict",
        "MISMATCH", "class", "token");
    fixture_commit(&w->f);
    a = fetch(&w->f.site, path);
    assert_non_null(strstr(a.body, "<span class=\"badge\">open</span>"));
    assert_non_null(strstr(a.body, "capture_fault")); /* still in the trail */
    free(a.all);
    a = fetch(&w->f.site, "/mismatches.json?review=closed");
    assert_null(strstr(a.body, w->envelope.hex));
    free(a.all);
}

static void reveal_can_be_switched_off(void **state)
{
    struct world *w = *state;
    struct draft d;
    struct answer a;

    draft(w, &w->token, "reveal", "reason=look", &d);
    w->f.site.reveal = false;
    expect(w, &d.sent, 403, "Opening stored content is switched off here");
    a = fetch(&w->f.site, d.path);
    assert_non_null(strstr(a.body, "switched off here (web.reveal)"));
    free(a.all);
    w->f.site.reveal = true;
}

static void reveal_wants_a_reason(void **state)
{
    struct world *w = *state;
    struct draft d;

    draft(w, &w->token, "reveal", "reason=", &d);
    expect(w, &d.sent, 422, "Opening stored content needs a reason.");
    draft(w, &w->token, "reveal", "reason=look", &d);
    expect(w, &d.sent, 503, "The store cannot be reached");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#define FRESH(f) cmocka_unit_test_setup_teardown(f, open_world, close_world)
        FRESH(a_good_form_reaches_the_store),
        FRESH(refuses_forms_of_other_sites),
        FRESH(asks_for_the_origin_where_the_site_is_not_told),
        FRESH(refuses_tokens_that_are_not_its_own),
        FRESH(a_token_is_good_for_one_user_and_one_path),
        FRESH(a_token_is_good_for_this_hour_and_the_next),
        FRESH(a_token_depends_on_the_key),
        FRESH(nobody_may_do_nothing),
        FRESH(a_stale_form_is_a_409_that_keeps_the_words),
        FRESH(a_new_verdict_makes_a_form_stale),
        FRESH(rules_of_review_are_kept),
        FRESH(unstable_is_never_put_down_to_the_provider),
        FRESH(a_second_person_must_confirm),
        FRESH(a_new_verdict_opens_a_decided_case),
        FRESH(reveal_can_be_switched_off),
        FRESH(reveal_wants_a_reason),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
