/*
 * Any bytes as the ELF file whose code is disassembled: its tables of symbols and relocations, and whatever stands in
 * its first executable section.
 */
#include "symbol/disassemble.h"
#include "elf/elf_file.h"

#include <elf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* The library-relative address of the first code; 0 if there is none. */
static uint64_t first_code(const unsigned char *image, size_t size)
{
    struct elf_file file;
    uint64_t start = 0;
    if (elf_file_open_image(&file, image, size, "fuzz", NULL) != 0)
        return 0;
    for (size_t i = 0; i < file.sections.length && !start; i++)
        if ((file.sections.data[i].flags & SHF_EXECINSTR) && file.sections.data[i].bytes.size)
            start = file.sections.data[i].address - file.base;
    elf_file_close(&file);
    return start;
}

/* What must hold of every answer: the instructions lie one behind the other, and all have their texts. */
static void check(const struct disassembly *disassembly)
{
    uint64_t end = 0;
    for (size_t i = 0; i < disassembly->instructions.length; i++) {
        const struct disassembled *row = &disassembly->instructions.data[i];
        if (i ? row->offset <= end : row->offset != 0)
            abort();
        end = row->offset;
        for (size_t s = 0; s < disassembly->syntax_count; s++)
            if (!row->texts[s] || !row->texts[s][0])
                abort();
    }
    if (disassembly->instructions.length && disassembly->size <= end)
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct symbolizer *names;
    struct error err;
    if (!names)
        names = symbolizer_new(&(struct symbolizer_options){.threads = 1, .skip_inlines_and_lines = true});
    unsigned char *image = malloc(size + 1); /* of its own, so that a read behind it is seen */
    if (!names || !image)
        abort();
    memcpy(image, data, size);
    struct disassemble_request request = {
        .lib = {.kind = SYMBOL_LIB_VDSO, .name = "fuzz", .image = image, .image_size = size},
        .start = first_code(image, size),
        .size = 256,
        .until_function_end = size % 2 == 0};
    struct disassembly disassembly;
    int code = disassemble(&disassembly, &request, names, &err);
    if (code == 0)
        check(&disassembly);
    else if (code != -ENOENT && code != -ENOTSUP && code != -E2BIG)
        abort();
    disassembly_destroy(&disassembly);
    free(image);
    return 0;
}
