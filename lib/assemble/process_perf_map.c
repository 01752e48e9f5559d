/*
 * With an option (node --perf-basic-prof, python -X perf, java -XX:+DumpPerfMapAtExit), a JIT compiler writes the
 * symbols of its code to /tmp/perf-PID.map. These files stay, every user may write to /tmp, and the kernel reuses pids.
 * So prof trusts a file only if
 *
 *   - it is a regular file, not a link: a link could make root read another file;
 *   - it belongs to root, to the user who saves the profile, or to the user of the process when the recorder found the
 *   process, so that other users cannot name functions of this process. The last rule gives root the symbols of
 * other users' programs, and of programs in a user namespace;
 *   - it was written after the process (after an exec: the program) started: an older file is of an earlier process
 * with that pid. If several programs ran under one pid, only the last program can own the file, because each program
 * writes a new file.
 *
 * prof reads the file after the process has ended. The recorder stored the pid of the process in its own namespace, and
 * has its /tmp open (process/jit_files.h), so that programs in containers also get symbols. A recovered recording has
 * only the pid in the recorder's namespace, and prof's own /tmp.
 *
 * A forked process that does not call exec has a copy of its parent's code. So the parent's file may name code that the
 * process's own file lacks.
 */
#include "assemble/process_perf_map.h"

#include "base/search.h"
#include "assemble/replay_rows.h"

#include "os/clock.h"
#include "os/file_timeout.h"
#include "symbol/perf_map.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

/* Limit (ns) of opening a file: a file system that does not answer must not delay the profile. */
static const uint64_t timeout_ns = UINT64_C(300) * 1000 * 1000;

/* Tolerance (ns) of file times: a file gets the time of the last clock tick, up to 10 ms ago. */
static const uint64_t stamp_lag = UINT64_C(10) * 1000 * 1000;

static const struct jit_file *find_jit_file(const struct replay *replay, uint32_t process)
{
    return replay->input.jit_files ? jit_files_find(replay->input.jit_files, replay_get_process_number(replay, process))
                                   : NULL;
}

bool process_perf_map_trusts_owner(const struct replay *replay, uint32_t process, uid_t owner)
{
    const struct jit_file *file = find_jit_file(replay, process);
    return owner == 0 || owner == geteuid() || (file && file->user != JIT_USER_UNKNOWN && file->user == owner);
}

static bool is_young(const struct stat *info, uint64_t start)
{
    uint64_t written = timespec_to_ns(info->st_mtim);
    return info->st_mtim.tv_sec >= 0 && written + stamp_lag >= start;
}

/* Returns the start of the program, ns since the Unix epoch. If the program is older than the recording, the spool only
 * has the time of its discovery, but jit_files has the start of the process. */
static uint64_t find_program_start(const struct replay *replay, uint32_t process)
{
    const struct jit_file *file = find_jit_file(replay, process);
    uint64_t seen = replay_convert_to_realtime(replay, replay->processes.data[process].start);
    return file && file->started && file->started < seen ? file->started : seen;
}

int process_perf_map_open_trusted(const struct replay *replay, uint32_t process, int directory, const char *name)
{
    struct stat info;
    uint64_t start = find_program_start(replay, process);
    int fd =
        file_open_with_timeout(directory, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY, timeout_ns);
    if (fd < 0)
        return fd;
    int code = fstat(fd, &info)                                               ? -errno
               : !S_ISREG(info.st_mode)                                       ? -EINVAL
               : !is_young(&info, start)                                      ? -ESTALE
               : !process_perf_map_trusts_owner(replay, process, info.st_uid) ? -EPERM
                                                                              : 0;
    if (!code)
        return fd;
    close(fd);
    return code;
}

const char *process_perf_map_describe_problem(int code)
{
    switch (code) {
    case -EPERM:
        return "prof does not use the file, because it does not belong to the user of the process";
    case -ELOOP:
        return "prof does not use the file, because it is a symbolic link";
    case -EINVAL:
        return "prof does not use the file, because it is not a regular file";
    case -EACCES:
        return "this user may not read the file";
    case -ETIMEDOUT:
        return "its file system does not answer";
    default: /* no file, or a file of an earlier process with this pid */
        return NULL;
    }
}

uint32_t process_perf_map_get_own_pid(const struct replay *replay, uint32_t process)
{
    const struct jit_file *file = find_jit_file(replay, process);
    return file ? file->pid : replay->processes.data[process].pid;
}

/* Opens the process's /tmp; the caller closes it. */
static int open_directory(const struct replay *replay, uint32_t process)
{
    const struct jit_file *file = find_jit_file(replay, process);
    if (file && file->directory != JIT_DIRECTORY_OURS)
        return fcntl(replay->input.jit_files->directories.data[file->directory].fd, F_DUPFD_CLOEXEC, 0);
    return open(replay->input.perf_map_directory, O_PATH | O_DIRECTORY | O_CLOEXEC);
}

int process_perf_map_open_named(const struct replay *replay, uint32_t process, const char *before, const char *after)
{
    uint64_t start = find_program_start(replay, process);
    char name[64];
    int directory = replay->input.perf_map_directory && start ? open_directory(replay, process) : -1;
    if (directory < 0)
        return -ENOENT;
    snprintf(name, sizeof(name), "%s%" PRIu32 "%s", before, process_perf_map_get_own_pid(replay, process), after);
    int fd = process_perf_map_open_trusted(replay, process, directory, name);
    close(directory);
    return fd;
}

int process_perf_map_open(const struct replay *replay, uint32_t process)
{
    return process_perf_map_open_named(replay, process, "perf-", ".map");
}

/* ---- names ---- */

/* The frames of one owner of JIT code, sorted by address, with their symbols from the perf maps. */
struct wanted {
    ARRAY(uint32_t) frames;
    ARRAY(uint64_t) addresses;
    ARRAY(struct perf_map_name) names;
    struct arena texts; /* of the names */
    struct perf_map_problems *problems;
};

static int compare_frames(const void *a, const void *b, void *context)
{
    const struct replay *replay = context;
    const struct replay_frame *left = &replay->stacks.frames.data[*(const uint32_t *)a];
    const struct replay_frame *right = &replay->stacks.frames.data[*(const uint32_t *)b];
    return ORDER_THEN(left->process, right->process, ORDER(left->address, right->address));
}

static int add_names(struct perf_map_names *names, const struct wanted *wanted, struct error *err)
{
    for (size_t i = 0; i < wanted->frames.length; i++) {
        const struct perf_map_name *name = &wanted->names.data[i];
        struct jit_name *parsed = name->text ? array_push_zero(&names->names) : NULL;
        if (!name->text)
            continue;
        if (!parsed || jit_name_parse(parsed, name->text, name->length, &names->arena) ||
            !hash_set(&names->by_frame, wanted->frames.data[i], (uint32_t)names->names.length - 1))
            return error_no_memory(err);
    }
    return 0;
}

/* Returns a key of the process's perf map: programs with equal keys write the same file. */
static uint64_t hash_file(const struct replay *replay, uint32_t process)
{
    const struct jit_file *file = find_jit_file(replay, process);
    return (uint64_t)(file ? file->directory : JIT_DIRECTORY_OURS) << 32 |
           process_perf_map_get_own_pid(replay, process);
}

/* Whether a later program with the same pid has overwritten the file. */
static bool is_replaced(const struct hash *last_of_file, const struct replay *replay, uint32_t number)
{
    return hash_get(last_of_file, hash_file(replay, number)) != number;
}

/* Returns the problem of a perf map, or NULL for no problem. Some compilers write names with newlines, so a few
 * malformed lines are no problem. */
static const char *find_problem(const struct perf_map_counts *counts)
{
    if (counts->malformed > counts->lines / 2)
        return "most lines of the file are not of the form 'START SIZE NAME'";
    return counts->is_cut ? "prof read only the end of the file, because it is too large" : NULL;
}

static int read_perf_map(struct wanted *wanted, const struct replay *replay, uint32_t process, struct error *err)
{
    int fd = process_perf_map_open(replay, process);
    if (fd < 0)
        return 0;
    struct perf_map_counts counts;
    int code = perf_map_find(fd, wanted->addresses.data, wanted->addresses.length, wanted->names.data, &wanted->texts,
                             &counts, err);
    close(fd);
    const char *problem = code == -ENOMEM ? NULL : code ? "prof cannot read it" : find_problem(&counts);
    if (code == -ENOMEM ||
        (problem && !array_push(wanted->problems, (struct perf_map_problem){.process = process, .text = problem})))
        return error_no_memory(err);
    return 0;
}

/* Reads all files that may name an owner's code: the file of its process, and of the ancestors from which it was
 * forked. */
static int read_owner_maps(struct perf_map_names *names, struct wanted *wanted, const struct replay *replay,
                           uint32_t owner, const struct hash *last_of_file, struct error *err)
{
    int code = 0;
    for (int i = 0; i < PERF_MAP_GENERATIONS && owner != REPLAY_NONE && !code; i++) {
        if (!is_replaced(last_of_file, replay, owner))
            code = read_perf_map(wanted, replay, owner, err);
        owner = replay_find_fork_parent(replay, owner);
    }
    if (!code)
        code = add_names(names, wanted, err);
    arena_destroy(&wanted->texts);
    return code;
}

static bool add_wanted(struct wanted *wanted, const struct replay *replay, uint32_t frame)
{
    return array_push(&wanted->frames, frame) &&
           array_push(&wanted->addresses, replay->stacks.frames.data[frame].address) && array_push_zero(&wanted->names);
}

static int read_all_maps(struct perf_map_names *names, struct wanted *wanted, const struct replay *replay,
                         const struct hash *last_of_file, const uint32_t *frames, size_t count, struct error *err)
{
    int code = 0;
    for (size_t i = 0; i < count && !code;) {
        uint32_t owner = replay->stacks.frames.data[frames[i]].process;
        wanted->frames.length = wanted->addresses.length = wanted->names.length = 0;
        for (; i < count && replay->stacks.frames.data[frames[i]].process == owner; i++)
            if (!add_wanted(wanted, replay, frames[i]))
                return error_no_memory(err);
        code = read_owner_maps(names, wanted, replay, owner, last_of_file, err);
    }
    return code;
}

int perf_map_names_find(struct perf_map_names *names, const struct replay *replay, struct error *err)
{
    ARRAY(uint32_t) frames = {0}; /* frames that a perf map may name */
    struct wanted wanted = {.problems = &names->problems};
    struct hash last_of_file = {0};
    bool ok = true;
    for (size_t i = names->first; i < replay->stacks.frames.length && ok; i++)
        ok = replay->stacks.frames.data[i].process == REPLAY_NONE ||
             replay->stacks.frames.data[i].lib == REPLAY_LIB_DUMPED || array_push(&frames, (uint32_t)i);
    for (size_t i = 0; i < replay->processes.length && ok && frames.length; i++)
        ok = !replay->processes.data[i].known || hash_set(&last_of_file, hash_file(replay, (uint32_t)i), (uint32_t)i);
    int code = ok ? 0 : error_no_memory(err);
    if (!code && frames.length) {
        qsort_r(frames.data, frames.length, sizeof(*frames.data), compare_frames, (void *)replay);
        code = read_all_maps(names, &wanted, replay, &last_of_file, frames.data, frames.length, err);
    }
    array_free(&wanted.frames);
    array_free(&wanted.addresses);
    array_free(&wanted.names);
    array_free(&frames);
    hash_destroy(&last_of_file);
    return code;
}

const struct jit_name *perf_map_names_get(const struct perf_map_names *names, size_t frame)
{
    uint32_t index = hash_get(&names->by_frame, frame);
    return index == HASH_MISSING ? NULL : &names->names.data[index];
}

void perf_map_names_destroy(struct perf_map_names *names)
{
    array_free(&names->names);
    array_free(&names->problems);
    hash_destroy(&names->by_frame);
    arena_destroy(&names->arena);
}
