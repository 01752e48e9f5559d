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
    struct sample sample;
    chunk_reader_start(reader, bytes, size);
    while (chunk_reader_next(reader, &sample, NULL) == 1) {
        if (sample.kernel_frame_count > sample.frame_count || sample.frame_count > CHUNK_MAX_FRAMES)
            abort();
        /* What can be read can be written again. */
        if (!chunk_writer_append(writer, &sample)) {
            chunk_writer_reset(writer);
            if (!chunk_writer_append(writer, &sample))
                abort();
        }
    }
    chunk_reader_free(reader);
    chunk_writer_free(writer);
    return 0;
}
