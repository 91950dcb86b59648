/*
 * index.c - opening the index for reading.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "store/index.h"

#include <errno.h>
#include <unistd.h>

#include "store/layout.h"

enum { BUSY_MS = 2000 };

int index_open_readonly(const char *state_dir, sqlite3 **ret_db)
{
    struct path path = layout_path(state_dir, LAYOUT_INDEX);
    sqlite3 *db = NULL;

    if (access(path.text, R_OK) != 0)
        return -errno;
    if (sqlite3_open_v2(path.text, &db,
                        SQLITE_OPEN_READONLY | SQLITE_OPEN_NOMUTEX,
                        NULL) != SQLITE_OK ||
        sqlite3_busy_timeout(db, BUSY_MS) != SQLITE_OK ||
        sqlite3_exec(db, "SELECT 1 FROM state", NULL, NULL, NULL) !=
            SQLITE_OK) {
        int rc = sqlite3_errcode(db) == SQLITE_NOMEM ? -ENOMEM : -EIO;

        sqlite3_close(db);
        return rc;
    }
    *ret_db = db;
    return 0;
}
