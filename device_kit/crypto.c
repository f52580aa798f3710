/* SHA-256 (FIPS 180-4), HMAC (RFC 2104) and ChaCha20-Poly1305 (RFC 8439), without tables that secrets index.
 * SPDX-License-Identifier: Apache-2.0 */
#include "cardlink_parts.h"

#include <string.h>

uint32_t cl_load(const uint8_t *from)
{
    return (uint32_t)from[0] | (uint32_t)from[1] << 8 | (uint32_t)from[2] << 16 | (uint32_t)from[3] << 24;
}

void cl_store(uint8_t *to, uint32_t value)
{
    for (int i = 0; i < 4; i++)
        to[i] = (uint8_t)(value >> 8 * i);
}

/* A plain memset of memory that is not read again may be removed by the compiler. */
void cl_wipe(void *memory, size_t size)
{
    volatile uint8_t *byte = memory;
    for (size_t i = 0; i < size; i++)
        byte[i] = 0;
}

/* In constant time: "Proofs". */
bool cl_equal(const uint8_t *one, const uint8_t *other, size_t size)
{
    uint8_t difference = 0;
    for (size_t i = 0; i < size; i++)
        difference = (uint8_t)(difference | (one[i] ^ other[i]));
    return difference == 0;
}

/* ---- SHA-256 ---- */

static const uint32_t ROUND[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2,
};

static uint32_t right(uint32_t word, unsigned bits)
{
    return word >> bits | word << (32 - bits);
}

static void sha256_block(uint32_t state[8], const uint8_t *block)
{
    uint32_t w[64], s[8];
    for (int i = 0; i < 16; i++)
        w[i] = (uint32_t)block[4 * i] << 24 | (uint32_t)block[4 * i + 1] << 16 | (uint32_t)block[4 * i + 2] << 8 |
               block[4 * i + 3];
    for (int i = 16; i < 64; i++)
        w[i] = w[i - 16] + (right(w[i - 15], 7) ^ right(w[i - 15], 18) ^ w[i - 15] >> 3) + w[i - 7] +
               (right(w[i - 2], 17) ^ right(w[i - 2], 19) ^ w[i - 2] >> 10);
    memcpy(s, state, sizeof s);
    for (int i = 0; i < 64; i++) {
        uint32_t choice = (s[4] & s[5]) ^ (~s[4] & s[6]);
        uint32_t majority = (s[0] & s[1]) ^ (s[0] & s[2]) ^ (s[1] & s[2]);
        uint32_t one = s[7] + (right(s[4], 6) ^ right(s[4], 11) ^ right(s[4], 25)) + choice + ROUND[i] + w[i];
        uint32_t two = (right(s[0], 2) ^ right(s[0], 13) ^ right(s[0], 22)) + majority;
        memmove(s + 1, s, 7 * sizeof s[0]);
        s[4] += one;
        s[0] = one + two;
    }
    for (int i = 0; i < 8; i++)
        state[i] += s[i];
    cl_wipe(w, sizeof w);
    cl_wipe(s, sizeof s);
}

void cl_sha256_start(struct cl_sha256 *sum)
{
    static const uint32_t first[8] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                                      0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
    memcpy(sum->state, first, sizeof first);
    sum->length = 0;
}

void cl_sha256_add(struct cl_sha256 *sum, const void *bytes, size_t size)
{
    const uint8_t *from = bytes;
    for (size_t i = 0; i < size; i++) {
        sum->block[sum->length % 64u] = from[i];
        sum->length++;
        if (sum->length % 64u == 0)
            sha256_block(sum->state, sum->block);
    }
}

void cl_sha256_end(struct cl_sha256 *sum, uint8_t digest[32])
{
    uint64_t bits = (uint64_t)sum->length * 8u;
    uint8_t size[8];
    cl_sha256_add(sum, "\x80", 1);
    while (sum->length % 64 != 56)
        cl_sha256_add(sum, "", 1);
    for (int i = 0; i < 8; i++)
        size[i] = (uint8_t)(bits >> (56 - 8 * i));
    cl_sha256_add(sum, size, sizeof size);
    for (int i = 0; i < 32; i++)
        digest[i] = (uint8_t)(sum->state[i / 4] >> (24 - 8 * (i % 4)));
    cl_wipe(sum, sizeof *sum);
}

/* ---- HMAC-SHA256 ---- */

static void hmac_pad(struct cl_sha256 *sum, const uint8_t key[CL_KEY], uint8_t with)
{
    uint8_t pad[64];
    for (size_t i = 0; i < sizeof pad; i++)
        pad[i] = (uint8_t)((i < CL_KEY ? key[i] : 0) ^ with);
    cl_sha256_start(sum);
    cl_sha256_add(sum, pad, sizeof pad);
    cl_wipe(pad, sizeof pad);
}

void cl_hmac_start(struct cl_hmac *mac, const uint8_t key[CL_KEY])
{
    hmac_pad(&mac->inner, key, 0x36);
    hmac_pad(&mac->outer, key, 0x5c);
}

void cl_hmac_add(struct cl_hmac *mac, const void *bytes, size_t size)
{
    cl_sha256_add(&mac->inner, bytes, size);
}

/* part(x) of "Proofs": the length as u16, little-endian, then x. */
void cl_hmac_part(struct cl_hmac *mac, const void *bytes, size_t size)
{
    uint8_t length[2] = {(uint8_t)size, (uint8_t)(size >> 8)};
    cl_hmac_add(mac, length, sizeof length);
    cl_hmac_add(mac, bytes, size);
}

void cl_hmac_end(struct cl_hmac *mac, uint8_t tag[32])
{
    cl_sha256_end(&mac->inner, tag);
    cl_sha256_add(&mac->outer, tag, 32);
    cl_sha256_end(&mac->outer, tag);
}

/* ---- ChaCha20 ---- */

static void quarter(uint32_t s[16], uint32_t a, uint32_t b, uint32_t c, uint32_t d)
{
    s[a] += s[b];
    s[d] = right(s[d] ^ s[a], 16);
    s[c] += s[d];
    s[b] = right(s[b] ^ s[c], 20);
    s[a] += s[b];
    s[d] = right(s[d] ^ s[a], 24);
    s[c] += s[d];
    s[b] = right(s[b] ^ s[c], 25);
}

static void chacha_block(const uint8_t key[CL_KEY], uint32_t number, const uint8_t nonce[12], uint8_t block[64])
{
    uint32_t first[16] = {0x61707865, 0x3320646e, 0x79622d32, 0x6b206574}, s[16];
    for (int i = 0; i < 8; i++)
        first[4 + i] = cl_load(key + 4 * i);
    first[12] = number;
    for (int i = 0; i < 3; i++)
        first[13 + i] = cl_load(nonce + 4 * i);
    memcpy(s, first, sizeof s);
    for (uint32_t i = 0; i < 80; i++) { /* four columns, then four diagonals, ten times */
        uint32_t turn = (i >> 2) & 1u;
        quarter(s, i & 3u, 4u + ((i + turn) & 3u), 8u + ((i + 2u * turn) & 3u), 12u + ((i + 3u * turn) & 3u));
    }
    for (int i = 0; i < 16; i++)
        cl_store(block + 4 * i, s[i] + first[i]);
    cl_wipe(first, sizeof first);
    cl_wipe(s, sizeof s);
}

static void chacha_text(const uint8_t key[CL_KEY], const uint8_t nonce[12], uint8_t *text, size_t size)
{
    uint8_t block[64];
    for (size_t i = 0; i < size; i++) {
        if (i % 64 == 0)
            chacha_block(key, (uint32_t)(1 + i / 64), nonce, block);
        text[i] ^= block[i % 64];
    }
    cl_wipe(block, sizeof block);
}

/* ---- Poly1305, in 17 limbs of 8 bits: little code, and no multiplication wider than 32 bits ---- */

enum { LIMBS = 17 };

struct poly {
    uint32_t r[LIMBS], h[LIMBS];
};

static void poly_add(uint32_t h[LIMBS], const uint8_t bytes[16], uint32_t top)
{
    uint32_t carry = 0;
    for (int i = 0; i < LIMBS; i++) {
        carry += h[i] + (i < 16 ? bytes[i] : top);
        h[i] = carry & 255u;
        carry >>= 8;
    }
}

static uint32_t poly_carry(uint32_t h[LIMBS], uint32_t carry)
{
    for (int i = 0; i < 16; i++) {
        carry += h[i];
        h[i] = carry & 255u;
        carry >>= 8;
    }
    return carry + h[16];
}

/* Each block of this construction is whole, so its top bit is always the same. */
static void poly_block(struct poly *p, const uint8_t block[16])
{
    uint32_t product[LIMBS], carry;
    poly_add(p->h, block, 1);
    for (int i = 0; i < LIMBS; i++) {
        product[i] = 0;
        for (int j = 0; j < LIMBS; j++) /* 2^130 is 5 modulo the prime, so 2^136 is 320 */
            product[i] += p->h[j] * (j <= i ? p->r[i - j] : 320u * p->r[LIMBS + i - j]);
    }
    carry = poly_carry(product, 0);
    product[16] = carry & 3u;
    product[16] = poly_carry(product, 5u * (carry >> 2));
    (void)memcpy(p->h, product, sizeof product);
}

static void poly_padded(struct poly *p, const uint8_t *bytes, size_t size)
{
    for (size_t at = 0; at < size; at += 16) {
        uint8_t block[16] = {0};
        (void)memcpy(block, bytes + at, size - at < 16 ? size - at : 16);
        poly_block(p, block);
    }
}

static void poly_end(struct poly *p, const uint8_t pad[16], uint8_t tag[16])
{
    static const uint8_t minus_prime[16] = {5}; /* 2^136 less the prime, with 252 on top */
    uint32_t before[LIMBS], keep;
    (void)memcpy(before, p->h, sizeof before);
    poly_add(p->h, minus_prime, 252);
    keep = 0u - (p->h[16] >> 7); /* all ones if it was below the prime */
    for (int i = 0; i < LIMBS; i++)
        p->h[i] ^= keep & (before[i] ^ p->h[i]);
    poly_add(p->h, pad, 0);
    for (int i = 0; i < 16; i++)
        tag[i] = (uint8_t)p->h[i];
    cl_wipe(before, sizeof before);
    cl_wipe(p, sizeof *p);
}

/* ---- RFC 8439, 2.8 ---- */

static void text_tag(const uint8_t key[CL_KEY], const uint8_t nonce[12], const uint8_t *known, size_t known_size,
                     const uint8_t *text, size_t size, uint8_t tag[16])
{
    uint8_t once[64], lengths[16] = {0};
    struct poly p = {{0}, {0}};
    chacha_block(key, 0, nonce, once);
    for (uint32_t i = 0; i < 16; i++) /* RFC 8439, 2.5: some bits of r are always 0 */
        p.r[i] = once[i] & (i % 4 == 3 ? 15u : i % 4 == 0 && i > 0 ? 252u : 255u);
    poly_padded(&p, known, known_size);
    poly_padded(&p, text, size);
    cl_store(lengths, (uint32_t)known_size);
    cl_store(lengths + 8, (uint32_t)size);
    poly_block(&p, lengths);
    poly_end(&p, once + 16, tag);
    cl_wipe(once, sizeof once);
}

/* In place: `text` becomes the ciphertext. */
void cl_seal(const uint8_t key[CL_KEY], const uint8_t nonce[12], const uint8_t *known, size_t known_size, uint8_t *text,
               size_t size, uint8_t tag[CL_TAG])
{
    chacha_text(key, nonce, text, size);
    text_tag(key, nonce, known, known_size, text, size, tag);
}

/* In place; with a wrong tag `text` stays as it is, so that another key can be tried. */
bool cl_open(const uint8_t key[CL_KEY], const uint8_t nonce[12], const uint8_t *known, size_t known_size, uint8_t *text,
               size_t size, const uint8_t tag[CL_TAG])
{
    uint8_t expected[CL_TAG];
    text_tag(key, nonce, known, known_size, text, size, expected);
    if (!cl_equal(expected, tag, CL_TAG))
        return false;
    chacha_text(key, nonce, text, size);
    return true;
}
