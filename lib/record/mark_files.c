#include "record/mark_files.h"

#include "os/clock.h"
#include "os/file_io.h"
#include "os/file_proc.h"
#include "process/mapped_file.h"

#include <ctype.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

enum { BLOCK = 256 * 1024 };

static const uint64_t read_interval = UINT64_C(500000000);

/* ---- opening ---- */

/* Parses a decimal number at *at, and advances *at past it. */
static bool read_number(const char **at, uint64_t *number)
{
    const char *digit = *at;
    for (*number = 0; isdigit((unsigned char)*digit); digit++)
        if (__builtin_mul_overflow(*number, 10, number) ||
            __builtin_add_overflow(*number, (uint64_t)(*digit - '0'), number))
            return false;
    bool has_digits = digit != *at;
    *at = digit;
    return has_digits;
}

bool mark_files_is_marker_file(const char *path, uint32_t *tid)
{
    static const char prefix[] = "/marker-";
    const char *at = strrchr(path, '/');
    uint64_t number, thread = 0;
    if (!at || strncmp(at, prefix, sizeof(prefix) - 1) != 0)
        return false;
    at += sizeof(prefix) - 1;
    if (!read_number(&at, &number))
        return false;
    if (*at == '-' && (at++, !read_number(&at, &thread) || thread > UINT32_MAX))
        return false;
    *tid = (uint32_t)thread;
    return strcmp(at, ".txt") == 0;
}

static bool is_full(const struct mark_files *files)
{
    struct rlimit limit;
    return files->files.length >= MARK_FILES_MAX ||
           (getrlimit(RLIMIT_NOFILE, &limit) == 0 && files->files.length >= limit.rlim_cur / 8);
}

/* Whether the mapped file is already open. Several threads may map the same file, and a process may map its growing
 * file again. */
static bool is_file_open(const struct mark_files *files, uint32_t pid, const struct stat *info)
{
    for (size_t i = 0; i < files->files.length; i++) {
        const struct mark_file *file = &files->files.data[i];
        if (file->pid == pid && file->inode == info->st_ino && file->device == info->st_dev)
            return true;
    }
    return false;
}

/* Whether the file of a mapping is already open: each read of the mappings finds the file again. */
static bool is_mapping_open(const struct mark_files *files, uint32_t pid, const struct perf_mapping *mapping)
{
    const struct stat info = {.st_ino = mapping->inode,
                              .st_dev = makedev(mapping->device_major, mapping->device_minor)};
    return is_file_open(files, pid, &info);
}

static bool is_in_other_pid_namespace(uint32_t pid)
{
    char name[16];
    snprintf(name, sizeof(name), "%" PRIu32, proc_find_living_thread(pid));
    uint64_t theirs = proc_read_namespace(name, "pid");
    return theirs && theirs != proc_read_namespace("self", "pid");
}

int mark_files_open_mapping(struct mark_files *files, uint32_t pid, const struct perf_mapping *mapping,
                            struct error *err)
{
    struct mapped_file mapped;
    struct stat info;
    uint32_t tid;
    if (!mark_files_is_marker_file(mapping->path, &tid) || is_mapping_open(files, pid, mapping))
        return 0;
    int code = is_full(files) ? -ENOENT : mapped_file_open(&mapped, pid, mapping);
    if (code == -ENOMEM)
        return error_no_memory(err);
    if (code) {
        files->unopened++;
        return 0;
    }
    struct mark_file file = {.fd = file_source_open(mapped.file),
                             .pid = pid,
                             .tid = tid && !is_in_other_pid_namespace(pid) ? tid : pid,
                             .line = 0};
    mapped_file_destroy(&mapped);
    if (file.fd < 0 || fstat(file.fd, &info) || is_file_open(files, pid, &info)) {
        files->unopened += file.fd < 0;
        if (file.fd >= 0)
            close(file.fd);
        return 0;
    }
    file.device = info.st_dev;
    file.inode = info.st_ino;
    snprintf(file.name, sizeof(file.name), "%s", strrchr(mapping->path, '/') + 1);
    if (array_push(&files->files, file))
        return 0;
    close(file.fd);
    return error_no_memory(err);
}

static void close_file(struct mark_files *files, size_t i)
{
    struct mark_file *file = &files->files.data[i];
    close(file->fd);
    *file = files->files.data[--files->files.length];
}

/* ---- lines ---- */

/* Parses a line as a marker. Returns false if the line has another form. */
static bool parse_line(const struct mark_file *file, struct spool_program_mark *mark, const char **name, size_t *length)
{
    const char *at = file->text; /* read_line() has ended the text with a NUL */
    if (!read_number(&at, &mark->time_ns) || *at++ != ' ' || !read_number(&at, &mark->end_ns) || *at++ != ' ' ||
        mark->end_ns < mark->time_ns)
        return false;
    *name = at;
    *length = file->length - (size_t)(at - file->text);
    while (*length && ((*name)[*length - 1] == '\r' || (*name)[*length - 1] == ' '))
        --*length;
    return *length != 0;
}

/* Counts an ignored line. `first` receives the position of the first ignored line. */
static void count_bad_line(const struct mark_file *file, uint64_t *count, char *first, size_t size)
{
    if (!(*count)++)
        snprintf(first, size, "line %" PRIu64 " of %s", file->line, file->name);
}

static int read_line(struct mark_files *files, struct mark_file *file, struct mark_writer *writer, uint64_t first_time,
                     uint64_t now, struct error *err)
{
    struct spool_program_mark mark = {.mark = SPOOL_MARK_SPAN, .pid = file->pid, .tid = file->tid, .text = ""};
    const char *name;
    size_t length;
    file->line++;
    file->text[file->length] = '\0';
    if (file->length == 0 && !file->is_cut)
        return 0;
    if (!parse_line(file, &mark, &name, &length)) {
        count_bad_line(file, &files->bad_lines, files->bad, sizeof(files->bad));
        return 0;
    }
    if (mark.end_ns > now) {
        count_bad_line(file, &files->future_lines, files->future, sizeof(files->future));
        return 0;
    }
    if (mark.end_ns < first_time)
        return 0;
    if (mark.end_ns == mark.time_ns)
        mark.mark = SPOOL_MARK_INSTANT;
    int code = mark_writer_number_name(writer, name, length, &mark.mark_name, err);
    return code ? code : mark_writer_add(writer, &mark, err);
}

static void add_to_line(struct mark_file *file, const char *bytes, size_t count)
{
    size_t room = MARK_FILE_LINE - file->length;
    file->is_cut |= count > room;
    memcpy(file->text + file->length, bytes, count < room ? count : room);
    file->length += count < room ? count : room;
}

static int read_block(struct mark_files *files, struct mark_file *file, size_t size, struct mark_writer *writer,
                      uint64_t first_time, struct error *err)
{
    const char *at = files->block, *end = files->block + size;
    const uint64_t now = monotonic_ns(); /* read the clock after the file, so no valid marker ends later */
    int code = 0;
    while (!code && at < end) {
        const char *newline = memchr(at, '\n', (size_t)(end - at));
        add_to_line(file, at, (size_t)((newline ? newline : end) - at));
        if (!newline)
            break;
        code = read_line(files, file, writer, first_time, now, err);
        file->length = 0;
        file->is_cut = false;
        at = newline + 1;
    }
    return code;
}

/* ---- passes ---- */

static bool has_ended(const struct mark_file *file)
{
    return kill((pid_t)file->pid, 0) && errno == ESRCH;
}

/* Reads the new lines of a file. Returns true if the file may grow. */
static bool read_file(struct mark_files *files, struct mark_file *file, struct mark_writer *writer, uint64_t first_time,
                      bool is_end, int *code, struct error *err)
{
    bool ended = is_end || has_ended(file); /* checked before the read */
    size_t taken = 0;
    ssize_t size = 0;
    while (!*code && (is_end || taken < MARK_FILE_PASS_BYTES) && file->offset < MARK_FILE_MAX) {
        size = file_read_at(file->fd, files->block, BLOCK, file->offset);
        if (size <= 0)
            break;
        file->offset += (uint64_t)size;
        taken += (size_t)size;
        *code = read_block(files, file, (size_t)size, writer, first_time, err);
    }
    if (file->offset >= MARK_FILE_MAX) {
        files->too_long += file_read_at(file->fd, files->block, 1, file->offset) > 0;
        return false;
    }
    if (!ended || *code)
        return true;
    if (size > 0)
        return !is_end; /* the limit of one pass is reached */
    if (file->length) { /* the last line has no newline */
        *code = read_line(files, file, writer, first_time, monotonic_ns(), err);
        file->length = 0;
    }
    return false;
}

int mark_files_read(struct mark_files *files, struct mark_writer *writer, uint64_t first_time, uint64_t now,
                    bool is_end, struct error *err)
{
    int code = 0;
    if (!files->files.length || (now < files->next_read && !is_end))
        return 0;
    if (!files->block && !(files->block = malloc(BLOCK)))
        return error_no_memory(err);
    for (size_t i = 0; i < files->files.length && !code;)
        if (read_file(files, &files->files.data[i], writer, first_time, is_end, &code, err))
            i++;
        else
            close_file(files, i);
    files->next_read = now + read_interval;
    return code;
}

void mark_files_destroy(struct mark_files *files)
{
    while (files->files.length)
        close_file(files, files->files.length - 1);
    array_free(&files->files);
    free(files->block);
    files->block = NULL;
}
