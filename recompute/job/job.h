/*
 * job.h - the commands of assay-recompute: job packets in, results out.
 *
 *     register   directory -> deployment -> record `manifest`
 *     worker     jobs of the state directory -> run -> record `result`
 *     replay     one job of a file, anywhere -> run -> printed
 *
 *     run: job -> the deployment that its manifest names -> its engine's run
 *           \-> again: a mismatch, by each alternative of the deployment until
 *               the comparison finds one equal
 *
 * Deployments (deployment.h) are the model directories of the settings, each
 * opened by the engine that owns it (recompute/engine.h). A job's way goes to
 * the engine and its numerics and comes back as a result; only for a second
 * try it then goes to the comparison. What cannot be run is a result, too, with
 * a reason.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef RECOMPUTE_JOB_H
#define RECOMPUTE_JOB_H

#include <stdbool.h>

struct settings;

/* Runs the packets in the state directory; once: those that are there, then
 * ends. Returns an exit code. */
int worker_run(const struct settings *s, bool once);
/* operands: NAME DIR [ENGINE]; s is needed. Prints the manifest's digest. */
int worker_register(const struct settings *s, int argc, char **argv);
/* FILE [--against DIR] [--repeat N] [--trace]. s may be NULL with --against. */
int worker_replay(const struct settings *s, int argc, char **argv);

#endif
