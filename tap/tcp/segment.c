/*
 * segment.c - the ends of a connection as text.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "tcp/segment.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <string.h>

uint16_t flow_key_port(const struct flow_key *k, int i)
{
    return (uint16_t)(k->word[4] >> (i == 0 ? 48 : 32));
}

void flow_key_text(const struct flow_key *k, int i, char text[STREAM_ADDR_TEXT])
{
    bool v6 = (k->word[4] & 0xff) == 6;
    char addr[INET6_ADDRSTRLEN];
    uint8_t bytes[16];

    memcpy(bytes, &k->word[i == 0 ? 0 : 2], sizeof(bytes));
    if (inet_ntop(v6 ? AF_INET6 : AF_INET, bytes, addr, sizeof(addr)) == NULL)
        addr[0] = '\0';
    (void)snprintf(text, STREAM_ADDR_TEXT, v6 ? "[%s]:%u" : "%s:%u", addr,
                   flow_key_port(k, i)); /* fits: 2 + 45 + 1 + 5 + 1 */
}
