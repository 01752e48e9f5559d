#include "file/gzip.h"

#include "os/vector_registers.h"

#include <isa-l/igzip_lib.h>

enum { LEVEL = 3, BLOCK_SIZE = 256 * 1024 };

struct gzip_packer {
    struct byte_sink out;
    struct isal_zstream stream;
    unsigned char level_buffer[ISAL_DEF_LVL3_EXTRA_LARGE];
    unsigned char packed[BLOCK_SIZE];
};

int gzip_packer_new(struct gzip_packer **out, struct byte_sink sink, struct error *err)
{
    /* zeroed: ISA-L reads the whole buffer even for an empty stream */
    struct gzip_packer *packer = calloc(1, sizeof(*packer));
    *out = packer;
    if (!packer)
        return error_no_memory(err);
    packer->out = sink;
    isal_deflate_init(&packer->stream);
    packer->stream.gzip_flag = IGZIP_GZIP;
    packer->stream.level = LEVEL;
    packer->stream.level_buf = packer->level_buffer;
    packer->stream.level_buf_size = sizeof(packer->level_buffer);
    return 0;
}

/* Compresses the input of the stream, and writes the output to the sink. */
static int compress_input(struct gzip_packer *packer, struct error *err)
{
    do {
        packer->stream.next_out = packer->packed;
        packer->stream.avail_out = BLOCK_SIZE;
        isal_deflate(&packer->stream); /* ISA-L fails only for invalid settings */
        vector_registers_release();
        size_t size = BLOCK_SIZE - packer->stream.avail_out;
        int code = size ? packer->out.write(packer->out.context, packer->packed, size, err) : 0;
        if (code)
            return code;
    } while (packer->stream.avail_out == 0);
    return 0;
}

int gzip_packer_add(struct gzip_packer *packer, const void *bytes, size_t size, struct error *err)
{
    const unsigned char *at = bytes;
    int code = 0;
    while (size && !code) {
        uint32_t part = size < UINT32_MAX ? (uint32_t)size : UINT32_MAX;
        packer->stream.next_in = (unsigned char *)(uintptr_t)at;
        packer->stream.avail_in = part;
        code = compress_input(packer, err);
        at += part;
        size -= part;
    }
    return code;
}

static int add_bytes(void *context, const void *bytes, size_t size, struct error *err)
{
    return gzip_packer_add(context, bytes, size, err);
}

struct byte_sink gzip_packer_make_sink(struct gzip_packer *packer)
{
    return (struct byte_sink){.write = add_bytes, .context = packer};
}

int gzip_packer_finish(struct gzip_packer *packer, struct error *err)
{
    packer->stream.end_of_stream = 1;
    return compress_input(packer, err);
}

void gzip_packer_free(struct gzip_packer *packer)
{
    free(packer);
}
