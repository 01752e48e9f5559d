#include "record/tracked_mappings.h"

#include "base/path.h"
#include "record/attach.h"
#include "record/jit_files.h"
#include "record/jitdump_unwind.h"
#include "record/marks.h"
#include "record/proc_maps.h"
#include "record/python_frames.h"

#include <errno.h>
#include <string.h>

/* ---- compiled code ---- */

/* Executable memory that is no file's is where compiled code will be; a jitdump file is mapped to tell us of it. */
static bool note_code(struct tracked_mappings *mappings, struct tracked_process *process,
                      const struct perf_mapping *mapping, bool is_file)
{
    if (!mappings->jit_files)
        return true;
    if (!is_file)
        return jit_files_note(mappings->jit_files, process->number, process->pid);
    if (!jit_files_is_jitdump(mapping->path))
        return true;
    if (!jit_files_note_jitdump(mappings->jit_files, process->number, process->pid, mapping))
        return false;
    int dump = jit_files_find(mappings->jit_files, process->number)->dump;
    if (dump >= 0 && !process->dump)
        process->dump = jitdump_unwind_new(dump);
    return dump < 0 || process->dump;
}

/* Memory of a compiler is made executable again each time when something was written to it: what the jitdump file has
 * said of the code there still holds. */
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
    return jit_files_note(mappings->jit_files, child->number, child->pid);
}

/* ---- Python ---- */

static bool note_python(const struct tracked_mappings *mappings, struct tracked_process *process,
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

int tracked_mappings_add(struct tracked_mappings *mappings, struct tracked_process *process,
                         const struct perf_mapping *mapping, uint64_t time, struct error *err)
{
    if (mappings->marks) {
        int failed = marks_take_mapping(mappings->marks, process->pid, mapping, err);
        if (failed)
            return failed;
    }
    if (!mapping->executable || !mapping->length || mapping->start > UINT64_MAX - mapping->length)
        return 0;
    struct library_mapping found;
    uint32_t living_pid = mappings->is_past ? 0 : process->pid;
    int code = library_table_find(mappings->libraries, living_pid, mapping, &found, err);
    if (code)
        return code;
    struct mapping map = {.start = mapping->start,
                          .end = mapping->start + mapping->length,
                          .rva = found.rva,
                          .lib = found.lib == SPOOL_NO_NUMBER ? MAPPING_NO_LIB : found.lib,
                          .module = found.module};
    process->space.is_java |= strcmp(path_base_name(mapping->path), "libjvm.so") == 0;
    if (!map_memory(process, &map) || !note_code(mappings, process, mapping, found.lib != SPOOL_NO_NUMBER) ||
        !note_python(mappings, process, &map, &found))
        return error_no_memory(err);
    struct spool_event event = {.kind = SPOOL_MAP,
                                .number = process->number,
                                .time = time,
                                .start = map.start,
                                .end = map.end,
                                .rva = map.rva,
                                .lib_number = found.lib};
    return spool_writer_event(mappings->spool, &event, err);
}

struct maps_reading {
    struct tracked_mappings *mappings;
    struct tracked_process *process;
    uint64_t time;
    bool changed;
    struct error *err;
};

/* Whether it was read before; JIT code may have split what is no file's. */
static bool is_known(struct maps_reading *reading, const struct perf_mapping *mapping, struct error *err)
{
    const struct address_space *space = &reading->process->space;
    const struct mapping *first = address_space_find(space, mapping->start);
    const struct mapping *last = address_space_find(space, mapping->start + mapping->length - 1);
    struct library_mapping found;
    if (!first || !last || first->start != mapping->start || last->end != mapping->start + mapping->length ||
        library_table_find(reading->mappings->libraries, reading->process->pid, mapping, &found, err))
        return false;
    if (found.lib == SPOOL_NO_NUMBER)
        return first->lib == MAPPING_NO_LIB && last->lib == MAPPING_NO_LIB;
    return first == last && first->lib == found.lib && first->rva == found.rva;
}

static int use_mapping(void *context, const struct perf_mapping *mapping)
{
    struct maps_reading *reading = context;
    if (!mapping->executable)
        return tracked_mappings_add(reading->mappings, reading->process, mapping, reading->time, reading->err);
    if (!mapping->length || (reading->mappings->are_read && is_known(reading, mapping, reading->err)))
        return 0;
    reading->changed = true;
    return tracked_mappings_add(reading->mappings, reading->process, mapping, reading->time, reading->err);
}

int tracked_mappings_read(struct tracked_mappings *mappings, struct tracked_process *process, uint64_t time,
                          bool *changed, struct error *err)
{
    struct maps_reading reading = {.mappings = mappings, .process = process, .time = time, .err = err};
    *changed = false;
    if (mappings->is_past)
        return 0;
    struct error unused = {0};
    reading.err = err ? err : &unused;
    reading.err->text[0] = '\0';
    int code = proc_maps_read(process->pid, use_mapping, &reading);
    *changed = reading.changed;
    if (code == -ENOMEM)
        return error_no_memory(err);
    bool process_is_gone = code && !reading.err->text[0];
    return process_is_gone ? 0 : code;
}

bool tracked_mappings_inherit(struct tracked_mappings *mappings, struct tracked_process *child,
                              const struct tracked_process *parent)
{
    if (!address_space_copy(&child->space, &parent->space) || !inherit_code(mappings, child, parent) ||
        !inherit_python(child, parent))
        return false;
    child->losses = parent->losses;
    return true;
}

/* A process may have called exec since it was noted: its mappings are those of another program then. */
int tracked_mappings_read_unread(struct tracked_mappings *mappings, struct tracked_process *process, uint64_t time,
                                 struct error *err)
{
    bool changed;
    if (!process->maps_unread)
        return 0;
    process->maps_unread = false;
    return attach_program((pid_t)process->pid) == process->program
               ? tracked_mappings_read(mappings, process, time, &changed, err)
               : 0;
}

static const uint64_t reading_interval = UINT64_C(1000000000); /* ns between two readings of mappings */

/* Of readings that change nothing: 1 ms, 2, 4, ... */
static uint64_t next_pause(uint64_t pause)
{
    const uint64_t first = UINT64_C(1000000);
    return !pause ? first : 2 * pause < reading_interval ? 2 * pause : reading_interval;
}

static int read_maps_at_most(struct tracked_mappings *mappings, struct tracked_process *process, uint64_t time,
                             uint64_t pause, bool *changed, struct error *err)
{
    *changed = false;
    if (process->last_reading && time < process->last_reading + pause)
        return 0;
    process->last_reading = time;
    return tracked_mappings_read(mappings, process, time, changed, err);
}

int tracked_mappings_refresh(struct tracked_mappings *mappings, struct tracked_process *process, uint64_t time,
                             bool *changed, struct error *err)
{
    bool has_new_mappings;
    if (mappings->are_read) {
        uint64_t before = process->last_reading;
        int code = read_maps_at_most(mappings, process, time, process->reading_pause, changed, err);
        if (*changed)
            process->reading_pause = 0;
        else if (process->last_reading != before)
            process->reading_pause = next_pause(process->reading_pause);
        return code;
    }
    *changed = process->losses != mappings->losses;
    int code = *changed ? tracked_mappings_read(mappings, process, time, &has_new_mappings, err) : 0;
    if (!code)
        process->losses = mappings->losses;
    return code;
}

int tracked_mappings_keep_current(struct tracked_mappings *mappings, struct tracked_process *process, uint64_t time,
                                  struct error *err)
{
    bool changed;
    return mappings->are_read ? read_maps_at_most(mappings, process, time, reading_interval, &changed, err) : 0;
}
