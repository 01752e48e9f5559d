/*
 * Reads the marks of a program from its buffer in passes. Each pass reads the header of a buffer once, and its new
 * records twice. The program writes the first word of a record last, so a valid first word shows that the record is
 * complete. But a read may copy the other words before the program writes them, and the first word afterwards. So the
 * first copy shows which records are complete, and the second copy has their contents. After the process has ended, one
 * copy is enough.
 *
 * A thread that stops or ends between reserving its record and completing it leaves a hole. If a hole stays for a
 * second, or its process has ended, the recorder searches for the next record after the hole: the first word of a
 * record contains its position.
 *
 * The recorder removes the file name once it has opened the file, so that the kernel frees the memory as soon as the
 * process and the recorder have closed it.
 */
#include "record/mark_buffers.h"

#define PROF_MARKS_LAYOUT_ONLY
#include "include/prof/marks.h"

#include "os/clock.h"
#include "os/file_io.h"
#include "os/file_proc.h"
#include "process/mapped_file.h"
#include "process/tracker.h"

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

enum {
    BUFFERS_MAX = 4096,
    BUFFERS_PER_PROCESS_MAX =
        4,                    /* usually 1; two threads that set their process's first mark at the same time create 2 */
    PASS_BYTES_MAX = 4 << 20, /* limit of bytes per pass, except the last: a pass takes 10-20 ms, and the rings hold the
                                 samples of 50 ms */
    WORD = 8,
    NAMES_MAX = 65536
};

static const uint64_t read_interval = SECOND / 1000 * 20, busy_interval = SECOND / 1000 * 40,
                      full_interval = SECOND / 1000 * 4;

/* ---- opening ---- */

static bool has_free_entry(const struct mark_buffers *buffers)
{
    struct rlimit limit;
    return buffers->buffers.length < BUFFERS_MAX &&
           (getrlimit(RLIMIT_NOFILE, &limit) || buffers->buffers.length < limit.rlim_cur / 4);
}

/* Whether the mapped buffer is already open: each read of the mappings finds the buffer again. */
static bool is_mapping_open(const struct mark_buffers *buffers, const struct perf_mapping *mapping)
{
    for (size_t i = 0; i < buffers->buffers.length; i++)
        if (buffers->buffers.data[i].inode == mapping->inode &&
            buffers->buffers.data[i].device == makedev(mapping->device_major, mapping->device_minor))
            return true;
    return false;
}

static bool is_file_open(const struct mark_buffers *buffers, const struct stat *info)
{
    for (size_t i = 0; i < buffers->buffers.length; i++)
        if (buffers->buffers.data[i].inode == info->st_ino && buffers->buffers.data[i].device == info->st_dev)
            return true;
    return false;
}

static bool has_all_buffers(const struct mark_buffers *buffers, uint32_t pid)
{
    size_t count = 0;
    for (size_t i = 0; i < buffers->buffers.length; i++)
        count += buffers->buffers.data[i].pid == pid;
    return count >= BUFFERS_PER_PROCESS_MAX;
}

/* Takes ownership of the descriptor. `pid` 0: not yet known. */
static int add_buffer(struct mark_buffers *buffers, int fd, uint32_t pid, uint64_t first_time, struct error *err)
{
    struct stat info;
    if (fstat(fd, &info) || !S_ISREG(info.st_mode) || is_file_open(buffers, &info)) {
        close(fd);
        return 0;
    }
    if ((pid && has_all_buffers(buffers, pid)) || flock(fd, LOCK_EX | LOCK_NB)) { /* locked by another recorder */
        buffers->unopened++;
        close(fd);
        return 0;
    }
    struct mark_buffer buffer = {
        .fd = fd, .pid = pid, .device = info.st_dev, .inode = info.st_ino, .first_time = first_time};
    if (array_push(&buffers->buffers, buffer))
        return 0;
    close(fd);
    return error_no_memory(err);
}

static bool has_magic(int fd)
{
    uint64_t magic;
    return file_read_at(fd, &magic, sizeof(magic), offsetof(struct prof_marks_head, magic)) == sizeof(magic) &&
           magic == PROF_MARKS_MAGIC;
}

/* If two threads set a first mark at the same time, each creates a file. The process uses one file, and the other
 * thread removes its file by name. So the recorder removes the name of a file only if the process uses the file.
 * Otherwise another file could get the name, and the thread would remove the other file. */
static int open_named_file(struct mark_buffers *buffers, const char *name, struct error *err)
{
    int fd = openat(buffers->directory_fd, name, O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY);
    if (fd < 0 && errno == ENOENT)
        return 0;
    if (fd >= 0 && !has_magic(fd)) {
        close(fd);
        return 0;
    }
    unlinkat(buffers->directory_fd, name, 0);
    if (fd >= 0)
        return add_buffer(buffers, fd, 0, 0, err);
    buffers->unopened++;
    return 0;
}

static int open_new_files(struct mark_buffers *buffers, struct error *err)
{
    if (buffers->directory_fd < 0 || !has_free_entry(buffers))
        return 0;
    int copy = openat(buffers->directory_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC), code = 0;
    DIR *names = copy >= 0 ? fdopendir(copy) : NULL;
    for (const struct dirent *entry; !code && names && has_free_entry(buffers) && (entry = readdir(names));)
        if (strncmp(entry->d_name, PROF_MARKS_NAME, sizeof(PROF_MARKS_NAME) - 1) == 0)
            code = open_named_file(buffers, entry->d_name, err);
    if (names)
        closedir(names);
    else if (copy >= 0)
        close(copy);
    return code;
}

bool mark_buffers_is_buffer(const char *path)
{
    const char *name = strrchr(path, '/');
    return name && strncmp(name + 1, PROF_MARKS_NAME, sizeof(PROF_MARKS_NAME) - 1) == 0;
}

/* Whether the directory of a file belongs to another recorder, which holds a lock on it. The other recorder reads the
 * marks of its command, even while this recorder records the whole system. */
static bool is_of_other_recorder(const char *path)
{
    char directory[512];
    const char *slash = strrchr(path, '/');
    if (snprintf(directory, sizeof(directory), "%.*s", (int)(slash - path), path) >= (int)sizeof(directory))
        return false;
    int fd = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
    bool is_locked = fd >= 0 && flock(fd, LOCK_SH | LOCK_NB) != 0 && errno == EWOULDBLOCK;
    if (fd >= 0)
        close(fd);
    return is_locked;
}

/* Whether a mapped file with the name of a buffer is a buffer. With a mount of its own, a process can give a buffer's
 * name to any file that the process may read, and prof, perhaps as root, would open the file for writing. So prof
 * requires the file size and the permissions that marks.h sets. */
static bool may_be_buffer(int fd)
{
    struct stat info;
    return fstat(fd, &info) == 0 && S_ISREG(info.st_mode) && (info.st_mode & 07177) == 0 &&
           info.st_size == (off_t)(PROF_MARKS_PAGE + PROF_MARKS_ROOM);
}

int mark_buffers_open_mapping(struct mark_buffers *buffers, uint32_t pid, const struct perf_mapping *mapping,
                              uint64_t now, struct error *err)
{
    struct mapped_file mapped;
    size_t length = strlen(buffers->directory);
    if (length && strncmp(mapping->path, buffers->directory, length) == 0) /* found in the directory */
        return hash_set(&buffers->owners, mapping->inode, pid) ? 0 : error_no_memory(err);
    if (is_mapping_open(buffers, mapping) || !has_free_entry(buffers) || is_of_other_recorder(mapping->path))
        return 0;
    int code = mapped_file_open(&mapped, pid, mapping);
    if (code == -ENOMEM)
        return error_no_memory(err);
    if (code)
        return 0;
    char path[64];
    int reading = file_source_open(mapped.file), fd = -1;
    snprintf(path, sizeof(path), "/proc/self/fd/%d", reading);
    bool is_other = reading >= 0 && !may_be_buffer(reading);
    if (reading >= 0 && !is_other)
        fd = open(path, O_RDWR | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (reading >= 0)
        close(reading);
    mapped_file_destroy(&mapped);
    if (is_other)
        return 0;
    if (fd >= 0)
        return add_buffer(buffers, fd, pid, now, err);
    buffers->unopened++;
    return 0;
}

static void close_buffer(struct mark_buffers *buffers, size_t i)
{
    struct mark_buffer *buffer = &buffers->buffers.data[i];
    close(buffer->fd);
    hash_destroy(&buffer->names);
    *buffer = buffers->buffers.data[--buffers->buffers.length];
}

/* ---- the process of a buffer ---- */

/* Finds the process of a buffer whose pid belongs to another pid namespace. */
static uint32_t find_foreign_process(const struct mark_buffer *buffer, struct tracker *tracker)
{
    for (size_t i = 0; i < tracker_count_threads(tracker); i++) {
        struct tracked_process *process = NULL;
        char name[16];
        const struct tracked_thread *thread = tracker_get_thread_at(tracker, i, &process);
        if (!thread || thread->tid != process->pid)
            continue;
        snprintf(name, sizeof(name), "%" PRIu32, process->pid);
        if (proc_read_namespace(name, "pid") == buffer->namespace &&
            proc_find_innermost_pid(process->pid) == buffer->own_pid)
            return process->pid;
    }
    return 0;
}

/* A mapping record names the process even after its end. */
static void find_process(struct mark_buffer *buffer, struct hash *owners, struct tracker *tracker)
{
    uint32_t owner = hash_get(owners, buffer->inode);
    buffer->is_foreign = buffer->namespace && buffer->namespace != proc_read_namespace("self", "pid");
    if (!buffer->pid && owner != HASH_MISSING)
        buffer->pid = owner;
    hash_remove(owners, buffer->inode);
    if (!buffer->pid)
        buffer->pid = buffer->is_foreign ? find_foreign_process(buffer, tracker) : buffer->own_pid;
}

static bool has_ended(const struct mark_buffer *buffer)
{
    return buffer->pid && kill((pid_t)buffer->pid, 0) && errno == ESRCH;
}

/* ---- records ---- */

/* One read of one buffer. */
struct read_pass {
    struct mark_buffers *buffers;
    struct mark_buffer *buffer;
    const struct mark_source *source;
    uint64_t now;
    uint64_t end;   /* bytes written */
    uint64_t begin; /* offset of the copy in `block` */
};

struct record {
    enum prof_mark_kind kind;
    uint64_t size; /* bytes */
    uint64_t time, name, tid, value;
    size_t text_length;
    char text[PROF_MARKS_TEXT_MAX + 1];
};

/* Returns a copied word. `at`: offset of the word in the stream of all records. */
static uint64_t load_word(const struct read_pass *read_pass, uint64_t at)
{
    uint64_t word;
    memcpy(&word, read_pass->buffers->block + (at - read_pass->begin), sizeof(word));
    return word;
}

/* Returns the size in bytes of the record at `at`, or 0 if it is incomplete. */
static uint64_t get_record_size(const struct read_pass *read_pass, uint64_t at)
{
    uint64_t word = load_word(read_pass, at), kind = word >> 32 & 0xff, words = word >> 40 & 0xff, text = word >> 48;
    uint64_t first = kind >= PROF_MARK_IS_SPAN ? 5 : 4;
    bool is_record = (uint32_t)word == (uint32_t)(at / WORD) && kind >= PROF_MARK_IS_NAME &&
                     kind <= PROF_MARK_IS_COUNTER && text <= PROF_MARKS_TEXT_MAX &&
                     words == first + (text + WORD - 1) / WORD && words * WORD <= read_pass->end - at;
    return is_record ? words * WORD : 0;
}

static void read_record(const struct read_pass *read_pass, uint64_t at, struct record *record)
{
    uint64_t word = load_word(read_pass, at);
    record->kind = (enum prof_mark_kind)(word >> 32 & 0xff);
    record->text_length = (size_t)(word >> 48);
    record->time = load_word(read_pass, at + WORD);
    record->name = load_word(read_pass, at + 2 * WORD);
    record->tid = load_word(read_pass, at + 3 * WORD);
    bool has_value = record->kind >= PROF_MARK_IS_SPAN;
    record->value = has_value ? load_word(read_pass, at + 4 * WORD) : 0;
    const unsigned char *text = read_pass->buffers->block + (at - read_pass->begin) + (has_value ? 5 : 4) * WORD;
    memcpy(record->text, text, record->text_length);
    record->text[record->text_length] = '\0';
}

static int read_name(const struct read_pass *read_pass, const struct record *record, struct error *err)
{
    uint32_t number;
    struct hash *names = &read_pass->buffer->names;
    if (names->length >= NAMES_MAX && hash_get(names, record->name) == HASH_MISSING)
        return 0;
    int code = mark_writer_number_name(read_pass->source->writer, record->text, record->text_length, &number, err);
    if (code)
        return code;
    return hash_set(names, record->name, number) ? 0 : error_no_memory(err);
}

static int read_mark(const struct read_pass *read_pass, const struct record *record, struct error *err)
{
    static const enum spool_mark kinds[] = {[PROF_MARK_IS_INSTANT] = SPOOL_MARK_INSTANT,
                                            [PROF_MARK_IS_BEGIN] = SPOOL_MARK_BEGIN,
                                            [PROF_MARK_IS_END] = SPOOL_MARK_END,
                                            [PROF_MARK_IS_SPAN] = SPOOL_MARK_SPAN,
                                            [PROF_MARK_IS_COUNTER] = SPOOL_MARK_COUNTER};
    struct mark_buffer *buffer = read_pass->buffer;
    bool is_side = record->kind == PROF_MARK_IS_BEGIN || record->kind == PROF_MARK_IS_END;
    uint64_t last = record->kind == PROF_MARK_IS_SPAN ? record->value : record->time;
    if (last < buffer->first_time || record->time > read_pass->now + SECOND ||
        (record->kind == PROF_MARK_IS_SPAN && (last < record->time || last > read_pass->now + SECOND)) ||
        (!is_side && read_pass->source->is_time_excluded(read_pass->source->context, record->time)))
        return 0;
    struct spool_program_mark mark = {.mark = kinds[record->kind],
                                      .mark_name = hash_get(&buffer->names, record->name),
                                      .pid = buffer->pid,
                                      .tid = buffer->is_foreign ? buffer->pid : (uint32_t)record->tid,
                                      .time_ns = record->time,
                                      .end_ns = record->value,
                                      .text = record->text};
    memcpy(&mark.value, &record->value, sizeof(mark.value)); /* a counter's value is stored as the bits of a double */
    bool is_beyond = mark.mark_name == HASH_MISSING;
    int code = is_beyond ? mark_writer_number_name(read_pass->source->writer, "(other)", 7, &mark.mark_name, err) : 0;
    return code ? code : mark_writer_add(read_pass->source->writer, &mark, err);
}

/* ---- passes ---- */

static bool copy_block(struct read_pass *read_pass)
{
    read_pass->begin = read_pass->buffer->read;
    uint64_t size = read_pass->end - read_pass->buffer->read, at = read_pass->buffer->read % PROF_MARKS_ROOM;
    uint64_t first = size < PROF_MARKS_ROOM - at ? size : PROF_MARKS_ROOM - at;
    unsigned char *block = read_pass->buffers->block;
    return file_read_at(read_pass->buffer->fd, block, first, PROF_MARKS_PAGE + at) == (ssize_t)first &&
           (first == size || file_read_at(read_pass->buffer->fd, block + first, size - first, PROF_MARKS_PAGE) ==
                                 (ssize_t)(size - first));
}

/* Returns the end of the complete records that start at `at`. */
static uint64_t find_complete_end(const struct read_pass *read_pass, uint64_t at)
{
    for (uint64_t size; at < read_pass->end && (size = get_record_size(read_pass, at)) != 0;)
        at += size;
    return at;
}

/* Returns the offset of the next record after a hole, or the end. */
static uint64_t find_next_record(const struct read_pass *read_pass, uint64_t at)
{
    do
        at += WORD;
    while (at < read_pass->end && !get_record_size(read_pass, at));
    return at;
}

static int read_records(struct read_pass *read_pass, uint64_t at, uint64_t end, struct error *err)
{
    struct record record;
    int code = 0;
    for (uint64_t size; !code && at < end && (size = get_record_size(read_pass, at)) != 0; at += size) {
        read_record(read_pass, at, &record);
        code =
            record.kind == PROF_MARK_IS_NAME ? read_name(read_pass, &record, err) : read_mark(read_pass, &record, err);
    }
    return code;
}

/* Publishes the position up to which the recorder has read records, so that the program may overwrite them. */
static void publish_read(const struct mark_buffer *buffer)
{
    (void)!pwrite(buffer->fd, &buffer->read, sizeof(buffer->read), offsetof(struct prof_marks_head, read));
}

static int write_lost_marks(struct read_pass *read_pass, uint64_t lost, struct error *err)
{
    struct mark_buffer *buffer = read_pass->buffer;
    read_pass->buffers->lost += lost;
    const struct spool_marks_lost marks = {.pid = buffer->pid,
                                           .start_ns = buffer->last_time ? buffer->last_time : read_pass->now,
                                           .time_ns = read_pass->now,
                                           .count = lost};
    return spool_write_marks_lost(read_pass->source->writer->spool, &marks, err);
}

/* Whether to skip an incomplete record, and read the records after it. An interrupted thread completes its record when
 * it runs again; a killed thread never completes its record. The marks of other threads wait for the record while the
 * buffer has free space. */
static bool may_skip_hole(const struct read_pass *read_pass, bool has_ended)
{
    struct mark_buffer *buffer = read_pass->buffer;
    if (!buffer->incomplete_since)
        buffer->incomplete_since = read_pass->now;
    bool is_half_full = read_pass->end - buffer->read > PROF_MARKS_ROOM / 2;
    return has_ended || read_pass->now > buffer->incomplete_since + (is_half_full ? SECOND : 10 * SECOND);
}

/* Reads the new records. Returns false if the buffer's contents are invalid. */
static bool read_new_records(struct read_pass *read_pass, bool has_ended, int *code, struct error *err)
{
    struct mark_buffer *buffer = read_pass->buffer;
    bool is_copied = false;
    while (!*code && buffer->read < read_pass->end) {
        if (!is_copied && !copy_block(read_pass))
            return false;
        is_copied = has_ended;
        uint64_t at = buffer->read, end = find_complete_end(read_pass, at);
        if (end == at) {
            if (!may_skip_hole(read_pass, has_ended))
                return true;
            if (!has_ended)
                *code = write_lost_marks(read_pass, 1, err); /* at least one mark is lost */
            at = find_next_record(read_pass, at);
            end = find_complete_end(read_pass, at);
        }
        if (!*code && !is_copied && !copy_block(read_pass))
            return false;
        if (!*code)
            *code = read_records(read_pass, at, end, err);
        buffer->incomplete_since = 0;
        buffer->read = end;
        if (!has_ended)
            publish_read(buffer);
    }
    return true;
}

static int write_dropped_marks(struct read_pass *read_pass, uint64_t dropped, struct error *err)
{
    struct mark_buffer *buffer = read_pass->buffer;
    uint64_t lost = dropped - buffer->dropped;
    buffer->dropped = dropped;
    return lost && lost <= UINT64_MAX / 2 ? write_lost_marks(read_pass, lost, err) : 0;
}

/* Starts to read a buffer that is older than the recording: earlier dropped marks do not count. */
static void start_old_buffer(struct read_pass *read_pass, const struct prof_marks_head *head)
{
    struct mark_buffer *buffer = read_pass->buffer;
    buffer->is_ready = true;
    buffer->own_pid = (uint32_t)head->pid;
    buffer->namespace = head->pid_namespace;
    buffer->read = head->read;
    if (buffer->first_time)
        buffer->dropped = head->dropped;
    find_process(buffer, &read_pass->buffers->owners, read_pass->source->tracker);
}

/* Returns true if the buffer needs another pass. */
static bool read_buffer(struct read_pass *read_pass, bool ended, bool *is_half_full, uint64_t *taken, int *code,
                        struct error *err)
{
    struct prof_marks_head head;
    struct mark_buffer *buffer = read_pass->buffer;
    if (file_read_at(buffer->fd, &head, sizeof(head), 0) != sizeof(head) || head.magic != PROF_MARKS_MAGIC)
        return !buffer->is_ready && !ended; /* the process is still creating the buffer */
    if (!buffer->is_ready)
        start_old_buffer(read_pass, &head);
    read_pass->end = head.written;
    uint64_t size = head.written - buffer->read;
    *is_half_full |= size > PROF_MARKS_ROOM / 2;
    *taken += size <= PROF_MARKS_ROOM ? size : 0;
    if (head.room != PROF_MARKS_ROOM || size > PROF_MARKS_ROOM || size % WORD || buffer->read % WORD ||
        !read_new_records(read_pass, ended, code, err)) {
        read_pass->buffers->damaged++;
        return false;
    }
    if (!*code)
        *code = write_dropped_marks(read_pass, head.dropped, err);
    buffer->last_time = read_pass->now;
    return !ended;
}

int mark_buffers_read(struct mark_buffers *buffers, const struct mark_source *source, uint64_t now, bool is_end,
                      struct error *err)
{
    if (now < buffers->next_read && !is_end)
        return 0;
    int code = open_new_files(buffers, err);
    bool checks = now >= buffers->next_check || is_end, is_half_full = false;
    if (checks)
        buffers->next_check = now + SECOND;
    if (!buffers->block && buffers->buffers.length && !(buffers->block = malloc(PROF_MARKS_ROOM)))
        return error_no_memory(err);
    uint64_t taken = 0;
    size_t left = buffers->buffers.length; /* the next pass starts at this buffer */
    for (; left && !code && (is_end || taken < PASS_BYTES_MAX); left--) {
        size_t i = buffers->next < buffers->buffers.length ? buffers->next : 0;
        struct read_pass read_pass = {
            .buffers = buffers, .buffer = &buffers->buffers.data[i], .source = source, .now = now};
        bool ended = is_end || (checks && has_ended(read_pass.buffer));
        if (!read_buffer(&read_pass, ended, &is_half_full, &taken, &code, err))
            close_buffer(buffers, i--);
        buffers->next = i + 1;
    }
    if (left && checks)
        buffers->next_check = now;
    buffers->next_read = now + (is_half_full ? full_interval : read_interval);
    buffers->deadline = is_half_full ? buffers->next_read : now + busy_interval;
    return code;
}

uint64_t mark_buffers_get_deadline(const struct mark_buffers *buffers)
{
    return buffers->buffers.length ? buffers->deadline : UINT64_MAX;
}

void mark_buffers_destroy(struct mark_buffers *buffers)
{
    while (buffers->buffers.length)
        close_buffer(buffers, buffers->buffers.length - 1);
    array_free(&buffers->buffers);
    free(buffers->block);
    buffers->block = NULL;
    hash_destroy(&buffers->owners);
    mark_buffers_remove_directory(buffers);
}
