/*
 * test_cgi.c - reading a request and writing an answer: web/cgi/cgi.h,
 * web/cgi/params.h. One test for each rule of RFC 3875 and of our own.
 * SPDX-License-Identifier: Apache-2.0
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "cgi/cgi.h"

#define FORM "CONTENT_TYPE=application/x-www-form-urlencoded"

/* body: n bytes in a pipe that stays open, so that reading past them hangs. */
static int read_with(char *const *vars, const char *body, size_t n,
                     struct cgi_request *r)
{
    int fd[2], status;

    assert_int_equal(pipe(fd), 0);
    assert_int_equal(write(fd[1], body, n), (ssize_t)n);
    status = cgi_read(vars, fd[0], r);
    close(fd[0]);
    close(fd[1]);
    return status;
}

#define VARS(...) ((char *const[]){__VA_ARGS__, NULL})

static int get(char *const *vars, struct cgi_request *r)
{
    return read_with(vars, "", 0, r);
}

static int query(const char *text, struct cgi_request *r)
{
    char var[4096];

    (void)snprintf(var, sizeof var, "QUERY_STRING=%s", text);
    return get(VARS("REQUEST_METHOD=GET", var), r);
}

static void reads_what_the_server_says(void **state)
{
    struct cgi_request r;

    (void)state;
    assert_int_equal(
        get(VARS("REQUEST_METHOD=HEAD", "SCRIPT_NAME=/assay", "PATH_INFO=/m/17",
                 "REMOTE_USER=alice", "AUTH_TYPE=Basic", "HTTP_HOST=box:8443",
                 "HTTPS=on", "QUERY_STRING=a=1&b=x+y"),
            &r),
        0);
    assert_int_equal(r.method, METHOD_HEAD);
    assert_string_equal(r.mount, "/assay");
    assert_string_equal(r.path, "/m/17");
    assert_string_equal(r.user, "alice");
    assert_true(r.https);
    assert_string_equal(param(&r.query, "b"), "x y");
    assert_string_equal(param(&r.query, "none"), "");
    cgi_fini(&r);
}

static void takes_an_empty_path_for_the_root(void **state)
{
    struct cgi_request r;

    (void)state;
    assert_int_equal(get(VARS("REQUEST_METHOD=GET"), &r), 0);
    assert_string_equal(r.path, "/");
    cgi_fini(&r);
}

static void refuses_other_methods(void **state)
{
    struct cgi_request r;

    (void)state;
    assert_int_equal(get(VARS("REQUEST_METHOD=PUT"), &r), 405);
    assert_int_equal(get(VARS("REQUEST_METHOD=get"), &r), 405);
    assert_int_equal(get(VARS("SCRIPT_NAME=/x"), &r), 400);
}

static void refuses_names_that_could_end_a_line(void **state)
{
    struct cgi_request r;

    (void)state;
    assert_int_equal(
        get(VARS("REQUEST_METHOD=GET", "PATH_INFO=/a\r\nSet-Cookie: x"), &r),
        400);
    assert_int_equal(get(VARS("REQUEST_METHOD=GET", "REMOTE_USER=a\nb"), &r),
                     400);
    assert_int_equal(get(VARS("REQUEST_METHOD=GET", "PATH_INFO=/\xff"), &r),
                     400);
}

static void refuses_a_path_that_is_too_long(void **state)
{
    struct cgi_request r;
    char var[CGI_PATH_MAX + 32] = "PATH_INFO=/";

    (void)state;
    memset(var + 11, 'a', CGI_PATH_MAX);
    assert_int_equal(get(VARS("REQUEST_METHOD=GET", var), &r), 400);
}

static void refuses_broken_percent_escapes(void **state)
{
    static const char *const bad[] = {"a=%",   "a=%4",  "a=%zz",   "%=1",
                                      "a=%00", "a=%ff", "a=%c0%af"};
    struct cgi_request r;

    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_int_equal(query(bad[i], &r), 400);
}

static void decodes_once(void **state)
{
    struct cgi_request r;

    (void)state;
    assert_int_equal(query("a=%2541%C3%A9&b%3D=%26", &r), 0);
    assert_string_equal(param(&r.query, "a"), "%41\xc3\xa9");
    assert_string_equal(param(&r.query, "b="), "&");
    cgi_fini(&r);
}

static void refuses_a_name_twice(void **state)
{
    struct cgi_request r;

    (void)state;
    assert_int_equal(query("a=1&b=2&%61=3", &r), 400);
}

static void refuses_more_than_64_names(void **state)
{
    struct cgi_request r;
    char text[1024] = "";
    size_t n = 0;

    (void)state;
    for (int i = 0; i < 64; i++)
        n += (size_t)sprintf(text + n, "k%d=&", i);
    assert_int_equal(query(text, &r), 0);
    cgi_fini(&r);
    (void)sprintf(text + n, "one=more");
    assert_int_equal(query(text, &r), 400);
}

static int post(const char *length, const char *type, const char *body,
                struct cgi_request *r)
{
    char var[64], type_var[128];

    (void)snprintf(var, sizeof var, "CONTENT_LENGTH=%s", length);
    (void)snprintf(type_var, sizeof type_var, "CONTENT_TYPE=%s", type);
    return read_with(VARS("REQUEST_METHOD=POST", var, type_var), body,
                     strlen(body), r);
}

static void reads_exactly_the_content_length(void **state)
{
    struct cgi_request r;

    (void)state;
    assert_int_equal(post("7", "application/x-www-form-urlencoded; charset=x",
                          "a=1&b=2&c=3", &r),
                     0);
    assert_string_equal(param(&r.form, "b"), "2");
    assert_string_equal(param(&r.form, "c"), "");
    cgi_fini(&r);
}

static void refuses_lengths_that_are_no_number(void **state)
{
    static const char form[] = "application/x-www-form-urlencoded";
    struct cgi_request r;

    (void)state;
    assert_int_equal(post("", form, "a=1", &r), 411);
    assert_int_equal(post("-1", form, "a=1", &r), 400);
    assert_int_equal(post("+3", form, "a=1", &r), 400);
    assert_int_equal(post("3 ", form, "a=1", &r), 400);
    assert_int_equal(post("0x3", form, "a=1", &r), 400);
}

static void refuses_lengths_that_overflow(void **state)
{
    static const char form[] = "application/x-www-form-urlencoded";
    struct cgi_request r;

    (void)state;
    assert_int_equal(post("65537", form, "", &r), 413);
    assert_int_equal(post("18446744073709551617", form, "", &r), 413);
    assert_int_equal(
        post("99999999999999999999999999999999999999999", form, "", &r), 413);
}

static void refuses_other_types_of_body(void **state)
{
    struct cgi_request r;

    (void)state;
    assert_int_equal(post("3", "text/plain", "a=1", &r), 415);
    assert_int_equal(post("3", "multipart/form-data; boundary=x", "a=1", &r),
                     415);
    assert_int_equal(post("3", "application/x-www-form-urlencodedx", "a=1", &r),
                     415);
    assert_int_equal(post("3", "", "a=1", &r), 415);
}

static void refuses_a_body_that_ends_early(void **state)
{
    struct cgi_request r;
    FILE *empty = tmpfile();

    (void)state;
    assert_non_null(empty);
    assert_int_equal(
        cgi_read(VARS("REQUEST_METHOD=POST", "CONTENT_LENGTH=9", FORM),
                 fileno(empty), &r),
        400);
    fclose(empty);
}

static void refuses_nul_in_a_body(void **state)
{
    struct cgi_request r;

    (void)state;
    assert_int_equal(
        read_with(VARS("REQUEST_METHOD=POST", "CONTENT_LENGTH=4", FORM),
                  "a=\0b", 4, &r),
        400);
}

static void tells_where_a_request_came_from(void **state)
{
    struct cgi_request r;

    (void)state;
    assert_int_equal(get(VARS("REQUEST_METHOD=GET"), &r), 0);
    assert_int_equal(r.site, FETCH_UNKNOWN);
    cgi_fini(&r);
    assert_int_equal(
        get(VARS("REQUEST_METHOD=GET", "HTTP_SEC_FETCH_SITE=same-origin"), &r),
        0);
    assert_int_equal(r.site, FETCH_SAME);
    cgi_fini(&r);
    assert_int_equal(
        get(VARS("REQUEST_METHOD=GET", "HTTP_SEC_FETCH_SITE=same-site"), &r),
        0);
    assert_int_equal(r.site, FETCH_OTHER);
    cgi_fini(&r);
}

static void wipes_the_environment(void **state)
{
    char password[] = "HTTP_AUTHORIZATION=Basic c2VjcmV0", other[] = "A=b";
    char *vars[] = {password, other, NULL};

    (void)state;
    cgi_forget(vars);
    assert_null(vars[0]);
    for (size_t i = 0; i < sizeof password; i++)
        assert_int_equal(password[i], 0);
    assert_int_equal(other[0], 0);
}

static char *answered(const struct cgi_request *r, struct cgi_answer a)
{
    char *text = NULL;
    size_t n = 0;
    FILE *out = open_memstream(&text, &n);

    assert_true(cgi_write(out, r, a));
    fclose(out);
    return text;
}

static void answers_with_status_first_and_a_length(void **state)
{
    struct cgi_request r = {.method = METHOD_GET};
    char *text = answered(&r, (struct cgi_answer){.status = 200,
                                                  .type = "text/html",
                                                  .body = span_str("hello")});

    (void)state;
    assert_int_equal(
        strncmp(text, "Status: 200 OK\r\nContent-Type: text/html", 39), 0);
    assert_non_null(strstr(text, "\r\nContent-Length: 5\r\n"));
    assert_non_null(strstr(text, "\r\n\r\nhello"));
    free(text);
}

/* Nothing loads from elsewhere, nothing runs, nobody frames the page or learns
 * from where its links came; of refusals and of saved files as well. */
static void every_answer_says_what_a_browser_may_do(void **state)
{
    static const char policy[] =
        "Content-Security-Policy: default-src 'none'; style-src 'self'; "
        "img-src 'self'; form-action 'self'; base-uri 'none'; "
        "frame-ancestors 'none'";
    static const char *const fields[] = {
        policy, "X-Content-Type-Options: nosniff",
        "Referrer-Policy: same-origin",
        "Cross-Origin-Opener-Policy: same-origin",
        "Cross-Origin-Resource-Policy: same-origin"};
    static const struct cgi_answer answers[] = {
        {.status = 200, .type = "text/html"},
        {.status = 200, .type = "text/csv", .filename = "a.csv"},
        {.status = 303, .location = "/assay/", .private = true},
        {.status = 404, .type = "text/html", .private = true},
        {.status = 405, .allow = "GET\r\nX: y"}};
    struct cgi_request r = {.method = METHOD_GET};

    (void)state;
    for (size_t i = 0; i < sizeof answers / sizeof *answers; i++) {
        char *text = answered(&r, answers[i]);

        for (size_t k = 0; k < sizeof fields / sizeof *fields; k++) {
            char line[256];

            (void)snprintf(line, sizeof line, "\r\n%s\r\n", fields[k]);
            if (strstr(text, line) == NULL)
                fail_msg("%d: no %s", answers[i].status, fields[k]);
        }
        free(text);
    }
}

static void sends_no_body_for_head(void **state)
{
    struct cgi_request r = {.method = METHOD_HEAD};
    char *text = answered(&r, (struct cgi_answer){.status = 200,
                                                  .type = "text/html",
                                                  .body = span_str("hello")});

    (void)state;
    assert_non_null(strstr(text, "Content-Length: 5"));
    assert_null(strstr(text, "hello"));
    free(text);
}

static void says_not_modified(void **state)
{
    struct cgi_request r = {.method = METHOD_GET};
    struct cgi_answer a = {
        .status = 200, .type = "text/html", .body = span_str("hello")};
    char *text = answered(&r, a), *tag = strstr(text, "ETag: ");

    (void)state;
    assert_non_null(tag);
    (void)snprintf(r.etag, sizeof r.etag, "%.18s", tag + 6);
    free(text);
    text = answered(&r, a);
    assert_int_equal(strncmp(text, "Status: 304 Not Modified", 24), 0);
    assert_null(strstr(text, "hello"));
    free(text);
    a.private = true; /* what holds content is sent and forgotten */
    text = answered(&r, a);
    assert_int_equal(strncmp(text, "Status: 200", 11), 0);
    assert_non_null(strstr(text, "Cache-Control: no-store"));
    assert_null(strstr(text, "ETag"));
    free(text);
}

static void refuses_a_field_that_ends_its_line(void **state)
{
    struct cgi_request r = {.method = METHOD_GET};
    char *text = answered(&r, (struct cgi_answer){.status = 303,
                                                  .type = "text/html",
                                                  .location = "/x\r\nEvil: 1"});

    (void)state;
    assert_int_equal(strncmp(text, "Status: 500", 11), 0);
    assert_null(strstr(text, "Evil"));
    free(text);
}

static void tells_when_it_could_not_write(void **state)
{
    struct cgi_request r = {.method = METHOD_GET};
    FILE *full = fopen("/dev/full", "w");

    (void)state;
    assert_non_null(full);
    assert_false(cgi_write(
        full, &r, (struct cgi_answer){.status = 200, .type = "text/html"}));
    fclose(full);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_what_the_server_says),
        cmocka_unit_test(takes_an_empty_path_for_the_root),
        cmocka_unit_test(refuses_other_methods),
        cmocka_unit_test(refuses_names_that_could_end_a_line),
        cmocka_unit_test(refuses_a_path_that_is_too_long),
        cmocka_unit_test(refuses_broken_percent_escapes),
        cmocka_unit_test(decodes_once),
        cmocka_unit_test(refuses_a_name_twice),
        cmocka_unit_test(refuses_more_than_64_names),
        cmocka_unit_test(reads_exactly_the_content_length),
        cmocka_unit_test(refuses_lengths_that_are_no_number),
        cmocka_unit_test(refuses_lengths_that_overflow),
        cmocka_unit_test(refuses_other_types_of_body),
        cmocka_unit_test(refuses_a_body_that_ends_early),
        cmocka_unit_test(refuses_nul_in_a_body),
        cmocka_unit_test(tells_where_a_request_came_from),
        cmocka_unit_test(wipes_the_environment),
        cmocka_unit_test(answers_with_status_first_and_a_length),
        cmocka_unit_test(every_answer_says_what_a_browser_may_do),
        cmocka_unit_test(sends_no_body_for_head),
        cmocka_unit_test(says_not_modified),
        cmocka_unit_test(refuses_a_field_that_ends_its_line),
        cmocka_unit_test(tells_when_it_could_not_write),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
