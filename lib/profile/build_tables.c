/*
 * Columns that are right as they are move over without a copy. Older versions differ in: `prefix` for `prefixOffset`
 * (before 66), the library in the resource for the one in the frame (before 70), file names in funcs for `sources`
 * (before 58).
 */
#include "profile/build_tables.h"

#include "profile/intern.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

int build_text(struct build *build, uint32_t *text)
{
    if (*text == PROFILE_NONE)
        return 0;
    uint32_t *string = &build->string_of_text[*text];
    if (*string == PROFILE_NONE) {
        const struct string_entry *entry = &build->raw->texts.entries.data[*text];
        *string = strings_add(&build->profile->strings, entry->text, entry->length);
        if (*string == PROFILE_NONE)
            return error_no_memory(build->err);
    }
    *text = *string;
    return 0;
}

int build_ref(struct build *build, const struct column *strings, uint32_t *ref, const char *path, size_t row)
{
    if (*ref == PROFILE_NONE)
        return 0;
    if (*ref & RAW_TEXT) {
        *ref &= ~RAW_TEXT;
        return build_text(build, ref);
    }
    if (*ref >= strings->length)
        return error_set(build->err, EINVAL, "%s[%zu] is %u, but the string table has only %zu strings", path, row,
                         *ref, strings->length);
    *ref = ((const uint32_t *)strings->data)[*ref];
    return build_text(build, ref);
}

static int build_refs(struct build *build, const struct column *strings, struct column *column, const char *path)
{
    uint32_t *refs = column->data;
    int code = 0;
    for (size_t i = 0; !code && i < column->length; i++)
        code = build_ref(build, strings, &refs[i], path, i);
    return code;
}

static void fill(struct column *column, enum column_type type, size_t rows, double missing)
{
    for (size_t i = 0; i < rows; i++)
        switch (column_element_size(type)) {
        case sizeof(uint8_t):
            ((uint8_t *)column->data)[i] = (uint8_t)missing;
            break;
        case sizeof(uint32_t):
            ((uint32_t *)column->data)[i] = missing < 0 ? PROFILE_NONE : (uint32_t)missing;
            break;
        default:
            if (type == COLUMN_ADDRESS)
                ((int64_t *)column->data)[i] = (int64_t)missing;
            else
                ((double *)column->data)[i] = missing;
        }
}

static int error_wrong_length(struct build *build, const struct column *column, size_t rows, const char *path)
{
    return error_set(build->err, EINVAL, "%s has %zu entries, but its table has %zu rows", path, column->length, rows);
}

int build_column(struct build *build, struct column *column, enum column_type type, size_t rows, double missing,
                 const char *path)
{
    if (column->present && column->length != rows)
        return error_wrong_length(build, column, rows, path);
    if (column->present)
        return 0;
    if (!array_grow(&column->data, 0, &column->capacity, rows, column_element_size(type)))
        return error_no_memory(build->err);
    fill(column, type, rows, missing);
    column->length = rows;
    return 0;
}

size_t build_rows(raw_length length, const struct column *column)
{
    return length ? (size_t)(length - 1) : column->length;
}

void *build_take(struct column *column)
{
    void *data = column->data;
    *column = (struct column){0};
    return data;
}

/* A column that has no default. It is checked before the other columns get the length that the table gives. */
static int need_column(struct build *build, const struct column *column, size_t rows, const char *path)
{
    if (!column->present && rows)
        return error_set(build->err, EINVAL, "%s is missing", path);
    if (column->present && column->length != rows)
        return error_wrong_length(build, column, rows, path);
    return 0;
}

struct column_plan {
    struct column *column;
    enum column_type type;
    double missing;
    const char *path;
};

static int build_columns(struct build *build, const struct column_plan *plans, size_t count, size_t rows)
{
    int code = 0;
    for (size_t i = 0; !code && i < count; i++)
        code = build_column(build, plans[i].column, plans[i].type, rows, plans[i].missing, plans[i].path);
    return code;
}

#define BUILD_COLUMNS(build, plans, rows) build_columns((build), (plans), sizeof(plans) / sizeof(*(plans)), (rows))

/* Offsets to prefixes, in place: 0 is a root, k the stack k rows before. */
static int prefixes_of_offsets(struct build *build, struct column *column)
{
    uint32_t *values = column->data;
    for (size_t i = 0; i < column->length; i++) {
        if (values[i] > i)
            return error_set(build->err, EINVAL, "shared.stackTable.prefixOffset[%zu] leads out of the table", i);
        values[i] = values[i] ? (uint32_t)i - values[i] : PROFILE_NONE;
    }
    return 0;
}

static int build_stacks(struct build *build, struct raw_stacks *raw, struct stack_table *stacks)
{
    size_t rows = build_rows(raw->length, &raw->frame);
    int code = need_column(build, &raw->frame, rows, "shared.stackTable.frame");
    if (!code && !raw->prefix.present)
        code = need_column(build, &raw->prefix_offset, rows, "shared.stackTable.prefixOffset");
    const struct column_plan plans[] = {{&raw->frame, COLUMN_INDEX, -1, "shared.stackTable.frame"},
                                        {&raw->prefix, COLUMN_INDEX, -1, "shared.stackTable.prefix"}};
    const struct column_plan offsets[] = {{&raw->frame, COLUMN_INDEX, -1, "shared.stackTable.frame"},
                                          {&raw->prefix_offset, COLUMN_INDEX, 0, "shared.stackTable.prefixOffset"}};
    bool has_offsets = raw->prefix_offset.present;
    if (!code)
        code = has_offsets ? BUILD_COLUMNS(build, offsets, rows) : BUILD_COLUMNS(build, plans, rows);
    if (!code && has_offsets)
        code = prefixes_of_offsets(build, &raw->prefix_offset);
    if (code)
        return code;
    stacks->frame = build_take(&raw->frame);
    stacks->prefix = build_take(has_offsets ? &raw->prefix_offset : &raw->prefix);
    stacks->length = stacks->capacity = rows;
    return 0;
}

/* A category without subcategory gets the first one, "Other"; a subcategory without category means nothing. */
static void pair_categories(struct frame_table *frames)
{
    for (size_t i = 0; i < frames->length; i++)
        if (frames->category[i] == PROFILE_NONE)
            frames->subcategory[i] = PROFILE_NONE;
        else if (frames->subcategory[i] == PROFILE_NONE)
            frames->subcategory[i] = 0;
}

/* Since version 71 a column of flags says which values of a row are there; the others are 0 and mean nothing. */
enum frame_flags {
    FRAME_IS_INLINED = 1,
    FRAME_HAS_ADDRESS = 2, /* and a library */
    FRAME_HAS_CATEGORY = 4,
    FRAME_HAS_NATIVE_SYMBOL = 8,
    FRAME_HAS_LINE = 16,
    FRAME_HAS_COLUMN = 32,
};

static void apply_frame_flags(struct frame_table *frames, const uint8_t *flags, bool has_depths)
{
    for (size_t i = 0; i < frames->length; i++) {
        if (!has_depths)
            frames->inline_depth[i] = flags[i] & FRAME_IS_INLINED ? 1 : 0;
        if (!(flags[i] & FRAME_HAS_ADDRESS)) {
            frames->address[i] = -1;
            frames->lib[i] = PROFILE_NONE;
        }
        if (!(flags[i] & FRAME_HAS_CATEGORY))
            frames->category[i] = PROFILE_NONE;
        if (!(flags[i] & FRAME_HAS_NATIVE_SYMBOL))
            frames->native_symbol[i] = PROFILE_NONE;
        if (!(flags[i] & FRAME_HAS_LINE))
            frames->line[i] = 0;
        if (!(flags[i] & FRAME_HAS_COLUMN))
            frames->column[i] = 0;
    }
}

static int build_frames(struct build *build, struct raw_frames *raw, struct frame_table *frames)
{
    size_t rows = build_rows(raw->length, &raw->func);
    const struct column_plan plans[] = {{&raw->address, COLUMN_ADDRESS, -1, "shared.frameTable.address"},
                                        {&raw->lib, COLUMN_INDEX, -1, "shared.frameTable.lib"},
                                        {&raw->inline_depth, COLUMN_SMALL, 0, "shared.frameTable.inlineDepth"},
                                        {&raw->category, COLUMN_INDEX, -1, "shared.frameTable.category"},
                                        {&raw->subcategory, COLUMN_INDEX, -1, "shared.frameTable.subcategory"},
                                        {&raw->func, COLUMN_INDEX, -1, "shared.frameTable.func"},
                                        {&raw->native_symbol, COLUMN_INDEX, -1, "shared.frameTable.nativeSymbol"},
                                        {&raw->line, COLUMN_POSITION, 0, "shared.frameTable.line"},
                                        {&raw->column, COLUMN_POSITION, 0, "shared.frameTable.column"}};
    bool has_depths = raw->inline_depth.present, has_flags = raw->flags.present;
    int code = need_column(build, &raw->func, rows, "shared.frameTable.func");
    if (!code)
        code = build_column(build, &raw->flags, COLUMN_SMALL, rows, 0, "shared.frameTable.flags");
    if (!code)
        code = BUILD_COLUMNS(build, plans, rows);
    if (code)
        return code;
    frames->address = build_take(&raw->address);
    frames->lib = build_take(&raw->lib);
    frames->inline_depth = build_take(&raw->inline_depth);
    frames->category = build_take(&raw->category);
    frames->subcategory = build_take(&raw->subcategory);
    frames->func = build_take(&raw->func);
    frames->native_symbol = build_take(&raw->native_symbol);
    frames->line = build_take(&raw->line);
    frames->column = build_take(&raw->column);
    frames->length = frames->capacity = rows;
    if (has_flags)
        apply_frame_flags(frames, raw->flags.data, has_depths);
    pair_categories(frames);
    return 0;
}

/* The same for funcs, since version 75; the first two bits are those of enum func_flags. */
enum func_has_flags { FUNC_HAS_RESOURCE = 4, FUNC_HAS_SOURCE = 8, FUNC_HAS_LINE = 16, FUNC_HAS_COLUMN = 32 };

static void apply_func_flags(struct func_table *funcs, const uint8_t *flags)
{
    for (size_t i = 0; i < funcs->length; i++) {
        funcs->flags[i] = flags[i] & (FUNC_IS_JS | FUNC_RELEVANT_FOR_JS);
        if (!(flags[i] & FUNC_HAS_RESOURCE))
            funcs->resource[i] = PROFILE_NONE;
        if (!(flags[i] & FUNC_HAS_SOURCE))
            funcs->source[i] = PROFILE_NONE;
        if (!(flags[i] & FUNC_HAS_LINE))
            funcs->line[i] = 0;
        if (!(flags[i] & FUNC_HAS_COLUMN))
            funcs->column[i] = 0;
    }
}

static int build_funcs(struct build *build, struct raw_funcs *raw, const struct column *strings,
                       struct func_table *funcs)
{
    size_t rows = build_rows(raw->length, &raw->name);
    const struct column_plan plans[] = {{&raw->name, COLUMN_REF, -1, "shared.funcTable.name"},
                                        {&raw->is_js, COLUMN_FLAG, 0, "shared.funcTable.isJS"},
                                        {&raw->relevant_for_js, COLUMN_FLAG, 0, "shared.funcTable.relevantForJS"},
                                        {&raw->resource, COLUMN_INDEX, -1, "shared.funcTable.resource"},
                                        {&raw->source, COLUMN_INDEX, -1, "shared.funcTable.source"},
                                        {&raw->line, COLUMN_POSITION, 0, "shared.funcTable.lineNumber"},
                                        {&raw->column, COLUMN_POSITION, 0, "shared.funcTable.columnNumber"}};
    bool has_flags = raw->flags.present;
    int code = need_column(build, &raw->name, rows, "shared.funcTable.name");
    if (!code)
        code = build_column(build, &raw->flags, COLUMN_SMALL, rows, 0, "shared.funcTable.flags");
    if (!code)
        code = BUILD_COLUMNS(build, plans, rows);
    if (!code)
        code = build_refs(build, strings, &raw->name, "shared.funcTable.name");
    if (code)
        return code;
    const uint8_t *relevant = raw->relevant_for_js.data;
    uint8_t *flags = raw->is_js.data;
    for (size_t i = 0; i < rows; i++)
        flags[i] = (uint8_t)((flags[i] ? FUNC_IS_JS : 0) | (relevant[i] ? FUNC_RELEVANT_FOR_JS : 0));
    funcs->name = build_take(&raw->name);
    funcs->flags = build_take(&raw->is_js);
    funcs->resource = build_take(&raw->resource);
    funcs->source = build_take(&raw->source);
    funcs->line = build_take(&raw->line);
    funcs->column = build_take(&raw->column);
    funcs->length = funcs->capacity = rows;
    if (has_flags)
        apply_func_flags(funcs, raw->flags.data);
    return 0;
}

static uint32_t at(const struct column *column, size_t row)
{
    return ((const uint32_t *)column->data)[row];
}

static int build_resources(struct build *build, struct raw_resources *raw, const struct column *strings,
                           struct profile *part)
{
    size_t rows = build_rows(raw->length, &raw->name);
    const struct column_plan plans[] = {{&raw->name, COLUMN_REF, -1, "shared.resourceTable.name"},
                                        {&raw->host, COLUMN_REF, -1, "shared.resourceTable.host"},
                                        {&raw->type, COLUMN_SMALL, 0, "shared.resourceTable.type"},
                                        {&raw->lib, COLUMN_INDEX, -1, "shared.resourceTable.lib"}};
    int code = need_column(build, &raw->name, rows, "shared.resourceTable.name");
    if (!code)
        code = BUILD_COLUMNS(build, plans, rows);
    if (!code)
        code = build_refs(build, strings, &raw->name, "shared.resourceTable.name");
    if (!code)
        code = build_refs(build, strings, &raw->host, "shared.resourceTable.host");
    for (size_t i = 0; !code && i < rows; i++) {
        struct resource row = {
            .name = at(&raw->name, i), .host = at(&raw->host, i), .type = ((const uint8_t *)raw->type.data)[i]};
        code = array_push(&part->resources, row) ? 0 : error_no_memory(build->err);
    }
    return code;
}

static int build_native_symbols(struct build *build, struct raw_native_symbols *raw, const struct column *strings,
                                struct profile *part)
{
    size_t rows = build_rows(raw->length, &raw->name);
    const struct column_plan plans[] = {{&raw->lib, COLUMN_INDEX, -1, "shared.nativeSymbols.libIndex"},
                                        {&raw->address, COLUMN_ADDRESS, -1, "shared.nativeSymbols.address"},
                                        {&raw->name, COLUMN_REF, -1, "shared.nativeSymbols.name"},
                                        {&raw->size, COLUMN_POSITION, 0, "shared.nativeSymbols.functionSize"}};
    int code = need_column(build, &raw->name, rows, "shared.nativeSymbols.name");
    if (!code)
        code = BUILD_COLUMNS(build, plans, rows);
    if (!code)
        code = build_refs(build, strings, &raw->name, "shared.nativeSymbols.name");
    for (size_t i = 0; !code && i < rows; i++) {
        struct native_symbol row = {.lib = at(&raw->lib, i),
                                    .address = ((const int64_t *)raw->address.data)[i],
                                    .name = at(&raw->name, i),
                                    .size = at(&raw->size, i)};
        code = array_push(&part->native_symbols, row) ? 0 : error_no_memory(build->err);
    }
    return code;
}

static int build_sources(struct build *build, struct raw_sources *raw, const struct column *strings,
                         struct profile *part)
{
    size_t rows = build_rows(raw->length, &raw->filename);
    const struct column_plan plans[] = {{&raw->filename, COLUMN_REF, -1, "shared.sources.filename"},
                                        {&raw->id, COLUMN_REF, -1, "shared.sources.id"},
                                        {&raw->start_line, COLUMN_POSITION, 1, "shared.sources.startLine"},
                                        {&raw->start_column, COLUMN_POSITION, 1, "shared.sources.startColumn"},
                                        {&raw->content, COLUMN_REF, -1, "shared.sources.content"},
                                        {&raw->source_map_url, COLUMN_REF, -1, "shared.sources.sourceMapURL"}};
    int code = need_column(build, &raw->filename, rows, "shared.sources.filename");
    if (!code)
        code = BUILD_COLUMNS(build, plans, rows);
    for (size_t i = 0; !code && i < sizeof(plans) / sizeof(*plans); i++)
        if (plans[i].type == COLUMN_REF)
            code = build_refs(build, strings, plans[i].column, plans[i].path);
    for (size_t i = 0; !code && i < rows; i++) {
        struct source row = {.filename = at(&raw->filename, i),
                             .id = at(&raw->id, i),
                             .start_line = at(&raw->start_line, i),
                             .start_column = at(&raw->start_column, i),
                             .content = at(&raw->content, i),
                             .source_map_url = at(&raw->source_map_url, i)};
        code = array_push(&part->sources, row) ? 0 : error_no_memory(build->err);
    }
    return code;
}

/* Gives frames the library of their func's resource. What is out of range is left for the check to name. */
static void libs_of_resources(const struct column *lib_of_resource, struct profile *part)
{
    struct frame_table *frames = &part->frames;
    for (size_t i = 0; i < frames->length; i++) {
        uint32_t func = frames->func[i];
        uint32_t resource = func < part->funcs.length ? part->funcs.resource[func] : PROFILE_NONE;
        if (resource < lib_of_resource->length)
            frames->lib[i] = at(lib_of_resource, resource);
    }
}

/* Before version 58 a func named its file itself. */
static int sources_of_file_names(struct build *build, struct column *file_names, const struct column *strings,
                                 struct profile *part)
{
    if (file_names->length != part->funcs.length)
        return error_wrong_length(build, file_names, part->funcs.length, "shared.funcTable.fileName");
    int code = build_refs(build, strings, file_names, "shared.funcTable.fileName");
    struct interner interner;
    interner_init(&interner, part);
    for (size_t i = 0; !code && i < part->funcs.length; i++)
        if (at(file_names, i) != PROFILE_NONE) {
            part->funcs.source[i] = intern_source_file(&interner, at(file_names, i));
            code = part->funcs.source[i] == PROFILE_NONE ? error_no_memory(build->err) : 0;
        }
    interner_destroy(&interner);
    return code;
}

int build_tables(struct build *build, struct raw_tables *raw, const struct column *strings, struct profile *part)
{
    bool frames_have_libs = raw->frames.lib.present;
    bool funcs_have_file_names = raw->funcs.file_name.present && !raw->funcs.source.present;
    int code = build_stacks(build, &raw->stacks, &part->stacks);
    if (!code)
        code = build_frames(build, &raw->frames, &part->frames);
    if (!code)
        code = build_funcs(build, &raw->funcs, strings, &part->funcs);
    if (!code)
        code = build_resources(build, &raw->resources, strings, part);
    if (!code)
        code = build_native_symbols(build, &raw->native_symbols, strings, part);
    if (!code && raw->sources.filename.present)
        code = build_sources(build, &raw->sources, strings, part);
    if (!code && funcs_have_file_names)
        code = sources_of_file_names(build, &raw->funcs.file_name, strings, part);
    if (!code && !frames_have_libs)
        libs_of_resources(&raw->resources.lib, part);
    return code;
}
