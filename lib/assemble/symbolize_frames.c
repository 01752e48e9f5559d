/*
 * All addresses of a library go to the symbolizer in one sorted batch, and all libraries in one call, so that the
 * symbolizer can work in parallel (address_batches.h). The answers become rows (answer_rows.h).
 */
#include "assemble/symbolize_frames.h"

#include "assemble/frame_builder.h"
#include "assemble/jit_frames.h"
#include "assemble/kernel_frames.h"
#include "assemble/library_frames.h"
#include "assemble/lock_names.h"
#include "assemble/replay_names.h"
#include "base/search.h"
#include "language/python_frame.h"
#include "spool/wait_reasons.h"

/* Adds the innermost frame of a wait: its reason and object. */
static uint32_t add_wait_frame(struct frame_builder *builder, size_t index)
{
    uint64_t address = builder->replay->stacks.frames.data[index].address;
    static const char *const without_object[WAIT_REASONS] = {
        [REASON_UNKNOWN] = "wait",          [REASON_LOCK] = "lock",
        [REASON_SLEEP] = "sleep",           [REASON_DISK] = "disk",
        [REASON_NETWORK] = "network",       [REASON_PIPE] = "pipe",
        [REASON_PAGE_FAULT] = "page fault", [REASON_CHILD] = "child",
        [REASON_RUNNABLE] = "runnable",     [REASON_UNSEEN] = "short waits, cause not seen",
        [REASON_STOPPED] = "stopped",       [REASON_IO_URING] = "io_uring",
    };
    uint32_t reason = replay_decode_wait_reason(address);
    const char *lock = lock_names_get(builder->lock_names, builder->profile, index);
    const char *object = lock ? lock : replay_get_object(builder->replay, replay_decode_wait_object(address));
    return frame_builder_add_frame(builder, object ? object : without_object[reason], PROFILE_NONE, CATEGORY_IDLE,
                                   intern_subcategory(builder->interner, CATEGORY_IDLE, wait_reason_names[reason]));
}

/* Adds a Python frame. Like JIT code, Python functions have no address. Python frames have a separate library and
 * category, which exist only in recordings of Python. */
static uint32_t add_python_frame(struct frame_builder *builder, uint64_t address)
{
    const struct replay *replay = builder->replay;
    uint32_t number = python_frame_get_function(address), line = python_frame_get_line(address);
    static const struct replay_function lost = {STRING_NONE, STRING_NONE, 0};
    const struct replay_function *function =
        number < replay->python_functions.length ? &replay->python_functions.data[number] : &lost;
    const char *name = function->name == STRING_NONE ? "Python code" : strings_text(&replay->strings, function->name);
    const char *file = function->file == STRING_NONE ? "" : strings_text(&replay->strings, function->file);
    uint32_t text = frame_builder_add_text(builder, name), library = frame_builder_add_text(builder, "Python");
    uint32_t path = *file ? frame_builder_add_text(builder, file) : STRING_NONE;
    uint32_t category = intern_category(builder->interner, "Python", "purple");
    if (text == STRING_NONE || library == STRING_NONE || category == PROFILE_NONE || (*file && path == STRING_NONE))
        return PROFILE_NONE;
    struct func_row func = {
        .name = text,
        .resource = intern_library_resource(builder->interner, library),
        .source = *file ? intern_source_file(builder->interner, path) : PROFILE_NONE,
        .line = function->line,
    };
    if (func.resource == PROFILE_NONE || (*file && func.source == PROFILE_NONE))
        return PROFILE_NONE;
    builder->symbolization->shares_frames = true;
    struct frame_row frame = make_frame_row(intern_func(builder->interner, &func));
    frame.category = category;
    frame.subcategory = 0;
    frame.line = line;
    return frame.func == PROFILE_NONE ? PROFILE_NONE : intern_frame(builder->interner, &frame);
}

/* Adds the frame for omitted frames, whose number the replay rounds down to a power of 2. */
static uint32_t add_omitted_frame(struct frame_builder *builder, uint64_t least)
{
    char name[64];
    if (least == 1)
        snprintf(name, sizeof(name), "(1 frame omitted)");
    else
        snprintf(name, sizeof(name), "(%" PRIu64 "-%" PRIu64 " frames omitted)", least, 2 * least - 1);
    return frame_builder_add_plain_frame(builder, name, PROFILE_NONE, CATEGORY_OTHER);
}

/* Adds the frame of an address outside libraries. */
static uint32_t add_frame_of(struct frame_builder *builder, size_t index)
{
    const struct replay *replay = builder->replay;
    const struct replay_frame *from = &replay->stacks.frames.data[index];
    char name[32];
    if (from->lib < replay->libs.items.length)
        return kernel_frames_add_generated(builder, &replay->libs.items.data[from->lib]);
    switch (from->lib) {
    case REPLAY_LIB_TRUNCATED:
        return frame_builder_add_plain_frame(builder, "(truncated)", PROFILE_NONE, CATEGORY_OTHER);
    case REPLAY_LIB_NOT_SAMPLED:
        return frame_builder_add_plain_frame(builder, "(not sampled)", PROFILE_NONE, CATEGORY_OTHER);
    case REPLAY_LIB_OMITTED:
        return add_omitted_frame(builder, from->address);
    case REPLAY_LIB_WAIT:
        return add_wait_frame(builder, index);
    case REPLAY_LIB_PYTHON:
        return add_python_frame(builder, from->address);
    case REPLAY_LIB_UNKNOWN_KERNEL:
        return kernel_frames_add_unknown(builder, from->address);
    case REPLAY_LIB_DUMPED:
        return jit_frames_add_dumped(builder, from);
    case REPLAY_LIB_ANONYMOUS:
        return jit_frames_add_anonymous(builder, index);
    default:
        if (perf_map_names_get(&builder->perf_map_names, index)) /* only the mapping record of the library was lost */
            return jit_frames_add_anonymous(builder, index);
        snprintf(name, sizeof(name), "0x%" PRIx64, from->address);
        return frame_builder_add_plain_frame(builder, name, PROFILE_NONE, CATEGORY_OTHER);
    }
}

static bool add_native_frame(struct frame_builder *builder, size_t index)
{
    struct symbolization *symbolization = builder->symbolization;
    uint64_t unnamed_before = symbolization->unnamed + symbolization->jit_unnamed;
    uint64_t kernel_before = builder->kernel_unnamed;
    uint32_t frame = add_frame_of(builder, index);
    if (builder->kernel_unnamed > kernel_before)
        builder->kernel_samples += builder->replay->stacks.frames.data[index].samples;
    symbolization->named.data[index] =
        (struct symbolized_frame){.first = (uint32_t)symbolization->frames.length,
                                  .count = 1,
                                  .is_unnamed = symbolization->unnamed + symbolization->jit_unnamed > unnamed_before ||
                                                builder->replay->stacks.frames.data[index].lib == REPLAY_LIB_UNMAPPED};
    return frame != PROFILE_NONE && array_push(&symbolization->frames, frame);
}

DEFINE_COMPARE(compare_unnamed_samples, struct missing_symbols,
               ORDER_THEN(b->samples, a->samples, ORDER(b->unnamed, a->unnamed)))

static bool has_dumped(const struct replay *replay, size_t first)
{
    for (size_t i = first; i < replay->stacks.frames.length; i++)
        if (replay->stacks.frames.data[i].lib == REPLAY_LIB_DUMPED)
            return true;
    return false;
}

int symbolize_frames(struct symbolization *symbolization, const struct symbolize_frames_input *input, struct error *err)
{
    const struct replay *replay = input->replay;
    size_t first = symbolization->named.length;
    struct lock_names lock_names = {0};
    struct frame_builder builder = {.symbolization = symbolization,
                                    .replay = replay,
                                    .profile = input->profile,
                                    .interner = input->interner,
                                    .perf_map_names.first = first,
                                    .lock_names = &lock_names,
                                    .first = first};
    struct address_batches batches = {0};
    struct recorded_libs libs = {.replay = replay};
    int code = -ENOMEM;
    if (!frame_builder_add_categories(&builder))
        goto no_memory;
    if (!array_reserve(&symbolization->named, replay->stacks.frames.length - first + 1) ||
        !library_frames_add_to_batches(&batches, &libs, input->files, first))
        goto no_memory;
    symbolization->named.length = replay->stacks.frames.length;
    memset(symbolization->named.data + first, 0,
           (replay->stacks.frames.length - first + 1) * sizeof(*symbolization->named.data));
    code = symbolizer_lookup_all(input->symbolizer, batches.jobs.data, batches.jobs.length, err);
    if (!code)
        code = lock_names_find(&lock_names, &libs, input->symbolizer, input->profile, first, err);
    if (!code)
        code = perf_map_names_find(&builder.perf_map_names, replay, err);
    if (!code && has_dumped(replay, first))
        code = jit_code_places_make(&builder.jit_code, replay, input->cache_directory, input->interner, err);
    if (!code)
        code = kernel_frames_open(&builder, input->symbolizer, err);
    if (code)
        goto out;
    for (size_t i = 0; i < batches.jobs.length; i++)
        if (!library_frames_add(&builder, &batches, i))
            goto no_memory;
    for (size_t i = first; i < replay->stacks.frames.length; i++)
        if (!library_frames_has(replay, &replay->stacks.frames.data[i]) && !add_native_frame(&builder, i))
            goto no_memory;
    if (!kernel_frames_list_unnamed(&builder) || !jit_frames_list_dump_problems(&builder) ||
        !jit_frames_list_map_problems(&builder))
        goto no_memory;
    array_sort(&symbolization->missing_symbols, compare_unnamed_samples);
    goto out;
no_memory:
    code = error_no_memory(err);
out:
    address_batches_destroy(&batches);
    free(libs.origins);
    lock_names_destroy(&lock_names);
    perf_map_names_destroy(&builder.perf_map_names);
    jit_code_places_destroy(&builder.jit_code);
    return code;
}

void symbolization_destroy(struct symbolization *symbolization)
{
    array_free(&symbolization->named);
    array_free(&symbolization->frames);
    array_free(&symbolization->problems);
    array_free(&symbolization->missing_symbols);
    array_free(&symbolization->gone);
}
