#include "spool/counter_writer.h"

#include <errno.h>
#include <stdlib.h>

int counter_writer_write(struct spool_writer *spool, const struct counter_reading *reading, struct error *err)
{
    struct sample sample;
    uint64_t few[COUNTER_KINDS], *frames = few;
    if (reading->count > CHUNK_MAX_FRAMES)
        return error_set(err, EINVAL, "cannot store %zu counters at once", reading->count);
    if (reading->count > COUNTER_KINDS && !(frames = malloc(reading->count * sizeof(*frames))))
        return error_no_memory(err);
    counter_reading_to_sample(reading, frames, &sample);
    int code = spool_writer_sample(spool, &sample, err);
    if (frames != few)
        free(frames);
    return code;
}
