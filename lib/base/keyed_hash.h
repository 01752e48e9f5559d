/*
 * A keyed hash: without the key, an attacker cannot predict the hash of any bytes, even from other hashes. A keyed hash
 * is slower than the hashes in hash.h and checksum.h, which are unsafe for secrets.
 */
#pragma once

#include "base/standard.h"

enum { KEYED_HASH_KEY = 16, KEYED_HASH_SIZE = 16 }; /* bytes */

/* SipHash-2-4 with a result of 128 bits (Aumasson, Bernstein 2012, https://github.com/veorq/SipHash). */
void compute_keyed_hash(unsigned char out[KEYED_HASH_SIZE], const unsigned char key[KEYED_HASH_KEY], const void *bytes,
                        size_t size);
