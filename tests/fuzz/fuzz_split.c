/*
 * A program and its split debug info, as hostile as they come: four bytes with the size of the program, the program,
 * the .dwo or .dwp file.
 */
#include "symbol/dwarf_functions.h"
#include "symbol/dwarf_names.h"
#include "symbol/dwarf_split.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { COUNT = 768, UNITS = 4, WORK = 1 << 20 };

/* Of its own, so that a read behind it is seen. */
static unsigned char *copy_of(const uint8_t *data, size_t size)
{
    unsigned char *copy = malloc(size ? size : 1);
    if (copy && size)
        memcpy(copy, data, size);
    return copy;
}

static void name_functions(struct dwarf_unit_reader *reader, uint64_t base)
{
    uint64_t vaddrs[COUNT];
    struct arena arena = {0};
    struct dwarf_functions functions;
    struct dwarf_names names;
    for (size_t i = 0; i < COUNT; i++)
        vaddrs[i] = base + i * 2; /* where small programs have their code */
    reader->work_left = WORK;
    if (dwarf_functions_find(&functions, reader, vaddrs, COUNT, NULL) != 0)
        return;
    dwarf_names_init(&names, reader, &arena);
    for (size_t i = 0; i < functions.list.length; i++)
        dwarf_names_get(&names, functions.list.data[i].die);
    dwarf_names_destroy(&names);
    dwarf_functions_destroy(&functions);
    arena_destroy(&arena);
}

static void read_split_units(const struct dwarf_file *linked, const struct dwarf_split_file *file, uint64_t base)
{
    for (size_t i = 0; i < linked->units.length && i < UNITS; i++) {
        struct dwarf_unit_reader skeleton;
        struct dwarf_split_unit split = {.work_done = 0};
        if (dwarf_unit_reader_init(&skeleton, linked, &linked->units.data[i]) == 0 &&
            dwarf_split_unit_open_in(&split, file, &skeleton, NULL) == 0) {
            name_functions(&split.reader, base);
            dwarf_split_unit_close(&split);
        }
        dwarf_unit_reader_destroy(&skeleton);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct cursor c = cursor_of(data, size);
    uint32_t program_size = cursor_u32(&c);
    const uint8_t *program_bytes = cursor_bytes(&c, program_size);
    if (!program_bytes)
        return 0;
    size_t split_size = cursor_left(&c);
    unsigned char *program = copy_of(program_bytes, program_size), *split = copy_of(c.at, split_size);
    struct elf_file elf;
    struct dwarf_file linked;
    struct dwarf_split_file file;
    if (program && split && elf_file_open_image(&elf, program, program_size, "fuzz", NULL) == 0) {
        if (dwarf_file_open(&linked, &elf, NULL) == 0) {
            if (dwarf_split_file_open_image(&file, split, split_size, NULL) == 0) {
                read_split_units(&linked, &file, elf.base);
                dwarf_split_file_close(&file);
            }
            dwarf_file_close(&linked);
        }
        elf_file_close(&elf);
    }
    free(program);
    free(split);
    return 0;
}
