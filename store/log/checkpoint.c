/*
 * checkpoint.c - the text a log signs (C2SP tlog-checkpoint).
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "store/base64.h"
#include "store/note.h"
#include "store/record.h"

/* The next line without its LF. */
static bool take_line(struct cursor *c, struct span *ret_line)
{
    size_t left = cursor_left(c);
    const uint8_t *lf = left == 0 ? NULL : memchr(c->p, '\n', left);

    if (lf == NULL)
        return false;
    *ret_line = cursor_take(c, (size_t)(lf - c->p));
    (void)cursor_u8(c); /* the LF, known to be there */
    return true;
}

enum parse checkpoint_parse(struct span text, struct checkpoint *ret_c)
{
    struct span origin, size, root, extension;
    struct cursor lines = cursor_of(text);
    struct checkpoint c = {0};
    size_t n;

    if (!take_line(&lines, &origin) || !take_line(&lines, &size) ||
        !take_line(&lines, &root))
        return PARSE_BAD;
    if (origin.n == 0 || origin.n >= NOTE_NAME ||
        !note_text_good(origin, false) ||
        record_parse_u64(size, &c.head.size) != PARSE_OK ||
        base64_decode(root, c.head.root, MERKLE_HASH, &n) != PARSE_OK ||
        n != MERKLE_HASH)
        return PARSE_BAD;
    while (cursor_left(&lines) != 0)
        if (!take_line(&lines, &extension) || extension.n == 0)
            return PARSE_BAD;
    memcpy(c.origin, origin.p, origin.n);
    *ret_c = c;
    return PARSE_OK;
}

int checkpoint_print(const struct checkpoint *c, char *ret_text, size_t size)
{
    char root[(MERKLE_HASH + 2) / 3 * 4 + 1];
    int n;

    base64_encode(span_of(c->head.root, MERKLE_HASH), root);
    n = snprintf(ret_text, size, "%s\n%" PRIu64 "\n%s\n", c->origin,
                 c->head.size, root);
    return n > 0 && (size_t)n < size ? 0 : -ENOBUFS;
}
