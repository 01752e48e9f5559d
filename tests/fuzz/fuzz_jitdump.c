/* Any bytes as a jitdump file: reads all its records, looks up addresses at different times, and walks through its
 * code. */
#include "process/jitdump_unwind.h"
#include "support/memory_file.h"
#include "symbol/jit_name.h"
#include "symbol/jitdump.h"
#include "unwind/module.h"

#include <stdlib.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* What is found must be code that holds the address, with a name and lines that are there. */
static void look(const struct jitdump *dump, uint64_t address, uint64_t time, struct arena *arena)
{
    uint32_t found = jit_history_find(&dump->history, address, time);
    if (found == JIT_HISTORY_NONE)
        return;
    if (found >= dump->codes.length)
        abort();
    const struct jit_code *code = &dump->codes.data[found];
    if (address < code->start || address - code->start >= code->size || code->name >= dump->texts.entries.length)
        abort();
    struct jit_name name;
    const struct string_entry *text = &dump->texts.entries.data[code->name];
    if (jit_name_parse(&name, text->text, text->length, arena) || !name.function)
        abort();
    const struct jit_line *line = jitdump_find_line(dump, found, address);
    if (line && line->file >= dump->texts.entries.length)
        abort();
}

/* Follows the file as it grows by halves, into a process that has compiled code and a library. */
static void follow(const uint8_t *data, size_t size)
{
    struct address_space space = {0};
    struct mapping code = {.start = 0x1000, .end = 0x100000, .lib = MAPPING_NO_LIB};
    struct mapping library = {.start = 0x4000, .end = 0x5000, .lib = 1};
    int fd = memory_file("", 0);
    struct jitdump_unwind *frames = jitdump_unwind_new(fd);
    if (!frames || !address_space_map(&space, &code) || !address_space_map(&space, &library))
        abort();
    for (size_t at = 0, part; at < size; at += part) {
        part = (size - at + 1) / 2;
        if (pwrite(fd, data + at, part, (off_t)at) != (ssize_t)part)
            abort();
        jitdump_unwind_follow(frames, &space);
    }
    const struct mapping *mapping = address_space_find_at_or_above(&space, 0);
    for (; mapping; mapping = address_space_find_at_or_above(&space, mapping->end)) {
        struct cfi_fde fde;
        struct cfi_row row;
        struct unwind_work work = {0};
        uint64_t vaddr = mapping->module ? unwind_module_get_base(mapping->module) + mapping->rva : 0;
        if (mapping->module && unwind_module_find_fde(mapping->module, vaddr, &fde))
            cfi_find_row(&fde, vaddr, &row, &work);
    }
    if (address_space_find(&space, 0x4000)->lib != 1)
        abort();
    jitdump_unwind_free(frames);
    address_space_destroy(&space);
    close(fd);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    enum { MOST_LOOKS = 256 };
    follow(data, size);
    struct jitdump dump;
    struct arena arena = {0};
    int fd = memory_file(data, size), result = jitdump_read(&dump, fd, NULL);
    close(fd);
    if (result)
        return 0;
    for (size_t i = 0; i < dump.codes.length && i < MOST_LOOKS; i++) {
        const struct jit_code *code = &dump.codes.data[i];
        uint64_t time = i < dump.history.changes.length ? dump.history.changes.data[i].time : 0;
        look(&dump, code->start, time, &arena);
        look(&dump, code->start + code->size - 1, UINT64_MAX, &arena);
        look(&dump, code->start + code->size, 0, &arena);
    }
    look(&dump, 0, 0, &arena);
    look(&dump, UINT64_MAX, UINT64_MAX, &arena);
    arena_destroy(&arena);
    jitdump_destroy(&dump);
    return 0;
}
