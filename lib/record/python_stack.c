#include "record/python_stack.h"

#include "spool/chunk.h"
#include "language/python_frame.h"

int python_stacks_init(struct python_stacks *stacks, struct spool_writer *spool, struct error *err)
{
    *stacks = (struct python_stacks){.functions = {.spool = spool}};
    stacks->merged = malloc(CHUNK_MAX_FRAMES * sizeof(*stacks->merged));
    return python_reader_init(&stacks->reader) && stacks->merged ? 0 : error_no_memory(err);
}

void python_stacks_destroy(struct python_stacks *stacks)
{
    python_reader_destroy(&stacks->reader);
    python_functions_destroy(&stacks->functions);
    free(stacks->merged);
    stacks->merged = NULL;
}

static bool is_in_interpreter(const struct tracked_process *process, uint64_t pc)
{
    const struct mapping *mapping = address_space_find(&process->space, pc);
    return mapping && mapping->lib == process->python_lib;
}

bool python_stack_has_python(const struct tracked_process *process, const struct python_stack *stack)
{
    if (process->python && !python_process_get_problem(process->python))
        for (size_t i = 0; i < stack->count; i++)
            if (is_in_interpreter(process, stack->pcs[i]))
                return true;
    return false;
}

enum python_outcome python_stacks_read(struct python_stacks *stacks, struct tracked_process *process,
                                       const struct python_sample *sample)
{
    stacks->time = sample->time;
    enum python_outcome outcome = python_process_read(process->python, &stacks->reader, sample);
    if (outcome == PYTHON_UNSUPPORTED && !stacks->problem[0])
        snprintf(stacks->problem, sizeof(stacks->problem), "%.*s", (int)sizeof(stacks->problem) - 1,
                 python_process_get_problem(process->python));
    return outcome;
}

/* ---- merging ---- */

struct merge {
    const struct python_reader *reader;
    uint64_t *out;
    size_t count, max;
};

static bool add_frame(struct merge *merge, uint64_t pc)
{
    if (merge->count == merge->max)
        return false;
    merge->out[merge->count++] = pc;
    return true;
}

/* Returns the number of frames that the thread's previous sample did not have, and their pcs. */
static int find_pcs(struct python_reader *reader, struct python_functions *functions, struct error *err)
{
    for (size_t i = 0; i < reader->frame_count - reader->shared; i++) {
        struct python_code *code = reader->codes[i];
        uint32_t number;
        reader->pcs[i] = 0;
        if (code->is_trampoline)
            continue;
        int failed = python_code_get_number(functions, code, &number, err);
        if (failed)
            return failed;
        reader->pcs[i] = python_frame_make(number, python_code_find_line(code, reader->frames[i].offset));
    }
    return 0;
}

static bool add_group(struct merge *merge, const struct python_group *group)
{
    bool has_room = true;
    for (size_t i = group->first; i < (size_t)group->first + group->count; i++)
        has_room &= !merge->reader->pcs[i] || add_frame(merge, merge->reader->pcs[i]);
    return has_room;
}

/* Whether the anchor lies in frame `i`, between its stack pointer and its caller's. */
static bool is_in_frame(const struct python_stack *stack, size_t i, uint64_t anchor)
{
    return anchor >= stack->sps[i] && i + 1 < stack->count && anchor < stack->sps[i + 1];
}

/* Whether the code belongs to no file, like a trampoline that Python generates for a function. */
static bool is_trampoline(const struct tracked_process *process, uint64_t pc)
{
    const struct mapping *mapping = address_space_find(&process->space, pc);
    return !mapping || mapping->lib == MAPPING_NO_LIB;
}

/* Returns false if a group belongs to no frame of the interpreter. */
static bool merge_groups(struct merge *merge, const struct tracked_process *process, const struct python_stack *stack)
{
    const struct python_reader *reader = merge->reader;
    size_t group = 0;
    bool fits = true;
    for (size_t i = 0; i < stack->count; i++) {
        size_t frames_before = merge->count;
        bool is_interpreter = false;
        while (group < reader->group_count && is_in_frame(stack, i, reader->groups[group].anchor)) {
            is_interpreter = true;
            fits &= add_group(merge, &reader->groups[group++]);
        }
        fits &= add_frame(merge, stack->pcs[i]) && (!is_interpreter || is_in_interpreter(process, stack->pcs[i]));
        if (merge->count > frames_before + 1 && i + 1 < stack->count && is_trampoline(process, stack->pcs[i + 1]))
            i++;
    }
    /* Groups beyond the end of a truncated stack are callers, too. */
    if (group < reader->group_count)
        fits &= !stack->is_complete && stack->count && reader->groups[group].anchor >= stack->sps[stack->count - 1];
    for (; group < reader->group_count && fits; group++)
        fits &= add_group(merge, &reader->groups[group]);
    return fits;
}

int python_stacks_add(struct python_stacks *stacks, struct tracked_process *process, bool stood_still,
                      struct python_stack *stack, bool *is_added, struct error *err)
{
    struct merge merge = {.reader = &stacks->reader, .out = stacks->merged, .max = stack->max};
    *is_added = false;
    if (!stood_still) {
        python_process_forget(process->python);
        return 0;
    }
    if (merge.max > CHUNK_MAX_FRAMES)
        merge.max = CHUNK_MAX_FRAMES;
    int code = find_pcs(&stacks->reader, &stacks->functions, err);
    if (code)
        return code;
    python_process_store_stack(process->python, &stacks->reader, stacks->time);
    if (!merge_groups(&merge, process, stack))
        return 0;
    memcpy(stack->pcs, stacks->merged, merge.count * sizeof(*stack->pcs));
    stack->count = merge.count;
    *is_added = true;
    return 0;
}
