/*
 * transport.h - what IP carries: a TCP segment (RFC 9293), or the cause why it
 * is none.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef TAP_TRANSPORT_H
#define TAP_TRANSPORT_H

#include "net/packet.h"

/* body: what was captured of the datagram's payload; cut: how many bytes of it
 * were sent beyond that. Fills the segment but for its time. */
enum packet_kind transport_decode(const struct ip_head *ip, struct span body,
                                  uint32_t cut, struct packet *ret_p);

#endif
