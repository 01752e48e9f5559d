/*
 * Any bytes as a gzip file, whole and in pieces with little room (the first byte is the size): the same content or the
 * same error, and equal to the output of zlib where zlib succeeds.
 */
#include "file/gunzip.h"

#include "base/array.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

enum { MOST_UNPACKED = 1 << 20 };

typedef ARRAY(unsigned char) byte_array;

static void append(byte_array *to, const unsigned char *bytes, size_t size)
{
    if (!array_reserve(to, size + 1))
        abort();
    memcpy(to->data + to->length, bytes, size);
    to->length += size;
}

static int unpack(const uint8_t *bytes, size_t size, size_t piece, size_t room, byte_array *out, struct error *err)
{
    unsigned char part[4096];
    struct gunzip *gunzip = gunzip_new();
    int rc = 0;
    for (size_t at = 0; !rc && at < size && out->length < MOST_UNPACKED; at += piece) {
        size_t got;
        gunzip_feed(gunzip, bytes + at, piece < size - at ? piece : size - at);
        while ((rc = gunzip_read(gunzip, part, room, &got, err)) == 0 && got && out->length < MOST_UNPACKED)
            append(out, part, got);
    }
    if (!rc)
        rc = gunzip_end_input(gunzip, err);
    gunzip_free(gunzip);
    return rc;
}

/* What zlib makes of the first member, if it is whole. */
static bool unpack_with_zlib(const uint8_t *bytes, size_t size, byte_array *out)
{
    unsigned char part[4096];
    z_stream stream = {.next_in = (Bytef *)(uintptr_t)bytes, .avail_in = (uInt)size};
    int status = inflateInit2(&stream, MAX_WBITS + 16);
    while (status == Z_OK && out->length < MOST_UNPACKED) {
        stream.next_out = part;
        stream.avail_out = sizeof(part);
        status = inflate(&stream, Z_NO_FLUSH);
        append(out, part, sizeof(part) - stream.avail_out);
    }
    inflateEnd(&stream);
    return status == Z_STREAM_END;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    if (size == 0)
        return 0;
    byte_array whole = {0}, pieces = {0}, reference = {0};
    struct error err = {""}, pieces_err = {""};
    int rc = unpack(bytes + 1, size - 1, size, 4096, &whole, &err);
    int pieces_rc = unpack(bytes + 1, size - 1, bytes[0] % 128 + 1, bytes[0] + 1, &pieces, &pieces_err);
    bool is_compared = whole.length < MOST_UNPACKED && pieces.length < MOST_UNPACKED;
    size_t both = whole.length < pieces.length ? whole.length : pieces.length;
    if (is_compared && (rc != pieces_rc || (rc == 0 && whole.length != pieces.length)))
        abort();
    if (both && memcmp(whole.data, pieces.data, both) != 0)
        abort();
    if (unpack_with_zlib(bytes + 1, size - 1, &reference) &&
        (whole.length < reference.length ||
         (reference.length && memcmp(whole.data, reference.data, reference.length) != 0)))
        abort();
    array_free(&whole);
    array_free(&pieces);
    array_free(&reference);
    return 0;
}
