/*
 * cgi_answer.c - the answer going back to the web server: header fields that
 * hold whatever page it is, then the body. See cgi.h.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "cgi/cgi.h"

#include <openssl/sha.h>
#include <string.h>

/* Nothing loads from elsewhere, nothing runs, nobody frames the page. */
static const char fixed_fields[] =
    "Content-Security-Policy: default-src 'none'; style-src 'self'; "
    "img-src 'self'; form-action 'self'; base-uri 'none'; "
    "frame-ancestors 'none'\r\n"
    "X-Content-Type-Options: nosniff\r\n"
    "Referrer-Policy: same-origin\r\n"
    "Cross-Origin-Opener-Policy: same-origin\r\n"
    "Cross-Origin-Resource-Policy: same-origin\r\n";

const char *cgi_reason(int status)
{
    static const struct {
        int status;
        const char *words;
    } reasons[] = {
        {200, "OK"},
        {303, "See Other"},
        {304, "Not Modified"},
        {400, "Bad Request"},
        {403, "Forbidden"},
        {404, "Not Found"},
        {405, "Method Not Allowed"},
        {409, "Conflict"},
        {411, "Length Required"},
        {413, "Content Too Large"},
        {415, "Unsupported Media Type"},
        {422, "Unprocessable Content"},
        {503, "Service Unavailable"},
    };

    for (size_t i = 0; i < sizeof reasons / sizeof *reasons; i++)
        if (reasons[i].status == status)
            return reasons[i].words;
    return "Internal Server Error";
}

/* A value that could end its line would forge the next one. */
static bool clean(const char *value)
{
    return value == NULL || strpbrk(value, "\r\n") == NULL;
}

static void etag_of(struct span body, char tag[static 19])
{
    unsigned char digest[SHA256_DIGEST_LENGTH];
    char *out = tag;

    (void)SHA256(body.n == 0 ? (const unsigned char *)"" : body.p, body.n,
                 digest);
    *out++ = '"';
    for (size_t i = 0; i < 8; i++)
        out += sprintf(out, "%02x", digest[i]);
    memcpy(out, "\"", 2);
}

static void write_field(FILE *out, const char *name, const char *value)
{
    if (value != NULL)
        fprintf(out, "%s: %s\r\n", name, value);
}

static void write_caching(FILE *out, const struct cgi_answer *a,
                          const char *tag)
{
    if (a->private) {
        write_field(out, "Cache-Control", "no-store");
        return;
    }
    write_field(out, "Cache-Control", "private, no-cache");
    write_field(out, "ETag", tag);
}

bool cgi_write(FILE *out, const struct cgi_request *r, struct cgi_answer a)
{
    char tag[19];

    if (!clean(a.type) || !clean(a.location) || !clean(a.allow) ||
        !clean(a.filename))
        a = (struct cgi_answer){
            .status = 500, .type = "text/plain", .private = true};
    etag_of(a.body, tag);
    if (a.status == 200 && !a.private && strcmp(r->etag, tag) == 0)
        a.status = 304;
    fprintf(out, "Status: %d %s\r\n", a.status, cgi_reason(a.status));
    write_field(out, "Content-Type", a.type);
    write_field(out, "Location", a.location);
    write_field(out, "Allow", a.allow);
    if (a.filename != NULL)
        fprintf(out, "Content-Disposition: attachment; filename=\"%s\"\r\n",
                a.filename);
    write_caching(out, &a, tag);
    fputs(fixed_fields, out);
    if (a.status != 304)
        fprintf(out, "Content-Length: %zu\r\n", a.body.n);
    fputs("\r\n", out);
    if (r->method != METHOD_HEAD && a.status != 304 && a.body.n > 0)
        (void)fwrite(a.body.p, 1, a.body.n, out); /* ferror below knows */
    return fflush(out) == 0 && ferror(out) == 0;
}
