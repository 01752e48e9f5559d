#include "process/tracked_mappings.h"

#include "base/search.h"
#include "os/clock.h"
#include "base/path.h"
#include "process/attach.h"
#include "process/jit_files.h"
#include "process/jitdump_unwind.h"
#include "process/proc_maps.h"
#include "language/python_frames.h"

#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

/* ---- compiled code ---- */

/* Handles memory for JIT code: executable memory without a file, or a mapped jitdump file. */
static bool handle_jit_memory(struct tracked_mappings *mappings, struct tracked_process *process,
                              const struct perf_mapping *mapping, bool is_file, bool may_open)
{
    if (!mappings->jit_files)
        return true;
    if (!is_file)
        return jit_files_add(mappings->jit_files, process->number, process->pid, process->ran_before);
    if (!may_open || !jit_files_is_jitdump(mapping->path))
        return true;
    if (!jit_files_open_jitdump(mappings->jit_files, process->number, process->pid, process->ran_before, mapping))
        return false;
    int dump = jit_files_find(mappings->jit_files, process->number)->dump;
    if (dump >= 0 && !process->dump)
        process->dump = jitdump_unwind_new(dump);
    return dump < 0 || process->dump;
}

/* A compiler makes its memory executable again after each write: the code from its jitdump file stays valid. */
static bool map_memory(struct tracked_process *process, const struct mapping *map)
{
    return process->dump && map->lib == MAPPING_NO_LIB ? address_space_map_around(&process->space, map)
                                                       : address_space_map(&process->space, map);
}

static bool inherit_code(struct tracked_mappings *mappings, const struct tracked_process *child,
                         const struct tracked_process *parent)
{
    if (!mappings->jit_files || !jit_files_find(mappings->jit_files, parent->number))
        return true;
    return jit_files_add(mappings->jit_files, child->number, child->pid, false);
}

/* Maps memory without a file, which may be a copy of the code that it replaces. */
static bool store_text_copy(const struct tracked_mappings *mappings, struct tracked_process *process,
                            const struct mapping *map)
{
    if (map->lib == MAPPING_NO_LIB && !mappings->is_past)
        return text_copies_replace(&process->copies, &process->space, map->start, map->end);
    text_copies_drop(&process->copies, map->start, map->end);
    return true;
}

/* ---- Python ---- */

static bool find_python(const struct tracked_mappings *mappings, struct tracked_process *process,
                        const struct mapping *map, const struct library_mapping *found)
{
    if (!mappings->has_python || !found->python || process->python)
        return true;
    process->python = python_process_new(found->python, map->start - map->rva);
    process->python_lib = map->lib;
    return process->python != NULL;
}

static bool inherit_python(struct tracked_process *child, const struct tracked_process *parent)
{
    if (!parent->python)
        return true;
    child->python = python_process_fork(parent->python);
    child->python_lib = parent->python_lib;
    return child->python != NULL;
}

/* ---- mappings ---- */

/* A program maps executable memory some hundred times, a JIT compiler some hundred times a second. A program that only
 * maps memory adds 100,000 mappings and 1.3 MB of the spool a second. The search for the file of a mapping
 * takes 75 us, or 1 ms for a file without a path. A program that maps only new files takes all of the recorder's
 * time. */
enum {
    MAPPINGS_MAX = 65536,
    NS_PER_MAPPING = 1000000,
    SEARCH_NS_MAX = 20000000, /* budget of CPU time (ns): about 250 files at once */
    SEARCH_SHARE = 20,        /* the budget refills with a twentieth of the time */
};

/* Returns false if the process exceeds its budget. */
static bool spend_budget(const struct tracked_mappings *mappings, struct tracked_process *process, uint64_t time)
{
    struct mapping_budget *budget = &process->budget;
    uint64_t periods = subtract_or_zero(time, budget->time) / NS_PER_MAPPING;
    if (mappings->is_past)
        return true;
    if (periods) {
        budget->mappings = subtract_or_zero(budget->mappings, periods);
        budget->search_ns = subtract_or_zero(budget->search_ns, periods * (NS_PER_MAPPING / SEARCH_SHARE));
        budget->time = time;
    }
    if (budget->mappings < MAPPINGS_MAX && budget->search_ns < SEARCH_NS_MAX) {
        budget->mappings++;
        return true;
    }
    process->exceeds_mappings = true;
    if (mappings->observer.maps_too_often)
        mappings->observer.maps_too_often(mappings->observer.context, process);
    return false;
}

/* Bounds the known mappings of a process. Above the kernel's limit of mappings (vm.max_map_count), most known mappings
 * no longer exist, which no record reports. So the tracker drops all mappings: tracked_mappings_check() looks up the
 * mappings on stacks again. */
static void drop_excess_mappings(const struct tracked_mappings *mappings, struct tracked_process *process)
{
    bool is_java = process->space.is_java;
    if (mappings->is_past || process->space.count < MAPPINGS_MAX)
        return;
    address_space_clear(&process->space);
    process->space.is_java = is_java;
}

/* Adds a mapping of the process that is valid from `time` (ns). */
static int add_mapping(struct tracked_mappings *mappings, struct tracked_process *process, const struct mapping *map,
                       uint64_t time, struct error *err)
{
    drop_excess_mappings(mappings, process);
    if (!map_memory(process, map))
        return error_no_memory(err);
    const struct spool_mapping mapping = {.process = process->number,
                                          .time_ns = time,
                                          .start = map->start,
                                          .end = map->end,
                                          .rva = map->rva,
                                          .library = map->lib == MAPPING_NO_LIB ? SPOOL_NO_NUMBER : map->lib};
    return spool_write_mapping(mappings->spool, &mapping, err);
}

static int find_library(struct tracked_mappings *mappings, const struct tracked_process *process,
                        const struct perf_mapping *mapping, struct library_mapping *found, struct error *err)
{
    return library_table_find(mappings->libraries, mappings->is_past ? 0 : process->pid, mapping, found, err);
}

/* Whether prof may open the files in which programs report marks and compiled code. */
static bool may_open(struct tracked_mappings *mappings, const struct tracked_process *process,
                     const struct perf_mapping *mapping)
{
    const struct tracker_observer *observer = &mappings->observer;
    bool is_report = mapping->path[0] == '/' && (jit_files_is_jitdump(mapping->path) ||
                                                 (observer->is_report && observer->is_report(mapping->path)));
    return !is_report || mappings->is_past || library_table_may_open(mappings->libraries, process->pid, mapping);
}

enum mapping_source { FROM_RECORD, FROM_READING, FROM_QUERY };

/* Whether to add a mapping. Mappings from records and readings count for the process's budget. Queries for stacks are
 * few. */
static bool is_wanted(const struct tracked_mappings *mappings, struct tracked_process *process,
                      const struct perf_mapping *mapping, enum mapping_source source, uint64_t time)
{
    if (!mapping->executable || !mapping->length || mapping->start > UINT64_MAX - mapping->length)
        return false;
    if (source == FROM_QUERY || jit_files_is_jitdump(mapping->path))
        return true;
    return !(source == FROM_RECORD && process->exceeds_mappings) && spend_budget(mappings, process, time);
}

static int handle_mapping(struct tracked_mappings *mappings, struct tracked_process *process,
                          const struct perf_mapping *mapping, enum mapping_source source, uint64_t time,
                          struct error *err)
{
    bool is_answered = may_open(mappings, process, mapping);
    const struct tracker_observer *observer = &mappings->observer;
    if (observer->maps_report && is_answered) {
        int failed = observer->maps_report(observer->context, process->pid, mapping, err);
        if (failed)
            return failed;
    }
    if (!is_wanted(mappings, process, mapping, source, time))
        return 0;
    struct library_mapping found;
    int code = find_library(mappings, process, mapping, &found, err);
    if (code)
        return code;
    process->budget.search_ns += found.search_ns;
    struct mapping map = {.start = mapping->start,
                          .end = mapping->start + mapping->length,
                          .rva = found.rva,
                          .lib = found.lib == SPOOL_NO_NUMBER ? MAPPING_NO_LIB : found.lib,
                          .module = found.module};
    process->space.is_java |= strcmp(path_get_base_name(mapping->path), "libjvm.so") == 0;
    if (!store_text_copy(mappings, process, &map) ||
        !handle_jit_memory(mappings, process, mapping, found.lib != SPOOL_NO_NUMBER, is_answered) ||
        !find_python(mappings, process, &map, &found))
        return error_no_memory(err);
    return add_mapping(mappings, process, &map, time, err);
}

int tracked_mappings_add(struct tracked_mappings *mappings, struct tracked_process *process,
                         const struct perf_mapping *mapping, uint64_t time, struct error *err)
{
    return handle_mapping(mappings, process, mapping, FROM_RECORD, time, err);
}

/* ---- all mappings of a process ---- */

struct maps_reading {
    struct tracked_mappings *mappings;
    struct tracked_process *process;
    uint64_t time;
    bool only_unmapped; /* only add mappings at unmapped addresses */
    bool changed;
    struct error *err;
    struct perf_mapping below; /* the last mapping of a file */
    char below_path[PROC_MAPS_PATH];
};

/* Whether the mapping is already known; JIT code may have split anonymous memory. */
static bool is_known(struct maps_reading *reading, const struct perf_mapping *mapping, struct error *err)
{
    const struct address_space *space = &reading->process->space;
    const struct mapping *first = address_space_find(space, mapping->start);
    const struct mapping *last = address_space_find(space, mapping->start + mapping->length - 1);
    struct library_mapping found;
    if (!first || !last || first->start != mapping->start || last->end != mapping->start + mapping->length ||
        find_library(reading->mappings, reading->process, mapping, &found, err))
        return false;
    if (found.lib == SPOOL_NO_NUMBER)
        return (first->lib == MAPPING_NO_LIB && last->lib == MAPPING_NO_LIB) ||
               text_copies_are_equal(&reading->process->copies, mapping->start);
    return first == last && first->lib == found.lib && first->rva == found.rva;
}

/* Anonymous memory directly above a part of a file may be a copy of the file's code for those addresses. */
static int add_copy_above(struct maps_reading *reading, const struct perf_mapping *mapping)
{
    const struct perf_mapping *below = &reading->below;
    const struct mapping *map = address_space_find(&reading->process->space, mapping->start);
    struct library_mapping found;
    if (!below->path || below->start + below->length != mapping->start || !map || map->lib != MAPPING_NO_LIB ||
        text_copies_has(&reading->process->copies, mapping->start))
        return 0;
    int code = find_library(reading->mappings, reading->process, below, &found, reading->err);
    if (code || found.lib == SPOOL_NO_NUMBER)
        return code;
    const struct mapping file = {.start = mapping->start,
                                 .end = mapping->start + mapping->length,
                                 .rva = found.rva + (mapping->start - below->start),
                                 .lib = found.lib,
                                 .module = found.module};
    return text_copies_add(&reading->process->copies, &file) ? 0 : error_no_memory(reading->err);
}

static int use_mapping(void *context, const struct perf_mapping *mapping)
{
    struct maps_reading *reading = context;
    int code = 0;
    bool is_taken = !mapping->executable ||
                    (mapping->length && !(reading->mappings->are_read && is_known(reading, mapping, reading->err)));
    if (reading->only_unmapped && address_space_find(&reading->process->space, mapping->start))
        is_taken = false;
    if (is_taken)
        code = handle_mapping(reading->mappings, reading->process, mapping, FROM_READING, reading->time, reading->err);
    reading->changed |= is_taken && mapping->executable;
    if (!code && is_taken && mapping->executable)
        code = add_copy_above(reading, mapping);
    if (mapping->inode) {
        reading->below = *mapping;
        reading->below.path = reading->below_path;
        snprintf(reading->below_path, sizeof(reading->below_path), "%s", mapping->path);
    }
    return code;
}

static int read_maps(struct tracked_mappings *mappings, struct tracked_process *process, uint64_t time,
                     bool only_unmapped, bool *changed, struct error *err)
{
    struct maps_reading reading = {
        .mappings = mappings, .process = process, .time = time, .only_unmapped = only_unmapped, .err = err};
    *changed = false;
    if (mappings->is_past)
        return 0;
    struct error unused = {0};
    reading.err = err ? err : &unused;
    reading.err->text[0] = '\0';
    uint64_t began = clock_ns(CLOCK_THREAD_CPUTIME_ID);
    int code = proc_maps_read(process->pid, use_mapping, &reading);
    process->reading_cost = clock_ns(CLOCK_THREAD_CPUTIME_ID) - began;
    process->last_reading = time;
    *changed = reading.changed;
    if (code == -ENOMEM)
        return error_no_memory(err);
    bool process_is_gone = code && !reading.err->text[0];
    return process_is_gone ? 0 : code;
}

int tracked_mappings_read(struct tracked_mappings *mappings, struct tracked_process *process, uint64_t time,
                          bool *changed, struct error *err)
{
    return read_maps(mappings, process, time, false, changed, err);
}

bool tracked_mappings_inherit(struct tracked_mappings *mappings, struct tracked_process *child,
                              const struct tracked_process *parent)
{
    if (!address_space_copy(&child->space, &parent->space) || !inherit_code(mappings, child, parent) ||
        !inherit_python(child, parent) || !text_copies_inherit(&child->copies, &parent->copies))
        return false;
    child->losses = parent->losses;
    child->budget = parent->budget;
    child->exceeds_mappings = parent->exceeds_mappings;
    return true;
}

/* Reads the deferred mappings of a process. The process may have called exec meanwhile: its mappings then belong to
 * another program. */
int tracked_mappings_read_unread(struct tracked_mappings *mappings, struct tracked_process *process, uint64_t time,
                                 struct error *err)
{
    bool changed;
    if (!process->maps_unread)
        return 0;
    process->maps_unread = false;
    return attach_identify_program((pid_t)process->pid) == process->program
               ? tracked_mappings_read(mappings, process, time, &changed, err)
               : 0;
}

/* ---- the mapping at an address ---- */

static const uint64_t leaf_age = UINT64_C(900000);     /* ns: validity of a check, less than a sampling interval */
static const uint64_t caller_age = UINT64_C(10000000); /* ns */
static const uint64_t reading_interval = UINT64_C(1000000000);  /* ns between two readings of all mappings */
static const uint64_t old_kernel_interval = UINT64_C(10000000); /* ns, as above, for an address without a mapping */
enum { READING_SHARE = 20, OPEN_MAPS_MAX = 256 };               /* readings take at most a twentieth of the time */

static struct mapping_check *get_check(struct tracked_process *process, uint64_t start)
{
    return &process->checks[(start >> 12) % MAPPING_CHECKS];
}

static bool was_checked(struct tracked_process *process, const struct mapping *mapping, uint64_t time, uint64_t age)
{
    const struct mapping_check *check = get_check(process, mapping->start);
    return check->time && check->start == mapping->start && time < check->time + age;
}

static void close_maps(struct tracked_mappings *mappings, struct tracked_process *process)
{
    if (process->maps_fd >= 0) {
        close(process->maps_fd);
        mappings->open_maps--;
    }
    process->maps_fd = -1;
}

void tracked_mappings_forget(struct tracked_mappings *mappings, struct tracked_process *process)
{
    close_maps(mappings, process);
    text_copies_destroy(&process->copies);
}

static bool may_stay_open(const struct tracked_mappings *mappings)
{
    struct rlimit limit;
    return mappings->open_maps < OPEN_MAPS_MAX &&
           (getrlimit(RLIMIT_NOFILE, &limit) || mappings->open_maps < limit.rlim_cur / 8);
}

/* As proc_maps_find(). */
static int find_mapping(struct tracked_mappings *mappings, struct tracked_process *process, uint64_t pc,
                        char path[PROC_MAPS_PATH], struct perf_mapping *mapping)
{
    if (mappings->has_no_query)
        return -ENOTTY;
    int fd = process->maps_fd >= 0 ? process->maps_fd : proc_maps_open(process->living);
    if (fd < 0)
        return fd;
    int code = proc_maps_find(fd, pc, !mappings->are_read, path, mapping);
    mappings->has_no_query = code == -ENOTTY;
    if (process->maps_fd < 0 && code >= 0 && may_stay_open(mappings)) {
        process->maps_fd = fd;
        mappings->open_maps++;
    } else if (process->maps_fd < 0) {
        close(fd);
    } else if (code < 0) {
        close_maps(mappings, process);
    }
    return code;
}

static int is_known_at(struct tracked_mappings *mappings, struct tracked_process *process, uint64_t pc,
                       const struct perf_mapping *now, bool *is_known, struct error *err)
{
    struct library_mapping found;
    const struct mapping *map = address_space_find(&process->space, pc);
    int code = map ? find_library(mappings, process, now, &found, err) : 0;
    *is_known = false;
    if (code || !map)
        return code;
    if (found.lib == SPOOL_NO_NUMBER)
        *is_known = map->lib == MAPPING_NO_LIB || text_copies_are_equal(&process->copies, pc);
    else
        *is_known = map->lib == found.lib && map->rva + (pc - map->start) == found.rva + (pc - now->start);
    return 0;
}

/* Asks the kernel for the mapping at `pc`. `map` is the known mapping at `pc`, or NULL. */
static int query_kernel(struct tracked_mappings *mappings, struct tracked_process *process, uint64_t pc,
                        const struct mapping *map, uint64_t time, bool *changed, struct error *err)
{
    char path[PROC_MAPS_PATH];
    struct perf_mapping now;
    bool is_known = true;
    int found = find_mapping(mappings, process, pc, path, &now);
    int code = found > 0 ? is_known_at(mappings, process, pc, &now, &is_known, err) : 0;
    if (!code && !is_known) {
        *changed = true;
        memset(process->checks, 0, sizeof(process->checks)); /* other mappings may have changed, too */
        code = handle_mapping(mappings, process, &now, FROM_QUERY, time, err);
    } else if (map && found >= 0) {
        *get_check(process, map->start) = (struct mapping_check){.start = map->start, .time = time};
    }
    return code;
}

/* Maps the file whose code the memory at `pc` is a copy of. */
static int restore_text(struct tracked_mappings *mappings, struct tracked_process *process, uint64_t pc, uint64_t time,
                        bool *changed, struct error *err)
{
    const struct mapping *memory = address_space_find(&process->space, pc);
    const struct mapping *file = memory && memory->lib == MAPPING_NO_LIB
                                     ? text_copies_find(&process->copies, tracked_process_get_live_thread(process), pc)
                                     : NULL;
    if (!file)
        return 0;
    struct mapping map = *file;
    *changed = true;
    return add_mapping(mappings, process, &map, time, err);
}

/* Whether known mappings may have been replaced without a record. */
static bool must_check_known_mappings(const struct tracked_mappings *mappings, const struct tracked_process *process)
{
    return mappings->are_read || process->exceeds_mappings;
}

static int check_address(struct tracked_mappings *mappings, struct tracked_process *process, uint64_t pc,
                         uint64_t longest_age, uint64_t time, bool *changed, struct error *err)
{
    const struct mapping *map = address_space_find(&process->space, pc);
    bool needs_query =
        !map || (must_check_known_mappings(mappings, process) && !was_checked(process, map, time, longest_age));
    int code = needs_query ? query_kernel(mappings, process, pc, map, time, changed, err) : 0;
    return code || !process->copies.copies.length ? code : restore_text(mappings, process, pc, time, changed, err);
}

/* Returns the pause after a reading that changed nothing: 1 ms, 2 ms, 4 ms ... */
static uint64_t double_pause(uint64_t pause)
{
    const uint64_t first = UINT64_C(1000000);
    return !pause ? first : 2 * pause < reading_interval ? 2 * pause : reading_interval;
}

/* Reads all mappings if enough time has passed. `is_unmapped`: an address of a stack is in no mapping. */
static int read_maps_if_due(struct tracked_mappings *mappings, struct tracked_process *process, bool is_unmapped,
                            uint64_t time, bool *changed, struct error *err)
{
    bool was_lost = is_unmapped && process->losses != mappings->losses;
    bool is_wanted = mappings->are_read || was_lost || (is_unmapped && mappings->has_no_query);
    uint64_t pause = was_lost                 ? 0
                     : is_unmapped            ? process->reading_pause
                     : mappings->has_no_query ? old_kernel_interval
                                              : reading_interval;
    pause = pause < READING_SHARE * process->reading_cost ? READING_SHARE * process->reading_cost : pause;
    if (!is_wanted || (process->last_reading && time < process->last_reading + pause))
        return 0;
    int code = read_maps(mappings, process, time, !mappings->are_read && !was_lost, changed, err);
    process->losses = mappings->losses;
    if (is_unmapped)
        process->reading_pause = *changed ? 0 : double_pause(process->reading_pause);
    return code;
}

int tracked_mappings_check(struct tracked_mappings *mappings, struct tracked_process *process,
                           const struct tracked_stack *stack, uint64_t time, bool *changed, struct error *err)
{
    bool checks_callers = must_check_known_mappings(mappings, process) || process->copies.copies.length;
    uint64_t start = 0, end = 0; /* range of the mapping of the last check */
    int code = 0;
    *changed = false;
    if (mappings->is_past)
        return 0;
    for (size_t i = 0; i < stack->count && !code && (checks_callers || i == 0); i++) {
        if ((stack->pcs[i] >= start && stack->pcs[i] < end) || stack->pcs[i] >> 63)
            continue;
        code = check_address(mappings, process, stack->pcs[i], i ? caller_age : leaf_age, time, changed, err);
        const struct mapping *map = address_space_find(&process->space, stack->pcs[i]);
        start = map ? map->start : 0;
        end = map ? map->end : 0;
    }
    if (stack->unmapped && !(stack->unmapped >> 63) && !code && !*changed)
        code = check_address(mappings, process, stack->unmapped, 0, time, changed, err);
    if (code || *changed)
        return code;
    bool is_unmapped = stack->unmapped || (stack->count && !address_space_find(&process->space, stack->pcs[0]));
    return read_maps_if_due(mappings, process, is_unmapped, time, changed, err);
}
