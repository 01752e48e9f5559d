/*
 * Hostile ELF files with symbols and DWARF: the steps of one lookup, without threads.
 */
#include "elf/elf_relocate.h"
#include "symbol/lookup.h"

#include <elf.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Only kernel modules get as far as relocation, and these are found by their build id alone. */
static void relocate(const unsigned char *image, size_t size)
{
    struct elf_file file;
    struct dwarf_file dwarf;
    if (elf_file_open_image(&file, image, size, "fuzz", NULL) != 0)
        return;
    elf_assign_module_addresses(&file);
    if (file.type == ET_REL && dwarf_file_open(&dwarf, &file, NULL) == 0)
        dwarf_file_close(&dwarf);
    elf_file_close(&file);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    enum { COUNT = 768 };
    uint64_t rvas[COUNT];
    for (size_t i = 0; i < COUNT; i++)
        rvas[i] = i * 8;                     /* where small programs have their code */
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
        lookup_match_symbols(&lookup, NULL, &err);
        for (size_t i = 0; i < lookup.units.length; i++)
            lookup_read_unit(&lookup, i, &err);
        if (lookup_fill_answers(&lookup, &err) == 0)
            lookup_describe_problems(&lookup, &job.answers);
        size_t length;
        free(lookup_find_embedded_source(&lookup, "/src/s.cpp", &length));
    }
    lookup_close(&lookup);
    relocate(image, size);
    symbol_answers_destroy(&job.answers);
    free(image);
    return 0;
}
