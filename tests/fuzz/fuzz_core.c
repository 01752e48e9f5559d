/* Any bytes as a core file: its threads, mappings, memory and build IDs. */
#include "elf/core_file.h"

#include <elf.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void read_core(const struct core_file *core)
{
    unsigned char bytes[4096];
    for (size_t i = 0; i < core->threads.length; i++)
        if (core_file_read_memory(core, core->threads.data[i].registers.rsp, bytes, sizeof(bytes)) > sizeof(bytes))
            abort();
    for (size_t i = 0; i < core->mappings.length; i++) {
        const struct core_mapping *mapping = &core->mappings.data[i];
        if (mapping->start >= mapping->end || strlen(mapping->path) > INT_MAX ||
            core_file_read_build_id(core, mapping->start, bytes, 20) > 20)
            abort();
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    unsigned char *image = malloc(size + 1); /* of its own, so that a read behind it is seen */
    struct elf_file elf;
    struct core_file core;
    if (!image)
        return 0;
    memcpy(image, data, size);
    if (elf_file_open_image(&elf, image, size, "fuzz", NULL) == 0) {
        if (core_file_read(&core, &elf, EM_X86_64, "fuzz", NULL) == 0)
            read_core(&core);
        core_file_destroy(&core);
    }
    free(image);
    return 0;
}
