/*
 * test_draw.c - tests of draw/frame.c, seed/seed.c and draw/draw.c: one vector
 * from frame to draw, and what must hold of any draw.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sampler/draw.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#include "hex.h"
#include "store/sha256.h"

static const struct {
    uint64_t weight;
    uint32_t stratum;
    const char *ticket;
} vector[6] = {
    {120, 0,
     "ea5be6cc3a3f8ff2e34c02e58a96eb4e50d40f175547bbbfd3bf3ef5dccbda02"},
    {4000, 0,
     "edddf28665f999b021e326a1d6e6291553ff55f27d1ea670917312e5ec100962"},
    {1, 0, "524f52d8a294f2f0a8d9851e1ed102ab0fa4274ad60b5c22fe47b8dbe19ff5fe"},
    {900, 1,
     "c51f0a8bbb5302d5d5daac0371daba1b61f8cc3bb9b7644797c1d59213037e62"},
    {2500, 1,
     "deed46dda4c0a54b8f444eddc5b68c919561ed5213023d91c5a865f309f502e9"},
    {64, 1, "0e34faf4e34d99d8134b5a67c29b36e45e38f2e7b8f1fb5312e1310a8c7c1e68"},
};

/* unit-i as leaf data. */
static void add_unit(struct frame *f, unsigned i, uint32_t stratum,
                     uint64_t weight)
{
    struct frame_unit u = {.weight = weight, .stratum = stratum};
    char name[32];

    snprintf(name, sizeof name, "unit-%u", i);
    merkle_leaf(span_str(name), u.unit);
    assert_int_equal(frame_append(f, &u), 0);
}

static struct frame vector_frame(void)
{
    struct frame f;

    frame_init(&f);
    for (unsigned i = 0; i < 6; i++)
        add_unit(&f, i, vector[i].stratum, vector[i].weight);
    return f;
}

static void the_frame_root_equals_the_vector(void **state)
{
    struct frame f = vector_frame();
    uint8_t root[32], expected[32];

    (void)state;
    hex_bytes(
        "210552533d9329c1f7c58ef2536e638a18bb34a6a92b6ca8e9adcfead5477d7e",
        expected, 32);
    frame_root(&f, root);
    assert_memory_equal(root, expected, 32);
    frame_fini(&f);
}

static void an_entry_is_52_big_endian_bytes(void **state)
{
    struct frame f = vector_frame();
    uint8_t entry[FRAME_ENTRY], head[20] = {0, 0, 0, 0, 0, 0, 0, 4, 0, 0,
                                            0, 1, 0, 0, 0, 0, 0, 0, 9, 196};

    (void)state;
    frame_entry(&f, 4, entry);
    assert_memory_equal(entry, head, sizeof head);
    assert_memory_equal(entry + 20, f.units[4].unit, 32);
    frame_fini(&f);
}

static void vector_seed(char text[SEED_TEXT], uint8_t seed[SEED_BYTES])
{
    struct frame f = vector_frame();
    struct seed_input in = {.origin = "certifier.example/unit-0001",
                            .epoch = 42,
                            .units = f.n,
                            .n_sources = 2};

    frame_root(&f, in.frame_root);
    sha256(span_str("example policy\n"), in.policy);
    snprintf(in.source[0].name, sizeof in.source[0].name, "beacon drand %s %u",
             "52db9ba70e0cc0f6eaf7803dd07447a1"
             "f5477735fd3f661792ba94600c84e971",
             1000);
    hex_bytes(
        "fe290beca10872ef2fb164d2aa4442de4566183ec51c56ff3cd603d930e54fdd",
        in.source[0].value, 32);
    strcpy(in.source[1].name, "reveal verifier");
    in.source[1].value[31] = 1;
    hex_bytes(
        "a3ad7b0ef73d8fc6655053ea22f9bede8c743f08bbed3d38821f0e16474b505e",
        in.vrf_beta, 32);
    assert_true(seed_make(&in, text, seed) == strlen(text));
    frame_fini(&f);
}

static void the_seed_equals_the_vector(void **state)
{
    char text[SEED_TEXT];
    uint8_t seed[32], expected[32];

    (void)state;
    hex_bytes(
        "de6b0f86f20b19a7652158fb44376f977de5648129f0954a0587daf6eb2afa2b",
        expected, 32);
    vector_seed(text, seed);
    assert_memory_equal(seed, expected, 32);
    assert_non_null(strstr(
        text, "\npolicy qkYujvl41J/qm/I7T/zvWZnFyo2drD5QepN8EIxSkdk=\n"));
}

static void the_vrf_input_names_origin_epoch_and_previous_seed(void **state)
{
    char alpha[SEED_ALPHA];
    uint8_t zeros[32] = {0};

    (void)state;
    assert_int_equal(seed_alpha("o", 1, zeros, alpha), 13 + 2 + 2 + 65);
    assert_string_equal(alpha, "assay-vrf/v1\no\n1\n"
                               "00000000000000000000000000000000"
                               "00000000000000000000000000000000\n");
}

static void tickets_equal_the_vector(void **state)
{
    struct frame f = vector_frame();
    char text[SEED_TEXT];
    uint8_t seed[32], ticket[32], expected[32];

    (void)state;
    vector_seed(text, seed);
    for (size_t i = 0; i < 6; i++) {
        hex_bytes(vector[i].ticket, expected, 32);
        assert_int_equal(draw_ticket(seed, f.units[i].unit, ticket), 0);
        assert_memory_equal(ticket, expected, 32);
    }
    frame_fini(&f);
}

static void draws_equal_the_vector_at_every_size(void **state)
{
    static const uint64_t order[2][3] = {{2, 0, 1}, {5, 3, 4}};
    struct frame f = vector_frame();
    char text[SEED_TEXT];
    uint8_t seed[32];

    (void)state;
    vector_seed(text, seed);
    for (uint64_t n = 0; n <= 4; n++) {
        uint64_t wanted[2] = {n, n}, drawn = n < 3 ? n : 3, seen = 0;
        struct draw d;

        assert_int_equal(draw_frame(&f, seed, wanted, 2, &d), 0);
        assert_int_equal(d.n, 2 * drawn);
        for (size_t i = 0; i < d.n; i++)
            seen |= UINT64_C(1) << d.units[i].index;
        for (size_t i = 0; i < drawn; i++)
            assert_true((seen >> order[0][i] & 1) && (seen >> order[1][i] & 1));
        draw_fini(&d);
    }
    frame_fini(&f);
}

static int by_ticket(const void *a, const void *b)
{
    return memcmp(((const struct drawn *)a)->ticket,
                  ((const struct drawn *)b)->ticket, DRAW_TICKET);
}

/* The heap against sorting everything. */
static void a_draw_is_the_smallest_tickets(void **state)
{
    enum { N = 2000, WANTED = 137 };
    uint8_t seed[32] = {3}, in[N] = {0};
    struct drawn *all = calloc(N, sizeof *all);
    uint64_t wanted = WANTED;
    struct frame f;
    struct draw d;

    (void)state;
    assert_non_null(all);
    frame_init(&f);
    for (unsigned i = 0; i < N; i++) {
        add_unit(&f, i, 0, 1);
        all[i].index = i;
        assert_int_equal(draw_ticket(seed, f.units[i].unit, all[i].ticket), 0);
    }
    qsort(all, N, sizeof *all, by_ticket);
    assert_int_equal(draw_frame(&f, seed, &wanted, 1, &d), 0);
    assert_int_equal(d.n, WANTED);
    for (size_t i = 0; i < d.n; i++) {
        assert_true(i == 0 || d.units[i - 1].index < d.units[i].index);
        in[d.units[i].index] = 1;
    }
    for (size_t i = 0; i < N; i++)
        assert_int_equal(in[all[i].index], i < WANTED);
    draw_fini(&d);
    frame_fini(&f);
    free(all);
}

static void every_unit_is_drawn_about_equally_often(void **state)
{
    enum { N = 50, WANTED = 10, ROUNDS = 4000 };
    unsigned times[N] = {0};
    uint64_t wanted = WANTED;
    struct frame f;

    (void)state;
    frame_init(&f);
    for (unsigned i = 0; i < N; i++)
        add_unit(&f, i, 0, 1);
    for (unsigned r = 0; r < ROUNDS; r++) {
        uint8_t seed[32] = {(uint8_t)r, (uint8_t)(r >> 8)};
        struct draw d;

        assert_int_equal(draw_frame(&f, seed, &wanted, 1, &d), 0);
        for (size_t i = 0; i < d.n; i++)
            times[d.units[i].index]++;
        draw_fini(&d);
    }
    /* Mean 800, deviation 25.3; 6 deviations for each of 50 units. */
    for (unsigned i = 0; i < N; i++)
        assert_true(times[i] > 648 && times[i] < 952);
    frame_fini(&f);
}

static void a_unit_outside_the_strata_is_refused(void **state)
{
    struct frame f = vector_frame();
    uint8_t seed[32] = {0};
    uint64_t wanted = 3;
    struct draw d;

    (void)state;
    assert_int_equal(draw_frame(&f, seed, &wanted, 1, &d), -EINVAL);
    frame_fini(&f);
}

static void an_empty_frame_draws_nothing(void **state)
{
    uint8_t seed[32] = {0}, root[32], expected[32];
    uint64_t wanted = 3;
    struct frame f;
    struct draw d;

    (void)state;
    frame_init(&f);
    frame_root(&f, root);
    sha256(span_of(NULL, 0), expected);
    assert_memory_equal(root, expected, 32);
    assert_int_equal(draw_frame(&f, seed, &wanted, 1, &d), 0);
    assert_int_equal(d.n, 0);
    draw_fini(&d);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_frame_root_equals_the_vector),
        cmocka_unit_test(an_entry_is_52_big_endian_bytes),
        cmocka_unit_test(the_seed_equals_the_vector),
        cmocka_unit_test(the_vrf_input_names_origin_epoch_and_previous_seed),
        cmocka_unit_test(tickets_equal_the_vector),
        cmocka_unit_test(draws_equal_the_vector_at_every_size),
        cmocka_unit_test(a_draw_is_the_smallest_tickets),
        cmocka_unit_test(every_unit_is_drawn_about_equally_often),
        cmocka_unit_test(a_unit_outside_the_strata_is_refused),
        cmocka_unit_test(an_empty_frame_draws_nothing),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
