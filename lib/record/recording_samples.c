/*
 * Turns samples into call chains in the spool.
 *
 * The recorder walks stacks at once because stacks are large (up to 64 KiB each, 64 MB a second for each busy CPU at
 * 1 kHz) and call chains are small (some 10 bytes), and because it can still read the memory above the copy
 * (stack_reader.c, wakeup_mode.c).
 */
#include "record/recording.h"

#include "os/clock.h"
#include "process/kernel_map.h"
#include "unwind/unwind.h"

#include <linux/perf_event.h>
#include <string.h>

#define SECOND UINT64_C(1000000000)

/* ---- walking ---- */

static size_t copy_kernel_frames(const struct perf_sample *sample, uint64_t *frames, size_t max)
{
    size_t count = 0;
    for (size_t i = 0; i < sample->callchain_length && count < max; i++) {
        uint64_t address;
        memcpy(&address, sample->callchain + 8 * i, sizeof(address));
        if (address >= (uint64_t)PERF_CONTEXT_MAX)
            continue;
        frames[count] = count ? address - 1 : address; /* callers: an address inside the call instruction */
        count++;
    }
    return count;
}

struct user_stack {
    size_t frames;
    uint32_t flags;
    enum unwind_end end;
    enum wakeup_stack depth;
    bool has_sps; /* recording->sps has the stack pointers of these frames */
};

/* Returns no frames and UNWIND_COMPLETE if execve has dropped the old program, and only kernel frames remain. */
static struct unwind_result walk(struct recording *recording, const struct perf_record *record,
                                 struct tracked_process *process, uint64_t *frames, size_t max)
{
    const struct perf_sample *sample = &record->sample;
    struct unwind_regs regs = {0};
    _Static_assert(sizeof(regs.r) == sizeof(sample->registers), "both are the registers by their DWARF numbers");
    memcpy(regs.r, sample->registers, sizeof(regs.r));
    regs.is_32_bit = sample->registers_abi == PERF_SAMPLE_REGS_ABI_32;
    struct unwind_stack stack = {.sp = regs.r[UNWIND_REG_SP],
                                 .bytes = sample->stack,
                                 .size = sample->stack_size,
                                 .below = sample->stack_below,
                                 .read_above = stack_reader_read,
                                 .read_off_copied_stack = stack_reader_read_off_copied_stack,
                                 .read_below = stack_reader_read_below,
                                 .read_code = stack_reader_read_code,
                                 .context = &recording->reader,
                                 .sps = process->python ? recording->sps : NULL};
    if (sample->callchain_length && unwind_has_no_user_stack(&regs, &stack))
        return (struct unwind_result){.end = UNWIND_COMPLETE};
    stack_reader_start(&recording->reader, process->living, record->time, stack.sp, stack.bytes, stack.size,
                       sample->stack_full);
    if (process->dump)
        jitdump_unwind_follow(process->dump, &process->space);
    return unwind_walk(&process->space, &regs, &stack, frames, max);
}

/* libunwind can walk only a thread that ptrace has stopped. */
static bool walk_again_in_place(struct recording *recording, const struct perf_record *record,
                                struct tracked_process *process, uint64_t *frames, size_t max,
                                struct unwind_result *result)
{
    if (result->end == UNWIND_COMPLETE || record->sample.registers_abi == PERF_SAMPLE_REGS_ABI_32 ||
        !recording->thread_is_stopped || recording->has_no_second_walker)
        return false;
    if (!recording->second_walker)
        recording->second_walker = in_place_walker_new();
    recording->has_no_second_walker = !recording->second_walker;
    if (recording->has_no_second_walker)
        return false;
    struct in_place_thread thread = {.tid = (pid_t)record->tid, .program = process->number, .space = &process->space};
    uint64_t *found = recording->frames + CHUNK_MAX_FRAMES;
    size_t count = in_place_walk(recording->second_walker, &thread, found, max);
    if (!count)
        return false;
    memcpy(frames, found, count * sizeof(*frames));
    *result = (struct unwind_result){.frames = count, .end = UNWIND_COMPLETE, .used_read_above = true};
    recording->completed_by_libunwind++;
    return true;
}

static int walk_user_stack(struct recording *recording, const struct perf_record *record,
                           struct tracked_process *process, uint64_t *frames, size_t max, struct user_stack *user,
                           struct error *err)
{
    *user = (struct user_stack){.depth = WAKEUP_STACK_FITS, .end = UNWIND_COMPLETE};
    if (record->sample.registers_abi == PERF_SAMPLE_REGS_ABI_NONE)
        return 0; /* the process is exiting: its memory is gone */
    uint64_t began = monotonic_ns();
    struct unwind_result result = walk(recording, record, process, frames, max);
    for (int round = 0; round < MAPPINGS_OF_STACK_MAX; round++) {
        const struct tracked_stack stack = {.pcs = frames, .count = result.frames, .unmapped = result.unmapped};
        bool changed;
        int code = tracker_check_stack(recording->tracker, process, &stack, record->time, &changed, err);
        if (code)
            return code;
        if (!changed)
            break;
        result = walk(recording, record, process, frames, max);
    }
    bool was_completed = walk_again_in_place(recording, record, process, frames, max, &result);
    recording->unwinding.time += monotonic_ns() - began;
    recording->unwinding.stacks++;
    if (result.end == UNWIND_TOO_COSTLY)
        excess_note(&recording->excesses, recording->tracker, EXCESS_UNWINDING, process);
    user->frames = result.frames;
    user->end = result.end;
    user->has_sps = process->python && !was_completed && record->sample.registers_abi == PERF_SAMPLE_REGS_ABI_64;
    if (result.end != UNWIND_COMPLETE)
        user->flags |= SAMPLE_TRUNCATED;
    if (result.used_no_cfi)
        user->flags |= SAMPLE_WITHOUT_CFI;
    if (result.used_read_above)
        user->flags |= SAMPLE_COMPLETED_LIVE;
    bool is_short = result.end == UNWIND_STACK_SHORT || result.end == UNWIND_OFF_COPIED_STACK;
    bool may_be_deeper = record->sample.stack_full || recording->reader.went_off_copied_stack;
    if (was_completed || result.end == UNWIND_SAVED_BELOW)
        user->depth = WAKEUP_STACK_LATE; /* the next one will need it too */
    else if (may_be_deeper && (result.used_read_above || is_short))
        user->depth = recording->reader.was_late ? WAKEUP_STACK_LATE : WAKEUP_STACK_SHORT;
    return 0;
}

/* ---- Python ---- */

/* The interrupt that takes a sample wakes a recorder on the same CPU, and the thread leaves the CPU before it executes
 * another instruction: at most this long after its sample, mostly for copying the stack. */
static const uint64_t longest_interrupt = 100000;                       /* ns */
static const uint64_t longest_wait_for_reading = STACK_READ_MAX_AGE_NS; /* ns */

/* Whether the thread has executed nothing since the current sample. */
static bool stands_still(const struct recording *recording, const struct perf_record *record)
{
    return recording->by_ptrace
               ? recording->thread_is_stopped
               : perf_merge_stands_still(recording->merge, record->tid, record->time, record->time + longest_interrupt);
}

static int add_python_frames(struct recording *recording, const struct perf_record *record,
                             struct tracked_process *process, struct python_stack *stack, struct user_stack *user,
                             struct python_counts *counts, struct error *err)
{
    const struct python_sample sample = {.pid = record->pid,
                                         .tid = record->tid,
                                         .time = record->time,
                                         .sp = record->sample.registers[UNWIND_REG_SP],
                                         .copy = record->sample.stack,
                                         .copy_size = record->sample.stack_size,
                                         .sps = recording->sps,
                                         .frame_count = stack->count,
                                         .is_in_kernel =
                                             record->sample.callchain_length &&
                                             (record->misc & PERF_RECORD_MISC_CPUMODE_MASK) == PERF_RECORD_MISC_KERNEL};
    bool is_young = recording->by_ptrace || monotonic_ns() < record->time + longest_wait_for_reading;
    enum python_outcome outcome = is_young ? python_stacks_read(&recording->python, process, &sample) : PYTHON_CHANGED;
    bool stood_still = is_young && stands_still(recording, record), is_added = false;
    if (outcome == PYTHON_NO_THREAD || outcome == PYTHON_UNSUPPORTED)
        return 0;
    int code = 0;
    if (is_young && (outcome == PYTHON_READ || !stood_still))
        code = python_stacks_add(&recording->python, process, stood_still && outcome == PYTHON_READ, stack, &is_added,
                                 err);
    user->frames = stack->count;
    counts->samples++;
    counts->read += is_added;
    bool is_late = !stood_still || outcome == PYTHON_CHANGED;
    counts->late += is_late;
    counts->other += !is_late && !is_added;
    recording->was_python = true;
    if (!recording->by_ptrace) /* the next sample must be read in time, too */
        user->depth = stood_still ? WAKEUP_STACK_SHORT : WAKEUP_STACK_LATE;
    return code;
}

/* ---- samples ---- */

/* Walks the stack of a sample, and fills in the fields of `sample` that the record has. */
static int walk_stack(struct recording *recording, const struct perf_record *record, struct tracked_process *process,
                      struct sample *sample, struct user_stack *user, struct python_counts *counts, struct error *err)
{
    uint64_t *frames = recording->frames;
    size_t kernel_frames = copy_kernel_frames(&record->sample, frames, CHUNK_MAX_FRAMES / 2);
    int code = 0;
    if (kernel_frames && !recording->kernel_mapped) {
        recording->kernel_mapped = true;
        code = kernel_map_write(recording->libraries, recording->spool, record->time, err);
    }
    if (!code)
        code = walk_user_stack(recording, record, process, frames + kernel_frames, CHUNK_MAX_FRAMES - kernel_frames,
                               user, err);
    if (code)
        return code;
    struct python_stack python = {.pcs = frames + kernel_frames,
                                  .sps = recording->sps,
                                  .count = user->frames,
                                  .max = CHUNK_MAX_FRAMES - kernel_frames,
                                  .is_complete = !(user->flags & SAMPLE_TRUNCATED)};
    if (user->has_sps && python_stack_has_python(process, &python))
        code = add_python_frames(recording, record, process, &python, user, counts, err);
    if (code)
        return code;
    *sample = (struct sample){.cpu = record->cpu,
                              .time = record->time,
                              .flags = user->flags,
                              .frame_count = (uint32_t)(kernel_frames + user->frames),
                              .kernel_frame_count = (uint32_t)kernel_frames,
                              .frames = frames};
    if (!sample->frame_count) {
        frames[0] = record->sample.ip;
        sample->frame_count = 1;
    }
    return 0;
}

/* Returns ns: from the thread's switches if known, else the sampling period, which is a time for a clock and only
 * nominally for cycles. */
static uint64_t cpu_time_of(struct recording *recording, struct tracked_thread *thread,
                            const struct perf_record *record)
{
    const struct perf_sample *sample = &record->sample;
    uint64_t by_switches;
    if (recording->follows_runs && waits_sample(thread, record->time, &by_switches))
        return by_switches;
    return recording->events.hardware ? SECOND / recording->events.rate : sample->period;
}

int recording_take_sample(struct recording *recording, const struct perf_record *record, enum wakeup_stack *depth,
                          struct error *err)
{
    struct tracked_thread *thread;
    struct tracked_process *process;
    int code = tracker_find(recording->tracker, record->pid, record->tid, record->time, &thread, &process, err);
    if (code)
        return code;
    uint64_t cpu_time = cpu_time_of(recording, thread, record); /* measure it even if the sample is not stored */
    counters_note_run(&recording->counters, process, record->time, true);
    if (pauses_include(&recording->control.pauses, record->time)) {
        *depth = WAKEUP_STACK_FITS;
        return 0;
    }
    if (!thread_filter_matches(&recording->filter, thread->name)) {
        recording->filter.left_out++;
        *depth = WAKEUP_STACK_FITS;
        return 0;
    }
    struct user_stack user;
    struct sample sample;
    code = walk_stack(recording, record, process, &sample, &user, &recording->python.counts, err);
    if (code)
        return code;
    sample.thread = thread->number;
    sample.cpu_time = cpu_time;
    recording->samples++;
    recording->truncated += (sample.flags & SAMPLE_TRUNCATED) != 0;
    recording->truncated_by_reason[user.end] += user.end != UNWIND_COMPLETE;
    *depth = user.depth;
    tracker_note_ran(recording->tracker, thread, cpu_time);
    return spool_writer_sample(recording->spool, &sample, err);
}

int recording_take_event(struct recording *recording, const struct perf_record *record, uint32_t event,
                         struct error *err)
{
    struct tracked_thread *thread;
    struct tracked_process *process;
    struct record_event *counts = &recording->result->events[event - 1];
    if (!record->tid || pauses_include(&recording->control.pauses, record->time)) /* an idle CPU is no thread */
        return 0;
    int code = tracker_find(recording->tracker, record->pid, record->tid, record->time, &thread, &process, err);
    if (code || !thread_filter_matches(&recording->filter, thread->name))
        return code;
    struct user_stack user;
    struct sample sample;
    code = walk_stack(recording, record, process, &sample, &user, &recording->python.events, err);
    if (code)
        return code;
    sample.thread = thread->number;
    sample.event = event;
    sample.period = event_sampling_period(&recording->events.sampling, event, record->sample.period);
    counts->samples++;
    counts->truncated += (sample.flags & SAMPLE_TRUNCATED) != 0;
    if (recording_wants_waits(recording) && event_is_switch(&recording->options->events->data[event - 1]) &&
        user.frames)
        code = waits_give_stack(thread, record->time, sample.frames + sample.kernel_frame_count,
                                sample.frame_count - sample.kernel_frame_count, sample.flags, REASON_UNKNOWN, err);
    return code ? code : spool_writer_sample(recording->spool, &sample, err);
}

void recording_take_throttle(struct recording *recording, uint32_t event)
{
    uint64_t *count = event ? &recording->result->events[event - 1].throttled : &recording->result->throttled;
    ++*count;
}
