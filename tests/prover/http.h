/*
 * http.h - the HTTP side of the test engine, over libmicrohttpd in the
 * caller's thread.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef HTTP_H
#define HTTP_H

#include <stdint.h>

struct MHD_Daemon;
struct prover;

/* Listens on address ("127.0.0.1"); port 0: any. NULL: could not. */
struct MHD_Daemon *http_open(struct prover *p, const char *address,
                             uint16_t port);
void http_close(struct MHD_Daemon *d);
uint16_t http_port(struct MHD_Daemon *d);
/* Does what there is to do, after waiting for it at most this long. */
void http_run(struct MHD_Daemon *d, int wait_ms);

#endif
