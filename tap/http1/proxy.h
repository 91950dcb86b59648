/*
 * proxy.h - the header of the PROXY protocol, which a load balancer may send
 * before the first request of a connection (HAProxy, "The PROXY protocol",
 * versions 1 and 2). It names the client behind the balancer, is no HTTP, and
 * often stands in one segment with the request.
 *
 *     1:  "PROXY TCP4 192.168.1.1 10.0.0.2 56324 8080\r\n", at most 107 bytes
 *     2:  12  0d 0a 0d 0a 00 0d 0a 51 55 49 54 0a
 *         1   20 (local) or 21
 *         1   address family
 *         2   length of what follows: addresses and more
 *
 * Comes in: the first bytes of a direction. Goes out: whether they are such a
 * header, and where it ends. It is not kept: that the balancer speaks for
 * somebody is not proven by it.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef TAP_PROXY_H
#define TAP_PROXY_H

#include "store/span.h"

enum { PROXY_HELD = 16 };

/* Zeroed before the first byte. */
struct proxy {
    uint8_t held[PROXY_HELD]; /* taken while it was open what they are */
    uint8_t held_n;
    bool sure;       /* it is a header */
    uint32_t length; /* of it; 0: up to the end of its line */
    uint32_t taken;
};

enum proxy_step {
    PROXY_MORE, /* every byte was taken */
    PROXY_END,  /* *ret_n bytes were taken, and with them the header ends */
    PROXY_NONE  /* no header: held is what had been taken before, *ret_n 0 */
};

enum proxy_step proxy_next(struct proxy *p, struct span in, size_t *ret_n);

#endif
