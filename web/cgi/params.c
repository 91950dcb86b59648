/*
 * params.c - decoding a query or form body, once and strictly: params.h.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "cgi/params.h"

#include <stdlib.h>
#include <string.h>

#include "store/utf8.h"

static int hex_digit(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    if (c >= 'A' && c <= 'F')
        return c - 'A' + 10;
    if (c >= 'a' && c <= 'f')
        return c - 'a' + 10;
    return -1;
}

bool percent_decode(char *text, bool plus)
{
    char *out = text;

    for (const char *p = text; *p != '\0'; p++) {
        char c = *p;

        if (c == '%') {
            int high = hex_digit(p[1]);
            int low = high < 0 ? -1 : hex_digit(p[2]);

            if (low < 0 || (high == 0 && low == 0))
                return false;
            c = (char)(high << 4 | low);
            p += 2;
        } else if (c == '+' && plus) {
            c = ' ';
        }
        *out++ = c;
    }
    *out = '\0';
    return utf8_whole(span_str(text));
}

static bool add(struct params *p, char *pair)
{
    char *value = strchr(pair, '=');

    if (value != NULL)
        *value++ = '\0';
    else
        value = pair + strlen(pair);
    if (!percent_decode(pair, true) || !percent_decode(value, true))
        return false;
    for (size_t i = 0; i < p->n; i++)
        if (strcmp(p->list[i].name, pair) == 0)
            return false;
    if (p->n == PARAMS_MAX)
        return false;
    p->list[p->n++] = (struct param){pair, value};
    return true;
}

enum parse params_parse(struct span raw, struct params *ret_p)
{
    struct params p = {.text = malloc(raw.n + 1)};
    char *rest = p.text, *pair;

    if (p.text == NULL)
        return PARSE_BAD;
    if (raw.n > 0)
        memcpy(p.text, raw.p, raw.n);
    p.text[raw.n] = '\0';
    if (strlen(p.text) != raw.n) /* a NUL within */
        goto bad;
    while ((pair = strsep(&rest, "&")) != NULL)
        if (*pair != '\0' && !add(&p, pair))
            goto bad;
    *ret_p = p;
    return PARSE_OK;
bad:
    free(p.text);
    return PARSE_BAD;
}

void params_fini(struct params *p)
{
    free(p->text);
    *p = (struct params){0};
}

const char *param(const struct params *p, const char *name)
{
    for (size_t i = 0; i < p->n; i++)
        if (strcmp(p->list[i].name, name) == 0)
            return p->list[i].value;
    return "";
}
