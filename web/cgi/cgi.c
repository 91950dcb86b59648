/*
 * cgi.c - reading one request out of the environment and stdin: cgi.h.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "cgi/cgi.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "store/utf8.h"

static const char *variable(char *const vars[], const char *name)
{
    size_t n = strlen(name);

    for (size_t i = 0; vars[i] != NULL; i++)
        if (strncmp(vars[i], name, n) == 0 && vars[i][n] == '=')
            return vars[i] + n + 1;
    return "";
}

/* Copies a variable that must fit and be printable UTF-8. */
static bool copy(char *const vars[], const char *name, char *out, size_t size)
{
    const char *value = variable(vars, name);

    if (strlen(value) >= size || !utf8_whole(span_str(value)))
        return false;
    for (const char *p = value; *p != '\0'; p++)
        if ((unsigned char)*p < 0x20 || *p == 0x7f)
            return false;
    memcpy(out, value, strlen(value) + 1);
    return true;
}

static bool copy_names(char *const vars[], struct cgi_request *r)
{
    return copy(vars, "SCRIPT_NAME", r->mount, sizeof r->mount) &&
           copy(vars, "PATH_INFO", r->path, sizeof r->path) &&
           copy(vars, "REMOTE_USER", r->user, sizeof r->user) &&
           copy(vars, "AUTH_TYPE", r->auth, sizeof r->auth) &&
           copy(vars, "HTTP_HOST", r->host, sizeof r->host) &&
           copy(vars, "HTTP_ORIGIN", r->origin, sizeof r->origin);
}

static int read_method(const char *name, enum method *ret_m)
{
    static const char *const names[] = {"GET", "HEAD", "POST"};

    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(names[i], name) == 0) {
            *ret_m = (enum method)i;
            return 0;
        }
    return *name == '\0' ? 400 : 405;
}

static enum fetch_site read_site(const char *value)
{
    if (*value == '\0')
        return FETCH_UNKNOWN;
    return strcmp(value, "same-origin") == 0 ? FETCH_SAME : FETCH_OTHER;
}

/* RFC 9110 section 8.6: digits only. */
static int read_length(const char *value, size_t *ret_n)
{
    size_t n = 0;

    if (*value == '\0')
        return 411;
    for (const char *p = value; *p != '\0'; p++) {
        if (!isdigit((unsigned char)*p))
            return 400;
        n = 10 * n + (size_t)(*p - '0');
        if (n > CGI_BODY_MAX)
            return 413;
    }
    *ret_n = n;
    return 0;
}

/* Exactly n bytes, never to the end of the file. */
static bool read_exactly(int fd, char *out, size_t n)
{
    size_t got = 0;

    while (got < n) {
        ssize_t more = read(fd, out + got, n - got);

        if (more < 0 && errno == EINTR)
            continue;
        if (more <= 0)
            return false;
        got += (size_t)more;
    }
    return true;
}

static bool is_form(const char *type)
{
    static const char name[] = "application/x-www-form-urlencoded";
    size_t n = sizeof name - 1;

    return strncasecmp(type, name, n) == 0 &&
           (type[n] == '\0' || type[n] == ';' || type[n] == ' ');
}

static int read_form(char *const vars[], int fd, struct params *ret_form)
{
    char body[CGI_BODY_MAX];
    size_t n;
    int status;

    if (!is_form(variable(vars, "CONTENT_TYPE")))
        return 415;
    status = read_length(variable(vars, "CONTENT_LENGTH"), &n);
    if (status != 0)
        return status;
    if (!read_exactly(fd, body, n))
        return 400;
    return params_parse(span_of(body, n), ret_form) == PARSE_OK ? 0 : 400;
}

int cgi_read(char *const vars[], int body, struct cgi_request *ret_r)
{
    struct cgi_request r = {0};
    int status;

    status = read_method(variable(vars, "REQUEST_METHOD"), &r.method);
    if (status != 0)
        return status;
    if (!copy_names(vars, &r))
        return 400;
    if (!copy(vars, "HTTP_IF_NONE_MATCH", r.etag, sizeof r.etag))
        r.etag[0] = '\0'; /* a condition that cannot hold */
    if (r.path[0] == '\0')
        strcpy(r.path, "/");
    r.https = strcmp(variable(vars, "HTTPS"), "on") == 0;
    r.site = read_site(variable(vars, "HTTP_SEC_FETCH_SITE"));
    if (params_parse(span_str(variable(vars, "QUERY_STRING")), &r.query) !=
        PARSE_OK)
        return 400;
    if (r.method == METHOD_POST)
        status = read_form(vars, body, &r.form);
    if (status != 0) {
        params_fini(&r.query);
        return status;
    }
    *ret_r = r;
    return 0;
}

void cgi_fini(struct cgi_request *r)
{
    params_fini(&r->query);
    params_fini(&r->form);
}

void cgi_forget(char **vars)
{
    for (size_t i = 0; vars[i] != NULL; i++)
        explicit_bzero(vars[i], strlen(vars[i]));
    vars[0] = NULL;
}
