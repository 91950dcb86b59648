/*
 * status.c - assay-status: what the record holds, and whether the appliance
 * is healthy. Comes in: the index, read-only, and the store's socket. Goes
 * out: one line a figure, or JSON; with --check one line and an exit code.
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statvfs.h>

#include "config/clock.h"
#include "config/exit.h"
#include "config/log.h"
#include "config/settings.h"
#include "store/client.h"
#include "store/index.h"
#include "store/query.h"

/* A figure of the index: one whole number, or none yet. */
struct figure {
    const char *name;
    const char *sql;
};

static const struct figure figures[] = {
    {"leaves", "SELECT leaves FROM state"},
    {"signed_leaves", "SELECT max(size) FROM checkpoint"},
    {"exchanges", "SELECT count(*) FROM exchange"},
    {"exchanges_incomplete",
     "SELECT count(*) FROM exchange WHERE complete = 0"},
    {"unparsed_records", "SELECT count(*) FROM unparsed"},
    {"unparsed_bytes", "SELECT coalesce(sum(bytes), 0) FROM unparsed"},
    {"loss_records", "SELECT count(*) FROM loss"},
    {"loss_bytes", "SELECT coalesce(sum(bytes), 0) FROM loss"},
    {"batch_steps", "SELECT count(*) FROM batch_step"},
    {"findings", "SELECT count(*) FROM finding"},
    {"epochs_closed", "SELECT count(*) FROM frame_close"},
    {"epochs_drawn", "SELECT count(DISTINCT epoch) FROM draw"},
    {"epochs_certified", "SELECT count(DISTINCT epoch) FROM certificate"},
    {"drawn", "SELECT count(*) FROM draw_drawn"},
    {"verdicts_match", "SELECT count(*) FROM verdict WHERE verdict = 'MATCH'"},
    {"verdicts_mismatch",
     "SELECT count(*) FROM verdict WHERE verdict = 'MISMATCH'"},
    {"verdicts_unstable",
     "SELECT count(*) FROM verdict WHERE verdict = 'UNSTABLE'"},
    {"verdicts_uncheckable",
     "SELECT count(*) FROM verdict WHERE verdict = 'UNCHECKABLE'"},
};

/* What makes the appliance unhealthy: a number above its limit. */
struct alarm {
    const char *name;
    const char *sql;       /* gives a time in ns, or NULL: nothing to judge */
    const char *limit_key; /* settings: how many seconds it may be old */
};

static const struct alarm alarms[] = {
    /* Silence is an alarm: the tap reports at an interval even of nothing. */
    {"oldest_silence_s",
     "SELECT coalesce(max(to_ns), (SELECT time_ns FROM genesis)) FROM traffic",
     "check.traffic_s"},
    {"oldest_unsigned_leaf_s",
     "SELECT min(time_ns) FROM (SELECT time_ns FROM exchange WHERE seq >= "
     "(SELECT coalesce(max(size), 0) FROM checkpoint) LIMIT 1)",
     "check.unsigned_s"},
    {"oldest_unanswered_job_s",
     "SELECT min(j.time_ns) FROM job j WHERE NOT EXISTS "
     "(SELECT 1 FROM verdict v WHERE v.object = j.object)",
     "check.job_s"},
};

/* The number that sql gives. False if it gives none. */
static bool ask(sqlite3 *db, const char *sql, int64_t *ret_v)
{
    int rc = 0;
    struct query q = query_open(db, sql, &rc);
    uint64_t v;

    rc = query_one(&q, &v);
    if (rc != 0 && rc != -ENOENT)
        fatalx(EXIT_IO, "index: %s", sqlite3_errmsg(db));
    if (rc == 0)
        *ret_v = (int64_t)v;
    return rc == 0;
}

static int print_figures(sqlite3 *db, bool json)
{
    json_t *all = json_object();
    int rc = 0;

    json_object_set_new(all, "schema", json_string("assay.status/1"));
    for (size_t i = 0; i < sizeof figures / sizeof *figures; i++) {
        int64_t v = 0;

        (void)ask(db, figures[i].sql, &v); /* none yet is zero */
        if (json)
            json_object_set_new(all, figures[i].name, json_integer(v));
        else
            printf("%-22s %" PRId64 "\n", figures[i].name, v);
    }
    if (json)
        rc = json_dumpf(all, stdout, JSON_INDENT(1)) | -(putchar('\n') == EOF);
    json_decref(all);
    return rc == 0 ? EXIT_GOOD : EXIT_IO;
}

/* The line so far, and whether anything in it is wrong. */
struct health {
    char line[1024];
    size_t n;
    bool bad;
};

static void note(struct health *h, const char *name, int64_t value, bool is_bad)
{
    int n = snprintf(h->line + h->n, sizeof h->line - h->n, " %s=%" PRId64 "%s",
                     name, value, is_bad ? "!" : "");

    h->n += n > 0 && h->n + (size_t)n < sizeof h->line ? (size_t)n : 0;
    h->bad |= is_bad;
}

static void check_ages(struct health *h, sqlite3 *db,
                       const struct settings *settings)
{
    for (size_t i = 0; i < sizeof alarms / sizeof *alarms; i++) {
        int64_t since_ns, age = 0;

        if (ask(db, alarms[i].sql, &since_ns))
            age = clock_wall_ns() / 1000000000 - since_ns / 1000000000;
        note(h, alarms[i].name, age,
             age > settings_int(settings, alarms[i].limit_key));
    }
}

static void check_store(struct health *h, const struct settings *settings)
{
    const char *state_dir = settings_str(settings, "store.state_dir");
    struct store_client *client = NULL;
    struct statvfs fs;
    int64_t free_mb = 0;
    int rc = store_connect(settings_str(settings, "store.run_dir"), "web", 0,
                           &client);

    /* Not being let in still says that the store is there. */
    note(h, "store_up", rc == 0 || rc == -EACCES || rc == -EPERM,
         rc != 0 && rc != -EACCES && rc != -EPERM);
    store_close(client);
    if (statvfs(state_dir, &fs) == 0)
        free_mb = (int64_t)(fs.f_bavail * fs.f_frsize >> 20);
    note(h, "disk_free_mb", free_mb,
         free_mb < settings_int(settings, "check.disk_free_mb"));
}

static int print_health(sqlite3 *db, const struct settings *settings, bool json)
{
    struct health h = {"", 0, false};

    check_store(&h, settings);
    check_ages(&h, db, settings);
    if (json)
        printf("{\"schema\":\"assay.check/1\",\"healthy\":%s,\"line\":\"%s\"}"
               "\n",
               h.bad ? "false" : "true", h.line + 1);
    else
        printf("%s%s\n", h.bad ? "BAD" : "OK", h.line);
    return h.bad ? EXIT_BAD : EXIT_GOOD;
}

static int usage(int code)
{
    fprintf(code == 0 ? stdout : stderr,
            "usage: assay-status [-c FILE] [-n] [-v] [--json] [--check]\n");
    return code;
}

int main(int argc, char **argv)
{
    static const struct option options[] = {
        {"json", no_argument, NULL, 'j'},
        {"check", no_argument, NULL, 'k'},
        {"help", no_argument, NULL, 'h'},
        {NULL, 0, NULL, 0},
    };
    const char *path = NULL;
    struct settings *settings = NULL;
    sqlite3 *db = NULL;
    bool json = false, check = false, only_settings = false;
    int opt, rc, verbose = 0;

    while ((opt = getopt_long(argc, argv, "c:nvh", options, NULL)) != -1)
        if (opt == 'c')
            path = optarg;
        else if (opt == 'j')
            json = true;
        else if (opt == 'k')
            check = true;
        else if (opt == 'n')
            only_settings = true;
        else if (opt == 'v')
            verbose = 1;
        else
            return usage(opt == 'h' ? EXIT_GOOD : EXIT_USAGE);
    log_init("assay-status", verbose);
    if (optind != argc)
        return usage(EXIT_USAGE);
    if (settings_load(path, stderr, &settings) != 0)
        return EXIT_SETTINGS;
    if (only_settings)
        return EXIT_GOOD;
    rc = index_open_readonly(settings_str(settings, "store.state_dir"), &db);
    if (rc != 0) {
        errno = -rc;
        fatal(rc == -EACCES ? EXIT_NOT_PERMITTED : EXIT_IO,
              "cannot open the index of state_dir=%s",
              settings_str(settings, "store.state_dir"));
    }
    rc = check ? print_health(db, settings, json) : print_figures(db, json);
    sqlite3_close(db);
    settings_close(settings);
    return rc;
}
