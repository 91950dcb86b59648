/*
 * base.h - what the folders of tap stand on: memory that is taken once, at
 * start-up, and two tools of its tables. Nothing here knows what is captured.
 *
 *     pool_memory   the mapping under every fixed pool
 *     buddy         blocks of all sizes in one mapping, and growing buffers
 *     chunk_list    long runs of bytes in such blocks, without moving them
 *     prefetch      memory that will be written soon, asked for
 *     hash          tables that nobody on the wire can choose buckets of
 *     clock         capture times made into a clock that never steps back
 *
 * chunk_list sees buddy, buddy sees pool_memory; the others see nothing.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef TAP_BASE_H
#define TAP_BASE_H

#endif
