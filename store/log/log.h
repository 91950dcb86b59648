/*
 * log.h - the log: what a fact's text must be, the file that keeps them in
 * order, and the tree over them that is signed.
 *
 *     kind      the table of kinds: keys, columns, who may add it
 *     record    the lines of a leaf, written and read; grammar: may it stand?
 *
 *     text --> leaf --> STATE/log (logfile writes, leaflog reads)
 *                 \                  |
 *                  merkle: leaf hash, range, root       logscan: after a
 *                              |                        crash, up to where
 *              checkpoint: size and root as text        is it good?
 *                              |
 *              note: signed text (note_key: whose signatures count)
 *                              |
 *              signing: STATE/checkpoints, never two roots for one size
 *
 * A leaf is added once, never changed, and hashed as stored. Arrows: log sees
 * base; index, ledger, job and daemon see log.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef STORE_LOG_H
#define STORE_LOG_H

#endif
