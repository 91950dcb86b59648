/*
 * open_ids.h - answers of which the wire tells a text and no token ids.
 *
 * Their tokens are as many as the server counted; each is the one that would be
 * chosen from the step's row, if the answer's text goes on with it (row.h). So
 * ids are found with the batches.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef LLAMA_OPEN_IDS_H
#define LLAMA_OPEN_IDS_H

struct api_answer;
struct arena;
struct claim_llama;

/* If c is such an answer of a, the only one, and how it was chosen is known:
 * from here on it is a claim with open ids, whose choice lies in the arena.
 * Else nothing happens; nor without memory, which the arena says. */
void claim_open_ids(struct claim_llama *c, const struct api_answer *a,
                    struct arena *arena);

#endif
