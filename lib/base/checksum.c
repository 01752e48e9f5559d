#include "base/checksum.h"

uint64_t checksum_bytes(const void *bytes, size_t length)
{
    const unsigned char *at = bytes;
    uint64_t sum = checksum_mix(length, 0);
    for (; length >= 8; at += 8, length -= 8) {
        uint64_t word;
        memcpy(&word, at, 8);
        sum = checksum_mix(sum ^ word, 1);
    }
    uint64_t tail = 0;
    if (length)
        memcpy(&tail, at, length);
    return checksum_mix(sum ^ tail, 2);
}
