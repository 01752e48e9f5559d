#include "assemble/jit_frames.h"

#include "assemble/process_jitdump.h"

/* An address in JIT code. */
struct jit_address {
    const struct jit_code_place *place; /* place of the code, or NULL if prof does not save the code */
    uint64_t offset;                    /* in the code */
    uint32_t line, column;              /* position of the instruction, or 0 if unknown */
};

/* Adds a frame of JIT code. Without a saved copy of the code, an address has no use, so all addresses of a function
 * share one frame per tier and line. */
static uint32_t add_jit_frame(struct frame_builder *builder, const struct jit_name *name, struct jit_address address)
{
    builder->symbolization->shares_frames = true;
    uint32_t text = frame_builder_add_text(builder, name->function), library = frame_builder_add_text(builder, "JIT"),
             file = STRING_NONE;
    if (text == STRING_NONE || library == STRING_NONE ||
        (name->file && (file = frame_builder_add_text(builder, name->file)) == STRING_NONE))
        return PROFILE_NONE;
    struct func_row func = {
        .name = text,
        .resource = intern_library_resource(builder->interner, library),
        .source = name->file ? intern_source_file(builder->interner, file) : PROFILE_NONE,
        .line = name->line,
        .column = name->column,
        .flags = name->is_javascript ? FUNC_IS_JS : 0,
    };
    if (func.resource == PROFILE_NONE || (name->file && func.source == PROFILE_NONE))
        return PROFILE_NONE;
    struct frame_row frame = make_frame_row(intern_func(builder->interner, &func));
    frame.category = CATEGORY_JIT;
    frame.line = address.line;
    frame.column = address.column;
    if (address.place) {
        frame.address = (int64_t)(address.place->rva + address.offset);
        frame.lib = address.place->lib;
        frame.native_symbol = address.place->native_symbol;
    }
    frame.subcategory = name->tier ? intern_subcategory(builder->interner, CATEGORY_JIT, name->tier) : 0;
    return frame.func == PROFILE_NONE || frame.subcategory == PROFILE_NONE ? PROFILE_NONE
                                                                           : intern_frame(builder->interner, &frame);
}

/* Adds the frame of JIT code without a name. The functions cannot be distinguished, so all addresses share one func. */
static uint32_t add_unnamed_code(struct frame_builder *builder, const struct replay_frame *frame)
{
    static const struct jit_name unnamed = {.function = "JIT code (no symbols)"};
    builder->symbolization->jit_unnamed++;
    builder->symbolization->jit_unnamed_samples += frame->samples;
    return add_jit_frame(builder, &unnamed, (struct jit_address){0});
}

uint32_t jit_frames_add_anonymous(struct frame_builder *builder, size_t index)
{
    const struct jit_name *name = perf_map_names_get(&builder->perf_map_names, index);
    builder->symbolization->jit_addresses++;
    return name ? add_jit_frame(builder, name, (struct jit_address){0})
                : add_unnamed_code(builder, &builder->replay->stacks.frames.data[index]);
}

/* Adds the frame of an address that a jitdump file names. A line counts only if it is in the function's own file: lines
 * of inlined functions may be in other files. */
uint32_t jit_frames_add_dumped(struct frame_builder *builder, const struct replay_frame *from)
{
    const struct jitdump *dump = builder->replay->processes.data[from->process].jit.dump;
    const struct jit_code *code = &dump->codes.data[from->code];
    const struct string_entry *text = &dump->texts.entries.data[code->name];
    const struct jit_line *line = jitdump_find_line(dump, from->code, from->address);
    struct jit_name name;
    builder->symbolization->jit_addresses++;
    if (!text->length)
        return add_unnamed_code(builder, from);
    if (jit_name_parse(&name, text->text, text->length, &builder->perf_map_names.arena))
        return PROFILE_NONE;
    name.file = process_jitdump_find_source_file(dump, code, &name);
    struct jit_address address = {.place = jit_code_places_find(&builder->jit_code, from),
                                  .offset = from->address - code->start};
    if (line && name.file && jitdump_line_is_in_file(dump, line, name.file)) {
        address.line = line->line;
        address.column = line->column;
    }
    return add_jit_frame(builder, &name, address);
}

bool jit_frames_list_dump_problems(struct frame_builder *builder)
{
    const struct replay *replay = builder->replay;
    for (size_t i = 0; i < replay->processes.length; i++) {
        const struct replay_process *process = &replay->processes.data[i];
        bool is_unusable = process->jit.dump_state == REPLAY_JIT_MISSING && process->jit.dump_lib;
        const char *reason =
            is_unusable ? "prof cannot read the file: it is damaged, belongs to another user, or was replaced"
            : process->jit.dump && process->jit.dump->is_full
                ? "prof read only the beginning of the file, because it is too large: some symbols are missing"
            : process->jit.dump && process->jit.dump->is_cut
                ? "the file ends in the middle of a record, or a part is damaged: some symbols are missing"
                : NULL;
        char name[32];
        snprintf(name, sizeof(name), "jit-%" PRIu32 ".dump", process_perf_map_get_own_pid(replay, (uint32_t)i));
        if (reason && !frame_builder_add_problem(builder, name, reason))
            return false;
    }
    return true;
}

static bool add_map_problem(struct frame_builder *builder, uint32_t process, const char *problem)
{
    char name[32];
    snprintf(name, sizeof(name), "perf-%" PRIu32 ".map", process_perf_map_get_own_pid(builder->replay, process));
    return frame_builder_add_problem(builder, name, problem);
}

bool jit_frames_list_map_problems(struct frame_builder *builder)
{
    const struct replay *replay = builder->replay;
    const struct perf_map_problems *problems = &builder->perf_map_names.problems;
    for (size_t i = 0; i < replay->processes.length; i++)
        if (replay->processes.data[i].jit.map_problem &&
            !add_map_problem(builder, (uint32_t)i, replay->processes.data[i].jit.map_problem))
            return false;
    for (size_t i = 0; i < problems->length; i++)
        if (!add_map_problem(builder, problems->data[i].process, problems->data[i].text))
            return false;
    return true;
}
