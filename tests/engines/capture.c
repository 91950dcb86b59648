/*
 * capture.c - reads a folder of recorded exchanges.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "capture.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "plan_text.h"
#include "recompute/error.h"
#include "recompute/model.h"

static int read_file(const char *path, uint8_t **ret_p, size_t *ret_n)
{
    size_t size = 1 << 16, n = 0;
    int err = 0;

    FILE *f = fopen(path, "rb");
    if (!f)
        return -errno;
    uint8_t *p = malloc(size);
    while (p && !feof(f) && err == 0) {
        n += fread(p + n, 1, size - n, f);
        if (ferror(f))
            err = -EIO;
        if (n < size)
            continue;
        uint8_t *grown = realloc(p, size *= 2);
        if (!grown)
            err = -ENOMEM;
        p = grown ? grown : p;
    }
    (void)fclose(f); /* only read */
    if (!p || err != 0) {
        free(p);
        return err != 0 ? err : -ENOMEM;
    }
    *ret_p = p;
    *ret_n = n;
    return 0;
}

static int complain(const char *path, const char *what, int err)
{
    (void)fprintf(stderr, "%s: %s\n", path, what);
    return err;
}

/* "METHOD TARGET BODY" */
static struct span next_word(struct span *rest)
{
    const uint8_t *space = memchr(rest->p, ' ', rest->n);
    size_t n = space ? (size_t)(space - rest->p) : rest->n;
    struct span word = span_of(rest->p, n);

    if (n < rest->n)
        n++;
    *rest = span_of(rest->p + n, rest->n - n);
    return word;
}

static bool starts(struct span s, const char *with)
{
    size_t n = strlen(with);

    return s.n >= n && memcmp(s.p, with, n) == 0;
}

/* *ret_r is an exchange of an API; 1: it is not, and holds nothing. */
static int read_exchange(const char *base, struct recorded *ret_r)
{
    char path[4104];
    size_t n, n_resp;

    (void)snprintf(path, sizeof(path), "%s.req", base);
    int err = read_file(path, &ret_r->request, &n);
    if (err != 0)
        return complain(path, strerror(-err), err);
    (void)snprintf(path, sizeof(path), "%s.resp", base);
    err = read_file(path, &ret_r->response, &n_resp);
    if (err != 0) {
        free(ret_r->request);
        return complain(path, strerror(-err), err);
    }
    struct span body = span_of(ret_r->request, n);
    struct span method = next_word(&body);
    struct span target = next_word(&body);
    struct span resp = span_of(ret_r->response, n_resp);
    bool streamed = starts(resp, "data:") || starts(resp, "event:");
    const char *api = dialect_find(method, target);
    enum parse parsed = PARSE_BAD;
    if (api)
        parsed = dialect_parse(api, body, resp, streamed, &ret_r->exchange);
    ret_r->body = body;
    ret_r->answer = resp;
    ret_r->streamed = streamed;
    if (parsed == PARSE_OK)
        return 0;
    if (api)
        dialect_free(&ret_r->exchange);
    free(ret_r->request);
    free(ret_r->response);
    return 1;
}

static int is_request(const struct dirent *e)
{
    size_t n = strlen(e->d_name);

    return n > 4 && n < 64 && strcmp(e->d_name + n - 4, ".req") == 0;
}

static int read_exchanges(const char *dir, struct capture *c)
{
    struct dirent **names;
    char base[4096];
    int err = 0;

    int n = scandir(dir, &names, is_request, alphasort);
    if (n < 0)
        return complain(dir, strerror(errno), -errno);
    c->recorded = calloc((size_t)n + 1, sizeof *c->recorded);
    if (!c->recorded)
        err = -ENOMEM;
    for (int i = 0; i < n; i++) {
        size_t len = strlen(names[i]->d_name) - 4;
        (void)snprintf(base, sizeof(base), "%s/%.*s", dir, (int)len,
                       names[i]->d_name);
        struct recorded *r = c->recorded ? &c->recorded[c->n] : NULL;
        int got = err != 0 ? err : read_exchange(base, r);
        if (got == 0) {
            memcpy(r->name, names[i]->d_name, len);
            c->n++;
        } else if (got < 0) {
            err = got;
        } else {
            c->skipped++;
        }
        free(names[i]);
    }
    free(names);
    return err;
}

static int read_plan(const char *dir, struct capture *c)
{
    char path[4096];
    uint8_t *p;
    size_t n, line;

    (void)snprintf(path, sizeof(path), "%s/plan.txt", dir);
    int err = read_file(path, &p, &n);
    if (err == -ENOENT)
        return 0;
    if (err != 0)
        return complain(path, strerror(-err), err);
    c->has_plan = true;
    enum parse parsed = plan_text_read(span_of(p, n), &c->plan, &line);
    free(p);
    if (parsed == PARSE_OK)
        return 0;
    (void)fprintf(stderr, "%s:%zu: no operation of a plan: not looked at\n",
                  path, line);
    plan_fini(&c->plan);
    c->has_plan = false;
    return 0;
}

static int read_declaration(const char *dir, struct capture *c)
{
    char path[4096];
    uint8_t *p;
    size_t n;
    struct error error;

    (void)snprintf(path, sizeof(path), "%s/engine.json", dir);
    int err = read_file(path, &p, &n);
    if (err != 0)
        return complain(path, strerror(-err), err);
    err = declaration_read(span_of(p, n), &c->declaration, &error);
    free(p);
    return err != 0 ? complain(path, error.text, err) : 0;
}

int capture_open(const char *dir, struct capture *ret_c)
{
    struct capture c = {0};

    int err = read_declaration(dir, &c);
    err = err != 0 ? err : read_exchanges(dir, &c);
    err = err != 0 ? err : read_plan(dir, &c);
    if (err != 0)
        capture_close(&c);
    else
        *ret_c = c;
    return err;
}

void capture_close(struct capture *c)
{
    for (size_t i = 0; i < c->n; i++) {
        dialect_free(&c->recorded[i].exchange);
        free(c->recorded[i].request);
        free(c->recorded[i].response);
    }
    free(c->recorded);
    if (c->has_plan)
        plan_fini(&c->plan);
    *c = (struct capture){0};
}
