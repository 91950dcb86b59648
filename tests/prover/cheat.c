/*
 * cheat.c - dishonesty on request.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "cheat.h"

#include <stdlib.h>
#include <string.h>

#include "config/exit.h"
#include "config/log.h"
#include "recompute/model.h"
#include "recompute/model_config.h"

static const struct {
    const char *name;
    enum cheat_kind kind;
} names[] = {
    {"other-weights", CHEAT_OTHER_WEIGHTS},
    {"altered-token", CHEAT_ALTERED_TOKEN},
    {"temperature", CHEAT_TEMPERATURE},
    {"hidden-member", CHEAT_HIDDEN_MEMBER},
    {"unreported", CHEAT_UNREPORTED},
    {"cached-answer", CHEAT_CACHED_ANSWER},
};

bool cheat_find(const char *name, enum cheat_kind *ret_kind)
{
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        if (strcmp(names[i].name, name) == 0) {
            *ret_kind = names[i].kind;
            return true;
        }
    return false;
}

static const char *name_of(enum cheat_kind kind)
{
    size_t i = 0;

    while (names[i].kind != kind)
        i++;
    return names[i].name;
}

void cheat_decide(struct cheats *s, struct call *c)
{
    bool due;

    s->seen++;
    due = (s->every != 0 && s->seen % s->every == 0) || s->seen == s->request;
    if (s->kind == CHEAT_NONE || !due)
        return;
    /* The log names what was done, not what was meant. */
    if (s->kind == CHEAT_CACHED_ANSWER && !s->has_kept)
        return;
    c->cheat = s->kind;
    if (s->log != NULL &&
        (fprintf(s->log, "%s %s\n", name_of(s->kind), c->id) < 0 ||
         fflush(s->log) != 0))
        fatal(EXIT_IO, "cheat log");
}

void cheat_parameters(const struct call *c, struct generate *p)
{
    if (c->cheat == CHEAT_TEMPERATURE)
        p->sampling.temperature = p->sampling.temperature + 0.5f;
}

/* The third token, or the last one of a shorter answer, becomes the id beside
 * it; what follows is conditioned on it, and its logprob stays. */
void cheat_token(struct answer *a)
{
    const struct model_config *config = a->call->prover->requests.config;
    struct generation *g = &a->g;
    size_t i = g->n_tokens - 1;
    uint32_t id = g->tokens[i].id;
    bool last = g->end != GENERATE_RUNNING && i < 2;

    if (a->call->cheat != CHEAT_ALTERED_TOKEN || (i != 2 && !last))
        return;
    do
        id = (id + 1) % config->vocab;
    while (model_is_eos(config, id));
    /* A generation is not to be changed by others: that is the cheat. */
    g->tokens[i].id = id;
    g->ids[g->n_ids - 1] = id;
}

static void *copy(const void *p, size_t n)
{
    void *q = malloc(n + 1);

    if (q == NULL)
        fatalx(EXIT_IO, "no memory");
    memcpy(q, p, n);
    return q;
}

void cheat_keep(struct cheats *s, const struct answer *a)
{
    const struct generation *g = &a->g;

    if (s->kind != CHEAT_CACHED_ANSWER || a->kept != NULL || a->index != 0)
        return;
    if (s->has_kept) /* someone may still be told it: the first one stays */
        return;
    s->kept = (struct kept){
        .tokens = copy(g->tokens, g->n_tokens * sizeof *g->tokens),
        .top = copy(g->top, g->n_tokens * g->n_top * sizeof *g->top),
        .n = g->n_tokens,
        .n_top = g->n_top,
        .finish = a->finish,
    };
    s->has_kept = true;
}

void cheat_hidden(struct cheats *s, const struct call *c)
{
    struct span text;

    for (size_t i = 0; s->hidden != NULL && i < c->n_answers; i++) {
        text = transcript_text(&c->answers[i].text);
        if (fprintf(s->hidden, "%s %.*s\n", c->id, (int)text.n,
                    (const char *)text.p) < 0 ||
            fflush(s->hidden) != 0)
            fatal(EXIT_IO, "hidden file");
    }
}

void cheats_fini(struct cheats *s)
{
    free(s->kept.tokens);
    free(s->kept.top);
    if (s->log != NULL)
        (void)fclose(s->log); /* flushed after each line */
    if (s->hidden != NULL)
        (void)fclose(s->hidden); /* the same */
}
