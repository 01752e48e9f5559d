#include "base/keyed_hash.h"

static uint64_t read_word(const unsigned char *bytes, size_t size)
{
    uint64_t word = 0;
    for (size_t i = 0; i < size; i++)
        word |= (uint64_t)bytes[i] << (8 * i);
    return word;
}

static void write_word(unsigned char out[8], uint64_t word)
{
    for (int i = 0; i < 8; i++)
        out[i] = (unsigned char)(word >> (8 * i));
}

static uint64_t rotate(uint64_t x, int bits)
{
    return x << bits | x >> (64 - bits);
}

static void mix_rounds(uint64_t v[4], int rounds)
{
    while (rounds--) {
        v[0] += v[1];
        v[2] += v[3];
        v[1] = rotate(v[1], 13) ^ v[0];
        v[3] = rotate(v[3], 16) ^ v[2];
        v[0] = rotate(v[0], 32);
        v[2] += v[1];
        v[0] += v[3];
        v[1] = rotate(v[1], 17) ^ v[2];
        v[3] = rotate(v[3], 21) ^ v[0];
        v[2] = rotate(v[2], 32);
    }
}

static void mix_word(uint64_t v[4], uint64_t word)
{
    v[3] ^= word;
    mix_rounds(v, 2);
    v[0] ^= word;
}

static uint64_t finish_hash(uint64_t v[4])
{
    mix_rounds(v, 4);
    return v[0] ^ v[1] ^ v[2] ^ v[3];
}

void compute_keyed_hash(unsigned char out[KEYED_HASH_SIZE], const unsigned char key[KEYED_HASH_KEY], const void *bytes,
                        size_t size)
{
    uint64_t k0 = read_word(key, 8), k1 = read_word(key + 8, 8);
    uint64_t v[4] = {k0 ^ UINT64_C(0x736f6d6570736575), k1 ^ UINT64_C(0x646f72616e646f6d) ^ 0xee,
                     k0 ^ UINT64_C(0x6c7967656e657261), k1 ^ UINT64_C(0x7465646279746573)};
    const unsigned char *at = bytes, *end = at + size;
    for (; end - at >= 8; at += 8)
        mix_word(v, read_word(at, 8));
    mix_word(v, read_word(at, (size_t)(end - at)) | (uint64_t)size << 56);
    v[2] ^= 0xee;
    write_word(out, finish_hash(v));
    v[1] ^= 0xdd;
    write_word(out + 8, finish_hash(v));
}
