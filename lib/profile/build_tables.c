/*
 * Columns in the current form move without a copy. Older versions have `prefix` in place of `prefixOffset` (before 66),
 * libraries in resources in place of frames (before 70), and file names in funcs in place of `sources` (before 58).
 */
#include "profile/build_tables.h"

#include "profile/intern.h"

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

static int build_refs(struct build *build, const struct column *strings, struct column *column, const char *table,
                      const char *key)
{
    uint32_t *refs = column->data;
    int code = 0;
    for (size_t i = 0; !code && i < column->length; i++) {
        if (refs[i] == PROFILE_NONE)
            continue;
        if (refs[i] & RAW_TEXT)
            refs[i] &= ~RAW_TEXT;
        else if (refs[i] < strings->length)
            refs[i] = ((const uint32_t *)strings->data)[refs[i]];
        else
            return error_set(build->err, EINVAL, "%s.%s[%zu] is %u, but the string table has only %zu strings", table,
                             key, i, refs[i], strings->length);
        code = build_text(build, &refs[i]);
    }
    return code;
}

static void fill_column(struct column *column, enum column_type type, size_t rows, double missing)
{
    for (size_t i = 0; i < rows; i++)
        switch (column_get_element_size(type)) {
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

static int fail_wrong_length(struct build *build, const struct column *column, size_t rows, const char *table,
                             const char *key)
{
    return error_set(build->err, EINVAL, "%s.%s has %zu entries, but its table has %zu rows", table, key,
                     column->length, rows);
}

size_t build_rows(raw_length length, const struct column *column)
{
    return length ? (size_t)(length - 1) : column->length;
}

void build_truncate_column(struct column *column, size_t rows)
{
    column->length = column->length < rows ? column->length : rows;
}

void *build_take_column(struct column *column)
{
    void *data = column->data;
    *column = (struct column){0};
    return data;
}

static int check_column(struct build *build, const struct column_plan *plan, size_t rows, const char *table)
{
    struct column *column = plan->column;
    build_truncate_column(column, rows);
    if (column->present && column->length != rows)
        return fail_wrong_length(build, column, rows, table, plan->key);
    if (!column->present && plan->missing == COLUMN_NEEDED && rows)
        return error_set(build->err, EINVAL, "%s.%s is missing", table, plan->key);
    return 0;
}

static int build_column(struct build *build, const struct column *strings, const struct column_plan *plan, size_t rows,
                        const char *table)
{
    struct column *column = plan->column;
    if (!column->present) {
        if (!array_grow(&column->data, 0, &column->capacity, rows, column_get_element_size(plan->type)))
            return error_no_memory(build->err);
        fill_column(column, plan->type, rows, plan->missing);
        column->length = rows;
    }
    int code = plan->type == COLUMN_REF ? build_refs(build, strings, column, table, plan->key) : 0;
    if (!code && plan->out) {
        void *data = build_take_column(column);
        memcpy(plan->out, &data, sizeof(data));
    }
    return code;
}

int build_columns(struct build *build, const char *table, const struct column *strings, const struct column_plan *plans,
                  size_t count, size_t rows)
{
    int code = 0;
    for (size_t i = 0; !code && i < count; i++) /* checked before `rows` becomes the size of an array */
        code = check_column(build, &plans[i], rows, table);
    for (size_t i = 0; !code && i < count; i++)
        code = build_column(build, strings, &plans[i], rows, table);
    return code;
}

/* Converts offsets to prefixes, in place: offset 0 is a root, offset k the stack k rows before. */
static int convert_prefix_offsets(struct build *build, uint32_t *values, size_t rows)
{
    for (size_t i = 0; i < rows; i++) {
        if (values[i] > i)
            return error_set(build->err, EINVAL, "shared.stackTable.prefixOffset[%zu] points outside of the table", i);
        values[i] = values[i] ? (uint32_t)i - values[i] : PROFILE_NONE;
    }
    return 0;
}

static int build_stacks(struct build *build, struct raw_stacks *raw, struct stack_table *stacks)
{
    size_t rows = build_rows(raw->length, &raw->frame);
    bool has_offsets = raw->prefix_offset.present || !raw->prefix.present;
    const struct column_plan plans[] = {{&raw->frame, COLUMN_INDEX, COLUMN_NEEDED, "frame", &stacks->frame},
                                        {has_offsets ? &raw->prefix_offset : &raw->prefix, COLUMN_INDEX, COLUMN_NEEDED,
                                         has_offsets ? "prefixOffset" : "prefix", &stacks->prefix}};
    int code = BUILD_COLUMNS(build, "shared.stackTable", NULL, plans, rows);
    if (code)
        return code;
    stacks->length = stacks->capacity = rows;
    return has_offsets ? convert_prefix_offsets(build, stacks->prefix, rows) : 0;
}

/* A category without subcategory gets the first one, "Other"; a subcategory without category is ignored. */
static void pair_categories(struct frame_table *frames)
{
    for (size_t i = 0; i < frames->length; i++)
        if (frames->category[i] == PROFILE_NONE)
            frames->subcategory[i] = PROFILE_NONE;
        else if (frames->subcategory[i] == PROFILE_NONE)
            frames->subcategory[i] = 0;
}

/* Since version 71 a column of flags has a bit for each value of a row that is set; unset values are 0. */
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
    const struct column_plan plans[] = {{&raw->address, COLUMN_ADDRESS, -1, "address", &frames->address},
                                        {&raw->lib, COLUMN_INDEX, -1, "lib", &frames->lib},
                                        {&raw->inline_depth, COLUMN_SMALL, 0, "inlineDepth", &frames->inline_depth},
                                        {&raw->category, COLUMN_INDEX, -1, "category", &frames->category},
                                        {&raw->subcategory, COLUMN_INDEX, -1, "subcategory", &frames->subcategory},
                                        {&raw->func, COLUMN_INDEX, COLUMN_NEEDED, "func", &frames->func},
                                        {&raw->native_symbol, COLUMN_INDEX, -1, "nativeSymbol", &frames->native_symbol},
                                        {&raw->line, COLUMN_POSITION, 0, "line", &frames->line},
                                        {&raw->column, COLUMN_POSITION, 0, "column", &frames->column},
                                        {&raw->flags, COLUMN_SMALL, 0, "flags", NULL}};
    bool has_depths = raw->inline_depth.present, has_flags = raw->flags.present;
    int code = BUILD_COLUMNS(build, "shared.frameTable", NULL, plans, rows);
    if (code)
        return code;
    frames->length = frames->capacity = rows;
    if (has_flags)
        apply_frame_flags(frames, raw->flags.data, has_depths);
    pair_categories(frames);
    return 0;
}

/* Since version 75 funcs also have a column of flags; the first two bits equal enum func_flags. */
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
    const struct column_plan plans[] = {{&raw->name, COLUMN_REF, COLUMN_NEEDED, "name", &funcs->name},
                                        {&raw->is_js, COLUMN_FLAG, 0, "isJS", &funcs->flags},
                                        {&raw->relevant_for_js, COLUMN_FLAG, 0, "relevantForJS", NULL},
                                        {&raw->resource, COLUMN_INDEX, -1, "resource", &funcs->resource},
                                        {&raw->source, COLUMN_INDEX, -1, "source", &funcs->source},
                                        {&raw->line, COLUMN_POSITION, 0, "lineNumber", &funcs->line},
                                        {&raw->column, COLUMN_POSITION, 0, "columnNumber", &funcs->column},
                                        {&raw->flags, COLUMN_SMALL, 0, "flags", NULL}};
    bool has_flags = raw->flags.present;
    int code = BUILD_COLUMNS(build, "shared.funcTable", strings, plans, rows);
    if (code)
        return code;
    const uint8_t *relevant = raw->relevant_for_js.data;
    uint8_t *flags = funcs->flags;
    for (size_t i = 0; i < rows; i++)
        flags[i] = (uint8_t)((flags[i] ? FUNC_IS_JS : 0) | (relevant[i] ? FUNC_RELEVANT_FOR_JS : 0));
    funcs->length = funcs->capacity = rows;
    if (has_flags)
        apply_func_flags(funcs, raw->flags.data);
    return 0;
}

static uint32_t read_column_value(const struct column *column, size_t row)
{
    return ((const uint32_t *)column->data)[row];
}

static int build_resources(struct build *build, struct raw_resources *raw, const struct column *strings,
                           struct profile *part)
{
    size_t rows = build_rows(raw->length, &raw->name);
    const struct column_plan plans[] = {{&raw->name, COLUMN_REF, COLUMN_NEEDED, "name", NULL},
                                        {&raw->host, COLUMN_REF, -1, "host", NULL},
                                        {&raw->type, COLUMN_SMALL, 0, "type", NULL},
                                        {&raw->lib, COLUMN_INDEX, -1, "lib", NULL}};
    int code = BUILD_COLUMNS(build, "shared.resourceTable", strings, plans, rows);
    for (size_t i = 0; !code && i < rows; i++) {
        struct resource row = {.name = read_column_value(&raw->name, i),
                               .host = read_column_value(&raw->host, i),
                               .type = ((const uint8_t *)raw->type.data)[i]};
        code = array_push(&part->resources, row) ? 0 : error_no_memory(build->err);
    }
    return code;
}

static int build_native_symbols(struct build *build, struct raw_native_symbols *raw, const struct column *strings,
                                struct profile *part)
{
    size_t rows = build_rows(raw->length, &raw->name);
    const struct column_plan plans[] = {{&raw->lib, COLUMN_INDEX, -1, "libIndex", NULL},
                                        {&raw->address, COLUMN_ADDRESS, -1, "address", NULL},
                                        {&raw->name, COLUMN_REF, COLUMN_NEEDED, "name", NULL},
                                        {&raw->size, COLUMN_POSITION, 0, "functionSize", NULL}};
    int code = BUILD_COLUMNS(build, "shared.nativeSymbols", strings, plans, rows);
    for (size_t i = 0; !code && i < rows; i++) {
        struct native_symbol row = {.lib = read_column_value(&raw->lib, i),
                                    .address = ((const int64_t *)raw->address.data)[i],
                                    .name = read_column_value(&raw->name, i),
                                    .size = read_column_value(&raw->size, i)};
        code = array_push(&part->native_symbols, row) ? 0 : error_no_memory(build->err);
    }
    return code;
}

static int build_sources(struct build *build, struct raw_sources *raw, const struct column *strings,
                         struct profile *part)
{
    size_t rows = build_rows(raw->length, &raw->filename);
    const struct column_plan plans[] = {{&raw->filename, COLUMN_REF, COLUMN_NEEDED, "filename", NULL},
                                        {&raw->id, COLUMN_REF, -1, "id", NULL},
                                        {&raw->start_line, COLUMN_POSITION, 1, "startLine", NULL},
                                        {&raw->start_column, COLUMN_POSITION, 1, "startColumn", NULL},
                                        {&raw->content, COLUMN_REF, -1, "content", NULL},
                                        {&raw->source_map_url, COLUMN_REF, -1, "sourceMapURL", NULL}};
    int code = BUILD_COLUMNS(build, "shared.sources", strings, plans, rows);
    for (size_t i = 0; !code && i < rows; i++) {
        struct source row = {.filename = read_column_value(&raw->filename, i),
                             .id = read_column_value(&raw->id, i),
                             .start_line = read_column_value(&raw->start_line, i),
                             .start_column = read_column_value(&raw->start_column, i),
                             .content = read_column_value(&raw->content, i),
                             .source_map_url = read_column_value(&raw->source_map_url, i)};
        code = array_push(&part->sources, row) ? 0 : error_no_memory(build->err);
    }
    return code;
}

/* Gives frames the library of their func's resource. Ignores indexes out of range, which the check reports. */
static void move_resource_libs(const struct column *lib_of_resource, struct profile *part)
{
    struct frame_table *frames = &part->frames;
    for (size_t i = 0; i < frames->length; i++) {
        uint32_t func = frames->func[i];
        uint32_t resource = func < part->funcs.length ? part->funcs.resource[func] : PROFILE_NONE;
        if (resource < lib_of_resource->length)
            frames->lib[i] = read_column_value(lib_of_resource, resource);
    }
}

/* Adds the sources of funcs. Before version 58, a func had the name of its file. */
static int add_sources_of_funcs(struct build *build, struct column *file_names, const struct column *strings,
                                struct profile *part)
{
    build_truncate_column(file_names, part->funcs.length);
    if (file_names->length != part->funcs.length)
        return fail_wrong_length(build, file_names, part->funcs.length, "shared.funcTable", "fileName");
    int code = build_refs(build, strings, file_names, "shared.funcTable", "fileName");
    struct interner interner;
    interner_init(&interner, part);
    for (size_t i = 0; !code && i < part->funcs.length; i++)
        if (read_column_value(file_names, i) != PROFILE_NONE) {
            part->funcs.source[i] = intern_source_file(&interner, read_column_value(file_names, i));
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
        code = add_sources_of_funcs(build, &raw->funcs.file_name, strings, part);
    if (!code && !frames_have_libs)
        move_resource_libs(&raw->resources.lib, part);
    return code;
}

/* ---- tables of a growing profile ---- */

static struct profile_rows count_rows_before(const struct raw_added_tables *raw)
{
    return (struct profile_rows){.stacks = raw->stacks,
                                 .frames = raw->frames,
                                 .funcs = raw->funcs,
                                 .resources = raw->resources,
                                 .native_symbols = raw->native_symbols,
                                 .sources = raw->sources};
}

static bool has_rows(const struct profile *profile, const struct profile_rows *rows)
{
    const struct profile_rows *before = &profile->meta.rows_before, here = profile_count_rows(profile);
    return rows->stacks == before->stacks + here.stacks && rows->frames == before->frames + here.frames &&
           rows->funcs == before->funcs + here.funcs && rows->resources == before->resources + here.resources &&
           rows->native_symbols == before->native_symbols + here.native_symbols &&
           rows->sources == before->sources + here.sources;
}

static int add_tables(struct build *build, struct raw_added_tables *raw, bool *is_first)
{
    struct profile *profile = build->profile, part;
    const struct profile_rows wanted = count_rows_before(raw);
    if (*is_first && profile->meta.added_from)
        profile->meta.rows_before = wanted;
    *is_first = false;
    if (!has_rows(profile, &wanted))
        return error_set(build->err, EINVAL, "the update lacks rows of the shared tables before its first row");
    profile_init(&part);
    int code = build_tables(build, &raw->tables, &raw->tables.strings, &part);
    if (!code && !profile_append_rows(profile, &part))
        code = error_no_memory(build->err);
    profile_destroy(&part);
    return code;
}

int build_added_tables(struct build *build)
{
    int code = 0;
    bool is_first = true;
    for (size_t i = 0; !code && i < build->raw->added.length; i++) {
        const struct raw_added *raw = build->raw->added.data[i];
        for (size_t k = 0; !code && k < raw->tables.length; k++)
            code = add_tables(build, raw->tables.data[k], &is_first);
    }
    return code;
}
