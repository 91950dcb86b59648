/*
 * test_vrf.c - tests of seed/vrf.c: RFC 9381 Appendix B.1, Examples 10 to
 * 12, an input of our own form, and everything a proof must be refused for.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sampler/vrf.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

#include "hex.h"
#include "store/sha256.h"

#define KEY_A "c9afa9d845ba75166b5c215767b1d6934e50c3db36e89b127b8a622b120f6721"
#define PUBLIC_A \
    "0360fed4ba255a9d31c961eb74c6356d68c049b8923b61fa6ce669622e60f29fb6"

static const struct vector {
    const char *secret, *public_key, *alpha, *pi, *beta;
} vectors[] = {
    {KEY_A, PUBLIC_A, "sample",
     "035b5c726e8c0e2c488a107c600578ee75cb702343c153cb1eb8dec77f4b5071b4a53f0a"
     "46f018bc2c56e58d383f2305e0975972c26feea0eb122fe7893c15af376b33edf7de17c6"
     "ea056d4d82de6bc02f",
     "a3ad7b0ef73d8fc6655053ea22f9bede8c743f08bbed3d38821f0e16474b505e"},
    {KEY_A, PUBLIC_A, "test",
     "034dac60aba508ba0c01aa9be80377ebd7562c4a52d74722e0abae7dc3080ddb56c19e06"
     "7b15a8a8174905b13617804534214f935b94c2287f797e393eb0816969d864f37625b443"
     "f30f1a5a33f2b3c854",
     "a284f94ceec2ff4b3794629da7cbafa49121972671b466cab4ce170aa365f26d"},
    {"2ca1411a41b17b24cc8c3b089cfd033f1920202a6c0de8abb97df1498d50d2c8",
     "03596375e6ce57e0f20294fc46bdfcfd19a39f8161b58695b3ec5b3d16427c274d",
     "Example using ECDSA key from Appendix L.4.2 of ANSI.X9-62-2005",
     "03d03398bf53aa23831d7d1b2937e005fb0062cbefa06796579f2a1fc7e7b8c667d091c0"
     "0b0f5c3619d10ecea44363b5a599cadc5b2957e223fec62e81f7b4825fc799a771a3d733"
     "4b9186bdbee87316b1",
     "90871e06da5caa39a3c61578ebb844de8635e27ac0b13e829997d0d95dd98c19"},
    {KEY_A, PUBLIC_A,
     "assay-vrf/v1\ncertifier.example/unit-0001\n43\n"
     "de6b0f86f20b19a7652158fb44376f977de5648129f0954a0587daf6eb2afa2b\n",
     "02ff5c8a516fe31fa75ee346a4b317941ef62011b32c568545280ca9607174db7608a224"
     "a3a023ad9096872c82980b976012028f7a2e538679cb439b062ab5c098aefc8465e28ba2"
     "9789ba77968885a66b",
     "3650d41f594e05aed9495928e95506e71a562f59cbee3ec549b730710c49e33f"},
};

enum { VECTORS = sizeof vectors / sizeof vectors[0] };

struct octets {
    uint8_t secret[VRF_SECRET], public_key[VRF_PUBLIC], pi[VRF_PROOF],
        beta[VRF_OUTPUT];
    struct span alpha;
};

static struct octets octets_of(const struct vector *v)
{
    struct octets o;

    hex_bytes(v->secret, o.secret, sizeof o.secret);
    hex_bytes(v->public_key, o.public_key, sizeof o.public_key);
    hex_bytes(v->pi, o.pi, sizeof o.pi);
    hex_bytes(v->beta, o.beta, sizeof o.beta);
    o.alpha = span_str(v->alpha);
    return o;
}

static bool verifies(const struct octets *o)
{
    uint8_t beta[VRF_OUTPUT];

    return vrf_verify(span_of(o->public_key, VRF_PUBLIC), o->alpha,
                      span_of(o->pi, VRF_PROOF), beta);
}

static void proofs_equal_rfc_9381_appendix_b1(void **state)
{
    (void)state;
    for (size_t i = 0; i < VECTORS; i++) {
        struct octets o = octets_of(&vectors[i]);
        uint8_t public_key[VRF_PUBLIC], pi[VRF_PROOF], beta[VRF_OUTPUT];

        assert_int_equal(vrf_public(o.secret, public_key), 0);
        assert_memory_equal(public_key, o.public_key, VRF_PUBLIC);
        assert_int_equal(vrf_prove(o.secret, o.alpha, pi), 0);
        assert_memory_equal(pi, o.pi, VRF_PROOF);
        assert_true(vrf_output(span_of(pi, VRF_PROOF), beta));
        assert_memory_equal(beta, o.beta, VRF_OUTPUT);
    }
}

static void published_proofs_verify_to_their_output(void **state)
{
    (void)state;
    for (size_t i = 0; i < VECTORS; i++) {
        struct octets o = octets_of(&vectors[i]);
        uint8_t beta[VRF_OUTPUT];

        assert_true(vrf_verify(span_of(o.public_key, VRF_PUBLIC), o.alpha,
                               span_of(o.pi, VRF_PROOF), beta));
        assert_memory_equal(beta, o.beta, VRF_OUTPUT);
    }
}

static void refuses_every_flipped_bit_of_the_proof(void **state)
{
    struct octets o = octets_of(&vectors[0]);

    (void)state;
    for (size_t bit = 0; bit < 8 * (size_t)VRF_PROOF; bit++) {
        o.pi[bit / 8] ^= (uint8_t)(1 << bit % 8);
        assert_false(verifies(&o));
        o.pi[bit / 8] ^= (uint8_t)(1 << bit % 8);
    }
    assert_true(verifies(&o));
}

static void refuses_every_flipped_bit_of_alpha(void **state)
{
    struct octets o = octets_of(&vectors[0]);
    uint8_t alpha[6];

    (void)state;
    memcpy(alpha, "sample", 6);
    o.alpha = span_of(alpha, 6);
    assert_true(verifies(&o));
    for (size_t bit = 0; bit < 48; bit++) {
        alpha[bit / 8] ^= (uint8_t)(1 << bit % 8);
        assert_false(verifies(&o));
        alpha[bit / 8] ^= (uint8_t)(1 << bit % 8);
    }
}

static void refuses_another_key(void **state)
{
    struct octets o = octets_of(&vectors[0]);
    struct octets other = octets_of(&vectors[2]);

    (void)state;
    memcpy(o.public_key, other.public_key, VRF_PUBLIC);
    assert_false(verifies(&o));
}

/* The order of P-256. */
#define ORDER "ffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551"

static void refuses_s_not_below_the_order(void **state)
{
    struct octets o = octets_of(&vectors[0]);
    uint8_t order[32];

    (void)state;
    hex_bytes(ORDER, order, sizeof order);
    memcpy(o.pi + 49, order, 32);
    assert_false(verifies(&o));
    memset(o.pi + 49, 0xff, 32);
    assert_false(verifies(&o));
}

/* A proof under the key 1 with the nonce 1, so that Gamma and V are H, U is Y,
 * and s = 1 + c is far below the order: s + order, which gives the same points,
 * still has 32 octets. */
static void prove_small(struct octets *o)
{
    static const uint8_t head[2] = {1, 2}, tail[1] = {0};
    struct span h = span_of(o->pi, VRF_PUBLIC);
    struct span y = span_of(o->public_key, VRF_PUBLIC);
    struct span parts[] = {span_of(head, 2), y, h, h, y, h, span_of(tail, 1)};
    uint8_t hash[32];

    o->alpha = span_str("sample");
    memset(o->secret, 0, sizeof o->secret);
    o->secret[VRF_SECRET - 1] = 1;
    assert_int_equal(vrf_public(o->secret, o->public_key), 0);
    assert_int_equal(vrf_prove(o->secret, o->alpha, o->pi), 0); /* Gamma */
    sha256_parts(parts, sizeof parts / sizeof *parts, hash);
    memset(o->pi + VRF_PUBLIC, 0, VRF_PROOF - VRF_PUBLIC);
    memcpy(o->pi + VRF_PUBLIC, hash, VRF_C);
    memcpy(o->pi + VRF_PROOF - VRF_C, hash, VRF_C);
    for (size_t i = VRF_PROOF; ++o->pi[--i] == 0;)
        ;
}

static void refuses_another_s_for_the_same_points(void **state)
{
    struct octets o = octets_of(&vectors[0]);
    uint8_t order[32];
    unsigned carry = 0;

    (void)state;
    prove_small(&o);
    assert_true(verifies(&o));
    hex_bytes(ORDER, order, sizeof order);
    for (size_t i = 32; i-- > 0; carry >>= 8) {
        carry += order[i] + o.pi[VRF_PROOF - 32 + i];
        o.pi[VRF_PROOF - 32 + i] = (uint8_t)carry;
    }
    assert_int_equal(carry, 0);
    assert_false(verifies(&o));
}

static void refuses_gamma_off_the_curve(void **state)
{
    struct octets o = octets_of(&vectors[0]);

    (void)state;
    /* About half of these have no point; the others are another Gamma. */
    for (unsigned x = 0; x < 16; x++) {
        memset(o.pi + 1, 0, 32);
        o.pi[32] = (uint8_t)x;
        assert_false(verifies(&o));
    }
    memset(o.pi + 1, 0xff, 32); /* not a field element */
    assert_false(verifies(&o));
}

static void refuses_wrong_lengths(void **state)
{
    struct octets o = octets_of(&vectors[0]);
    uint8_t longer[VRF_PROOF + 1] = {0}, beta[VRF_OUTPUT];
    struct span key = span_of(o.public_key, VRF_PUBLIC);

    (void)state;
    memcpy(longer, o.pi, VRF_PROOF);
    assert_false(
        vrf_verify(key, o.alpha, span_of(longer, VRF_PROOF + 1), beta));
    assert_false(vrf_verify(key, o.alpha, span_of(o.pi, VRF_PROOF - 1), beta));
    assert_false(vrf_verify(key, o.alpha, span_of(NULL, 0), beta));
    assert_false(vrf_verify(span_of(o.public_key, VRF_PUBLIC - 1), o.alpha,
                            span_of(o.pi, VRF_PROOF), beta));
    assert_false(vrf_output(span_of(o.pi, VRF_PROOF - 1), beta));
}

static void refuses_infinity_as_key(void **state)
{
    struct octets o = octets_of(&vectors[0]);
    static const uint8_t infinity[1] = {0};
    uint8_t zeros[VRF_PUBLIC] = {0}, beta[VRF_OUTPUT];

    (void)state;
    assert_false(vrf_verify(span_of(infinity, 1), o.alpha,
                            span_of(o.pi, VRF_PROOF), beta));
    assert_false(vrf_verify(span_of(zeros, VRF_PUBLIC), o.alpha,
                            span_of(o.pi, VRF_PROOF), beta));
}

static void refuses_a_secret_outside_the_group(void **state)
{
    uint8_t secret[VRF_SECRET] = {0}, out[VRF_PROOF];

    (void)state;
    assert_int_equal(vrf_public(secret, out), -EINVAL);
    hex_bytes(ORDER, secret, sizeof secret);
    assert_int_equal(vrf_public(secret, out), -EINVAL);
    assert_int_equal(vrf_prove(secret, span_str("x"), out), -EINVAL);
}

/* openssl genpkey -algorithm EC -pkeyopt ec_paramgen_curve:... */
static int load(const char *command, uint8_t secret[VRF_SECRET])
{
    char path[] = "/tmp/assay-vrf-XXXXXX", line[512];
    int fd = mkstemp(path), err;

    assert_true(fd >= 0);
    close(fd);
    snprintf(line, sizeof line, "%s > %s 2>/dev/null", command, path);
    assert_int_equal(system(line), 0);
    err = vrf_secret_load(path, secret);
    unlink(path);
    return err;
}

static void a_pem_key_of_openssl_signs(void **state)
{
    uint8_t secret[VRF_SECRET], public_key[VRF_PUBLIC], pi[VRF_PROOF],
        beta[VRF_OUTPUT];

    (void)state;
    assert_int_equal(
        load("openssl genpkey -algorithm EC -pkeyopt ec_paramgen_curve:P-256",
             secret),
        0);
    assert_int_equal(vrf_public(secret, public_key), 0);
    assert_int_equal(vrf_prove(secret, span_str("a"), pi), 0);
    assert_true(vrf_verify(span_of(public_key, VRF_PUBLIC), span_str("a"),
                           span_of(pi, VRF_PROOF), beta));
}

static void another_curve_or_no_key_is_refused(void **state)
{
    uint8_t secret[VRF_SECRET];

    (void)state;
    assert_int_equal(
        load("openssl genpkey -algorithm EC -pkeyopt ec_paramgen_curve:P-384",
             secret),
        -EINVAL);
    assert_int_equal(load("openssl genpkey -algorithm ED25519", secret),
                     -EINVAL);
    assert_int_equal(load("echo none", secret), -EINVAL);
    assert_int_equal(vrf_secret_load("/nonexistent/key", secret), -ENOENT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(proofs_equal_rfc_9381_appendix_b1),
        cmocka_unit_test(published_proofs_verify_to_their_output),
        cmocka_unit_test(refuses_every_flipped_bit_of_the_proof),
        cmocka_unit_test(refuses_every_flipped_bit_of_alpha),
        cmocka_unit_test(refuses_another_key),
        cmocka_unit_test(refuses_s_not_below_the_order),
        cmocka_unit_test(refuses_another_s_for_the_same_points),
        cmocka_unit_test(refuses_gamma_off_the_curve),
        cmocka_unit_test(refuses_wrong_lengths),
        cmocka_unit_test(refuses_infinity_as_key),
        cmocka_unit_test(refuses_a_secret_outside_the_group),
        cmocka_unit_test(a_pem_key_of_openssl_signs),
        cmocka_unit_test(another_curve_or_no_key_is_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
