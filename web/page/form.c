/*
 * form.c - tokens of forms and the checks before one is taken: form.h.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "page/form.h"

#include <inttypes.h>
#include <openssl/crypto.h>
#include <openssl/hmac.h>
#include <string.h>

enum { TOKEN_BYTES = 32 };

static const int64_t hour_ns = INT64_C(3600) * 1000000000;

/* The token of an hour in hex; "" if OpenSSL failed, which no form carries. */
static struct text token_of(const struct page *p, const char *path,
                            int64_t hour)
{
    char text[2048];
    unsigned char mac[TOKEN_BYTES];
    unsigned int n = sizeof mac;
    int len = snprintf(text, sizeof text, "assay-form/1\n%s\n%s\n%s\n%" PRId64,
                       page_actor(p), p->request->auth, path, hour);

    if (len < 0 || (size_t)len >= sizeof text ||
        HMAC(EVP_sha256(), p->site->key, PAGE_KEY_BYTES,
             (const unsigned char *)text, (size_t)len, mac, &n) == NULL)
        return (struct text){""};
    return format_hex(span_of(mac, sizeof mac), sizeof mac);
}

void form_begin(struct page *p, const char *path)
{
    struct html *h = &p->html;

    html_open_class(h, "form", "post");
    html_attr(h, "method", "post");
    html_url(h, "action", page_url(p, "%s", path).s);
    html_open(h, "input");
    html_attr(h, "type", "hidden");
    html_attr(h, "name", "token");
    html_attr(h, "value", token_of(p, path, p->now_ns / hour_ns).s);
}

void form_end(struct page *p)
{
    html_close(&p->html, "form");
}

static bool token_holds(const struct page *p)
{
    const char *given = param(&p->request->form, "token");

    for (int64_t back = 0; back < 2; back++) {
        struct text t =
            token_of(p, p->request->path, p->now_ns / hour_ns - back);

        if (strlen(given) == 2 * TOKEN_BYTES && t.s[0] != '\0' &&
            CRYPTO_memcmp(given, t.s, 2 * TOKEN_BYTES) == 0)
            return true;
    }
    return false;
}

static bool same_origin(const struct cgi_request *r)
{
    char own[CGI_NAME_MAX + 16];

    if (r->site != FETCH_UNKNOWN)
        return r->site == FETCH_SAME;
    (void)snprintf(own, sizeof own, "%s://%s", r->https ? "https" : "http",
                   r->host);
    return r->host[0] != '\0' && strcmp(own, r->origin) == 0;
}

bool form_possible(const struct page *p)
{
    return p->site->has_key && *page_actor(p) != '\0';
}

const char *form_refusal(const struct page *p)
{
    if (!p->site->has_key)
        return "Forms are switched off here: the key file of the page cannot "
               "be read.";
    if (*page_actor(p) == '\0')
        return "Nobody is logged in, so nobody could have done this.";
    if (!same_origin(p->request))
        return "This form was not sent from our own page.";
    if (!token_holds(p))
        return "This form is too old or not ours; load the page again.";
    return NULL;
}
