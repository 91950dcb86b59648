/*
 * cgi.h - one request as a web server hands it over (RFC 3875), and the
 * answer going back.
 *
 *     environment, body --> cgi_read: cgi.c, params.h --> struct cgi_request
 *     struct cgi_answer --> cgi_write: cgi_answer.c ----> header and body
 *
 * Comes in: the environment and at most CGI_BODY_MAX bytes of body. Goes out:
 * a request whose parts are decoded once and bounded, or the HTTP status to
 * refuse it with. argv is never looked at (RFC 3875 section 4.4 lets a server
 * pass a query there).
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef WEB_CGI_H
#define WEB_CGI_H

#include <stdio.h>

#include "cgi/params.h"

enum { CGI_BODY_MAX = 64 * 1024, CGI_PATH_MAX = 512, CGI_NAME_MAX = 256 };

enum method { METHOD_GET, METHOD_HEAD, METHOD_POST };

/* How a browser says where a request came from. */
enum fetch_site {
    FETCH_UNKNOWN, /* no such field: an old browser, or plain http */
    FETCH_SAME,
    FETCH_OTHER
};

struct cgi_request {
    enum method method;
    char mount[CGI_PATH_MAX]; /* SCRIPT_NAME: what links start with */
    char path[CGI_PATH_MAX];  /* PATH_INFO; "/" if empty */
    char user[CGI_NAME_MAX];  /* REMOTE_USER; "" if none */
    char auth[CGI_NAME_MAX];  /* AUTH_TYPE */
    char host[CGI_NAME_MAX];  /* HTTP_HOST */
    char origin[CGI_NAME_MAX];
    char etag[CGI_NAME_MAX]; /* HTTP_IF_NONE_MATCH */
    bool https;
    enum fetch_site site;
    struct params query, form;
};

/*
 * Reads the request out of vars ("NAME=value", ends with NULL) and the
 * body from file descriptor body. Returns 0, or the status of a refusal (400,
 * 405, 411, 413, 415, 500), after which there is nothing to free.
 */
int cgi_read(char *const vars[], int body, struct cgi_request *ret_r);
void cgi_fini(struct cgi_request *r);

/* Overwrites and removes every variable, the password of HTTP_AUTHORIZATION
 * first. After cgi_read. */
void cgi_forget(char **vars);

struct cgi_answer {
    int status;           /* 200 ... */
    const char *type;     /* media type */
    const char *location; /* of a 303, or NULL */
    const char *allow;    /* of a 405, or NULL */
    const char *filename; /* offered for saving, or NULL */
    bool private;         /* never stored, not even by the browser */
    struct span body;
};

/* The words of a status: "Not Found". */
const char *cgi_reason(int status);
/* Writes header and body (no body for HEAD and 304) to out. A header value
 * with CR, LF or NUL turns the whole answer into a 500. False if writing
 * failed. */
bool cgi_write(FILE *out, const struct cgi_request *r, struct cgi_answer a);

#endif
