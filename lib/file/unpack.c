#include "file/unpack.h"

#include "file/gunzip.h"

#include <lzma.h>
#ifdef HAVE_ZSTD
#include <zstd.h>
#endif

static const uint64_t MEMORY_MAX = UINT64_C(256) << 20;

struct unpacker {
    enum unpacker_format format;
    struct gunzip *gunzip;
    lzma_stream xz;
#ifdef HAVE_ZSTD
    ZSTD_DStream *zstd;
#endif
    const unsigned char *in;
    size_t left;
    uint64_t unpacked;
    bool is_at_end; /* at the end of a stream or frame, where the file may end */
    bool may_hold;  /* zstd: the decoder may have more output without new input */
};

enum unpacker_format unpacker_format(const unsigned char *bytes, size_t size)
{
    static const struct {
        enum unpacker_format format;
        size_t size;
        const char *magic;
    } formats[] = {{UNPACKER_GZIP, 2, "\x1f\x8b"},
#ifdef HAVE_ZSTD
                   {UNPACKER_ZSTD, 4, "\x28\xb5\x2f\xfd"},
#endif
                   {UNPACKER_XZ, 6, "\xfd\x37\x7a\x58\x5a\x00"}};
    for (size_t i = 0; i < sizeof(formats) / sizeof(*formats); i++)
        if (size >= formats[i].size && memcmp(bytes, formats[i].magic, formats[i].size) == 0)
            return formats[i].format;
    return UNPACKER_NONE;
}

static bool start_decoder(struct unpacker *unpacker)
{
    switch (unpacker->format) {
    case UNPACKER_GZIP:
        return (unpacker->gunzip = gunzip_new()) != NULL;
    case UNPACKER_XZ:
        return lzma_stream_decoder(&unpacker->xz, MEMORY_MAX, 0) == LZMA_OK;
#ifdef HAVE_ZSTD
    case UNPACKER_ZSTD: /* zstd's default limit: a window of 128 MiB */
        return (unpacker->zstd = ZSTD_createDStream()) != NULL;
#endif
    default:
        return false;
    }
}

struct unpacker *unpacker_new(enum unpacker_format format)
{
    struct unpacker *unpacker = calloc(1, sizeof(*unpacker));
    if (!unpacker)
        return NULL;
    unpacker->format = format;
    unpacker->xz = (lzma_stream)LZMA_STREAM_INIT;
    if (start_decoder(unpacker))
        return unpacker;
    unpacker_free(unpacker);
    return NULL;
}

void unpacker_free(struct unpacker *unpacker)
{
    if (!unpacker)
        return;
    gunzip_free(unpacker->gunzip);
    lzma_end(&unpacker->xz);
#ifdef HAVE_ZSTD
    ZSTD_freeDStream(unpacker->zstd);
#endif
    free(unpacker);
}

void unpacker_feed(struct unpacker *unpacker, const unsigned char *bytes, size_t size)
{
    unpacker->in = bytes;
    unpacker->left = size;
    if (unpacker->gunzip)
        gunzip_feed(unpacker->gunzip, bytes, size);
}

static int set_damaged_error(const struct unpacker *unpacker, const char *format, const char *why, struct error *err)
{
    return error_set(err, EINVAL, "the %s data is damaged after %llu unpacked bytes (%s)", format,
                     (unsigned long long)unpacker->unpacked, why);
}

static int unpack_xz(struct unpacker *unpacker, unsigned char *out, size_t room, size_t *size, struct error *err)
{
    lzma_stream *xz = &unpacker->xz;
    lzma_ret result = LZMA_OK;
    *size = 0;
    while (!*size && (unpacker->left || !xz->avail_out) && result == LZMA_OK) {
        while (unpacker->is_at_end && unpacker->left && !*unpacker->in) { /* padding between streams */
            unpacker->in++;
            unpacker->left--;
        }
        if (unpacker->is_at_end && !unpacker->left)
            return 0;
        if (unpacker->is_at_end && lzma_stream_decoder(xz, MEMORY_MAX, 0) != LZMA_OK)
            return error_no_memory(err);
        unpacker->is_at_end = false;
        xz->next_in = unpacker->in;
        xz->avail_in = unpacker->left;
        xz->next_out = out;
        xz->avail_out = room;
        result = lzma_code(xz, LZMA_RUN);
        unpacker->in = xz->next_in;
        unpacker->left = xz->avail_in;
        *size = room - xz->avail_out;
        unpacker->is_at_end = result == LZMA_STREAM_END;
        result = result == LZMA_STREAM_END ? LZMA_OK : result;
    }
    if (result == LZMA_MEM_ERROR)
        return error_no_memory(err);
    if (result == LZMA_MEMLIMIT_ERROR)
        return error_set(err, EFBIG, "the xz data needs more than %llu MiB of memory; unpack it first (unxz)",
                         (unsigned long long)MEMORY_MAX >> 20);
    return result == LZMA_OK || result == LZMA_BUF_ERROR ? 0 : set_damaged_error(unpacker, "xz", "a bad block", err);
}

#ifdef HAVE_ZSTD
static int unpack_zstd(struct unpacker *unpacker, unsigned char *out, size_t room, size_t *size, struct error *err)
{
    ZSTD_outBuffer to = {.dst = out, .size = room};
    while (to.pos == 0 && (unpacker->left || unpacker->may_hold)) {
        ZSTD_inBuffer from = {.src = unpacker->in, .size = unpacker->left};
        size_t result = ZSTD_decompressStream(unpacker->zstd, &to, &from);
        if (ZSTD_isError(result))
            return set_damaged_error(unpacker, "zstd", ZSTD_getErrorName(result), err);
        unpacker->in += from.pos;
        unpacker->left -= from.pos;
        unpacker->is_at_end = result == 0;
        unpacker->may_hold = to.pos == to.size && result != 0;
    }
    *size = to.pos;
    return 0;
}
#endif

int unpacker_read(struct unpacker *unpacker, unsigned char *out, size_t room, size_t *size, struct error *err)
{
    int code = 0;
    *size = 0;
    if (unpacker->format == UNPACKER_GZIP)
        return gunzip_read(unpacker->gunzip, out, room, size, err);
    if (unpacker->format == UNPACKER_XZ)
        code = unpack_xz(unpacker, out, room, size, err);
#ifdef HAVE_ZSTD
    if (unpacker->format == UNPACKER_ZSTD)
        code = unpack_zstd(unpacker, out, room, size, err);
#endif
    unpacker->unpacked += *size;
    return code;
}

int unpacker_end_input(const struct unpacker *unpacker, struct error *err)
{
    if (unpacker->format == UNPACKER_GZIP)
        return gunzip_end_input(unpacker->gunzip, err);
    if (unpacker->is_at_end)
        return 0;
    return error_set(err, EINVAL, "the file is truncated: its %s data ends early, after %llu unpacked bytes",
                     unpacker->format == UNPACKER_XZ ? "xz" : "zstd", (unsigned long long)unpacker->unpacked);
}
