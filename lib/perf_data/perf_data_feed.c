#include "perf_data/perf_data_feed.h"

#include "os/clock.h"
#include "base/path.h"
#include "perf_data/perf_data_info.h"
#include "perf_data/perf_data_waits.h"
#include "spool/chunk.h"
#include "process/kernel_map.h"
#include "sample/event_list.h"

#include <linux/perf_event.h>
#include <sys/utsname.h>
#include <time.h>

enum { STACK_MAX_DEFAULT = 127 /* default frames of a call chain: sysctl kernel.perf_event_max_stack */ };

int perf_data_feed_open(struct perf_data_feed *feed, const char *spool_path, const char *perf_cache)
{
    int code = spool_writer_new(&feed->spool, spool_path, feed->err);
    if (code)
        return code;
    feed->marks.spool = feed->spool;
    feed->frames = malloc(CHUNK_MAX_FRAMES * sizeof(*feed->frames));
    feed->libraries = library_table_new(feed->spool);
    feed->tracker = feed->libraries ? tracker_new(feed->spool, feed->libraries) : NULL;
    if (!feed->frames || !feed->tracker)
        return error_no_memory(feed->err);
    library_table_set_perf_cache(feed->libraries, perf_cache);
    tracker_expect_old_records(feed->tracker);
    tracker_expect_samples_after_ends(feed->tracker);
    return 0;
}

int perf_data_feed_close(struct perf_data_feed *feed, struct error *err)
{
    perf_data_waits_close(feed);
    mark_writer_destroy(&feed->marks);
    tracker_free(feed->tracker);
    library_table_free(feed->libraries);
    perf_data_order_destroy(&feed->order);
    array_free(&feed->events);
    perf_data_groups_destroy(&feed->groups);
    free(feed->frames);
    return feed->spool ? spool_writer_close(feed->spool, err) : 0;
}

/* ---- the first pass ---- */

static bool is_kernel_mapping(const struct perf_record *record)
{
    return record->type == PERF_RECORD_MMAP2 && record->pid == UINT32_MAX;
}

/* "[kernel.kallsyms]_text": the offset is the address of the symbol _text. */
static bool is_kernel_image(const char *path)
{
    return !strncmp(path, "[kernel.kallsyms]", 17);
}

int perf_data_feed_examine(struct perf_data_feed *feed, uint32_t type, const unsigned char *bytes, size_t size)
{
    feed->has_switches |= type == PERF_RECORD_SWITCH || type == PERF_RECORD_SWITCH_CPU_WIDE;
    if (type != PERF_RECORD_SAMPLE && type != PERF_RECORD_MMAP && type != PERF_RECORD_MMAP2)
        return 0;
    struct perf_data_record record;
    if (perf_data_record_parse(feed->data, bytes, size, &record))
        return 0;
    if (is_kernel_mapping(&record.record) && is_kernel_image(record.record.mapping.path) && !feed->kernel_text)
        feed->kernel_text = record.record.mapping.file_offset;
    if (type != PERF_RECORD_SAMPLE)
        return 0;
    while (feed->events.length < feed->data->attrs.length)
        if (!array_push_zero(&feed->events))
            return error_no_memory(feed->err);
    feed->events.data[record.attr - feed->data->attrs.data].samples++;
    for (size_t i = 0; i < record.group_count; i++) {
        const struct perf_data_attr *attr = perf_data_record_get_count(feed->data, &record, i).attr;
        if (attr && attr != record.attr)
            feed->events.data[attr - feed->data->attrs.data].is_read = true;
    }
    feed->has_kernel |= (record.record.misc & PERF_RECORD_MISC_CPUMODE_MASK) == PERF_RECORD_MISC_KERNEL;
    return perf_data_waits_count_switch(feed, &record);
}

static bool is_clock(const struct perf_data_attr *attr)
{
    return attr->type == PERF_TYPE_SOFTWARE &&
           (attr->config == PERF_COUNT_SW_CPU_CLOCK || attr->config == PERF_COUNT_SW_TASK_CLOCK);
}

/* Includes events of hybrid processors, with the number of the PMU in the upper half of `config`. */
static bool is_cycles(const struct perf_data_attr *attr)
{
    return (attr->type == PERF_TYPE_HARDWARE && (uint32_t)attr->config == PERF_COUNT_HW_CPU_CYCLES) ||
           !strncmp(attr->name, "cycles", 6) || strstr(attr->name, "/cycles/") || strstr(attr->name, "/cpu-cycles/");
}

/* Returns whether samples of cycles can be converted to time: perf sampled at a frequency, or the file has switches. */
static bool has_cpu_time(const struct perf_data_feed *feed, const struct perf_data_attr *attr)
{
    return attr->is_frequency || feed->has_switches;
}

static void choose_cpu_event(struct perf_data_feed *feed)
{
    size_t main = SIZE_MAX, count = feed->events.length;
    const struct perf_data_attr *attrs = feed->data->attrs.data;
    for (size_t i = 0; i < count && main == SIZE_MAX; i++)
        if (is_clock(&attrs[i]))
            main = i;
    for (size_t i = 0; i < count && main == SIZE_MAX; i++)
        if (is_cycles(&attrs[i]) && has_cpu_time(feed, &attrs[i]) &&
            (feed->events.data[i].samples || feed->events.data[i].is_read))
            main = i;
    for (size_t i = 0; i < count; i++) {
        struct fed_event *event = &feed->events.data[i];
        bool is_other_pmu = main != SIZE_MAX && is_cycles(&attrs[main]) && is_cycles(&attrs[i]) &&
                            strchr(attrs[i].name, '/') && strcmp(attrs[i].name, attrs[main].name) != 0;
        event->is_main = i == main || is_other_pmu;
        bool is_weight = !event->is_main || !is_clock(&attrs[i]); /* cycles count as both time and events */
        if (is_weight && (event->samples || event->is_read) && feed->event_count < EVENTS_MAX)
            event->number = ++feed->event_count;
        feed->has_callchain |= event->samples && attrs[i].sample_type & PERF_SAMPLE_CALLCHAIN;
        feed->has_stacks |= event->samples && attrs[i].sample_type & PERF_SAMPLE_STACK_USER;
    }
    feed->interval = SECOND / 1000;
    if (main != SIZE_MAX && attrs[main].sample_period) {
        uint64_t period = attrs[main].sample_period;
        feed->interval = attrs[main].is_frequency && period <= SECOND ? SECOND / period
                         : is_clock(&attrs[main])                     ? period
                                                                      : feed->interval;
    }
}

/* If the kernel differs, prof's own vDSO is not the target's vDSO. */
static bool has_this_release(const struct perf_data_feed *feed)
{
    struct utsname name;
    return !feed->data->features.release[0] ||
           (uname(&name) == 0 && !strcmp(name.release, feed->data->features.release));
}

/* Guesses whether a file without the kernel's build id is of the current boot. */
static bool is_of_this_boot(const struct perf_data_feed *feed)
{
    struct utsname name;
    uint64_t booted = clock_ns(CLOCK_REALTIME) - clock_ns(CLOCK_BOOTTIME);
    return uname(&name) == 0 && !strcmp(name.release, feed->data->features.release) &&
           !strcmp(name.nodename, feed->data->features.host) && perf_data_info_get_start_realtime(feed) > booted;
}

int perf_data_feed_start(struct perf_data_feed *feed)
{
    const struct perf_data_build_id *kernel = perf_data_find_build_id(feed->data, "[kernel.kallsyms]");
    feed->has_times = feed->first != UINT64_MAX;
    if (!feed->has_times)
        feed->first = feed->last = 1;
    perf_data_waits_choose_source(feed);
    choose_cpu_event(feed);
    feed->is_this_kernel =
        (kernel || is_of_this_boot(feed)) &&
        kernel_map_is_running(kernel ? kernel->id : NULL, kernel ? kernel->size : 0, feed->kernel_text);
    feed->result->is_other_kernel = feed->has_kernel && !feed->is_this_kernel;
    int code = perf_data_waits_open(feed);
    return code ? code : perf_data_info_start(feed);
}

/* ---- the kernel ---- */

/* Maps the ranges of a kernel other than the running kernel: addresses get library names, but no functions. */
static int map_other_kernel(struct perf_data_feed *feed, const struct perf_record *record)
{
    const struct perf_mapping *mapping = &record->mapping;
    char name[128];
    bool is_image = is_kernel_image(mapping->path);
    const char *base = path_get_base_name(mapping->path);
    snprintf(name, sizeof(name), is_image || base[0] == '[' ? "%s" : "[%s]", is_image ? "[kernel.kallsyms]" : base);
    const struct perf_data_build_id *id = perf_data_find_build_id(feed->data, is_image ? name : mapping->path);
    /* Without a build id, the running kernel's symbols would apply. No kernel has this build id. */
    static const unsigned char no_id[20] = {0};
    const struct spool_library library = {.library_kind = is_image ? SPOOL_LIB_KERNEL : SPOOL_LIB_KERNEL_MODULE,
                                          .path = name,
                                          .build_id = id ? (struct spool_blob){id->id, id->size}
                                                         : (struct spool_blob){no_id, sizeof(no_id)}};
    struct spool_mapping mapped = {.process = SPOOL_NO_NUMBER,
                                   .time_ns = record->time,
                                   .start = mapping->start,
                                   .end = mapping->start + mapping->length};
    if (!mapping->length || mapping->start > UINT64_MAX - mapping->length)
        return 0;
    int code = library_table_add(feed->libraries, &library, &mapped.library, feed->err);
    return code ? code : spool_write_mapping(feed->spool, &mapped, feed->err);
}

static int map_this_kernel(struct perf_data_feed *feed, uint64_t time)
{
    if (!feed->is_this_kernel || feed->kernel_is_mapped)
        return 0;
    feed->kernel_is_mapped = true;
    return kernel_map_write(feed->libraries, feed->spool, time, feed->err);
}

/* ---- stacks ---- */

struct fed_stack {
    size_t kernel_frames, frames; /* frames: all */
    uint32_t flags;
    enum unwind_end end;
};

/* Other addresses belong to neither half of the address space; profiles use them for Python frames. */
static bool is_kernel_address(uint64_t address)
{
    return address >> 56 == 0xff;
}

static bool is_user_address(uint64_t address)
{
    return address && address >> 56 == 0;
}

/* Without frame pointers, the kernel's walk leads to memory that is no code. Such callers are dropped, and the stack
 * is truncated. */
static void truncate_at_non_code(struct perf_data_feed *feed, const struct tracked_process *process,
                                 struct fed_stack *stack)
{
    size_t least = stack->kernel_frames + 1;
    if (stack->frames <= least || address_space_find(&process->space, feed->frames[stack->frames - 1]))
        return;
    while (stack->frames > least && !address_space_find(&process->space, feed->frames[stack->frames - 1]))
        stack->frames--;
    stack->flags |= SAMPLE_TRUNCATED;
    stack->end = UNWIND_NO_MODULE;
}

/* The addresses of a call chain are return addresses, except for the first one of each part. */
static void add_callchain(struct perf_data_feed *feed, const struct perf_data_record *record, bool has_user_stack,
                          struct fed_stack *stack)
{
    const struct perf_sample *sample = &record->record.sample;
    bool in_kernel = (record->record.misc & PERF_RECORD_MISC_CPUMODE_MASK) == PERF_RECORD_MISC_KERNEL;
    bool is_first = true, belongs_to_user = true;
    size_t user = 0;
    for (size_t i = 0; i < sample->callchain_length && stack->frames < CHUNK_MAX_FRAMES; i++) {
        uint64_t address;
        memcpy(&address, sample->callchain + 8 * i, sizeof(address));
        if (address >= (uint64_t)PERF_CONTEXT_MAX) {
            is_first = true;
            in_kernel = address == (uint64_t)PERF_CONTEXT_KERNEL;
            belongs_to_user = in_kernel || address == (uint64_t)PERF_CONTEXT_USER;
            continue;
        }
        if (!belongs_to_user || !(in_kernel ? is_kernel_address(address) : is_user_address(address)) ||
            (!in_kernel && (has_user_stack || (record->branches && user))))
            continue;
        if (in_kernel && user)
            break; /* kernels write these values in this order only */
        feed->frames[stack->frames++] = is_first ? address : address - 1;
        is_first = false;
        stack->kernel_frames += in_kernel;
        user += !in_kernel;
    }
    if (user) {
        uint16_t max = record->attr->max_stack ? record->attr->max_stack : STACK_MAX_DEFAULT;
        stack->flags |= SAMPLE_WITHOUT_CFI;
        if (user + stack->kernel_frames >= max) {
            stack->flags |= SAMPLE_TRUNCATED;
            stack->end = UNWIND_CHAIN_SHORT;
        }
    }
}

/* Each branch of an LBR call stack is a call, whose source address is in the caller. */
static void add_branches(struct perf_data_feed *feed, const struct perf_data_record *record, struct fed_stack *stack)
{
    enum { BRANCH_SIZE = 24 };
    for (size_t i = 0; i < record->branch_count && stack->frames < CHUNK_MAX_FRAMES; i++) {
        uint64_t from;
        memcpy(&from, record->branches + BRANCH_SIZE * i, sizeof(from));
        if (is_user_address(from))
            feed->frames[stack->frames++] = from;
    }
}

static void walk_stack(struct perf_data_feed *feed, const struct perf_sample *sample, struct tracked_process *process,
                       struct fed_stack *stack)
{
    struct unwind_regs regs = {0};
    memcpy(regs.r, sample->registers, sizeof(regs.r));
    regs.is_32_bit = sample->registers_abi == PERF_SAMPLE_REGS_ABI_32;
    if (!is_user_address(regs.r[UNWIND_REG_PC]))
        regs.r[UNWIND_REG_PC] = 0;
    const struct unwind_stack copy = {.sp = regs.r[UNWIND_REG_SP], .bytes = sample->stack, .size = sample->stack_size};
    if (stack->kernel_frames && unwind_has_no_user_stack(&regs, &copy))
        return;
    struct unwind_result result =
        unwind_walk(&process->space, &regs, &copy, feed->frames + stack->frames, CHUNK_MAX_FRAMES - stack->frames);
    stack->frames += result.frames;
    stack->end = result.end;
    stack->flags |= result.end != UNWIND_COMPLETE ? SAMPLE_TRUNCATED : 0;
    stack->flags |= result.used_no_cfi ? SAMPLE_WITHOUT_CFI : 0;
}

static void build_stack(struct perf_data_feed *feed, const struct perf_data_record *record,
                        struct tracked_process *process, struct fed_stack *stack)
{
    const struct perf_sample *sample = &record->record.sample;
    bool has_user_stack = record->attr->sample_type & PERF_SAMPLE_STACK_USER;
    bool in_kernel = (record->record.misc & PERF_RECORD_MISC_CPUMODE_MASK) == PERF_RECORD_MISC_KERNEL;
    *stack = (struct fed_stack){.end = UNWIND_COMPLETE};
    add_callchain(feed, record, has_user_stack, stack);
    add_branches(feed, record, stack);
    if (!has_user_stack)
        truncate_at_non_code(feed, process, stack);
    if (has_user_stack && sample->registers_abi != PERF_SAMPLE_REGS_ABI_NONE)
        walk_stack(feed, sample, process, stack);
    if (stack->frames)
        return;
    bool is_address = is_user_address(sample->ip) || is_kernel_address(sample->ip);
    feed->frames[stack->frames++] = is_address ? sample->ip : 0;
    stack->kernel_frames = in_kernel && is_kernel_address(sample->ip);
    if (!(record->attr->sample_type & (PERF_SAMPLE_CALLCHAIN | PERF_SAMPLE_STACK_USER))) {
        stack->flags |= SAMPLE_TRUNCATED;
        stack->end = UNWIND_NO_CALL_GRAPH;
    }
}

/* Adds a marker with the fields of a tracepoint, in addition to the sample. */
static int add_tracepoint_marker(struct perf_data_feed *feed, const struct perf_data_record *record)
{
    const struct perf_record *raw = &record->record;
    char text[MARK_WRITER_TEXT_MAX_BYTES];
    struct spool_program_mark mark = {
        .mark = SPOOL_MARK_INSTANT, .pid = raw->pid, .tid = raw->tid, .time_ns = raw->time, .text = text};
    if (record->attr->type != PERF_TYPE_TRACEPOINT || !record->attr->name[0])
        return 0;
    perf_data_tracing_write_text(&feed->data->tracing, record->attr->config, record->raw, record->raw_size, text,
                                 sizeof(text));
    int code = mark_writer_number_name(&feed->marks, record->attr->name, strlen(record->attr->name), &mark.mark_name,
                                       feed->err);
    return code ? code : mark_writer_add(&feed->marks, &mark, feed->err);
}

/* ---- samples ---- */

static uint64_t get_sample_cpu_time(struct perf_data_feed *feed, struct tracked_thread *thread,
                                    const struct perf_data_attr *attr, const struct perf_record *raw, uint64_t period)
{
    uint64_t by_switches;
    if (feed->has_waits && thread_run_handle_sample(&thread->run, raw->time, raw->cpu, &by_switches))
        return by_switches;
    return is_clock(attr) && period ? period : feed->interval;
}

/* Adds a sample that stands for `period` occurrences of an event, or 0 if the file lacks the period. */
static int add_sample(struct perf_data_feed *feed, const struct perf_data_record *record, struct tracked_thread *thread,
                      const struct fed_stack *stack, const struct perf_data_attr *attr, uint64_t period)
{
    const struct perf_record *raw = &record->record;
    struct fed_event *event = &feed->events.data[attr - feed->data->attrs.data];
    bool is_truncated = stack->flags & SAMPLE_TRUNCATED;
    if (!event->is_main && !event->number) {
        feed->result->other++;
        return 0;
    }
    struct spool_sample sample = {.thread = thread->number,
                                  .cpu = raw->cpu,
                                  .time_ns = raw->time,
                                  .flags = stack->flags,
                                  .kernel_frames = (uint32_t)stack->kernel_frames,
                                  .frames = {feed->frames, stack->frames}};
    int code = 0;
    event->samples += attr != record->attr; /* samples of the event itself were counted in the first pass */
    event->truncated += is_truncated;
    feed->result->truncated += is_truncated;
    if (event->is_main) {
        sample.cpu_time_ns = get_sample_cpu_time(feed, thread, attr, raw, period);
        feed->cpu_time += sample.cpu_time_ns;
        feed->result->samples++;
        feed->truncated_by_reason[stack->end] += is_truncated;
        code = spool_write_sample(feed->spool, &sample, feed->err);
    }
    if (code || !event->number)
        return code;
    feed->result->events += !event->is_main;
    const struct spool_event_sample of_event = {.thread = sample.thread,
                                                .cpu = sample.cpu,
                                                .time_ns = sample.time_ns,
                                                .event = event->number,
                                                .period = period ? period : 1,
                                                .flags = sample.flags,
                                                .kernel_frames = sample.kernel_frames,
                                                .frames = sample.frames};
    return spool_write_event_sample(feed->spool, &of_event, feed->err);
}

/* Counts the other events of a group, which have no samples. */
static int add_group_counts(struct perf_data_feed *feed, const struct perf_data_record *record,
                            struct tracked_thread *thread, const struct fed_stack *stack)
{
    int code = 0;
    for (size_t i = 0; i < record->group_count && !code; i++) {
        struct perf_data_count count = perf_data_record_get_count(feed->data, record, i);
        uint64_t step;
        if (!count.attr || count.attr == record->attr)
            continue;
        if (!perf_data_groups_compute_step(&feed->groups, record, &count, &step))
            return error_no_memory(feed->err);
        if (step)
            code = add_sample(feed, record, thread, stack, count.attr, step);
    }
    return code;
}

static int feed_sample(struct perf_data_feed *feed, const struct perf_data_record *record)
{
    const struct perf_record *raw = &record->record;
    struct tracked_thread *thread;
    struct tracked_process *process;
    struct fed_stack stack;
    if (!raw->tid) {
        feed->result->idle++;
        return perf_data_waits_handle_switch(feed, record);
    }
    int code =
        tracker_find_thread_and_process(feed->tracker, raw->pid, raw->tid, raw->time, &thread, &process, feed->err);
    if (code)
        return code;
    build_stack(feed, record, process, &stack);
    if (stack.kernel_frames)
        code = map_this_kernel(feed, raw->time);
    if (!code)
        code = perf_data_waits_store_stack(feed, record, thread, stack.kernel_frames, stack.frames, stack.flags);
    if (!code)
        code = add_tracepoint_marker(feed, record);
    if (!code)
        code = add_sample(feed, record, thread, &stack, record->attr, raw->sample.period);
    if (!code)
        code = add_group_counts(feed, record, thread, &stack);
    return code ? code : perf_data_waits_handle_switch(feed, record);
}

/* ---- other records ---- */

/* perf describes running threads by synthetic records: a fork that did not happen, a name, and mappings. */
static int feed_name(struct perf_data_feed *feed, const struct perf_record *record)
{
    int code = 0;
    if (!record->comm.exec && !strcmp(record->comm.name, "perf-exec") && feed->data->attrs.data[0].starts_at_exec)
        return 0; /* the command, which perf has forked and which has not called exec yet */
    if (!record->comm.exec && !tracker_find_process(feed->tracker, record->pid))
        code = tracker_add_running_process(feed->tracker, record->pid, record->comm.name, record->time, feed->err);
    if (!code && !record->comm.exec && !tracker_has_thread(feed->tracker, record->tid))
        code = tracker_add_running_thread(feed->tracker, record->pid, record->tid, record->comm.name, record->time,
                                          feed->err);
    return code ? code : tracker_handle_record(feed->tracker, record, feed->err);
}

static int feed_mapping(struct perf_data_feed *feed, struct perf_record *record)
{
    struct perf_mapping *mapping = &record->mapping;
    if (record->pid == UINT32_MAX)
        return feed->is_this_kernel || !feed->has_kernel ? 0 : map_other_kernel(feed, record);
    const struct perf_data_build_id *id =
        mapping->has_build_id ? NULL : perf_data_find_build_id(feed->data, mapping->path);
    if (id) {
        mapping->has_build_id = true;
        mapping->build_id_size = id->size;
        memcpy(mapping->build_id, id->id, sizeof(mapping->build_id));
    }
    if (!strcmp(mapping->path, "[vdso]") && !has_this_release(feed))
        mapping->path = "[vdso of another kernel]";
    return tracker_handle_record(feed->tracker, record, feed->err);
}

/* In a file without times, records keep their order, and CPU samples follow each other. */
static uint64_t get_record_time(struct perf_data_feed *feed, const struct perf_data_record *record)
{
    bool is_main =
        record->record.type == PERF_RECORD_SAMPLE && feed->events.data[record->attr - feed->data->attrs.data].is_main;
    feed->last += is_main ? feed->interval : 1;
    return feed->last;
}

/* Returns whether the record describes a process or thread that ran before the recording. perf synthesizes these
 * records, without a time. In a file without times, a fork record with an unknown parent is such a record. */
static bool is_running_description(const struct perf_data_feed *feed, const struct perf_record *record, uint64_t time)
{
    if (feed->has_times)
        return !time;
    return record->type == PERF_RECORD_KSYMBOL ||
           (record->type == PERF_RECORD_FORK && !tracker_find_process(feed->tracker, record->task.parent_pid));
}

int perf_data_feed_record(struct perf_data_feed *feed, struct perf_data_record *parsed, uint64_t time)
{
    struct perf_record *record = &parsed->record;
    bool is_about_running = is_running_description(feed, record, time);
    int code = 0;
    record->time = !feed->has_times   ? get_record_time(feed, parsed)
                   : time             ? time
                   : feed->order.last ? feed->order.last
                                      : feed->first;
    switch (record->type) {
    case PERF_RECORD_SAMPLE:
        return feed_sample(feed, parsed);
    case PERF_RECORD_MMAP2:
        return feed_mapping(feed, record);
    case PERF_RECORD_KSYMBOL: /* mappings of the running kernel come from its present state */
        return is_about_running && feed->is_this_kernel
                   ? 0
                   : kernel_map_write_symbol(feed->libraries, feed->spool, record->time, &record->kernel_symbol,
                                             feed->err);
    case PERF_RECORD_SWITCH:
    case PERF_RECORD_SWITCH_CPU_WIDE:
        return feed->has_waits && record->tid ? waits_handle_switch(&feed->waits, record, feed->err) : 0;
    case PERF_RECORD_FORK:
        return is_about_running ? 0 : tracker_handle_record(feed->tracker, record, feed->err);
    case PERF_RECORD_LOST:
    case PERF_RECORD_LOST_SAMPLES:
        feed->result->lost += record->lost;
        if (feed->has_waits)
            waits_add_loss(&feed->waits);
        return tracker_handle_record(feed->tracker, record, feed->err);
    case PERF_RECORD_EXIT:
        if (feed->has_waits)
            code = waits_end_tasks(&feed->waits, record, feed->err);
        return code ? code : tracker_handle_record(feed->tracker, record, feed->err);
    case PERF_RECORD_COMM:
        if (feed->has_waits)
            code = waits_end_tasks(&feed->waits, record, feed->err);
        if (!code)
            code = feed_name(feed, record);
        if (!code && feed->has_waits && record->comm.exec)
            waits_handle_exec(&feed->waits, record);
        return code;
    default:
        return 0;
    }
}

int perf_data_feed_finish(struct perf_data_feed *feed)
{
    const char *missing = "";
    int code = feed->has_waits ? waits_flush(&feed->waits, feed->last, true, feed->err) : 0;
    if (!code)
        code = tracker_finish(feed->tracker, feed->err);
    feed->result->waits = feed->waits.stored;
    feed->result->missing = library_table_count_missing(feed->libraries, &missing);
    snprintf(feed->result->missing_name, sizeof(feed->result->missing_name), "%s", path_get_base_name(missing));
    return code ? code : perf_data_info_end(feed);
}
