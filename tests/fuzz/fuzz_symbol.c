/*
 * ELF files with symbols and DWARF, as hostile as they come: the work of one lookup, piece by piece, without the
 * threads.
 */
#include "symbol/lookup.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    enum { COUNT = 768 };
    uint64_t rvas[COUNT];
    for (size_t i = 0; i < COUNT; i++)
        rvas[i] = 0x100 + i * 8;             /* where small programs have their code */
    unsigned char *image = malloc(size + 1); /* of its own, so that a read behind it is seen */
    if (!image)
        return 0;
    memcpy(image, data, size);
    struct symbol_job job = {.lib = {.kind = SYMBOL_LIB_VDSO, .name = "fuzz", .image = image, .image_size = size},
                             .rvas = rvas,
                             .count = COUNT};
    struct lookup lookup;
    struct error err;
    lookup_open_files(&lookup, &job.lib, NULL);
    if (lookup_open(&lookup, &job, true, &err) == 0) {
        lookup_symbols(&lookup, NULL, &err);
        for (size_t i = 0; i < lookup.units.length; i++)
            lookup_unit(&lookup, i, &err);
        if (lookup_answer(&lookup, &err) == 0)
            lookup_conclude(&lookup, &job.answers);
    }
    lookup_close(&lookup);
    symbol_answers_destroy(&job.answers);
    free(image);
    return 0;
}
