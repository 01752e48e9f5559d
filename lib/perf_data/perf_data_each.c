/*
 * The records of a perf.data file in the order of the file. With -z, compressed records contain the records. The
 * payloads of these records form one zstd stream, so a record may begin in one payload and end in the next.
 */
#include "perf_data/perf_data.h"

#include "base/cursor.h"

#ifdef HAVE_ZSTD
#include <zstd.h>
#endif

enum {
    RECORD_HEADER = 8,
    RECORD_MAX = 65536, /* limit of a record, bytes: its size field has 16 bits */
};

struct reading {
    struct perf_data *data;
    perf_data_visitor *visit;
    void *context;
    struct error *err;
#ifdef HAVE_ZSTD
    ZSTD_DStream *stream;
#endif
    unsigned char *out; /* decompressed bytes of an incomplete record */
    size_t out_length;
};

static int visit_record(struct reading *reading, const unsigned char *bytes, size_t size, bool lasts)
{
    struct cursor c = cursor_of(bytes, size);
    uint32_t type = cursor_u32(&c);
    int code = perf_data_read_own_record(reading->data, type, bytes, size, lasts, reading->err);
    return code ? code : reading->visit(reading->context, bytes, size, lasts);
}

#ifdef HAVE_ZSTD
/* Visits the complete records of `out`, and keeps the remaining bytes. */
static int visit_decompressed(struct reading *reading)
{
    size_t at = 0;
    int code = 0;
    while (!code && reading->out_length - at >= RECORD_HEADER) {
        struct cursor c = cursor_of(reading->out + at, RECORD_HEADER);
        cursor_u32(&c);
        cursor_u16(&c);
        uint16_t size = cursor_u16(&c);
        if (size < RECORD_HEADER) {
            reading->data->damaged++;
            at = reading->out_length;
            break;
        }
        if (size > reading->out_length - at)
            break;
        code = visit_record(reading, reading->out + at, size, false);
        at += size;
    }
    reading->out_length -= at;
    memmove(reading->out, reading->out + at, reading->out_length);
    return code;
}

static int decompress(struct reading *reading, const unsigned char *bytes, size_t size)
{
    enum { ROOM = 4 * RECORD_MAX };
    if (!reading->stream)
        reading->stream = ZSTD_createDStream();
    if (!reading->out)
        reading->out = malloc(ROOM);
    if (!reading->stream || !reading->out)
        return error_no_memory(reading->err);
    ZSTD_inBuffer in = {.src = bytes, .size = size};
    for (bool is_full = false; in.pos < in.size || is_full;) {
        ZSTD_outBuffer out = {.dst = reading->out, .size = ROOM, .pos = reading->out_length};
        size_t result = ZSTD_decompressStream(reading->stream, &out, &in);
        if (ZSTD_isError(result)) {
            reading->data->damaged++;
            ZSTD_DCtx_reset(reading->stream, ZSTD_reset_session_only);
            reading->out_length = 0;
            return 0;
        }
        is_full = out.pos == out.size;
        reading->out_length = out.pos;
        int code = visit_decompressed(reading);
        if (code)
            return code;
    }
    return 0;
}
#else
static int decompress(struct reading *reading, const unsigned char *bytes, size_t size)
{
    (void)bytes, (void)size;
    return error_set(reading->err, ENOTSUP, "is compressed with zstd, which this build of prof does not support");
}
#endif

/* Returns the number of bytes that follow the record and belong to it. */
static size_t get_trailing_size(uint32_t type, const unsigned char *bytes, size_t size)
{
    struct cursor c = cursor_of(bytes + RECORD_HEADER, size - RECORD_HEADER);
    uint64_t behind = type == PERF_DATA_TRACING_DATA ? ((uint64_t)cursor_u32(&c) + 7) & ~UINT64_C(7)
                      : type == PERF_DATA_AUXTRACE   ? cursor_u64(&c)
                                                     : 0;
    return c.failed ? 0 : behind > SIZE_MAX / 2 ? SIZE_MAX / 2 : (size_t)behind;
}

static int visit_or_decompress(struct reading *reading, uint32_t type, const unsigned char *bytes, size_t size)
{
    if (type == PERF_DATA_COMPRESSED) {
        reading->data->is_compressed = true;
        return decompress(reading, bytes + RECORD_HEADER, size - RECORD_HEADER);
    }
    if (type == PERF_DATA_COMPRESSED2) {
        struct cursor c = cursor_of(bytes + RECORD_HEADER, size - RECORD_HEADER);
        uint64_t length = cursor_u64(&c);
        const unsigned char *payload = cursor_bytes(&c, length);
        reading->data->is_compressed = true;
        reading->data->damaged += !payload;
        return payload ? decompress(reading, payload, (size_t)length) : 0;
    }
    return visit_record(reading, bytes, size, true);
}

/* Visits the records of one file, starting at `at`. */
static int visit_part(struct reading *reading, const struct perf_data_part *part, size_t at)
{
    enum { RELEASE_STEP = 8 << 20 };
    struct perf_data *data = reading->data;
    size_t released = at;
    int code = 0;
    while (!code && part->size - at >= RECORD_HEADER) {
        struct cursor c = cursor_of(part->bytes + at, RECORD_HEADER);
        uint32_t type = cursor_u32(&c);
        cursor_u16(&c);
        uint16_t size = cursor_u16(&c);
        if (size < RECORD_HEADER || size > part->size - at)
            break;
        code = visit_or_decompress(reading, type, part->bytes + at, size);
        size_t behind = get_trailing_size(type, part->bytes + at, size);
        at += size;
        behind = behind > part->size - at ? part->size - at : behind;
        if (!code && type == PERF_DATA_TRACING_DATA && !data->tracing.formats.length &&
            !perf_data_tracing_read(&data->tracing, part->bytes + at, behind))
            code = error_no_memory(reading->err);
        at += behind;
        if (data->release && at - released > RELEASE_STEP) {
            data->release(data->context, part->bytes, at);
            released = at;
        }
    }
    data->is_truncated |= at != part->size;
    return code;
}

/* Each file has a zstd stream of its own. */
static void end_stream(struct reading *reading)
{
    reading->out_length = 0;
#ifdef HAVE_ZSTD
    if (reading->stream)
        ZSTD_DCtx_reset(reading->stream, ZSTD_reset_session_only);
#endif
}

int perf_data_visit_records(struct perf_data *data, perf_data_visitor *visitor, void *context, struct error *err)
{
    struct reading reading = {.data = data, .visit = visitor, .context = context, .err = err};
    const struct perf_data_part first = {data->bytes, data->data_end};
    data->damaged = 0;
    int code = visit_part(&reading, &first, data->data_start);
    for (size_t i = 0; i < data->parts.length && !code; i++) {
        end_stream(&reading);
        code = visit_part(&reading, &data->parts.data[i], 0);
    }
#ifdef HAVE_ZSTD
    ZSTD_freeDStream(reading.stream);
#endif
    free(reading.out);
    data->is_visited |= !code;
    return code;
}
