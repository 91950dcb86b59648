/*
 * ip.h - IP datagrams (RFC 791; RFC 8200 with RFC 2675): from their header to
 * the segment or fragment that they carry.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef TAP_IP_H
#define TAP_IP_H

#include "net/packet_reader.h"

enum packet_kind ip_decode_v4(struct packet_reader *d);
enum packet_kind ip_decode_v6(struct packet_reader *d);
/* A datagram that came in fragments; body: what follows IP. */
enum packet_kind packet_datagram(const struct ip_head *ip, struct span body,
                                 int64_t time_ns, struct packet *ret_p);

#endif
