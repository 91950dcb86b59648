/*
 * judge.c - exchanges of a server, recomputed and compared: the worker and the
 * comparison without store and files, for test_judge.py.
 *
 * usage: judge DIR. In: one JSON object a line, {"api":TEXT,"streamed":BOOL,
 * "status":N,"forced":BOOL,"request":TEXT,"response":TEXT}. Out: one line each,
 * VERDICT CLASS REASON CHOICE POSITION TOKENS LOGPROBS ENVELOPE, - for none.
 * SPDX-License-Identifier: Apache-2.0
 */
#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "compare/claimed_ids.h"
#include "compare/compare.h"
#include "job/deployment.h"
#include "job/run.h"
#include "recompute/error.h"
#include "store/dialect.h"
#include "store/record.h"

static struct deployment model;
static struct record leaf;

static struct span text_of(const json_t *o, const char *key)
{
    const json_t *v = json_object_get(o, key);

    return span_of(json_string_value(v), json_string_length(v));
}

static void print(const struct comparison *x)
{
    const struct judgement *j = &x->judgement;

    printf("%s %s %s %d %d %" PRIu64 " %" PRIu64 " %s\n",
           verdict_name(j->verdict), verdict_class_name(j->class),
           j->reason == NULL ? "-" : j->reason, (int)j->at.choice,
           (int)j->at.position, x->evidence.tokens, x->evidence.logprobs,
           x->envelope[0] == '\0' ? "-" : x->envelope);
    fflush(stdout);
}

/* The ids of a claim for its forced job, if it has them. */
static bool take_ids(const struct claim *c, uint8_t **ret_ids, size_t *ret_n)
{
    struct api_exchange x = {0};
    char api[64];
    bool has;

    (void)snprintf(api, sizeof api, "%.*s", (int)c->api.n,
                   (const char *)c->api.p); /* from the test's own list */
    has = dialect_parse(api, c->request, c->response, c->streamed, &x) ==
              PARSE_OK &&
          claimed_ids(&x, ret_ids, ret_n) == 0;
    dialect_free(&x);
    return has;
}

static void judge(const json_t *o)
{
    struct run_options options = {&model, 1, "judge", false};
    struct job j = {.epoch = 1, .runs = 1};
    struct claim c = {.epoch = 1, .runs = 1};
    uint8_t *ids = NULL;
    size_t n_ids = 0;
    struct run run;
    struct comparison x;

    j.api = c.api = text_of(o, "api");
    j.request = c.request = text_of(o, "request");
    j.manifest = span_of(leaf.text, leaf.n);
    c.response = text_of(o, "response");
    c.status = (uint32_t)json_integer_value(json_object_get(o, "status"));
    c.streamed = json_is_true(json_object_get(o, "streamed"));
    memcpy(c.manifest, model.manifest.manifest, sizeof c.manifest);
    if (json_is_true(json_object_get(o, "forced")) &&
        take_ids(&c, &ids, &n_ids))
        c.mode = j.mode = JOB_FORCED;
    j.claimed = span_of(ids, n_ids);
    if (run_job(&options, &j, 1, &run) != 0 ||
        compare(&c, &run.result, 1, &x) != 0)
        exit(1);
    print(&x);
    compare_fini(&x);
    run_fini(&run);
    free(ids);
}

int main(int argc, char **argv)
{
    const struct engine_options options = {.threads = 1};
    const struct engine *engine;
    struct error error = {""};
    char *line = NULL;
    size_t room = 0;

    if (argc != 2)
        return 2;
    engine = deployment_engine(argv[1]);
    if (engine == NULL ||
        deployment_open(engine, argv[1], &options, &model, &error) != 0 ||
        !manifest_record(&model.manifest, "stories", "", &leaf)) {
        fprintf(stderr, "judge: %s\n", error.text);
        return 3;
    }
    while (getline(&line, &room, stdin) > 0) {
        json_t *o = json_loads(line, 0, NULL);

        if (o == NULL)
            return 1;
        judge(o);
        json_decref(o);
    }
    free(line);
    deployment_close(&model);
    return 0;
}
