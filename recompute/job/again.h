/*
 * again.h - a job packet of mode again: an answer that was a mismatch, with
 * each alternative of its deployment until one gives it to the bit.
 *
 * The packet has the answer, and so this says nothing that the comparison would
 * not find itself: what reproduces it is held against it there.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef AGAIN_H
#define AGAIN_H

struct deployment;
struct job;
struct outcome;

/* 0: the outcome is that of the first alternative that reproduces the answer,
 * `detail` its words. -ENODATA, reason not_reproduced: none does, `detail` says
 * how many were tried. Else -ENOMEM. o's head is filled. */
int again_run(const struct deployment *d, const struct job *j,
              struct outcome *o, const char **ret_reason);

#endif
