/*
 * command_chain.c - the party's own tool: its chain, in its own file, on its
 * own machine; no record and no store.
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "command/command.h"
#include "config/exit.h"
#include "config/log.h"
#include "config/sandbox.h"
#include "sampler/chain.h"
#include "seed/hex.h"
#include "store/record.h"

static int print(const char *path, int err, const uint8_t value[CHAIN_VALUE])
{
    char hex[HEX_TEXT(CHAIN_VALUE)];

    if (err == -ENODATA) {
        log_warnx("%s: every value has been revealed, enrol a new chain", path);
        return EXIT_IO;
    }
    if (err == -EBADMSG) {
        log_warnx("%s: not a chain file", path);
        return EXIT_BAD;
    }
    if (err != 0) {
        errno = -err;
        log_warn("%s", path);
        return EXIT_IO;
    }
    return puts(hex_print(span_of(value, CHAIN_VALUE), hex)) < 0 ? EXIT_IO
                                                                 : EXIT_GOOD;
}

int command_chain(int argc, char **argv)
{
    uint8_t value[CHAIN_VALUE];
    uint64_t length;
    int err = sandbox_enter("", SANDBOX_READ_FILES | SANDBOX_WRITE_FILES);

    if (err != 0)
        return command_failed("cannot give up rights", err);
    if (argc == 5 && strcmp(argv[1], "new") == 0 &&
        strcmp(argv[2], "--length") == 0 &&
        record_parse_u64(span_str(argv[3]), &length) == PARSE_OK)
        return print(argv[4], chain_new(argv[4], length, value), value);
    if (argc == 3 && strcmp(argv[1], "head") == 0)
        return print(argv[2], chain_head(argv[2], value), value);
    if (argc == 3 && strcmp(argv[1], "next") == 0)
        return print(argv[2], chain_next(argv[2], value), value);
    fputs("usage: assay-sampler chain new --length K FILE\n"
          "       assay-sampler chain head FILE\n"
          "       assay-sampler chain next FILE\n",
          stderr);
    return EXIT_USAGE;
}
