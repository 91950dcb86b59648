/*
 * backends_dpdk.c - the back ends of a build with DPDK.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "source/backend.h"

const struct source_ops *const source_backends[] = {&source_pcap, &source_dpdk,
                                                    NULL};
