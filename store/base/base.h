/*
 * base.h - bytes and files, on which the whole room stands.
 *
 *     span.h    borrowed bytes, and the cursor that alone reads foreign ones
 *     utf8.h    are they text?      base64.h  bytes in text
 *     sha256.h  what they hash to
 *     layout.h  where everything lies under STATE
 *     file.h    files that are there whole or not at all
 *
 * Arrows: base sees config alone; all other folders see base.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef STORE_BASE_H
#define STORE_BASE_H

#endif
