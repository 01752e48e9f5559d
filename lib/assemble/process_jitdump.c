/*
 * A JIT compiler maps its jitdump file with execute permission, so that recorders see the name. The recorder opens the
 * file at its mapping record (process/jit_files.h). A recovered recording opens the file by name, if the name still
 * leads to the same file. If the mapping record was lost, prof searches the usual directories for a file of this pid,
 * written during the life of the process.
 *
 * prof trusts the same owners as for perf maps (process_perf_map.c).
 */
#include "assemble/process_jitdump.h"

#include "assemble/replay_rows.h"

#include "assemble/process_perf_map.h"

#include <fcntl.h>
#include <glob.h>
#include <sys/stat.h>
#include <unistd.h>

/* Limit (ns) of the delay between the first run of a code and its record: the agents of the JVM log code from another
 * thread. */
static const uint64_t note_lag = UINT64_C(100) * 1000 * 1000;

/* ---- which file ---- */

static bool may_be_read(const struct replay *replay, uint32_t process, int fd, const struct spool_library *mapped)
{
    struct stat info;
    if (fstat(fd, &info) || !S_ISREG(info.st_mode) || !process_perf_map_trusts_owner(replay, process, info.st_uid))
        return false;
    return !mapped || !mapped->inode || (info.st_ino == mapped->inode && info.st_dev == mapped->device);
}

static int open_mapped(const struct replay *replay, uint32_t process)
{
    uint32_t lib = replay->processes.data[process].jit.dump_lib;
    if (!lib)
        return -1;
    const struct spool_library *mapped = &replay->libs.items.data[lib - 1];
    int fd = open(mapped->path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY);
    if (fd >= 0 && may_be_read(replay, process, fd, mapped))
        return fd;
    if (fd >= 0)
        close(fd);
    return -1;
}

/* Opens the file of a JVM agent: .debug/jit/java-jit-DATE.XXXXXX/jit-PID.dump in $JITDUMPDIR or $HOME. */
static int open_agent_file(const struct replay *replay, uint32_t process)
{
    const char *own = getenv("JITDUMPDIR"), *directory = own && *own ? own : getenv("HOME");
    char pattern[PATH_MAX];
    glob_t found = {0};
    int fd = -1;
    snprintf(pattern, sizeof(pattern), "%s/.debug/jit/*/jit-%" PRIu32 ".dump", directory ? directory : "",
             process_perf_map_get_own_pid(replay, process));
    if (directory && glob(pattern, GLOB_NOSORT, NULL, &found) == 0)
        for (size_t i = 0; i < found.gl_pathc && fd < 0; i++)
            fd = process_perf_map_open_trusted(replay, process, AT_FDCWD, found.gl_pathv[i]);
    globfree(&found);
    return fd;
}
static int open_unmapped(const struct replay *replay, uint32_t process)
{
    int fd = process_perf_map_open_named(replay, process, "jit-", ".dump");
    return fd >= 0 ? fd : open_agent_file(replay, process);
} /* Returns a descriptor, which the caller closes; negative: no readable or trusted file. */
static int open_dump(const struct replay *replay, uint32_t process)
{
    const struct jit_file *file =
        replay->input.jit_files ? jit_files_find(replay->input.jit_files, replay_get_process_number(replay, process))
                                : NULL;
    bool is_kept = file && file->dump >= 0 && may_be_read(replay, process, file->dump, NULL);
    int fd = is_kept ? fcntl(file->dump, F_DUPFD_CLOEXEC, 0) : open_mapped(replay, process);
    return fd < 0 && !replay->processes.data[process].jit.dump_lib ? open_unmapped(replay, process) : fd;
}

struct jitdump *process_jitdump_open(const struct replay *replay, uint32_t process)
{
    int fd = open_dump(replay, process);
    struct jitdump *dump = fd >= 0 ? malloc(sizeof(*dump)) : NULL;
    if (dump && jitdump_read(dump, fd, NULL)) {
        free(dump);
        dump = NULL;
    }
    if (fd >= 0)
        close(fd);
    return dump;
}

int process_jitdump_open_again(const struct replay *replay, uint32_t process)
{
    const struct jitdump *dump = replay->processes.data[process].jit.dump;
    struct stat info;
    int fd = dump ? open_dump(replay, process) : -1;
    if (fd < 0 || (fstat(fd, &info) == 0 && info.st_dev == dump->device && info.st_ino == dump->inode))
        return fd;
    close(fd);
    return -1;
}

const char *process_jitdump_find_source_file(const struct jitdump *dump, const struct jit_code *code,
                                             const struct jit_name *name)
{
    if (name->file || !code->line_count)
        return name->file;
    const struct string_entry *file = &dump->texts.entries.data[dump->lines.data[code->first_line].file];
    return jit_text_is_printable(file->text, file->length) ? file->text : NULL;
}

/* ---- lookup ---- */

/* Converts a time of the recording to the clock of the jitdump file. */
static uint64_t convert_to_dump_clock(const struct replay *replay, const struct jitdump *dump, uint64_t time)
{
    switch (dump->clock) {
    case JITDUMP_MONOTONIC:
        return time;
    case JITDUMP_REALTIME:
        return replay_convert_to_realtime(replay, time);
    default:
        return UINT64_MAX;
    }
}

uint32_t process_jitdump_find(const struct replay *replay, const struct jitdump *dump, uint64_t pc, uint64_t time)
{
    uint64_t at = convert_to_dump_clock(replay, dump, time);
    uint32_t code = jit_history_find(&dump->history, pc, at);
    if (code == JIT_HISTORY_NONE && at < UINT64_MAX - note_lag)
        code = jit_history_find(&dump->history, pc, at + note_lag);
    return code;
}

uint64_t process_jitdump_find_generation(const struct replay *replay, const struct jitdump *dump, uint64_t time)
{
    uint64_t at = convert_to_dump_clock(replay, dump, time);
    return jit_history_count_changes(&dump->history, at) +
           (at < UINT64_MAX - note_lag ? jit_history_count_changes(&dump->history, at + note_lag) : 0);
}
