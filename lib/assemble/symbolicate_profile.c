/*
 * Replaces the profile's tables with new tables. A stack of the old table ends in a frame, which stands for an address
 * or for one of the inlined calls at an address; the latter follows the frames that it is inlined into:
 *
 *     old    main 0x1180 | 0x1204                         an address without a name
 *     new    main 0x1180 | work 0x1204 | inner 0x1204     now has one, and an inlined call
 *
 * One pass over the old stacks, parents first, maps each to a new stack. A frame whose address has new names becomes a
 * frame for each new name, and loses its old inlined calls. Every other frame is copied. The new tables intern rows, so
 * equal rows are merged.
 */
#include "assemble/symbolicate_profile.h"

#include "assemble/answer_rows.h"
#include "assemble/profile_addresses.h"
#include "assemble/symbolicate_markers.h"
#include "assemble/wait_kinds.h"
#include "process/jit_files.h"

/* The amount of data in an answer. */
enum knowledge { KNOWS_NOTHING, KNOWS_NAME, KNOWS_LINE };

/* The new frames of an old frame: a range of symbolication.frames; an empty range means to copy the frame. */
struct renamed_frame {
    uint32_t first, count;
};

struct symbolication {
    struct profile *profile; /* has the new tables */
    struct profile old;      /* has only the old tables */
    struct interner interner;
    struct profile_addresses addresses;
    struct renamed_frame *renamed; /* by old frame */
    struct row_list frames;
    uint32_t *copied_funcs, *copied_frames; /* for each old row, the new row, or PROFILE_NONE if not copied yet */
    uint32_t *stacks;                       /* for each old stack, the new stack */
    struct symbolicate_result *result;
};

/* ---- lookup ---- */

static int look_up_addresses(struct symbolication *work, struct symbolizer *symbolizer, struct error *err)
{
    int code = profile_addresses_make(&work->addresses, work->profile, &work->old.frames, err);
    struct address_batches *batches = &work->addresses.batches;
    return code ? code : symbolizer_lookup_all(symbolizer, batches->jobs.data, batches->jobs.length, err);
}

/* ---- choosing the better answer ---- */

static enum knowledge rate_old_frame(const struct symbolication *work, uint32_t frame)
{
    uint32_t func = work->old.frames.func[frame];
    if (profile_is_address(profile_text(work->profile, work->old.funcs.name[func])))
        return KNOWS_NOTHING;
    return work->old.funcs.source[func] != PROFILE_NONE || work->old.frames.line[frame] ? KNOWS_LINE : KNOWS_NAME;
}

static enum knowledge rate_answer(const struct symbol_answers *answers, const struct symbol_answer *answer)
{
    enum knowledge found = answer->frame_count ? KNOWS_NAME : KNOWS_NOTHING;
    for (uint32_t i = 0; i < answer->frame_count; i++)
        if (answers->frames.data[answer->first_frame + i].file)
            found = KNOWS_LINE;
    return found;
}

/* Returns whether the answer has the range of a function without a name. The addresses in the range become one
 * function. */
static bool has_function_range(const struct symbol_answer *answer)
{
    return answer->symbol_size != 0;
}

static bool rename_frame(struct symbolication *work, uint32_t frame, const struct symbol_answers *answers,
                         const struct symbol_answer *answer)
{
    const struct library *lib = &work->profile->libs.data[work->old.frames.lib[frame]];
    uint32_t name = lib->name != PROFILE_NONE ? lib->name : lib->debug_name;
    if (name == PROFILE_NONE)
        name = strings_add_z(&work->profile->strings, "");
    struct library_rows rows = {
        .lib = work->old.frames.lib[frame],
        .resource = name == STRING_NONE ? PROFILE_NONE : intern_library_resource(&work->interner, name),
        .category = work->old.frames.category[frame],
        .subcategory = work->old.frames.subcategory[frame],
    };
    struct renamed_frame *renamed = &work->renamed[frame];
    renamed->first = (uint32_t)work->frames.length;
    bool done = rows.resource != PROFILE_NONE &&
                answer_rows_add(&work->interner, &rows, (uint64_t)work->old.frames.address[frame], answers, answer,
                                &work->frames);
    renamed->count = (uint32_t)work->frames.length - renamed->first;
    return done;
}

static void count_address(struct symbolicated_library *library, bool is_named)
{
    library->addresses++;
    library->unnamed += !is_named;
}

static int rename_library(struct symbolication *work, size_t job, struct error *err)
{
    const struct symbol_answers *answers = &work->addresses.batches.jobs.data[job].answers;
    size_t first = work->addresses.batches.first.data[job], end = work->addresses.batches.first.data[job + 1];
    uint32_t lib = work->addresses.batches.addresses.data[first].lib;
    const char *problem = work->addresses.problems[lib].text[0] ? work->addresses.problems[lib].text : answers->problem;
    struct symbolicated_library counts = {.lib = lib};
    /* The image of JIT code (jit_image.h) has less data than the recording: no tier, no declaration. */
    bool is_jit = jit_files_is_jitdump_name(profile_text(work->profile, work->profile->libs.data[lib].debug_name));
    snprintf(counts.problem, sizeof(counts.problem), "%.*s", (int)sizeof(counts.problem) - 1, problem);
    for (size_t i = first; i < end; i++) {
        const struct batch_address *address = &work->addresses.batches.addresses.data[i];
        const struct symbol_answer *answer = address_batches_get_answer(&work->addresses.batches, job, i);
        enum knowledge before = rate_old_frame(work, address->requester), now = rate_answer(answers, answer);
        if (i == first || address->answer != work->addresses.batches.addresses.data[i - 1].answer)
            count_address(&counts, before != KNOWS_NOTHING || now != KNOWS_NOTHING);
        if (now < before || (now == KNOWS_NOTHING && !has_function_range(answer)) ||
            (is_jit && before != KNOWS_NOTHING))
            continue;
        if (!rename_frame(work, address->requester, answers, answer))
            return error_no_memory(err);
    }
    work->result->addresses += counts.addresses;
    work->result->unnamed += counts.unnamed;
    return array_push(&work->result->libraries, counts) ? 0 : error_no_memory(err);
}

/* ---- copying ---- */

static bool copy_func(struct symbolication *work, uint32_t func, uint32_t *copy)
{
    const struct func_table *funcs = &work->old.funcs;
    struct func_row row = {.name = funcs->name[func],
                           .resource = PROFILE_NONE,
                           .source = PROFILE_NONE,
                           .line = funcs->line[func],
                           .column = funcs->column[func],
                           .flags = funcs->flags[func]};
    uint32_t resource = funcs->resource[func], source = funcs->source[func];
    if (resource != PROFILE_NONE)
        row.resource = intern_resource(&work->interner, &work->old.resources.data[resource]);
    if (source != PROFILE_NONE)
        row.source = intern_source(&work->interner, &work->old.sources.data[source]);
    if ((resource != PROFILE_NONE && row.resource == PROFILE_NONE) ||
        (source != PROFILE_NONE && row.source == PROFILE_NONE))
        return false;
    *copy = intern_func(&work->interner, &row);
    return *copy != PROFILE_NONE;
}

static bool copy_frame(struct symbolication *work, uint32_t frame, uint32_t *copy)
{
    const struct frame_table *frames = &work->old.frames;
    uint32_t *func = &work->copied_funcs[frames->func[frame]];
    if (*func == PROFILE_NONE && !copy_func(work, frames->func[frame], func))
        return false;
    struct frame_row row = {.address = frames->address[frame],
                            .lib = frames->lib[frame],
                            .func = *func,
                            .category = frames->category[frame],
                            .subcategory = frames->subcategory[frame],
                            .native_symbol = PROFILE_NONE,
                            .line = frames->line[frame],
                            .column = frames->column[frame],
                            .inline_depth = frames->inline_depth[frame]};
    uint32_t symbol = frames->native_symbol[frame];
    if (symbol != PROFILE_NONE)
        row.native_symbol = intern_native_symbol(&work->interner, &work->old.native_symbols.data[symbol]);
    if (symbol != PROFILE_NONE && row.native_symbol == PROFILE_NONE)
        return false;
    *copy = intern_frame(&work->interner, &row);
    return *copy != PROFILE_NONE;
}

/* Copies the source files with embedded text first, so that no equal file without text replaces them. */
static bool copy_embedded_sources(struct symbolication *work)
{
    for (size_t i = 0; i < work->old.sources.length; i++)
        if (work->old.sources.data[i].content != PROFILE_NONE &&
            intern_source(&work->interner, &work->old.sources.data[i]) == PROFILE_NONE)
            return false;
    return true;
}

/* ---- stacks ---- */

/* Whether the frame is a call inlined directly into the caller's frame, at the same address. */
static bool is_inlined_into(const struct frame_table *frames, uint32_t frame, uint32_t caller)
{
    return frames->inline_depth[frame] > 0 && frames->inline_depth[frame] == frames->inline_depth[caller] + 1 &&
           frames->lib[frame] == frames->lib[caller] && frames->address[frame] == frames->address[caller];
}

static uint32_t add_stack_of_frames(struct symbolication *work, uint32_t prefix, const uint32_t *frames, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        prefix = intern_stack(&work->interner, prefix, frames[i]);
        if (prefix == PROFILE_NONE)
            return PROFILE_NONE;
    }
    return prefix;
}

static int map_stacks(struct symbolication *work, struct error *err)
{
    const struct stack_table *old = &work->old.stacks;
    bool *is_replaced = calloc(old->length + 1, sizeof(*is_replaced)); /* new frames replace the frame */
    bool done = is_replaced != NULL;
    for (size_t i = 0; done && i < old->length; i++) {
        uint32_t frame = old->frame[i], caller = old->prefix[i];
        uint32_t prefix = caller == PROFILE_NONE ? PROFILE_NONE : work->stacks[caller];
        const struct renamed_frame *renamed = &work->renamed[frame];
        if (caller != PROFILE_NONE && is_replaced[caller] &&
            is_inlined_into(&work->old.frames, frame, old->frame[caller])) {
            is_replaced[i] = true;
            work->stacks[i] = prefix;
            continue;
        }
        if (renamed->count) {
            is_replaced[i] = true;
            work->stacks[i] = add_stack_of_frames(work, prefix, &work->frames.data[renamed->first], renamed->count);
        } else {
            uint32_t *kept = &work->copied_frames[frame];
            done = *kept != PROFILE_NONE || copy_frame(work, frame, kept);
            uint32_t copy = done ? wait_kinds_add_frame(&work->interner, prefix, *kept) : PROFILE_NONE;
            work->stacks[i] = copy == PROFILE_NONE ? PROFILE_NONE : add_stack_of_frames(work, prefix, &copy, 1);
        }
        done = work->stacks[i] != PROFILE_NONE;
    }
    free(is_replaced);
    return done ? 0 : error_no_memory(err);
}

static void map_samples(struct symbolication *work)
{
    for (size_t t = 0; t < work->profile->threads.length; t++)
        for (int kind = TABLE_SAMPLES; kind < SAMPLE_TABLES; kind++) {
            const struct sample_table *samples =
                thread_samples(&work->profile->threads.data[t], (enum sample_table_kind)kind);
            for (size_t i = 0; i < samples->length; i++)
                if (samples->stack[i] != PROFILE_NONE)
                    samples->stack[i] = work->stacks[samples->stack[i]];
            for (size_t i = 0; samples->waker_stack && i < samples->length; i++)
                if (samples->waker_stack[i] != PROFILE_NONE)
                    samples->waker_stack[i] = work->stacks[samples->waker_stack[i]];
        }
}

/* ---- the whole profile ---- */

static void move_tables(struct profile *profile, struct profile *old)
{
#define MOVE(table)                                                                                                    \
    do {                                                                                                               \
        old->table = profile->table;                                                                                   \
        memset(&profile->table, 0, sizeof(profile->table));                                                            \
    } while (0)
    MOVE(stacks);
    MOVE(frames);
    MOVE(funcs);
    MOVE(resources);
    MOVE(native_symbols);
    MOVE(sources);
#undef MOVE
}

static uint32_t *allocate_map(size_t rows)
{
    uint32_t *map = malloc((rows + 1) * sizeof(*map));
    if (map)
        memset(map, 0xff, (rows + 1) * sizeof(*map)); /* PROFILE_NONE */
    return map;
}

static int make_maps(struct symbolication *work, struct error *err)
{
    work->renamed = calloc(work->old.frames.length + 1, sizeof(*work->renamed));
    work->copied_frames = allocate_map(work->old.frames.length);
    work->copied_funcs = allocate_map(work->old.funcs.length);
    work->stacks = allocate_map(work->old.stacks.length);
    return work->renamed && work->copied_frames && work->copied_funcs && work->stacks ? 0 : error_no_memory(err);
}

static void work_destroy(struct symbolication *work)
{
    interner_destroy(&work->interner);
    profile_destroy(&work->old);
    profile_addresses_destroy(&work->addresses);
    array_free(&work->frames);
    free(work->renamed);
    free(work->copied_funcs);
    free(work->copied_frames);
    free(work->stacks);
}

int profile_symbolicate(struct profile *profile, struct symbolizer *symbolizer, struct symbolicate_result *result,
                        struct error *err)
{
    struct symbolication work = {.profile = profile, .result = result};
    profile_init(&work.old);
    interner_init(&work.interner, profile);
    move_tables(profile, &work.old);
    int code = make_maps(&work, err);
    if (!code)
        code = look_up_addresses(&work, symbolizer, err);
    if (!code && !copy_embedded_sources(&work))
        code = error_no_memory(err);
    for (size_t i = 0; !code && i < work.addresses.batches.jobs.length; i++)
        code = rename_library(&work, i, err);
    if (!code)
        code = map_stacks(&work, err);
    if (!code)
        code = symbolicate_markers(profile, work.stacks, work.old.stacks.length, err);
    if (!code) {
        map_samples(&work);
        profile->meta.symbolicated = 1;
    }
    work_destroy(&work);
    return code;
}

void symbolicate_result_destroy(struct symbolicate_result *result)
{
    array_free(&result->libraries);
}
