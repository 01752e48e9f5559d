/* Any bytes as a jitdump file: all its records, and what it says of addresses at different times. */
#include "symbol/jit_name.h"
#include "symbol/jitdump.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* What is found must be code that holds the address, with a name and lines that are there. */
static void look(const struct jitdump *dump, uint64_t address, uint64_t time, struct arena *arena)
{
    uint32_t found = code_history_find(&dump->history, address, time);
    if (found == CODE_HISTORY_NONE)
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
    const struct jit_line *line = jitdump_line(dump, found, address);
    if (line && line->file >= dump->texts.entries.length)
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    enum { MOST_LOOKS = 256 };
    struct jitdump dump;
    struct arena arena = {0};
    if (jitdump_read_image(&dump, data, size, NULL))
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
