/*
 * capture.h - a folder of recorded exchanges with an engine: engine.json,
 * NAME.req (METHOD TARGET BODY) and NAME.resp (body), plan.txt if there.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef CAPTURE_H
#define CAPTURE_H

#include "engine/llama/deployment/declaration.h"
#include "engine/llama/schedule/schedule.h"
#include "store/dialect.h"

struct recorded {
    char name[64];
    uint8_t *request, *response; /* bytes as read; parsed forms borrow them */
    struct span body, answer;    /* in them: what an exchange carried */
    bool streamed;
    struct api_exchange exchange;
};

struct capture {
    struct declaration declaration;
    struct recorded *recorded; /* exchanges of an API, by name */
    size_t n;
    size_t skipped; /* exchanges that ask for no generation */
    bool has_plan;  /* and it is one */
    struct plan plan;
};

/* 0, or a negative errno after a line on stderr. */
int capture_open(const char *dir, struct capture *ret_c);
void capture_close(struct capture *c);

#endif
