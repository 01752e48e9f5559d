/*
 * Part of a lookup for Go programs: without DWARF (go build -ldflags=-w, or strip) the Go runtime's own table still has
 * functions, files, lines and inlined calls.
 */
#include "elf/go_functions.h"
#include "symbol/lookup.h"

enum { FRAMES_MAX = 256 };

/* Marks the addresses that lie in no compile unit. */
static bool *mark_addresses_without_unit(const struct lookup *lookup)
{
    size_t count = lookup->job->count;
    bool *without = malloc(count + 1);
    if (!without)
        return NULL;
    memset(without, true, count + 1);
    for (size_t u = 0; u < lookup->units.length; u++)
        for (size_t i = 0; i < lookup->units.data[u].count; i++)
            without[lookup->by_unit[lookup->units.data[u].first + i]] = false;
    return without;
}

static const char *copy_frame_text(struct arena *arena, const char *text, bool *no_memory)
{
    const char *copy = text ? arena_copy(arena, text, strlen(text)) : NULL;
    *no_memory |= text && !copy;
    return copy;
}

static bool append_frames(struct dwarf_frames *to, const struct go_frame *frames, size_t count)
{
    bool no_memory = false;
    for (size_t i = count; i-- > 0;) {
        struct dwarf_frame frame = {.function = copy_frame_text(&to->arena, frames[i].name, &no_memory),
                                    .file = copy_frame_text(&to->arena, frames[i].file, &no_memory),
                                    .line = frames[i].line};
        if (no_memory || !array_push(&to->list, frame))
            return false;
    }
    return true;
}

static bool set_symbol(struct lookup *lookup, size_t i, const struct go_function *function)
{
    struct lookup_symbol *symbol = &lookup->symbols[i];
    bool no_memory = false;
    if (symbol->symbol)
        return true;
    *symbol = (struct lookup_symbol){.symbol = copy_frame_text(&lookup->arena, function->name, &no_memory),
                                     .start = function->start - lookup->files.base,
                                     .size = function->end - function->start};
    symbol->function = symbol->symbol;
    return !no_memory;
}

static bool read_address(struct lookup *lookup, struct go_functions *functions, size_t i, bool with_frames)
{
    struct go_function function;
    struct go_frame frames[FRAMES_MAX];
    uint64_t vaddr = lookup->job->rvas[i] + lookup->files.base;
    if (!go_functions_find(functions, vaddr, &function) || function.start < lookup->files.base)
        return true;
    if (!set_symbol(lookup, i, &function))
        return false;
    size_t count = with_frames ? go_functions_list_frames(functions, &function, vaddr, frames, FRAMES_MAX) : 0;
    return append_frames(&lookup->go, frames, count);
}

/* Whether some address needs the table: opening it takes longer than reading a few addresses. */
static bool is_anything_missing(const struct lookup *lookup, const bool *without_unit)
{
    for (size_t i = 0; i < lookup->job->count; i++)
        if ((without_unit[i] && lookup->with_lines) || !lookup->symbols[i].symbol)
            return true;
    return false;
}

static int read_table(struct lookup *lookup, const bool *without_unit, struct error *err)
{
    struct go_functions functions;
    struct error why = {""};
    int code = lookup->files.has_mapped ? go_functions_open(&functions, &lookup->files.mapped, &why) : -ENOENT;
    if (code != 0) {
        if (code == -EINVAL && !lookup->problem[0])
            snprintf(lookup->problem, sizeof(lookup->problem), "%.255s", why.text);
        return code == -ENOMEM ? error_no_memory(err) : 0;
    }
    size_t count = lookup->job->count;
    lookup->go.ends = calloc(count + 1, sizeof(*lookup->go.ends));
    bool complete = lookup->go.ends != NULL;
    for (size_t i = 0; complete && i < count; i++) {
        complete = read_address(lookup, &functions, i, without_unit[i] && lookup->with_lines);
        lookup->go.ends[i] = (uint32_t)lookup->go.list.length;
    }
    lookup->job->answers.has_debug_info |= complete && lookup->go.list.length > 0;
    go_functions_close(&functions);
    return complete ? 0 : error_no_memory(err);
}

int lookup_read_go_table(struct lookup *lookup, struct error *err)
{
    bool *without_unit = mark_addresses_without_unit(lookup);
    if (!without_unit)
        return error_no_memory(err);
    int code = is_anything_missing(lookup, without_unit) ? read_table(lookup, without_unit, err) : 0;
    free(without_unit);
    return code;
}
