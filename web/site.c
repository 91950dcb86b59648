/*
 * site.c - the table of pages is the map of the site; below it the life of
 * one request: read, find, open, make, send. A page is made in memory, so
 * that an error half way still gives a clean answer.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "site.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "config/clock.h"
#include "pages/pages.h"
#include "store/index.h"
#include "unit/unit.h"

enum { GET = 1, POST = 2, LIST = 4 /* also as .json and .csv */, DATA = 8 };

static const struct route {
    const char *path; /* "*" stands for one segment */
    unsigned takes;
    int (*show)(struct page *p);
    const char *nav;
} routes[] = {
    {"/", GET, show_overview, "Overview"},
    {"/mismatches", GET | LIST, show_mismatches, "Mismatches"},
    {"/exchanges", GET | LIST, show_exchanges, "Exchanges"},
    {"/m/*", GET | DATA, show_unit, "Mismatches"},
    {"/m/*/review", POST, post_review, "Mismatches"},
    {"/m/*/reveal", POST, post_reveal, "Mismatches"},
    {"/findings", GET | LIST, show_findings, "Findings"},
    {"/coverage", GET, show_coverage, "Coverage"},
    {"/losses", GET | LIST, show_losses, "Coverage"},
    {"/unparsed", GET | LIST, show_unparsed, "Coverage"},
    {"/epochs", GET | LIST, show_epochs, "Epochs"},
    {"/epochs/*", GET, show_epoch, "Epochs"},
    {"/log", GET, show_log, "Log"},
    {"/trail", GET | LIST, show_trail, "Trail"},
    {"/help", GET, show_help, "Help"},
};

/* Does path follow the pattern? What "*" stood for goes to id. */
static bool follows(const char *pattern, const char *path, char *id)
{
    size_t n;

    for (; *pattern != '\0'; pattern++) {
        if (*pattern != '*') {
            if (*path++ != *pattern)
                return false;
            continue;
        }
        n = strcspn(path, "/");
        if (n == 0 || n >= PAGE_ID_MAX)
            return false;
        memcpy(id, path, n);
        id[n] = '\0';
        path += n;
    }
    return *path == '\0';
}

/* Cuts .json or .csv off the path. */
static enum page_format take_suffix(char *path)
{
    static const struct {
        const char *suffix;
        enum page_format format;
    } forms[] = {{".json", PAGE_JSON}, {".csv", PAGE_CSV}};
    size_t n = strlen(path);

    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
        size_t m = strlen(forms[i].suffix);

        if (n > m && strcmp(path + n - m, forms[i].suffix) == 0) {
            path[n - m] = '\0';
            return forms[i].format;
        }
    }
    return PAGE_HTML;
}

static const struct route *find(struct page *p, char *path)
{
    p->format = take_suffix(path);
    for (size_t i = 0; i < sizeof routes / sizeof *routes; i++) {
        const struct route *r = &routes[i];

        if (!follows(r->path, path, p->id))
            continue;
        if ((p->format == PAGE_CSV && !(r->takes & LIST)) ||
            (p->format == PAGE_JSON && !(r->takes & (LIST | DATA))))
            return NULL;
        return r;
    }
    return NULL;
}

static int open_record(struct page *p)
{
    sqlite3 *handle;
    int err = index_open_readonly(p->site->state_dir, &handle);

    if (err != 0) {
        p->why = err == -ENOENT
                     ? "There is no index: assay-store has not run here yet."
                     : "The index cannot be opened.";
        return 503;
    }
    db_begin(&p->db, handle, p->site->deadline_ms);
    return 0;
}

/* Errors that stuck while the page was made outrank what it returned. */
static int settle(struct page *p, int status)
{
    if (p->db.err == 0)
        return p->html.failed ? 500 : status;
    p->why = p->db.err == -EINTR ? "The query took too long; narrow it down."
                                 : "The index could not be read.";
    return 503;
}

static int make(struct page *p, const struct route *r, site_confine *confine)
{
    bool post = p->request->method == METHOD_POST;
    int status;

    if (r == NULL)
        return 404;
    if (!(r->takes & (post ? POST : GET)))
        return 405;
    p->nav = r->nav;
    status = open_record(p);
    if (status != 0)
        return status;
    if (confine != NULL)
        confine(p->request->method);
    return settle(p, r->show(p));
}

static struct span body_of(struct page *p, int status, char **ret_owned)
{
    *ret_owned = NULL;
    if (p->format == PAGE_CSV)
        return span_of(p->csv, p->csv_n);
    if (p->format == PAGE_JSON) {
        if (p->json == NULL)
            p->json = json_pack("{s:s,s:i,s:s}", "schema", "assay.error/1",
                                "status", status, "error",
                                p->why != NULL ? p->why : cgi_reason(status));
        *ret_owned = json_dumps(p->json, JSON_INDENT(1));
        return span_str(*ret_owned != NULL ? *ret_owned : "{}");
    }
    return span_of(p->html.text, p->html.n);
}

/* The page that says so, unless the page function wrote one itself. */
static void refuse(struct page *p, int status)
{
    html_fini(&p->html);
    html_init(&p->html);
    json_decref(p->json);
    p->json = NULL;
    p->format = p->format == PAGE_CSV ? PAGE_HTML : p->format;
    if (p->db.err != 0)
        db_end(&p->db); /* the status line shall not ask it again */
    page_error(p, status);
}

static const char *allowed(const struct route *r)
{
    if (r == NULL) /* a method that no page takes */
        return "GET, HEAD, POST";
    return r->takes & POST ? "POST" : "GET, HEAD";
}

static bool send(struct page *p, const struct route *r, int status, FILE *out)
{
    static const char *const types[] = {
        [PAGE_HTML] = "text/html; charset=utf-8",
        [PAGE_JSON] = "application/json",
        [PAGE_CSV] = "text/csv; charset=utf-8",
    };
    struct page_url location = page_url(p, "%s", p->location.s);
    struct cgi_answer a = {.status = status, .type = types[p->format]};
    char *owned;
    bool sent;

    a.private = p->private || status >= 400;
    a.location = status == 303 ? location.s : NULL;
    if (status == 405)
        a.allow = allowed(r);
    a.filename = p->format == PAGE_CSV ? "assay.csv" : NULL;
    a.body = body_of(p, status, &owned);
    sent = cgi_write(out, p->request, a);
    free(owned);
    return sent;
}

static bool serve(const struct site *site, const struct cgi_request *request,
                  int status, FILE *out, site_confine *confine)
{
    struct page p = {
        .site = site, .request = request, .now_ns = clock_wall_ns()};
    const struct route *r = NULL;
    char path[CGI_PATH_MAX];
    bool sent;

    html_init(&p.html);
    if (status == 0) {
        memcpy(path, request->path, sizeof path);
        r = find(&p, path);
        status = make(&p, r, confine);
    }
    if (status >= 400 && !p.explained)
        refuse(&p, status);
    if (p.format == PAGE_HTML && !html_end(&p.html))
        status = 500;
    sent = send(&p, r, status, out);
    db_end(&p.db);
    html_fini(&p.html);
    json_decref(p.json);
    free(p.csv);
    return sent;
}

bool site_serve(const struct site *site, char **vars, int body, FILE *out,
                site_confine *confine)
{
    struct cgi_request request = {0};
    int status = cgi_read(vars, body, &request);
    bool sent;

    cgi_forget(vars);
    sent = serve(site, &request, status, out, confine);
    if (status == 0)
        cgi_fini(&request);
    return sent;
}
