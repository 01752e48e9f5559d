#include "record/cpu_samples.h"

#include "os/clock.h"
#include "process/kernel_map.h"
#include "spool/wait_reasons.h"
#include "unwind/in_place.h"
#include "unwind/stack_reader.h"
#include "unwind/unwind.h"

#include <linux/perf_event.h>

struct cpu_samples {
    struct cpu_samples_options options;
    struct stack_reader reader;
    struct in_place_walker *second_walker;
    bool has_no_second_walker;
    bool kernel_mapped;
    uint64_t *frames; /* twice CHUNK_MAX_FRAMES, for a second walk */
    uint64_t *sps;    /* stack pointers of user frames, or NULL (Python frames are not requested) */
    uint64_t count, truncated;
    uint64_t truncated_by_reason[UNWIND_ENDS];
    uint64_t completed_by_libunwind;
};

/* ---- walking ---- */

static size_t copy_kernel_frames(const struct perf_sample *sample, uint64_t *frames, size_t max)
{
    size_t count = 0;
    for (size_t i = 0; i < sample->callchain_length && count < max; i++) {
        uint64_t address;
        memcpy(&address, sample->callchain + 8 * i, sizeof(address));
        if (address >= (uint64_t)PERF_CONTEXT_MAX)
            continue;
        frames[count] = count ? address - 1 : address; /* a caller's frame is an address inside its call instruction */
        count++;
    }
    return count;
}

/* A sample whose stack is walked, and the user stack. */
struct walked_sample {
    const struct perf_record *record;
    bool is_stopped; /* ptrace has stopped the thread */
    const struct tracked_thread *thread;
    struct tracked_process *process;
    struct python_counts *counts;
    uint64_t *frames; /* part of cpu_samples.frames, behind the kernel frames */
    size_t max;       /* room for frames */
    size_t count;
    uint32_t flags;
    enum unwind_end end;
    enum wakeup_stack depth;
    bool has_sps; /* cpu_samples.sps has the stack pointers of the walked frames */
    bool has_python;
};

/* Walks a stack. Returns no frames and UNWIND_COMPLETE during execve, when the old program is gone and only kernel
 * frames remain. */
static struct unwind_result walk_with_cfi(struct cpu_samples *samples, const struct walked_sample *walked)
{
    const struct perf_sample *sample = &walked->record->sample;
    struct tracked_process *process = walked->process;
    struct unwind_regs regs = {0};
    _Static_assert(sizeof(regs.r) == sizeof(sample->registers),
                   "both register arrays are indexed by DWARF register number");
    memcpy(regs.r, sample->registers, sizeof(regs.r));
    regs.is_32_bit = sample->registers_abi == PERF_SAMPLE_REGS_ABI_32;
    struct unwind_stack stack = {.sp = regs.r[UNWIND_REG_SP],
                                 .bytes = sample->stack,
                                 .size = sample->stack_size,
                                 .below = sample->stack_below,
                                 .read_above = stack_reader_read,
                                 .read_off_copied_stack = stack_reader_read_off_copied_stack,
                                 .read_below = stack_reader_read_code,
                                 .read_code = stack_reader_read_code,
                                 .context = &samples->reader,
                                 .sps = process->python ? samples->sps : NULL};
    if (sample->callchain_length && unwind_has_no_user_stack(&regs, &stack))
        return (struct unwind_result){.end = UNWIND_COMPLETE};
    stack_reader_start(&samples->reader, tracked_process_get_live_thread(process), walked->record->time, stack.sp,
                       stack.bytes, stack.size, sample->stack_full);
    if (process->dump)
        jitdump_unwind_follow(process->dump, &process->space);
    return unwind_walk(&process->space, &regs, &stack, walked->frames, walked->max);
}

/* libunwind can walk only the stack of a thread that ptrace has stopped. */
static bool walk_again_in_place(struct cpu_samples *samples, const struct walked_sample *walked,
                                struct unwind_result *result)
{
    struct tracked_process *process = walked->process;
    if (result->end == UNWIND_COMPLETE || walked->record->sample.registers_abi == PERF_SAMPLE_REGS_ABI_32 ||
        !walked->is_stopped || samples->has_no_second_walker)
        return false;
    if (!samples->second_walker)
        samples->second_walker = in_place_walker_new();
    samples->has_no_second_walker = !samples->second_walker;
    if (samples->has_no_second_walker)
        return false;
    struct in_place_thread thread = {.pid = (pid_t)process->pid,
                                     .tid = (pid_t)walked->record->tid,
                                     .program = process->number,
                                     .space = &process->space};
    uint64_t *found = samples->frames + CHUNK_MAX_FRAMES;
    size_t count = in_place_walk(samples->second_walker, &thread, found, walked->max);
    if (!count)
        return false;
    memcpy(walked->frames, found, count * sizeof(*found));
    *result = (struct unwind_result){.frames = count, .end = UNWIND_COMPLETE, .used_read_above = true};
    samples->completed_by_libunwind++;
    return true;
}

static int walk_user_stack(struct cpu_samples *samples, struct walked_sample *walked, struct error *err)
{
    const struct perf_record *record = walked->record;
    struct tracked_process *process = walked->process;
    walked->depth = WAKEUP_STACK_FITS;
    walked->end = UNWIND_COMPLETE;
    if (record->sample.registers_abi == PERF_SAMPLE_REGS_ABI_NONE)
        return 0; /* the process is exiting: its memory is gone */
    uint64_t began = monotonic_ns();
    struct unwind_result result = walk_with_cfi(samples, walked);
    for (int round = 0; round < MAPPINGS_OF_STACK_MAX; round++) {
        const struct tracked_stack stack = {.pcs = walked->frames, .count = result.frames, .unmapped = result.unmapped};
        bool changed;
        int code = tracker_check_stack(samples->options.tracker, process, &stack, record->time, &changed, err);
        if (code)
            return code;
        if (!changed)
            break;
        result = walk_with_cfi(samples, walked);
    }
    bool was_completed = walk_again_in_place(samples, walked, &result);
    recorder_work_count_unwinding(samples->options.work, monotonic_ns() - began);
    if (result.end == UNWIND_TOO_COSTLY)
        excesses_add(samples->options.excesses, samples->options.tracker, EXCESS_UNWINDING, process);
    walked->count = result.frames;
    walked->end = result.end;
    walked->has_sps = process->python && !was_completed && record->sample.registers_abi == PERF_SAMPLE_REGS_ABI_64;
    if (result.end != UNWIND_COMPLETE)
        walked->flags |= SAMPLE_TRUNCATED;
    if (result.used_no_cfi)
        walked->flags |= SAMPLE_WITHOUT_CFI;
    if (result.used_read_above)
        walked->flags |= SAMPLE_COMPLETED_LIVE;
    bool is_short = result.end == UNWIND_STACK_SHORT || result.end == UNWIND_OFF_COPIED_STACK;
    bool may_be_deeper = record->sample.stack_full || samples->reader.went_off_copied_stack;
    if (was_completed || result.end == UNWIND_SAVED_BELOW)
        walked->depth = WAKEUP_STACK_LATE; /* the next deep stack will need fast mode too */
    else if (may_be_deeper && (result.used_read_above || is_short))
        walked->depth = samples->reader.was_late ? WAKEUP_STACK_LATE : WAKEUP_STACK_SHORT;
    return 0;
}

/* ---- Python ---- */

/* The interrupt that takes a sample wakes a recorder on the same CPU, and the thread leaves the CPU before it executes
 * another instruction: at most this long after its sample, mostly for copying the stack. */
static const uint64_t longest_interrupt = 100000;                       /* ns */
static const uint64_t longest_wait_for_reading = STACK_READ_MAX_AGE_NS; /* ns */

/* Whether the thread has executed no instruction since the current sample. */
static bool has_not_run_since(const struct cpu_samples *samples, const struct walked_sample *walked)
{
    const struct perf_merge *merge = samples->options.merge;
    const struct perf_record *record = walked->record;
    return merge ? perf_merge_has_not_run_since(merge, record->tid, record->time, record->time + longest_interrupt)
                 : walked->is_stopped;
}

static int add_python_frames(struct cpu_samples *samples, struct walked_sample *walked, struct python_stack *stack,
                             struct error *err)
{
    const struct perf_record *record = walked->record;
    struct python_counts *counts = walked->counts;
    const struct python_sample sample = {.pid = record->pid,
                                         .tid = record->tid,
                                         .time = record->time,
                                         .sp = record->sample.registers[UNWIND_REG_SP],
                                         .copy = record->sample.stack,
                                         .copy_size = record->sample.stack_size,
                                         .sps = samples->sps,
                                         .frame_count = stack->count,
                                         .is_in_kernel =
                                             record->sample.callchain_length &&
                                             (record->misc & PERF_RECORD_MISC_CPUMODE_MASK) == PERF_RECORD_MISC_KERNEL};
    bool is_traced = !samples->options.merge;
    bool is_young = is_traced || monotonic_ns() < record->time + longest_wait_for_reading;
    enum python_outcome outcome =
        is_young ? python_stacks_read(samples->options.python, walked->process, &sample) : PYTHON_CHANGED;
    bool stood_still = is_young && has_not_run_since(samples, walked), is_added = false;
    if (outcome == PYTHON_NO_THREAD || outcome == PYTHON_UNSUPPORTED)
        return 0;
    int code = 0;
    if (is_young && (outcome == PYTHON_READ || !stood_still))
        code = python_stacks_add(samples->options.python, walked->process, stood_still && outcome == PYTHON_READ, stack,
                                 &is_added, err);
    walked->count = stack->count;
    counts->samples++;
    counts->read += is_added;
    bool is_late = !stood_still || outcome == PYTHON_CHANGED;
    counts->late += is_late;
    counts->other += !is_late && !is_added;
    walked->has_python = true;
    if (!is_traced) /* announce the next sample, too, so that the recorder reads its stack in time */
        walked->depth = stood_still ? WAKEUP_STACK_SHORT : WAKEUP_STACK_LATE;
    return code;
}

/* ---- samples ---- */

/* Walks the stack of a sample, and fills in the fields of `sample` that all kinds of samples have. */
static int walk_stack(struct cpu_samples *samples, struct walked_sample *walked, struct spool_sample *sample,
                      struct error *err)
{
    const struct perf_record *record = walked->record;
    uint64_t *frames = samples->frames;
    size_t kernel_frames = copy_kernel_frames(&record->sample, frames, CHUNK_MAX_FRAMES / 2);
    int code = 0;
    if (kernel_frames && !samples->kernel_mapped) {
        samples->kernel_mapped = true;
        code = kernel_map_write(samples->options.libraries, samples->options.spool, record->time, err);
    }
    walked->frames = frames + kernel_frames;
    walked->max = CHUNK_MAX_FRAMES - kernel_frames;
    if (!code)
        code = walk_user_stack(samples, walked, err);
    if (code)
        return code;
    struct python_stack python = {.pcs = walked->frames,
                                  .sps = samples->sps,
                                  .count = walked->count,
                                  .max = walked->max,
                                  .is_complete = !(walked->flags & SAMPLE_TRUNCATED)};
    if (walked->has_sps && python_stack_has_python(walked->process, &python))
        code = add_python_frames(samples, walked, &python, err);
    *sample = (struct spool_sample){.thread = walked->thread->number,
                                    .cpu = record->cpu,
                                    .time_ns = record->time,
                                    .flags = walked->flags,
                                    .kernel_frames = (uint32_t)kernel_frames,
                                    .frames = {frames, kernel_frames + walked->count}};
    if (!sample->frames.count) {
        frames[0] = record->sample.ip;
        sample->frames.count = 1;
    }
    return code;
}

/* Returns the CPU time (ns) of a sample: from the thread's switches if known, else the sampling period, which for
 * cycles is only a nominal time. */
static uint64_t find_cpu_time(struct cpu_samples *samples, struct tracked_thread *thread,
                              const struct perf_record *record)
{
    uint64_t by_switches;
    if (samples->options.has_switches &&
        thread_run_handle_sample(&thread->run, record->time, record->cpu, &by_switches))
        return by_switches;
    return samples->options.period ? samples->options.period : record->sample.period;
}

int cpu_samples_add(struct cpu_samples *samples, const struct perf_record *record, bool is_stopped,
                    struct cpu_sample_quality *quality, struct error *err)
{
    const struct cpu_samples_options *options = &samples->options;
    struct tracked_thread *thread;
    struct tracked_process *process;
    *quality = (struct cpu_sample_quality){.depth = WAKEUP_STACK_FITS};
    int code = tracker_find_thread_and_process(options->tracker, record->pid, record->tid, record->time, &thread,
                                               &process, err);
    if (code)
        return code;
    uint64_t cpu_time =
        find_cpu_time(samples, thread, record); /* count the CPU time even if the sample is not stored */
    tracker_report_run(options->tracker, process, record->time, true);
    if (pauses_include(options->pauses, record->time))
        return 0;
    if (!thread_filter_matches(options->filter, thread->name)) {
        options->filter->left_out++;
        return 0;
    }
    struct spool_sample sample;
    struct walked_sample walked = {.record = record,
                                   .is_stopped = is_stopped,
                                   .thread = thread,
                                   .process = process,
                                   .counts = options->python ? &options->python->counts : NULL};
    code = walk_stack(samples, &walked, &sample, err);
    if (code)
        return code;
    sample.cpu_time_ns = cpu_time;
    quality->depth = walked.depth;
    quality->is_truncated = sample.flags & SAMPLE_TRUNCATED;
    quality->has_python = walked.has_python;
    samples->count++;
    samples->truncated += quality->is_truncated;
    samples->truncated_by_reason[walked.end] += walked.end != UNWIND_COMPLETE;
    tracker_add_cpu_time(options->tracker, thread, cpu_time);
    return spool_write_sample(options->spool, &sample, err);
}

int cpu_samples_add_event(struct cpu_samples *samples, const struct perf_record *record, uint32_t event,
                          uint64_t period, struct error *err)
{
    const struct cpu_samples_options *options = &samples->options;
    struct tracked_thread *thread;
    struct tracked_process *process;
    struct record_event *event_counts = &options->result->events[event - 1];
    if (!record->tid || pauses_include(options->pauses, record->time)) /* an idle CPU is no thread */
        return 0;
    int code = tracker_find_thread_and_process(options->tracker, record->pid, record->tid, record->time, &thread,
                                               &process, err);
    if (code || !thread_filter_matches(options->filter, thread->name))
        return code;
    struct spool_sample head;
    struct walked_sample walked = {.record = record,
                                   .thread = thread,
                                   .process = process,
                                   .counts = options->python ? &options->python->events : NULL};
    code = walk_stack(samples, &walked, &head, err);
    if (code)
        return code;
    const struct spool_event_sample sample = {.thread = head.thread,
                                              .cpu = head.cpu,
                                              .time_ns = head.time_ns,
                                              .event = event,
                                              .period = period,
                                              .flags = head.flags,
                                              .kernel_frames = head.kernel_frames,
                                              .frames = head.frames};
    event_counts->samples++;
    event_counts->truncated += (sample.flags & SAMPLE_TRUNCATED) != 0;
    if (options->has_waits && event_is_switch(&options->events->data[event - 1]) && walked.count)
        code = thread_run_set_event_stack(&thread->run, record->time, walked.frames, walked.count, sample.flags,
                                          REASON_UNKNOWN, err);
    return code ? code : spool_write_event_sample(options->spool, &sample, err);
}

int cpu_samples_add_waker(struct cpu_samples *samples, const struct perf_record *record, struct tracked_thread *woken,
                          struct error *err)
{
    const struct cpu_samples_options *options = &samples->options;
    struct tracked_process *process;
    const struct tracked_thread *thread = tracker_find_thread(options->tracker, record->tid, &process);
    if (!thread || record->sample.registers_abi == PERF_SAMPLE_REGS_ABI_NONE)
        return 0;
    struct spool_sample sample;
    struct walked_sample walked = {.record = record,
                                   .thread = thread,
                                   .process = process,
                                   .counts = options->python ? &options->python->events : NULL};
    int code = walk_stack(samples, &walked, &sample, err);
    if (code || !walked.count)
        return code;
    const struct waker_stack stack = {.time = record->time,
                                      .tid = record->tid,
                                      .thread = sample.thread,
                                      .cpu = sample.cpu,
                                      .flags = sample.flags,
                                      .frame_count = (uint32_t)walked.count};
    return thread_run_keep_waker_stack(&woken->run, &stack, walked.frames, err);
}

/* ---- beginning and end ---- */

int cpu_samples_new(struct cpu_samples **out, const struct cpu_samples_options *options, struct error *err)
{
    struct cpu_samples *samples = *out = calloc(1, sizeof(*samples));
    if (!samples)
        return error_no_memory(err);
    samples->options = *options;
    samples->frames = malloc(2 * CHUNK_MAX_FRAMES * sizeof(*samples->frames));
    if (!samples->frames || (options->python && !(samples->sps = malloc(CHUNK_MAX_FRAMES * sizeof(*samples->sps)))))
        return error_no_memory(err);
    return stack_reader_init(&samples->reader, err);
}

void cpu_samples_free(struct cpu_samples *samples)
{
    if (!samples)
        return;
    in_place_walker_free(samples->second_walker);
    stack_reader_destroy(&samples->reader);
    free(samples->frames);
    free(samples->sps);
    free(samples);
}

uint64_t cpu_samples_get_count(const struct cpu_samples *samples)
{
    return samples->count;
}

void cpu_samples_fill_result(const struct cpu_samples *samples, struct record_result *result)
{
    const struct python_stacks *python = samples->options.python;
    result->samples = samples->count;
    result->truncated = samples->truncated;
    memcpy(result->truncated_by_reason, samples->truncated_by_reason, sizeof(result->truncated_by_reason));
    result->completed_by_libunwind = samples->completed_by_libunwind;
    excesses_add_silent_memory(samples->options.excesses, samples->options.tracker);
    excesses_describe(samples->options.excesses, result->limits, sizeof(result->limits));
    if (!python)
        return;
    result->python_samples = python->counts.samples;
    result->python_read = python->counts.read;
    result->python_late = python->counts.late;
    if (python->problem[0])
        record_result_add_note(result, "prof records no Python frames: %s", python->problem);
}
