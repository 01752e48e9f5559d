#include "assemble/answer_rows.h"

static uint32_t add_text(struct interner *interner, const char *text)
{
    return strings_add_z(&interner->profile->strings, text);
}

/* Adds the native symbol of a function. A function without a name also has a native symbol if its address range is
 * known, so that the page can show its machine code. The address is the name of this symbol. */
static bool add_native_symbol(struct interner *interner, uint32_t lib, const struct symbol_answer *answer,
                              const char *bare, uint32_t *row)
{
    *row = PROFILE_NONE;
    if (!answer->symbol && !answer->symbol_size)
        return true;
    struct native_symbol symbol = {
        .lib = lib,
        .address = (int64_t)answer->symbol_address,
        .name = add_text(interner, answer->symbol ? answer->symbol : bare),
        .size = answer->symbol_size < UINT32_MAX ? (uint32_t)answer->symbol_size : 0,
    };
    if (symbol.name != STRING_NONE)
        *row = intern_native_symbol(interner, &symbol);
    return *row != PROFILE_NONE;
}

static uint32_t add_func(struct interner *interner, uint32_t resource, const char *name, const char *file)
{
    struct func_row func = {.name = add_text(interner, name), .resource = resource, .source = PROFILE_NONE};
    if (file) {
        uint32_t text = add_text(interner, file);
        func.source = text == STRING_NONE ? PROFILE_NONE : intern_source_file(interner, text);
        if (func.source == PROFILE_NONE)
            return PROFILE_NONE;
    }
    return func.name == STRING_NONE ? PROFILE_NONE : intern_func(interner, &func);
}

bool answer_rows_add(struct interner *interner, const struct library_rows *lib, uint64_t rva,
                     const struct symbol_answers *answers, const struct symbol_answer *answer, struct row_list *frames)
{
    char bare[32];
    struct symbol_frame unknown = {.function = bare};
    snprintf(bare, sizeof(bare), "0x%" PRIx64, answer->symbol_size ? answer->symbol_address : rva);
    uint32_t symbol, count = answer->frame_count ? answer->frame_count : 1;
    if (!add_native_symbol(interner, lib->lib, answer, bare, &symbol))
        return false;
    if (count > UINT8_MAX) /* limit of the profile format for the inline depth: keep the outer frames */
        count = UINT8_MAX;
    for (uint32_t depth = 0; depth < count; depth++) {
        const struct symbol_frame *from =
            answer->frame_count ? &answers->frames.data[answer->first_frame + depth] : &unknown;
        uint32_t func = add_func(interner, lib->resource, from->function ? from->function : bare, from->file);
        struct frame_row frame = {
            .address = (int64_t)rva,
            .lib = lib->lib,
            .func = func,
            .category = lib->category,
            .subcategory = lib->subcategory,
            .native_symbol = symbol,
            .line = from->line,
            .column = from->column,
            .inline_depth = (uint8_t)depth,
        };
        uint32_t row = func == PROFILE_NONE ? PROFILE_NONE : intern_frame(interner, &frame);
        if (row == PROFILE_NONE || !array_push(frames, row))
            return false;
    }
    return true;
}
