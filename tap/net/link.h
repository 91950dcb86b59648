/*
 * link.h - one frame down to its TCP segment, beginning at its link layer:
 * IEEE 802.3, 802.1Q and 802.1ad tags in any number up to a limit.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef TAP_LINK_H
#define TAP_LINK_H

#include "net/packet.h"

/* Fills the member that the returned kind names. */
enum packet_kind packet_decode(const struct frame *f, struct packet *ret_p);

#endif
