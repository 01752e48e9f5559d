#include "record/record_core.h"

#include "arch/ptrace_registers.h"
#include "base/path.h"
#include "elf/core_file.h"
#include "process/library_table.h"
#include "process/proc_maps.h"
#include "process/tracker.h"
#include "process/wait_reason.h"
#include "spool/chunk.h"
#include "spool/info.h"

#include <fcntl.h>
#include <linux/perf_event.h>
#include <sys/stat.h>
#include <unistd.h>

enum { STACK_COPY = 1 << 20, START = 1 /* ns: a core file has no times */ };

struct core_recording {
    struct core_file core;
    uint64_t mtime_ns;
    struct spool_writer *spool;
    struct library_table *libraries;
    struct tracker *tracker;
    unsigned char *stack; /* STACK_COPY */
    uint64_t *frames;     /* CHUNK_MAX_FRAMES */
    uint32_t objects;     /* numbers of SPOOL_OBJECT */
};

/* ---- mappings ---- */

/* Identifies the file of a mapping without a build ID by its path, unless the file is younger than the core. */
static void find_inode(const struct core_recording *recording, struct perf_mapping *mapping)
{
    struct statx info; /* stat() would wait for a file system that does not respond */
    if (statx(AT_FDCWD, mapping->path, AT_STATX_DONT_SYNC, STATX_INO | STATX_MTIME, &info) ||
        (uint64_t)info.stx_mtime.tv_sec * 1000000000 + info.stx_mtime.tv_nsec > recording->mtime_ns)
        return;
    mapping->inode = info.stx_ino;
    mapping->device_major = info.stx_dev_major;
    mapping->device_minor = info.stx_dev_minor;
}

static int add_mapping(struct core_recording *recording, const struct perf_mapping *mapping, struct error *err)
{
    const struct perf_record record = {.type = PERF_RECORD_MMAP2,
                                       .pid = recording->core.pid,
                                       .tid = recording->core.pid,
                                       .time = START,
                                       .mapping = *mapping};
    return tracker_handle_record(recording->tracker, &record, err);
}

/* The vDSO of the core is prof's own vDSO if both have equal bytes. */
static int add_vdso(struct core_recording *recording, struct error *err)
{
    enum { VDSO_MAX = 64 << 10 };
    unsigned char image[VDSO_MAX];
    size_t size = 0;
    const unsigned char *own = proc_maps_find_own_vdso(&size);
    uint64_t address = recording->core.vdso;
    if (!own || size > VDSO_MAX || core_file_read_memory(&recording->core, address, image, size) != size ||
        memcmp(image, own, size) != 0)
        return 0;
    return add_mapping(
        recording, &(struct perf_mapping){.start = address, .length = size, .executable = true, .path = "[vdso]"}, err);
}

/* The first mapping of a file contains its build ID. */
static int add_mappings(struct core_recording *recording, struct error *err)
{
    struct perf_mapping mapping = {.path = ""};
    int code = add_vdso(recording, err);
    for (size_t i = 0; i < recording->core.mappings.length && !code; i++) {
        const struct core_mapping *found = &recording->core.mappings.data[i];
        bool is_new = strcmp(found->path, mapping.path) != 0;
        if (is_new)
            mapping = (struct perf_mapping){.path = found->path};
        if (!found->file_offset && found->path[0] == '/' && found->path[1] != '/') {
            mapping.build_id_size =
                core_file_read_build_id(&recording->core, found->start, mapping.build_id, sizeof(mapping.build_id));
            mapping.has_build_id = mapping.build_id_size > 0;
        }
        if (!mapping.has_build_id)
            find_inode(recording, &mapping);
        mapping.start = found->start;
        mapping.length = found->end - found->start;
        mapping.file_offset = found->file_offset;
        mapping.executable = found->executable;
        code = add_mapping(recording, &mapping, err);
    }
    return code;
}

/* ---- threads ---- */

static bool read_memory(void *context, uint64_t address, void *out, size_t size)
{
    const struct core_recording *recording = context;
    return core_file_read_memory(&recording->core, address, out, size) == size;
}

static struct unwind_result walk_stack(struct core_recording *recording, const struct core_thread *thread,
                                       struct tracked_process *process)
{
    struct unwind_regs regs = {.is_32_bit = !ptrace_registers_are_64_bit(&thread->registers)};
    ptrace_registers_read(&thread->registers, regs.r);
    const struct unwind_stack stack = {
        .sp = regs.r[UNWIND_REG_SP],
        .bytes = recording->stack,
        .size = core_file_read_memory(&recording->core, regs.r[UNWIND_REG_SP], recording->stack, STACK_COPY),
        .read_above = read_memory,
        .read_off_copied_stack = read_memory,
        .read_below = read_memory,
        .read_code = read_memory,
        .context = recording};
    return unwind_walk(&process->space, &regs, &stack, recording->frames, CHUNK_MAX_FRAMES);
}

/* A thread in a system call waits, which has the same names as a wait of a live thread, except for files. */
static int add_wait(struct core_recording *recording, const struct core_thread *thread, struct spool_wait *wait,
                    struct error *err)
{
    uint64_t registers[SAMPLE_REGISTERS], arguments[WAIT_ARGUMENTS];
    struct wait_state state;
    ptrace_registers_read(&thread->registers, registers);
    for (size_t i = 0; i < ARCH_SYSCALL_ARGUMENTS; i++)
        arguments[i] = registers[arch_syscall_arguments[i]];
    wait_state_describe_call(ptrace_registers_find_call(&thread->registers), arguments, &state);
    const struct spool_object object = {.object = ++recording->objects, .name = state.object};
    wait->reason = state.reason;
    wait->object = object.object;
    int code = spool_write_object(recording->spool, &object, err);
    return code ? code : spool_write_wait(recording->spool, wait, err);
}

static int add_thread(struct core_recording *recording, const struct core_thread *thread, struct error *err)
{
    struct tracked_thread *tracked;
    struct tracked_process *process;
    const struct core_file *core = &recording->core;
    int code = tracker_add_running_thread(recording->tracker, core->pid, thread->tid, core->name, START, err);
    if (!code)
        code =
            tracker_find_thread_and_process(recording->tracker, core->pid, thread->tid, START, &tracked, &process, err);
    if (code)
        return code;
    struct unwind_result result = walk_stack(recording, thread, process);
    struct spool_wait wait = {.thread = tracked->number,
                              .time_ns = START,
                              .flags = (result.end != UNWIND_COMPLETE ? SAMPLE_TRUNCATED : 0) |
                                       (result.used_no_cfi ? SAMPLE_WITHOUT_CFI : 0),
                              .frames = {recording->frames, result.frames}};
    bool is_in_call = ptrace_registers_find_call(&thread->registers) >= 0;
    if (is_in_call && !(thread == core->threads.data && core->signal))
        return add_wait(recording, thread, &wait, err);
    const struct spool_sample sample = {
        .thread = wait.thread, .time_ns = START, .cpu_time_ns = 1000, .flags = wait.flags, .frames = wait.frames};
    return spool_write_sample(recording->spool, &sample, err);
}

static int add_process(struct core_recording *recording, struct error *err)
{
    const struct core_file *core = &recording->core;
    int code = tracker_add_running_process(recording->tracker, core->pid, core->name, START, err);
    if (!code)
        code = add_mappings(recording, err);
    for (size_t i = 0; i < core->threads.length && !code; i++)
        code = add_thread(recording, &core->threads.data[i], err);
    return code ? code : tracker_finish(recording->tracker, err);
}

/* ---- the recording ---- */

static int write_infos(struct core_recording *recording, struct error *err)
{
    static const struct {
        const char *name;
        uint64_t number;
    } numbers[] = {
        {INFO_START_MONOTONIC, START}, {INFO_END_MONOTONIC, START}, {INFO_INTERVAL, 1000000}, {INFO_OFF_CPU, 1}};
    int code = info_write(recording->spool, INFO_PRODUCT, recording->core.name, err);
    for (size_t i = 0; i < sizeof(numbers) / sizeof(*numbers) && !code; i++)
        code = info_write_number(recording->spool, numbers[i].name, numbers[i].number, err);
    return code;
}

static int open_core(struct core_recording *recording, const char *path, struct error *err)
{
    struct elf_file elf;
    int code = elf_file_open(&elf, path, err);
    if (code)
        return code;
    recording->mtime_ns = elf.source->identity.mtime_ns;
    return core_file_read(&recording->core, &elf, ARCH_ELF_MACHINE, path, err);
}

static int write_spool(struct core_recording *recording, const char *spool_path, struct error *err)
{
    int code = spool_writer_new(&recording->spool, spool_path, err);
    if (code)
        return code;
    recording->stack = malloc(STACK_COPY);
    recording->frames = malloc(CHUNK_MAX_FRAMES * sizeof(*recording->frames));
    recording->libraries = library_table_new(recording->spool);
    recording->tracker = recording->libraries ? tracker_new(recording->spool, recording->libraries) : NULL;
    if (!recording->stack || !recording->frames || !recording->tracker)
        return error_no_memory(err);
    tracker_expect_old_records(recording->tracker);
    code = write_infos(recording, err);
    return code ? code : add_process(recording, err);
}

int record_core(const char *path, const char *spool_path, struct record_core_result *result, struct error *err)
{
    struct core_recording recording = {.objects = 0};
    const char *missing = "";
    *result = (struct record_core_result){0};
    int code = open_core(&recording, path, err);
    if (!code)
        code = write_spool(&recording, spool_path, err);
    if (!code) {
        result->pid = recording.core.pid;
        result->signal = recording.core.signal;
        result->signal_tid = recording.core.threads.data[0].tid;
        result->missing = library_table_count_missing(recording.libraries, &missing);
        snprintf(result->missing_name, sizeof(result->missing_name), "%s", path_get_base_name(missing));
    }
    tracker_free(recording.tracker);
    library_table_free(recording.libraries);
    int close_code = recording.spool ? spool_writer_close(recording.spool, code ? NULL : err) : 0;
    if (code && recording.spool)
        unlink(spool_path);
    free(recording.stack);
    free(recording.frames);
    core_file_destroy(&recording.core);
    return code ? code : close_code;
}
