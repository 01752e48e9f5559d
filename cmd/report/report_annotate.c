/*
 * `prof report --annotate FUNCTION`: the machine code of a function with the weight of each instruction, below its
 * source lines. The code of an inlined function is part of other functions: the command prints those functions, with
 * the weights of the inlined instructions only.
 */
#include "cmd/report/report_kinds.h"

#include "cmd/report/report_text.h"
#include "cmd/report/report_source.h"
#include "cmd/report/report_rows.h"
#include "cmd/report/report_tree.h"
#include "cmd/common/ui.h"

#include "assemble/profile_addresses.h"
#include "base/json_write.h"
#include "symbol/disassemble.h"
#include "tree/address_costs.h"

struct source_file {
    const char *name;
    struct source_text text;
};

struct annotator {
    const struct report *report;
    const struct native_symbol *symbol;
    struct symbolizer *places, *names; /* `names` finds symbols without reading debug info */
    ARRAY(struct source_file) files;
};

/* The code of one symbol, with the weight and the source line of each instruction. */
struct annotation {
    struct disassembly code;
    ARRAY(struct address_cost) costs;
    struct symbol_answers places;
};

/* ---- finding the code ---- */

static int identify_library(const struct annotator *annotator, struct identified_library *out, struct error *err)
{
    const struct report *report = annotator->report;
    if (annotator->symbol->lib >= report->profile->libs.length)
        return error_set(err, ENOENT, "the profile does not name its library");
    const struct named_library named = get_saved_library(report->profile, annotator->symbol->lib);
    return named_library_identify(&named, out, err);
}

/* Sums the weights of the function's frames in the symbol, including the calls inlined into the function. */
static int find_costs(const struct annotator *annotator, struct annotation *out, struct error *err)
{
    const struct report *report = annotator->report;
    const struct counted_stacks counted = engine_get_counted_stacks(report->engine);
    ARRAY(uint32_t) starts = {0};
    struct address_costs costs = {0};
    bool enough = true;
    for (size_t i = 0; enough && i < out->code.instructions.length; i++) {
        uint64_t address = out->code.start + out->code.instructions.data[i].offset;
        uint64_t start = address - (uint64_t)annotator->symbol->address;
        enough = array_push(&out->costs, (struct address_cost){.address = (int64_t)address}) &&
                 (start > UINT32_MAX || array_push(&starts, (uint32_t)start));
    }
    struct address_request request = {.symbol = (uint32_t)(annotator->symbol - report->profile->native_symbols.data),
                                      .starts = starts.data,
                                      .start_count = starts.length,
                                      .selection = {NULL, report->focus.index}};
    int code = enough ? address_costs_compute(&costs, report->profile, &counted, &request, err) : error_no_memory(err);
    for (size_t i = 0, row = 0; !code && i < out->costs.length; i++) {
        while (row < costs.rows.length && costs.rows.data[row].address < out->costs.data[i].address)
            row++;
        if (row < costs.rows.length && costs.rows.data[row].address == out->costs.data[i].address)
            out->costs.data[i] = costs.rows.data[row];
    }
    address_costs_destroy(&costs);
    array_free(&starts);
    return code;
}

static int find_places(const struct annotator *annotator, const struct symbol_lib *lib, struct annotation *out,
                       struct error *err)
{
    ARRAY(uint64_t) addresses = {0};
    bool enough = true;
    for (size_t i = 0; enough && i < out->costs.length; i++)
        enough = array_push(&addresses, (uint64_t)out->costs.data[i].address);
    int code = enough ? symbolizer_lookup(annotator->places, lib, addresses.data, addresses.length, &out->places, err)
                      : error_no_memory(err);
    array_free(&addresses);
    return code;
}

static int annotate_symbol(const struct annotator *annotator, struct annotation *out, struct error *err)
{
    struct identified_library lib;
    int code = identify_library(annotator, &lib, err);
    if (code)
        return code;
    const struct disassemble_request request = {.lib = lib.symbol,
                                                .search = annotator->report->search,
                                                .start = (uint64_t)annotator->symbol->address,
                                                .size = annotator->symbol->size ? annotator->symbol->size : 1,
                                                .until_function_end = annotator->symbol->size == 0};
    code = disassemble(&out->code, &request, annotator->names, err);
    if (!code)
        code = find_costs(annotator, out, err);
    return code ? code : find_places(annotator, &lib.symbol, out, err);
}

static void destroy_annotation(struct annotation *annotation)
{
    disassembly_destroy(&annotation->code);
    array_free(&annotation->costs);
    symbol_answers_destroy(&annotation->places);
}

/* Returns the innermost function and the line of an instruction; zeros if unknown. */
static struct symbol_frame find_place(const struct annotation *annotation, size_t instruction)
{
    if (instruction >= annotation->places.count)
        return (struct symbol_frame){0};
    const struct symbol_answer *answer = &annotation->places.answers[instruction];
    if (!answer->frame_count)
        return (struct symbol_frame){0};
    return annotation->places.frames.data[answer->first_frame + answer->frame_count - 1];
}

static bool is_inlined(const struct annotation *annotation, size_t instruction)
{
    return instruction < annotation->places.count && annotation->places.answers[instruction].frame_count > 1;
}

/* ---- printing ---- */

enum { CONTEXT_INSTRUCTIONS = 3, ADDRESS_COLUMNS = 12, NAME_COLUMNS = 60 };

/* Returns whether to print the instruction: it or an adjacent instruction has enough weight. */
static bool is_shown(const struct report *report, const struct annotation *annotation, size_t instruction)
{
    size_t first = instruction < CONTEXT_INSTRUCTIONS ? 0 : instruction - CONTEXT_INSTRUCTIONS;
    for (size_t i = first; i < annotation->costs.length && i <= instruction + CONTEXT_INSTRUCTIONS; i++)
        if (!report_is_small(report, annotation->costs.data[i].total))
            return true;
    return false;
}

static const char *read_source_line(struct annotator *annotator, const char *file, uint32_t line)
{
    for (size_t i = 0; i < annotator->files.length; i++)
        if (strcmp(annotator->files.data[i].name, file) == 0)
            return source_text_get_line(&annotator->files.data[i].text, line);
    struct source_file *added = array_push_zero(&annotator->files);
    if (!added)
        return NULL;
    added->name = file;
    source_text_read(&added->text, annotator->report, file);
    return source_text_get_line(&added->text, line);
}

static void free_files(struct annotator *annotator)
{
    for (size_t i = 0; i < annotator->files.length; i++)
        source_text_destroy(&annotator->files.data[i].text);
    array_free(&annotator->files);
}

/* Prints text after `used` columns, and truncates it at the edge of the terminal. */
static unsigned print_truncated(const struct report *report, const char *text, unsigned used)
{
    if (report->width && report->width <= used)
        return used;
    return used + report_print_text(report, text, report->width ? report->width - used : 0);
}

/* Formats a source line: "trace.cpp:12 (dot) return a.x * b.x + a.y * b.y;" */
static void print_line(struct annotator *annotator, const struct annotation *annotation, size_t instruction)
{
    const struct report *report = annotator->report;
    struct symbol_frame place = find_place(annotation, instruction);
    const char *slash = strrchr(place.file, '/'), *text = read_source_line(annotator, place.file, place.line);
    char number[16];
    unsigned used = report->figures_columns;
    snprintf(number, sizeof(number), ":%" PRIu32, place.line);
    ui_print("%*s", (int)report->figures_columns, "");
    used = print_truncated(report, slash ? slash + 1 : place.file, used);
    used = print_truncated(report, number, used);
    if (is_inlined(annotation, instruction) && place.function) {
        used = print_truncated(report, " (", used);
        used += report_print_name(report, place.function, NAME_COLUMNS);
        used = print_truncated(report, ")", used);
    }
    if (text) {
        used = print_truncated(report, "  ", used);
        print_truncated(report, text, used);
    }
    putchar('\n');
}

static void print_instruction(const struct report *report, const struct annotation *annotation, size_t instruction)
{
    const struct address_cost *cost = &annotation->costs.data[instruction];
    if (cost->total != 0 || cost->self != 0)
        report_print_weights(report, cost->total, cost->self);
    else
        ui_print("%*s", (int)report->figures_columns, "");
    ui_print("%*" PRIx64 "  ", ADDRESS_COLUMNS - 2, (uint64_t)cost->address);
    print_truncated(report, annotation->code.instructions.data[instruction].texts[0],
                    report->figures_columns + ADDRESS_COLUMNS);
    putchar('\n');
}

static bool is_same_line(const struct symbol_frame *a, const struct symbol_frame *b)
{
    return a->line == b->line && a->file && b->file && strcmp(a->file, b->file) == 0;
}

static void print_listing(struct annotator *annotator, const struct annotation *annotation)
{
    const struct report *report = annotator->report;
    struct symbol_frame last = {0};
    bool is_gap = false;
    for (size_t i = 0; i < annotation->costs.length; i++) {
        if (!is_shown(report, annotation, i)) {
            is_gap = true;
            continue;
        }
        if (is_gap)
            ui_print("%*s...\n", (int)report->figures_columns, "");
        struct symbol_frame place = find_place(annotation, i);
        if (place.file && place.line && (is_gap || !is_same_line(&place, &last)))
            print_line(annotator, annotation, i);
        print_instruction(report, annotation, i);
        last = place;
        is_gap = false;
    }
    if (is_gap)
        ui_print("%*s...\n", (int)report->figures_columns, "");
    free_files(annotator); /* the annotation owns the names of the files */
}

static void print_symbol(struct annotator *annotator, const struct symbol_cost *cost)
{
    const struct report *report = annotator->report;
    uint32_t lib = annotator->symbol->lib;
    struct annotation annotation = {0};
    struct error err = {0};
    report_print_weights(report, cost->total, cost->self);
    unsigned used =
        print_truncated(report, profile_text(report->profile, annotator->symbol->name), report->figures_columns);
    if (lib < report->profile->libs.length) {
        used = print_truncated(report, "  [", used);
        used = print_truncated(report, profile_text(report->profile, report->profile->libs.data[lib].name), used);
        print_truncated(report, "]", used);
    }
    putchar('\n');
    if (annotate_symbol(annotator, &annotation, &err) == 0) {
        print_listing(annotator, &annotation);
    } else {
        ui_print("%*sno machine code: ", (int)report->figures_columns, "");
        report_print_text(report, err.text, 0);
        putchar('\n');
    }
    destroy_annotation(&annotation);
}

/* ---- JSON ---- */

static void write_instructions(struct json_writer *json, const struct annotation *annotation)
{
    json_member_open(json, "instructions", '[');
    for (size_t i = 0; i < annotation->costs.length; i++) {
        const struct address_cost *cost = &annotation->costs.data[i];
        struct symbol_frame place = find_place(annotation, i);
        json_open(json, '{');
        json_member_double(json, "address", (double)cost->address);
        json_member_text(json, "text", annotation->code.instructions.data[i].texts[0]);
        json_member_double(json, "total", cost->total);
        json_member_double(json, "self", cost->self);
        json_member_text(json, "function", place.function);
        json_member_text(json, "file", place.file);
        json_member_double(json, "line", place.line);
        json_close(json, '}');
    }
    json_close(json, ']');
}

static void write_symbol(struct json_writer *json, const struct annotator *annotator, const struct symbol_cost *cost)
{
    const struct report *report = annotator->report;
    uint32_t lib = annotator->symbol->lib;
    struct annotation annotation = {0};
    struct error err = {0};
    json_open(json, '{');
    json_member_text(json, "name", profile_text(report->profile, annotator->symbol->name));
    json_member_text(json, "lib",
                     lib < report->profile->libs.length
                         ? profile_text(report->profile, report->profile->libs.data[lib].name)
                         : NULL);
    json_member_double(json, "total", cost->total);
    json_member_double(json, "self", cost->self);
    if (annotate_symbol(annotator, &annotation, &err) == 0)
        write_instructions(json, &annotation);
    else
        json_member_text(json, "problem", err.text);
    json_close(json, '}');
    destroy_annotation(&annotation);
}

/* ---- all symbols of the function ---- */

static int open_symbolizers(struct annotator *annotator, struct error *err)
{
    struct symbolizer_options options = {.use_cache = true, .search = annotator->report->search};
    annotator->places = symbolizer_new(&options);
    options.skip_inlines_and_lines = true;
    annotator->names = annotator->places ? symbolizer_new(&options) : NULL;
    return annotator->names ? 0 : error_no_memory(err);
}

/* Prints JSON to `json`, or NULL (prints text). */
static int write_symbols(const struct report *report, struct json_writer *json, struct error *err)
{
    const struct counted_stacks counted = engine_get_counted_stacks(report->engine);
    const struct frame_selection all = {NULL, PROFILE_NONE};
    struct symbol_costs symbols = {0};
    struct annotator annotator = {.report = report};
    int code = symbol_costs_compute(&symbols, report->profile, &counted, report->focus.index, all, err);
    if (!code && symbols.length == 0 && !json)
        code = error_set(
            err, ENOENT,
            "the profile has no addresses for the code of %s (Python code has none, JIT code only if its compiler writes a jitdump file); '--lines FILE' shows the lines of a source file with their time",
            report_get_focus_name(report));
    if (!code)
        code = open_symbolizers(&annotator, err);
    if (!code && !json)
        report_print_columns(report, "instruction");
    struct row_counts counts = {0};
    for (size_t i = 0; !code && i < symbols.length; i++) {
        const struct symbol_cost *cost = &symbols.data[i];
        annotator.symbol = &report->profile->native_symbols.data[cost->symbol];
        if (json)
            write_symbol(json, &annotator, cost);
        else if (i == 0 || !report_is_small(report, cost->total))
            print_symbol(&annotator, cost);
        else
            counts.light++;
    }
    if (!code && !json)
        report_print_omissions(report, &counts, "function");
    symbolizer_free(annotator.names);
    symbolizer_free(annotator.places);
    array_free(&symbols);
    return code;
}

int report_print_annotation(const struct report *report, struct error *err)
{
    return write_symbols(report, NULL, err);
}

int report_write_annotation(struct json_writer *json, const struct report *report, struct error *err)
{
    json_member_text(json, "annotated", report_get_focus_name(report));
    json_member_open(json, "symbols", '[');
    int code = write_symbols(report, json, err);
    json_close(json, ']');
    return code;
}
