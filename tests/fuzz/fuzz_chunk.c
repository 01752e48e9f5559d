/* Any bytes as a chunk of samples. */
#include "spool/chunk.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    struct chunk_reader *reader = chunk_reader_new();
    struct chunk_writer *writer = chunk_writer_new();
    if (!reader || !writer)
        abort();
    struct spool_record record;
    chunk_reader_start(reader, bytes, size);
    while (chunk_reader_next(reader, &record, NULL) == 1) {
        if (record.kind == SPOOL_SAMPLE &&
            (record.sample.kernel_frames > record.sample.frames.count || record.sample.frames.count > CHUNK_MAX_FRAMES))
            abort();
        /* What can be read can be written again. */
        if (!chunk_writer_append(writer, record.kind, &record.metadata)) {
            chunk_writer_reset(writer);
            if (!chunk_writer_append(writer, record.kind, &record.metadata))
                abort();
        }
    }
    chunk_reader_free(reader);
    chunk_writer_free(writer);
    return 0;
}
