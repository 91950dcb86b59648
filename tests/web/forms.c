/*
 * forms.c - sending forms: forms.h.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "forms.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct answer send_form(const struct site *site, const struct sent *s)
{
    char user[300], fetch_site[64], origin[300], path[300], length[64];
    const char *vars[] = {"REQUEST_METHOD=POST",
                          "SCRIPT_NAME=/assay",
                          "HTTP_HOST=box:8443",
                          "AUTH_TYPE=Basic",
                          "CONTENT_TYPE=application/x-www-form-urlencoded",
                          user,
                          fetch_site,
                          origin,
                          path,
                          length,
                          NULL};

    (void)snprintf(user, sizeof user, "REMOTE_USER=%s", s->user);
    (void)snprintf(fetch_site, sizeof fetch_site, "HTTP_SEC_FETCH_SITE=%s",
                   s->site);
    (void)snprintf(origin, sizeof origin, "HTTP_ORIGIN=%s", s->origin);
    (void)snprintf(path, sizeof path, "PATH_INFO=%s", s->path);
    (void)snprintf(length, sizeof length, "CONTENT_LENGTH=%zu",
                   strlen(s->body));
    return serve(site, vars, s->body);
}

struct unit_name hidden_value(const struct site *site, const char *user,
                              const char *path, const char *action,
                              const char *name)
{
    char user_var[300], path_var[300], mark[64], end[300];
    struct unit_name value = {""};
    struct answer a;
    char *at;

    (void)snprintf(user_var, sizeof user_var, "REMOTE_USER=%s", user);
    (void)snprintf(path_var, sizeof path_var, "PATH_INFO=%s", path);
    (void)snprintf(mark, sizeof mark, "name=\"%s\" value=\"", name);
    (void)snprintf(end, sizeof end, "%s\">", action);
    a = serve(site,
              (const char *const[]){"REQUEST_METHOD=GET", "SCRIPT_NAME=/assay",
                                    "AUTH_TYPE=Basic", user_var, path_var,
                                    NULL},
              "");
    at = strstr(a.body, end);
    at = at == NULL ? NULL : strstr(at, mark);
    if (at != NULL)
        (void)snprintf(value.hex, sizeof value.hex, "%.64s", at + strlen(mark));
    free(a.all);
    return value;
}
