/*
 * Each pass reads the header of a buffer once, and its new records twice. The program writes the first word of a record
 * last, so the first word shows that the record is complete. But one read may copy the other words before the program
 * writes them, and the first word after. So the first copy shows which records are complete, and the second copy has
 * their contents. After the process has ended, one copy is enough.
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

#include "os/file_io.h"
#include "os/file_proc.h"
#include "process/mapped_file.h"
#include "process/tracker.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#define SECOND UINT64_C(1000000000)

enum {
    BUFFERS_MAX = 4096,
    BUFFERS_OF_PROCESS_MAX = 4, /* usually one; threads that set a first mark at the same time briefly have two */
    LOOK_MAX = 4 << 20,         /* bytes in each pass except the last: 10-20 ms; the rings hold 50 ms */
    WORD = 8,
    NAMES_MAX = 65536
};

static const uint64_t look_interval = SECOND / 1000 * 20, busy_interval = SECOND / 1000 * 40,
                      full_interval = SECOND / 1000 * 4;

/* ---- opening ---- */

static bool has_room(const struct mark_buffers *buffers)
{
    struct rlimit limit;
    return buffers->buffers.length < BUFFERS_MAX &&
           (getrlimit(RLIMIT_NOFILE, &limit) || buffers->buffers.length < limit.rlim_cur / 4);
}

/* The recorder may read the mappings several times, and finds the buffer each time. */
static bool is_mapping_open(const struct mark_buffers *buffers, const struct perf_mapping *mapping)
{
    for (size_t i = 0; i < buffers->buffers.length; i++)
        if (buffers->buffers.data[i].inode == mapping->inode &&
            buffers->buffers.data[i].device == makedev(mapping->device_major, mapping->device_minor))
            return true;
    return false;
}

static bool is_open(const struct mark_buffers *buffers, const struct stat *info)
{
    for (size_t i = 0; i < buffers->buffers.length; i++)
        if (buffers->buffers.data[i].inode == info->st_ino && buffers->buffers.data[i].device == info->st_dev)
            return true;
    return false;
}

static bool has_enough(const struct mark_buffers *buffers, uint32_t pid)
{
    size_t count = 0;
    for (size_t i = 0; i < buffers->buffers.length; i++)
        count += buffers->buffers.data[i].pid == pid;
    return count >= BUFFERS_OF_PROCESS_MAX;
}

/* Takes ownership of the descriptor. `pid` 0: not yet known. */
static int add_buffer(struct mark_buffers *buffers, int fd, uint32_t pid, uint64_t first_time, struct error *err)
{
    struct stat info;
    if (fstat(fd, &info) || !S_ISREG(info.st_mode) || is_open(buffers, &info)) {
        close(fd);
        return 0;
    }
    if ((pid && has_enough(buffers, pid)) || flock(fd, LOCK_EX | LOCK_NB)) { /* another recorder reads it */
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

/* If two threads set a first mark at the same time, each creates a file, and one thread removes its own file by name.
 * So a file keeps its name until the process has chosen it: otherwise the name would be free for the other file, which
 * the thread would then remove. */
static int open_named(struct mark_buffers *buffers, const char *name, struct error *err)
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
    if (buffers->directory_fd < 0 || !has_room(buffers))
        return 0;
    int copy = openat(buffers->directory_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC), code = 0;
    DIR *names = copy >= 0 ? fdopendir(copy) : NULL;
    for (const struct dirent *entry; !code && names && has_room(buffers) && (entry = readdir(names));)
        if (strncmp(entry->d_name, PROF_MARKS_NAME, sizeof(PROF_MARKS_NAME) - 1) == 0)
            code = open_named(buffers, entry->d_name, err);
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

/* Whether the directory of a file belongs to another recorder, which holds a lock on it. That recorder gets the marks
 * of its command, even while this one records the whole system. */
static bool is_of_another(const char *path)
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

/* Whether a mapped file with the name of a buffer is one. A process can give that name to any file that it may read, by
 * a mount of its own, and prof, perhaps as root, would open the file for writing. So the file must have the size and
 * permissions that marks.h sets. */
static bool may_be_buffer(int fd)
{
    struct stat info;
    return fstat(fd, &info) == 0 && S_ISREG(info.st_mode) && (info.st_mode & 07177) == 0 &&
           info.st_size == (off_t)(PROF_MARKS_PAGE + PROF_MARKS_ROOM);
}

int mark_buffers_take_mapping(struct mark_buffers *buffers, uint32_t pid, const struct perf_mapping *mapping,
                              uint64_t now, struct error *err)
{
    struct mapped_file mapped;
    size_t length = strlen(buffers->directory);
    if (length && strncmp(mapping->path, buffers->directory, length) == 0) /* it is found there */
        return hash_set(&buffers->owners, mapping->inode, pid) ? 0 : error_no_memory(err);
    if (is_mapping_open(buffers, mapping) || !has_room(buffers) || is_of_another(mapping->path))
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

/* ---- whose it is ---- */

/* Finds the process of a buffer whose pid belongs to another pid namespace. */
static uint32_t find_foreign(const struct mark_buffer *buffer, struct tracker *tracker)
{
    for (size_t i = 0; i < tracker_thread_count(tracker); i++) {
        struct tracked_process *process = NULL;
        char name[16];
        const struct tracked_thread *thread = tracker_thread_at(tracker, i, &process);
        if (!thread || thread->tid != process->pid)
            continue;
        snprintf(name, sizeof(name), "%" PRIu32, process->pid);
        if (proc_namespace(name, "pid") == buffer->namespace &&
            proc_innermost_pid(name, process->pid) == buffer->own_pid)
            return process->pid;
    }
    return 0;
}

/* The record of the mapping, if the recorder has it, names the process even after its end. */
static void find_process(struct mark_buffer *buffer, struct hash *owners, struct tracker *tracker)
{
    uint32_t owner = hash_get(owners, buffer->inode);
    buffer->is_foreign = buffer->namespace && buffer->namespace != proc_namespace("self", "pid");
    if (!buffer->pid && owner != HASH_MISSING)
        buffer->pid = owner;
    hash_remove(owners, buffer->inode);
    if (!buffer->pid)
        buffer->pid = buffer->is_foreign ? find_foreign(buffer, tracker) : buffer->own_pid;
}

static bool has_ended(const struct mark_buffer *buffer)
{
    return buffer->pid && kill((pid_t)buffer->pid, 0) && errno == ESRCH;
}

/* ---- records ---- */

/* One pass over one buffer. */
struct look {
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

/* Returns a copied word. `at`: its offset in the stream of all records. */
static uint64_t word_at(const struct look *look, uint64_t at)
{
    uint64_t word;
    memcpy(&word, look->buffers->block + (at - look->begin), sizeof(word));
    return word;
}

/* Returns the size in bytes of the record at `at`; 0 if it is incomplete. */
static uint64_t record_size(const struct look *look, uint64_t at)
{
    uint64_t word = word_at(look, at), kind = word >> 32 & 0xff, words = word >> 40 & 0xff, text = word >> 48;
    uint64_t first = kind >= PROF_MARK_IS_SPAN ? 5 : 4;
    bool is_record = (uint32_t)word == (uint32_t)(at / WORD) && kind >= PROF_MARK_IS_NAME &&
                     kind <= PROF_MARK_IS_COUNTER && text <= PROF_MARKS_TEXT_MAX &&
                     words == first + (text + WORD - 1) / WORD && words * WORD <= look->end - at;
    return is_record ? words * WORD : 0;
}

static void read_record(const struct look *look, uint64_t at, struct record *record)
{
    uint64_t word = word_at(look, at);
    record->kind = (enum prof_mark_kind)(word >> 32 & 0xff);
    record->text_length = (size_t)(word >> 48);
    record->time = word_at(look, at + WORD);
    record->name = word_at(look, at + 2 * WORD);
    record->tid = word_at(look, at + 3 * WORD);
    bool has_value = record->kind >= PROF_MARK_IS_SPAN;
    record->value = has_value ? word_at(look, at + 4 * WORD) : 0;
    const unsigned char *text = look->buffers->block + (at - look->begin) + (has_value ? 5 : 4) * WORD;
    memcpy(record->text, text, record->text_length);
    record->text[record->text_length] = '\0';
}

static int take_name(const struct look *look, const struct record *record, struct error *err)
{
    uint32_t number;
    struct hash *names = &look->buffer->names;
    if (names->length >= NAMES_MAX && hash_get(names, record->name) == HASH_MISSING)
        return 0;
    int code = mark_writer_name(look->source->writer, record->text, record->text_length, &number, err);
    if (code)
        return code;
    return hash_set(names, record->name, number) ? 0 : error_no_memory(err);
}

static int take_mark(const struct look *look, const struct record *record, struct error *err)
{
    static const enum spool_mark kinds[] = {[PROF_MARK_IS_INSTANT] = SPOOL_MARK_INSTANT,
                                            [PROF_MARK_IS_BEGIN] = SPOOL_MARK_BEGIN,
                                            [PROF_MARK_IS_END] = SPOOL_MARK_END,
                                            [PROF_MARK_IS_SPAN] = SPOOL_MARK_SPAN,
                                            [PROF_MARK_IS_COUNTER] = SPOOL_MARK_COUNTER};
    struct mark_buffer *buffer = look->buffer;
    bool is_side = record->kind == PROF_MARK_IS_BEGIN || record->kind == PROF_MARK_IS_END;
    uint64_t last = record->kind == PROF_MARK_IS_SPAN ? record->value : record->time;
    if (last < buffer->first_time || record->time > look->now + SECOND ||
        (record->kind == PROF_MARK_IS_SPAN && (last < record->time || last > look->now + SECOND)) ||
        (!is_side && look->source->is_left_out(look->source->context, record->time)))
        return 0;
    struct spool_program_mark mark = {.mark = kinds[record->kind],
                                      .mark_name = hash_get(&buffer->names, record->name),
                                      .pid = buffer->pid,
                                      .tid = buffer->is_foreign ? buffer->pid : (uint32_t)record->tid,
                                      .time_ns = record->time,
                                      .end_ns = record->value,
                                      .text = record->text};
    memcpy(&mark.value, &record->value, sizeof(mark.value)); /* of a counter: the bits of a double */
    bool is_beyond = mark.mark_name == HASH_MISSING;
    int code = is_beyond ? mark_writer_name(look->source->writer, "(other)", 7, &mark.mark_name, err) : 0;
    return code ? code : mark_writer_add(look->source->writer, &mark, err);
}

/* ---- a look ---- */

static bool copy_block(struct look *look)
{
    look->begin = look->buffer->read;
    uint64_t size = look->end - look->buffer->read, at = look->buffer->read % PROF_MARKS_ROOM;
    uint64_t first = size < PROF_MARKS_ROOM - at ? size : PROF_MARKS_ROOM - at;
    unsigned char *block = look->buffers->block;
    return file_read_at(look->buffer->fd, block, first, PROF_MARKS_PAGE + at) == (ssize_t)first &&
           (first == size ||
            file_read_at(look->buffer->fd, block + first, size - first, PROF_MARKS_PAGE) == (ssize_t)(size - first));
}

/* Returns the end of the run of complete records that starts at `at`. */
static uint64_t complete_end(const struct look *look, uint64_t at)
{
    for (uint64_t size; at < look->end && (size = record_size(look, at)) != 0;)
        at += size;
    return at;
}

/* Returns the next record after a hole, or the end. */
static uint64_t next_record(const struct look *look, uint64_t at)
{
    do
        at += WORD;
    while (at < look->end && !record_size(look, at));
    return at;
}

static int take_records(struct look *look, uint64_t at, uint64_t end, struct error *err)
{
    struct record record;
    int code = 0;
    for (uint64_t size; !code && at < end && (size = record_size(look, at)) != 0; at += size) {
        read_record(look, at, &record);
        code = record.kind == PROF_MARK_IS_NAME ? take_name(look, &record, err) : take_mark(look, &record, err);
    }
    return code;
}

/* Allows the program to overwrite the records that were read. */
static void publish_read(const struct mark_buffer *buffer)
{
    (void)!pwrite(buffer->fd, &buffer->read, sizeof(buffer->read), offsetof(struct prof_marks_head, read));
}

static int note_lost(struct look *look, uint64_t lost, struct error *err)
{
    struct mark_buffer *buffer = look->buffer;
    look->buffers->lost += lost;
    const struct spool_marks_lost marks = {.pid = buffer->pid,
                                           .start_ns = buffer->last_time ? buffer->last_time : look->now,
                                           .time_ns = look->now,
                                           .count = lost};
    return spool_write_marks_lost(look->source->writer->spool, &marks, err);
}

/* Whether to read the records after an incomplete one. An interrupted thread completes its record when it runs again; a
 * killed thread never does. The marks of other threads wait for it while the buffer has room. */
static bool may_skip(const struct look *look, bool has_ended)
{
    struct mark_buffer *buffer = look->buffer;
    if (!buffer->incomplete_since)
        buffer->incomplete_since = look->now;
    bool is_half_full = look->end - buffer->read > PROF_MARKS_ROOM / 2;
    return has_ended || look->now > buffer->incomplete_since + (is_half_full ? SECOND : 10 * SECOND);
}

/* Reads the new records. False if the contents are invalid. */
static bool read_new(struct look *look, bool has_ended, int *code, struct error *err)
{
    struct mark_buffer *buffer = look->buffer;
    bool is_copied = false;
    while (!*code && buffer->read < look->end) {
        if (!is_copied && !copy_block(look))
            return false;
        is_copied = has_ended;
        uint64_t at = buffer->read, end = complete_end(look, at);
        if (end == at) {
            if (!may_skip(look, has_ended))
                return true;
            if (!has_ended)
                *code = note_lost(look, 1, err); /* at least */
            at = next_record(look, at);
            end = complete_end(look, at);
        }
        if (!*code && !is_copied && !copy_block(look))
            return false;
        if (!*code)
            *code = take_records(look, at, end, err);
        buffer->incomplete_since = 0;
        buffer->read = end;
        if (!has_ended)
            publish_read(buffer);
    }
    return true;
}

static int note_dropped(struct look *look, uint64_t dropped, struct error *err)
{
    struct mark_buffer *buffer = look->buffer;
    uint64_t lost = dropped - buffer->dropped;
    buffer->dropped = dropped;
    return lost && lost <= UINT64_MAX / 2 ? note_lost(look, lost, err) : 0;
}

/* Starts a buffer that is older than the recording: marks dropped so far do not count. */
static void begin_buffer(struct look *look, const struct prof_marks_head *head)
{
    struct mark_buffer *buffer = look->buffer;
    buffer->is_ready = true;
    buffer->own_pid = (uint32_t)head->pid;
    buffer->namespace = head->pid_namespace;
    buffer->read = head->read;
    if (buffer->first_time)
        buffer->dropped = head->dropped;
    find_process(buffer, &look->buffers->owners, look->source->tracker);
}

/* Returns true if the buffer needs another pass. */
static bool look_at(struct look *look, bool ended, bool *is_half_full, uint64_t *taken, int *code, struct error *err)
{
    struct prof_marks_head head;
    struct mark_buffer *buffer = look->buffer;
    if (file_read_at(buffer->fd, &head, sizeof(head), 0) != sizeof(head) || head.magic != PROF_MARKS_MAGIC)
        return !buffer->is_ready && !ended; /* the process is still creating it */
    if (!buffer->is_ready)
        begin_buffer(look, &head);
    look->end = head.written;
    uint64_t size = head.written - buffer->read;
    *is_half_full |= size > PROF_MARKS_ROOM / 2;
    *taken += size <= PROF_MARKS_ROOM ? size : 0;
    if (head.room != PROF_MARKS_ROOM || size > PROF_MARKS_ROOM || size % WORD || buffer->read % WORD ||
        !read_new(look, ended, code, err)) {
        look->buffers->damaged++;
        return false;
    }
    if (!*code)
        *code = note_dropped(look, head.dropped, err);
    buffer->last_time = look->now;
    return !ended;
}

int mark_buffers_look(struct mark_buffers *buffers, const struct mark_source *source, uint64_t now, bool is_end,
                      struct error *err)
{
    if (now < buffers->next_look && !is_end)
        return 0;
    int code = open_new_files(buffers, err);
    bool checks = now >= buffers->next_check || is_end, is_half_full = false;
    if (checks)
        buffers->next_check = now + SECOND;
    if (!buffers->block && buffers->buffers.length && !(buffers->block = malloc(PROF_MARKS_ROOM)))
        return error_no_memory(err);
    uint64_t taken = 0;
    size_t left = buffers->buffers.length; /* the next pass starts at this buffer */
    for (; left && !code && (is_end || taken < LOOK_MAX); left--) {
        size_t i = buffers->next < buffers->buffers.length ? buffers->next : 0;
        struct look look = {.buffers = buffers, .buffer = &buffers->buffers.data[i], .source = source, .now = now};
        bool ended = is_end || (checks && has_ended(look.buffer));
        if (!look_at(&look, ended, &is_half_full, &taken, &code, err))
            close_buffer(buffers, i--);
        buffers->next = i + 1;
    }
    if (left && checks)
        buffers->next_check = now;
    buffers->next_look = now + (is_half_full ? full_interval : look_interval);
    buffers->deadline = is_half_full ? buffers->next_look : now + busy_interval;
    return code;
}

uint64_t mark_buffers_deadline(const struct mark_buffers *buffers)
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
