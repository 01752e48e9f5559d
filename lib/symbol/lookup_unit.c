/*
 * Part of a lookup that reads compile units: functions, inlined calls and lines of the addresses in one unit. Any
 * thread may run it.
 */
#include "symbol/dwarf_functions.h"
#include "symbol/dwarf_lines.h"
#include "symbol/dwarf_names.h"
#include "symbol/lookup.h"

/* Work limit for .dwo files, in steps of dwarf_count_work(). The size of a .dwo file is unknown before prof opens it,
 * so the limit is fixed: about ten seconds. */
#define WORK_OF_SPLIT_UNITS (UINT64_C(1) << 31)

struct unit_tables {
    struct dwarf_functions functions;
    struct dwarf_lines lines;
    struct dwarf_names names;
    struct dwarf_line_row *rows;
};

/* Appends the frames of address i. The innermost frame has the line of the address, each other frame the line of its
 * call. */
static bool append_frames(struct dwarf_frames *frames, struct unit_tables *tables, size_t i)
{
    const struct dwarf_line_row *row = &tables->rows[i];
    uint64_t file = row->file;
    struct dwarf_frame frame = {.line = row->found ? row->line : 0, .column = row->found ? row->column : 0};
    bool has_file = row->found;
    size_t first = frames->list.length;
    uint32_t index = tables->functions.innermost[i];
    do {
        frame.file = has_file ? dwarf_lines_get_path(&tables->lines, file) : NULL;
        frame.function = NULL;
        frame.is_partial = true;
        const struct dwarf_function *function = index == DWARF_NO_FUNCTION ? NULL : &tables->functions.list.data[index];
        if (function) {
            struct dwarf_name name = dwarf_names_get(&tables->names, function->die);
            frame.function = name.text;
            frame.is_partial = !name.text || name.is_partial;
        }
        if (!array_push(&frames->list, frame))
            return false;
        has_file = function != NULL;
        file = function ? function->call_file : 0;
        frame.line = function ? function->call_line : 0;
        frame.column = function ? function->call_column : 0;
        index = function ? function->parent : DWARF_NO_FUNCTION;
    } while (index != DWARF_NO_FUNCTION && frames->list.length - first < DWARF_INLINES_MAX);
    dwarf_frames_reverse(frames, first);
    return true;
}

/* Reads the DIEs with `reader` and the line table with `lines`: for split debug info, that is the skeleton. */
static int read_unit(struct lookup_unit *unit, struct dwarf_unit_reader *reader, struct dwarf_unit_reader *lines,
                     const uint64_t *vaddrs, struct error *err)
{
    struct unit_tables tables = {.rows = calloc(unit->count + 1, sizeof(*tables.rows))};
    unit->frames.ends = calloc(unit->count + 1, sizeof(*unit->frames.ends));
    int code = tables.rows && unit->frames.ends
                   ? dwarf_functions_find(&tables.functions, reader, vaddrs, unit->count, err)
                   : error_no_memory(err);
    if (code != 0) {
        free(tables.rows);
        return code;
    }
    dwarf_lines_open(&tables.lines, lines, &unit->frames.arena);
    dwarf_lines_match(&tables.lines, vaddrs, unit->count, tables.rows);
    dwarf_names_init(&tables.names, reader, &unit->frames.arena);
    for (size_t i = 0; code == 0 && i < unit->count; i++) {
        if (!append_frames(&unit->frames, &tables, i))
            code = error_no_memory(err);
        unit->frames.ends[i] = (uint32_t)unit->frames.list.length;
    }
    dwarf_names_destroy(&tables.names);
    dwarf_lines_close(&tables.lines);
    dwarf_functions_destroy(&tables.functions);
    free(tables.rows);
    return code;
}

static void subtract_work(struct lookup *lookup, uint64_t used)
{
    uint64_t left = atomic_load(&lookup->work_left);
    while (!atomic_compare_exchange_weak(&lookup->work_left, &left, used < left ? left - used : 0))
        ;
}

/* Subtracts the work of opening a reader, and gives the reader the remaining work. Several threads may get the same
 * remaining work, and together exceed the limit a little. If each thread reserved its work, the first units of an
 * undamaged file could leave none for the others. */
static uint64_t limit_reader_work(struct lookup *lookup, struct dwarf_unit_reader *reader)
{
    subtract_work(lookup, DWARF_UNIT_WORK_MAX - reader->work_left);
    uint64_t left = atomic_load(&lookup->work_left);
    if (left < reader->work_left)
        reader->work_left = left;
    reader->stop = lookup->stop;
    return reader->work_left;
}

/* A skeleton without its split unit still has lines, and some compilers keep inlined functions in it. */
static int read_split_unit(struct lookup *lookup, struct lookup_unit *unit, struct dwarf_unit_reader *skeleton,
                           const uint64_t *vaddrs, struct error *err)
{
    struct dwarf_split_unit split = {.work_done = 0};
    struct error why = {""};
    if (!atomic_exchange(&lookup->has_split_units, true))
        atomic_fetch_add(&lookup->work_left, WORK_OF_SPLIT_UNITS);
    const struct dwarf_split_file *package = lookup->has_package ? &lookup->package : NULL;
    int opened = atomic_load(&lookup->work_left)
                     ? dwarf_split_unit_open(&split, skeleton, package, lookup->lib, lookup->files.search, &why)
                     : error_set(&why, E2BIG, "the .dwo files take too long to read");
    subtract_work(lookup, split.work_done);
    if (opened != 0) {
        unit->problem = arena_copy(&unit->frames.arena, why.text, strlen(why.text));
        return read_unit(unit, skeleton, skeleton, vaddrs, err);
    }
    uint64_t granted = limit_reader_work(lookup, &split.reader);
    int code = read_unit(unit, &split.reader, skeleton, vaddrs, err);
    dwarf_stop_reading(skeleton, split.reader.verdict);
    subtract_work(lookup, granted - split.reader.work_left);
    if (bytes_ran_out_of_memory(&split.own.elf.bytes))
        dwarf_stop_reading(skeleton, DWARF_NO_MEMORY);
    dwarf_split_unit_close(&split);
    return code;
}

int lookup_read_unit(struct lookup *lookup, size_t index, struct error *err)
{
    struct lookup_unit *unit = &lookup->units.data[index];
    uint64_t *vaddrs = malloc((unit->count + 1) * sizeof(*vaddrs));
    if (!vaddrs)
        return error_no_memory(err);
    for (size_t i = 0; i < unit->count; i++)
        vaddrs[i] = lookup->job->rvas[lookup->by_unit[unit->first + i]] + lookup->dwarf_base;
    struct dwarf_unit_reader reader;
    int code = dwarf_unit_reader_init(&reader, &lookup->dwarf, &lookup->dwarf.units.data[unit->unit]);
    uint64_t granted = limit_reader_work(lookup, &reader);
    if (code == 0 && reader.dwo_name.form)
        code = read_split_unit(lookup, unit, &reader, vaddrs, err);
    else if (code == 0)
        code = read_unit(unit, &reader, &reader, vaddrs, err);
    else if (code == -EINVAL || code == -ENOMEM)
        code = 0; /* the unit has no frames, for the reason in the verdict */
    unit->verdict = reader.verdict;
    subtract_work(lookup, granted - reader.work_left);
    dwarf_unit_reader_destroy(&reader);
    free(vaddrs);
    return code;
}

/* Reads the line table of the unit again, at the starts of symbols, which lookup_read_unit() did not know yet. */
static int find_files(struct lookup *lookup, struct lookup_unit *unit, const uint64_t *starts, const uint32_t *indexes,
                      size_t count, const char **files, struct error *err)
{
    struct dwarf_unit_reader reader;
    struct dwarf_lines lines;
    struct dwarf_line_row *rows = calloc(count + 1, sizeof(*rows));
    if (!rows)
        return error_no_memory(err);
    int code = dwarf_unit_reader_init(&reader, &lookup->dwarf, &lookup->dwarf.units.data[unit->unit]);
    uint64_t granted = limit_reader_work(lookup, &reader);
    if (code == 0) {
        dwarf_lines_open(&lines, &reader, &unit->frames.arena);
        dwarf_lines_match_starts(&lines, starts, count, rows);
        for (size_t i = 0; i < count; i++)
            files[indexes[i]] = rows[i].found ? dwarf_lines_get_path(&lines, rows[i].file) : NULL;
        dwarf_lines_close(&lines);
    }
    subtract_work(lookup, granted - reader.work_left);
    dwarf_unit_reader_destroy(&reader);
    free(rows);
    return 0;
}

static bool has_only_line(const struct lookup *lookup, const struct lookup_unit *unit, size_t i)
{
    const struct dwarf_frames *frames = &unit->frames;
    uint32_t first = frames->ends ? dwarf_frames_get_first(frames, i) : 0;
    return frames->ends && frames->ends[i] == first + 1 && !frames->list.data[first].function &&
           frames->list.data[first].file && lookup->symbols[lookup->by_unit[unit->first + i]].function;
}

int lookup_find_function_files(struct lookup *lookup, const char **files, struct error *err)
{
    uint64_t *starts = malloc((lookup->job->count + 1) * sizeof(*starts));
    uint32_t *indexes = malloc((lookup->job->count + 1) * sizeof(*indexes));
    int code = starts && indexes ? 0 : error_no_memory(err);
    for (size_t u = 0; code == 0 && u < lookup->units.length; u++) {
        struct lookup_unit *unit = &lookup->units.data[u];
        size_t count = 0;
        for (size_t i = 0; unit->problem && i < unit->count; i++) {
            uint32_t index = lookup->by_unit[unit->first + i];
            uint64_t start = lookup->symbols[index].start + lookup->dwarf_base;
            if (!has_only_line(lookup, unit, i) || (count && start < starts[count - 1]))
                continue;
            starts[count] = start;
            indexes[count++] = index;
        }
        if (count)
            code = find_files(lookup, unit, starts, indexes, count, files, err);
    }
    free(starts);
    free(indexes);
    return code;
}

static char *find_unit_source(const struct lookup *lookup, const struct lookup_unit *unit, const char *file,
                              size_t *length)
{
    struct dwarf_unit_reader reader;
    struct dwarf_lines lines;
    struct arena arena = {0};
    char *text = NULL;
    if (dwarf_unit_reader_init(&reader, &lookup->dwarf, &lookup->dwarf.units.data[unit->unit]) == 0) {
        dwarf_lines_open(&lines, &reader, &arena);
        text = dwarf_lines_load_source(&lines, file, length);
        dwarf_lines_close(&lines);
    }
    dwarf_unit_reader_destroy(&reader);
    arena_destroy(&arena);
    return text;
}

char *lookup_find_embedded_source(const struct lookup *lookup, const char *file, size_t *length)
{
    char *text = NULL;
    for (size_t i = 0; !text && i < lookup->units.length; i++)
        text = find_unit_source(lookup, &lookup->units.data[i], file, length);
    return text;
}
