/*
 * vrf.c - ECVRF-P256-SHA256-TAI (RFC 9381) over OpenSSL's P-256.
 * Comes in: secret scalar and alpha, or public key, alpha and proof. Goes out:
 * a proof; a verdict and the output. The scalar is multiplied with OpenSSL's
 * constant-time ladder; alpha is public, so the search for its point may take
 * a time that depends on it.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sampler/vrf.h"

#include <errno.h>
#include <string.h>

#include <openssl/bn.h>
#include <openssl/ec.h>
#include <openssl/err.h>
#include <openssl/hmac.h>
#include <openssl/obj_mac.h>

#include "store/sha256.h"

enum { SUITE = 0x01, DOMAIN_POINT = 0x01, DOMAIN_C = 0x02, DOMAIN_BETA = 0x03 };

/* The curve and what one computation needs; ended by curve_fini. */
struct curve {
    EC_GROUP *group;
    BN_CTX *ctx;
    const BIGNUM *order;
};

static void curve_fini(struct curve *c)
{
    EC_GROUP_free(c->group);
    BN_CTX_free(c->ctx);
    ERR_clear_error(); /* a bad point is an answer, not an error to keep */
}

static int curve_init(struct curve *c)
{
    c->group = EC_GROUP_new_by_curve_name(NID_X9_62_prime256v1);
    c->ctx = BN_CTX_secure_new();
    if (c->group == NULL || c->ctx == NULL) {
        curve_fini(c);
        return -ENOMEM;
    }
    c->order = EC_GROUP_get0_order(c->group);
    return 0;
}

static bool point_write(const struct curve *c, const EC_POINT *p,
                        uint8_t out[VRF_PUBLIC])
{
    return EC_POINT_point2oct(c->group, p, POINT_CONVERSION_COMPRESSED, out,
                              VRF_PUBLIC, c->ctx) == VRF_PUBLIC;
}

/* A compressed point on the curve; infinity has another length. */
static EC_POINT *point_read(const struct curve *c, struct span s)
{
    EC_POINT *p;

    if (s.n != VRF_PUBLIC)
        return NULL;
    p = EC_POINT_new(c->group);
    if (p != NULL && EC_POINT_oct2point(c->group, p, s.p, s.n, c->ctx) == 1 &&
        EC_POINT_is_on_curve(c->group, p, c->ctx) == 1)
        return p;
    EC_POINT_free(p);
    return NULL;
}

/* Section 5.4.1.1: try and increment, the salt being the public key. */
static EC_POINT *encode_to_curve(const struct curve *c,
                                 const uint8_t public_key[VRF_PUBLIC],
                                 struct span alpha)
{
    static const uint8_t head[2] = {SUITE, DOMAIN_POINT};
    uint8_t octets[VRF_PUBLIC] = {0x02};

    for (unsigned ctr = 0; ctr < 256; ctr++) {
        const uint8_t tail[2] = {(uint8_t)ctr, 0};
        const struct span parts[] = {span_of(head, 2),
                                     span_of(public_key, VRF_PUBLIC), alpha,
                                     span_of(tail, 2)};
        EC_POINT *p;

        sha256_parts(parts, 4, octets + 1);
        p = point_read(c, span_of(octets, sizeof octets));
        if (p != NULL)
            return p;
    }
    return NULL;
}

/* The five points of a challenge, in the order they are hashed. */
struct statement {
    uint8_t y[VRF_PUBLIC], h[VRF_PUBLIC], gamma[VRF_PUBLIC], u[VRF_PUBLIC],
        v[VRF_PUBLIC];
};

/* Section 5.4.3. */
static void challenge(const struct statement *s, uint8_t out[VRF_C])
{
    static const uint8_t head[2] = {SUITE, DOMAIN_C}, tail[1] = {0};
    const struct span parts[] = {
        span_of(head, 2),          span_of(s->y, VRF_PUBLIC),
        span_of(s->h, VRF_PUBLIC), span_of(s->gamma, VRF_PUBLIC),
        span_of(s->u, VRF_PUBLIC), span_of(s->v, VRF_PUBLIC),
        span_of(tail, 1)};
    uint8_t hash[SHA256_BYTES];

    sha256_parts(parts, 7, hash);
    memcpy(out, hash, VRF_C);
}

/* K = HMAC(K, V || tag || x || h1), V = HMAC(K, V): one update of RFC 6979
 * 3.2 d to g; x and h1 empty for the update of step h. */
static bool drbg_update(uint8_t k[32], uint8_t v[32], uint8_t tag,
                        const uint8_t seed[64])
{
    uint8_t text[32 + 1 + 64];
    size_t n = 33;
    bool good;

    memcpy(text, v, 32);
    text[32] = tag;
    if (seed != NULL) {
        memcpy(text + 33, seed, 64);
        n += 64;
    }
    good = HMAC(EVP_sha256(), k, 32, text, n, k, NULL) != NULL &&
           HMAC(EVP_sha256(), k, 32, v, 32, v, NULL) != NULL;
    OPENSSL_cleanse(text, sizeof text);
    return good;
}

/* RFC 6979 section 3.2 with SHA-256 over m; qlen is 256, so bits2int is the
 * plain conversion. k gets the nonce. */
static bool nonce(const struct curve *c, const uint8_t secret[VRF_SECRET],
                  const uint8_t m[VRF_PUBLIC], BIGNUM *k)
{
    uint8_t key[32] = {0}, v[32], seed[64];
    bool good = false;
    BIGNUM *h1 = BN_new();

    memset(v, 1, sizeof v);
    memcpy(seed, secret, 32);
    sha256(span_of(m, VRF_PUBLIC), seed + 32);
    if (h1 == NULL || BN_bin2bn(seed + 32, 32, h1) == NULL ||
        BN_nnmod(h1, h1, c->order, c->ctx) != 1 ||
        BN_bn2binpad(h1, seed + 32, 32) != 32)
        goto out;
    good = drbg_update(key, v, 0, seed) && drbg_update(key, v, 1, seed);
    while (good) {
        good = HMAC(EVP_sha256(), key, 32, v, 32, v, NULL) != NULL &&
               BN_bin2bn(v, 32, k) != NULL;
        if (!good || (!BN_is_zero(k) && BN_cmp(k, c->order) < 0))
            break;
        good = drbg_update(key, v, 0, NULL);
    }
out:
    BN_free(h1);
    OPENSSL_cleanse(key, sizeof key);
    OPENSSL_cleanse(v, sizeof v);
    OPENSSL_cleanse(seed, sizeof seed);
    return good;
}

/* Reads a secret scalar; NULL unless in 1..q-1. */
static BIGNUM *secret_read(const struct curve *c,
                           const uint8_t secret[VRF_SECRET])
{
    BIGNUM *x = BN_secure_new();

    if (x != NULL && BN_bin2bn(secret, VRF_SECRET, x) != NULL &&
        !BN_is_zero(x) && BN_cmp(x, c->order) < 0) {
        BN_set_flags(x, BN_FLG_CONSTTIME);
        return x;
    }
    BN_clear_free(x);
    return NULL;
}

/* out = scalar * p, or scalar * generator when p is NULL, as octets. */
static bool multiply(const struct curve *c, const EC_POINT *p,
                     const BIGNUM *scalar, uint8_t out[VRF_PUBLIC])
{
    EC_POINT *r = EC_POINT_new(c->group);
    bool good;

    if (r == NULL)
        return false;
    if (p == NULL)
        good = EC_POINT_mul(c->group, r, scalar, NULL, NULL, c->ctx) == 1;
    else
        good = EC_POINT_mul(c->group, r, NULL, p, scalar, c->ctx) == 1;
    good = good && point_write(c, r, out);
    EC_POINT_clear_free(r);
    return good;
}

int vrf_public(const uint8_t secret[VRF_SECRET], uint8_t ret_public[VRF_PUBLIC])
{
    struct curve c;
    uint8_t y[VRF_PUBLIC];
    BIGNUM *x;
    int err = curve_init(&c);

    if (err != 0)
        return err;
    x = secret_read(&c, secret);
    if (x == NULL)
        err = -EINVAL;
    else if (!multiply(&c, NULL, x, y))
        err = -ENOMEM;
    else
        memcpy(ret_public, y, sizeof y);
    BN_clear_free(x);
    curve_fini(&c);
    return err;
}

/* s = (k + c * x) mod q into pi, behind Gamma and c. */
static bool respond(const struct curve *c, const BIGNUM *x, const BIGNUM *k,
                    uint8_t pi[VRF_PROOF])
{
    BIGNUM *s = BN_secure_new();
    bool good = s != NULL && BN_bin2bn(pi + VRF_PUBLIC, VRF_C, s) != NULL &&
                BN_mod_mul(s, s, x, c->order, c->ctx) == 1 &&
                BN_mod_add(s, s, k, c->order, c->ctx) == 1 &&
                BN_bn2binpad(s, pi + VRF_PUBLIC + VRF_C, 32) == 32;

    BN_clear_free(s);
    return good;
}

int vrf_prove(const uint8_t secret[VRF_SECRET], struct span alpha,
              uint8_t ret_pi[VRF_PROOF])
{
    struct curve c;
    struct statement s;
    uint8_t pi[VRF_PROOF];
    EC_POINT *h = NULL;
    BIGNUM *x = NULL, *k = BN_secure_new();
    int err = curve_init(&c);

    if (err != 0)
        goto free_k;
    x = secret_read(&c, secret);
    err = x == NULL ? -EINVAL : -ENOMEM;
    if (x == NULL || k == NULL || !multiply(&c, NULL, x, s.y))
        goto out;
    h = encode_to_curve(&c, s.y, alpha);
    if (h == NULL || !point_write(&c, h, s.h) || !nonce(&c, secret, s.h, k))
        goto out;
    BN_set_flags(k, BN_FLG_CONSTTIME);
    if (!multiply(&c, h, x, s.gamma) || !multiply(&c, NULL, k, s.u) ||
        !multiply(&c, h, k, s.v))
        goto out;
    memcpy(pi, s.gamma, VRF_PUBLIC);
    challenge(&s, pi + VRF_PUBLIC);
    if (!respond(&c, x, k, pi))
        goto out;
    memcpy(ret_pi, pi, sizeof pi);
    err = 0;
out:
    EC_POINT_free(h);
    BN_clear_free(x);
    curve_fini(&c);
free_k:
    BN_clear_free(k);
    return err;
}

/* out = s * a - c * b, where a NULL is the generator; false at infinity,
 * which has no 33 octets and which an honest proof meets with chance 2^-256. */
static bool combine(const struct curve *c, const EC_POINT *a, const EC_POINT *b,
                    struct span pi, uint8_t out[VRF_PUBLIC])
{
    BIGNUM *s = BN_bin2bn(pi.p + VRF_PUBLIC + VRF_C, 32, NULL);
    BIGNUM *e = BN_bin2bn(pi.p + VRF_PUBLIC, VRF_C, NULL);
    EC_POINT *r = EC_POINT_new(c->group), *t = EC_POINT_new(c->group);
    bool good = s != NULL && e != NULL && r != NULL && t != NULL &&
                BN_cmp(s, c->order) < 0;

    if (good && a == NULL)
        good = EC_POINT_mul(c->group, r, s, NULL, NULL, c->ctx) == 1;
    else if (good)
        good = EC_POINT_mul(c->group, r, NULL, a, s, c->ctx) == 1;
    good = good && EC_POINT_mul(c->group, t, NULL, b, e, c->ctx) == 1 &&
           EC_POINT_invert(c->group, t, c->ctx) == 1 &&
           EC_POINT_add(c->group, r, r, t, c->ctx) == 1 &&
           point_write(c, r, out);
    BN_free(s);
    BN_free(e);
    EC_POINT_free(r);
    EC_POINT_free(t);
    return good;
}

/* The equation of section 5.3 for a key and a Gamma that are points. */
static bool proof_holds(const struct curve *c, const EC_POINT *y,
                        const EC_POINT *gamma, struct span alpha,
                        struct span pi)
{
    struct statement s;
    uint8_t expected[VRF_C];
    EC_POINT *h = NULL;
    bool good = point_write(c, y, s.y);

    if (good)
        h = encode_to_curve(c, s.y, alpha);
    good = h != NULL && point_write(c, h, s.h) &&
           combine(c, NULL, y, pi, s.u) && combine(c, h, gamma, pi, s.v);
    if (good) {
        memcpy(s.gamma, pi.p, VRF_PUBLIC);
        challenge(&s, expected);
        good = memcmp(expected, pi.p + VRF_PUBLIC, VRF_C) == 0;
    }
    EC_POINT_free(h);
    return good;
}

bool vrf_verify(struct span public_key, struct span alpha, struct span pi,
                uint8_t ret_beta[VRF_OUTPUT])
{
    struct curve c;
    EC_POINT *y, *gamma;
    bool good;

    if (pi.n != VRF_PROOF || curve_init(&c) != 0)
        return false;
    y = point_read(&c, public_key);
    gamma = point_read(&c, span_of(pi.p, VRF_PUBLIC));
    good = y != NULL && gamma != NULL && proof_holds(&c, y, gamma, alpha, pi);
    EC_POINT_free(y);
    EC_POINT_free(gamma);
    curve_fini(&c);
    return good && vrf_output(pi, ret_beta);
}

/* The cofactor of P-256 is 1 and Gamma's octets are canonical (compressed,
 * below the field's size), so they are hashed as they stand. */
bool vrf_output(struct span pi, uint8_t ret_beta[VRF_OUTPUT])
{
    static const uint8_t head[2] = {SUITE, DOMAIN_BETA}, tail[1] = {0};
    struct span parts[3];

    if (pi.n != VRF_PROOF)
        return false;
    parts[0] = span_of(head, 2);
    parts[1] = span_of(pi.p, VRF_PUBLIC);
    parts[2] = span_of(tail, 1);
    sha256_parts(parts, 3, ret_beta);
    return true;
}
