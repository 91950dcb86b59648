/*
 * test_chain.c - tests of seed/chain.c and chain_file.c.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sampler/chain.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "hex.h"

static char dir[] = "/tmp/assay-chain-XXXXXX";
static char path[64];

static int make_dir(void **state)
{
    (void)state;
    if (mkdtemp(dir) == NULL)
        return -1;
    snprintf(path, sizeof path, "%s/chain", dir);
    return 0;
}

static int remove_dir(void **state)
{
    (void)state;
    return rmdir(dir);
}

static void a_step_equals_the_published_vector(void **state)
{
    uint8_t s[CHAIN_VALUE] = {0}, expected[CHAIN_VALUE];

    (void)state;
    s[31] = 1;
    hex_bytes(
        "d04879af81ffa33201b091e9106cf787857cdff9b26d94647e34464597d116a0",
        expected, sizeof expected);
    chain_step(s, s);
    assert_memory_equal(s, expected, sizeof s);
}

static void only_the_right_number_of_steps_leads_to_the_head(void **state)
{
    uint8_t s[CHAIN_VALUE] = {7}, head[CHAIN_VALUE];

    (void)state;
    chain_step(s, head);
    chain_step(head, head);
    assert_true(chain_leads(s, 2, head));
    assert_false(chain_leads(s, 1, head));
    assert_false(chain_leads(s, 3, head));
    assert_true(chain_leads(head, 0, head));
    assert_false(chain_leads(s, UINT64_MAX, head));
}

static void reveals_walk_from_the_head_to_the_start(void **state)
{
    uint8_t head[CHAIN_VALUE], again[CHAIN_VALUE], value[CHAIN_VALUE];

    (void)state;
    assert_int_equal(chain_new(path, 5, head), 0);
    assert_int_equal(chain_head(path, again), 0);
    assert_memory_equal(head, again, sizeof head);
    for (uint64_t epoch = 1; epoch <= 5; epoch++) {
        assert_int_equal(chain_next(path, value), 0);
        assert_true(chain_leads(value, epoch, head));
        assert_false(chain_leads(value, epoch - 1, head));
    }
    assert_int_equal(chain_next(path, value), -ENODATA);
    assert_int_equal(unlink(path), 0);
}

static void the_file_is_for_its_owner_alone(void **state)
{
    uint8_t head[CHAIN_VALUE];
    struct stat st;

    (void)state;
    assert_int_equal(chain_new(path, 3, head), 0);
    assert_int_equal(stat(path, &st), 0);
    assert_int_equal(st.st_mode & 0777, 0600);
    assert_int_equal(chain_next(path, head), 0);
    assert_int_equal(stat(path, &st), 0);
    assert_int_equal(st.st_mode & 0777, 0600);
    assert_int_equal(unlink(path), 0);
}

static void an_existing_chain_is_never_overwritten(void **state)
{
    uint8_t head[CHAIN_VALUE], again[CHAIN_VALUE];

    (void)state;
    assert_int_equal(chain_new(path, 3, head), 0);
    assert_int_equal(chain_new(path, 3, again), -EEXIST);
    assert_int_equal(chain_head(path, again), 0);
    assert_memory_equal(head, again, sizeof head);
    assert_int_equal(unlink(path), 0);
}

static void impossible_lengths_are_refused(void **state)
{
    uint8_t head[CHAIN_VALUE];

    (void)state;
    assert_int_equal(chain_new(path, 0, head), -EINVAL);
    assert_int_equal(chain_new(path, CHAIN_LENGTH_MAX + 1, head), -EINVAL);
    assert_int_equal(access(path, F_OK), -1);
}

static int read_as(const char *text)
{
    uint8_t head[CHAIN_VALUE];
    FILE *f = fopen(path, "w");
    int err;

    assert_non_null(f);
    assert_true(fputs(text, f) >= 0);
    assert_int_equal(fclose(f), 0);
    err = chain_head(path, head);
    assert_int_equal(unlink(path), 0);
    return err;
}

#define START \
    "start 0000000000000000000000000000000000000000000000000000000000000001\n"

static void other_files_are_refused(void **state)
{
    (void)state;
    assert_int_equal(read_as("assay-chain/v1\nlength 2\nrevealed 1\n" START),
                     0);
    assert_int_equal(read_as(""), -EBADMSG);
    assert_int_equal(read_as("assay-chain/v2\nlength 2\nrevealed 1\n" START),
                     -EBADMSG);
    assert_int_equal(read_as("assay-chain/v1\nlength 2\nrevealed 3\n" START),
                     -EBADMSG);
    assert_int_equal(
        read_as("assay-chain/v1\nlength 2\nrevealed 1\n" START "x 1\n"),
        -EBADMSG);
    assert_int_equal(read_as("assay-chain/v1\nrevealed 1\nlength 2\n" START),
                     -EBADMSG);
    assert_int_equal(
        read_as("assay-chain/v1\nlength 2\nrevealed 1\nstart 01\n"), -EBADMSG);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_step_equals_the_published_vector),
        cmocka_unit_test(only_the_right_number_of_steps_leads_to_the_head),
        cmocka_unit_test(reveals_walk_from_the_head_to_the_start),
        cmocka_unit_test(the_file_is_for_its_owner_alone),
        cmocka_unit_test(an_existing_chain_is_never_overwritten),
        cmocka_unit_test(impossible_lengths_are_refused),
        cmocka_unit_test(other_files_are_refused),
    };

    return cmocka_run_group_tests(tests, make_dir, remove_dir);
}
