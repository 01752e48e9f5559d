/*
 * Two passes over the file. The first pass finds the start time of the recording, the events with samples, and the
 * header records of a piped file. The second pass feeds the records to the spool, in order of time.
 *
 * One event provides the CPU samples of the profile: the first clock (cpu-clock, task-clock), else cycles. Other events
 * become events of the profile. Cycles become both: their CPU samples show time, and their event shows the number of
 * cycles. Cycles with a fixed period (perf record -c) are only an event, unless the file has switches, which give their
 * time.
 *
 * The file (in a directory, each file) is mapped, because a stack walk reads a small part of each 8 to 64 KiB stack.
 * Pages that the reader has passed are released.
 */
#include "perf_data/perf_data_import.h"

#include "os/clock.h"
#include "perf_data/perf_data_feed.h"
#include "file/unpack.h"

#include <fcntl.h>
#include <linux/perf_event.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

struct mapped_part {
    unsigned char *bytes;
    size_t size;
};

ARRAY_TYPE(struct mapped_files, struct mapped_part);

/* Opens the file; in a directory, the file with the header. */
static int open_main_file(const char *path)
{
    struct stat info;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0 || fstat(fd, &info) != 0 || !S_ISDIR(info.st_mode))
        return fd;
    int directory = fd;
    fd = openat(directory, "data", O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    int reason = errno;
    close(directory);
    errno = reason;
    return fd;
}

/* Detects the form of a file by its first bytes: compressed, or a perf.data file. */
static enum perf_data_form detect_form(const unsigned char *start, size_t size)
{
    enum unpacker_format format = unpacker_format(start, size);
    if (format == UNPACKER_NONE)
        return perf_data_recognize(start, size) ? PERF_DATA_FILE : PERF_DATA_NONE;
    struct unpacker *unpacker = unpacker_new(format);
    unsigned char unpacked[16];
    size_t got = 0;
    struct error err;
    if (!unpacker)
        return PERF_DATA_NONE;
    unpacker_feed(unpacker, start, size);
    for (size_t more = 1; more && got < sizeof(unpacked); got += more)
        if (unpacker_read(unpacker, unpacked + got, sizeof(unpacked) - got, &more, &err) != 0)
            break;
    unpacker_free(unpacker);
    return perf_data_recognize(unpacked, got) ? PERF_DATA_PACKED : PERF_DATA_NONE;
}

enum { START_SIZE = 64 * 1024 }; /* bytes that contain the first block of common compressors */

static enum perf_data_form detect_file_form(int fd)
{
    struct stat info;
    unsigned char *start = fstat(fd, &info) == 0 && S_ISREG(info.st_mode) ? malloc(START_SIZE) : NULL;
    ssize_t size = start ? pread(fd, start, START_SIZE, 0) : -1;
    enum perf_data_form form = size > 0 ? detect_form(start, (size_t)size) : PERF_DATA_NONE;
    free(start);
    return form;
}

enum perf_data_form perf_data_detect_form(const char *path)
{
    struct stat info;
    if (stat(path, &info) || (!S_ISREG(info.st_mode) && !S_ISDIR(info.st_mode)))
        return PERF_DATA_NONE; /* closing a named pipe would end its writer */
    int fd = open_main_file(path);
    if (fd < 0)
        return PERF_DATA_NONE;
    enum perf_data_form form = detect_file_form(fd);
    close(fd);
    return form;
}

/* tee() copies without consuming, and fails for files other than pipes. Returns the number of bytes copied to
 * `start`. */
static size_t peek_pipe(int fd, unsigned char *start)
{
    int copy[2];
    if (pipe2(copy, O_CLOEXEC) != 0)
        return 0;
    ssize_t size = tee(fd, copy[1], START_SIZE, 0), got = 0;
    for (ssize_t part = 1; size > 0 && part > 0 && got<size; got += part> 0 ? part : 0)
        part = read(copy[0], start + got, (size_t)(size - got));
    close(copy[0]);
    close(copy[1]);
    return (size_t)got;
}

/* A compressor usually writes the first bytes of its output together with later ones; a pipe may deliver them in
 * pieces. */
static enum perf_data_form detect_pipe_form(int fd)
{
    enum { TRIES = 100 };
    static const struct timespec pause = {.tv_nsec = 10000000};
    enum perf_data_form form = PERF_DATA_NONE;
    unsigned char *start = malloc(START_SIZE);
    size_t before = 0;
    for (int i = 0; start && form == PERF_DATA_NONE && i < TRIES; i++) {
        size_t size = peek_pipe(fd, start);
        if (size != before)
            form = detect_form(start, size);
        if (size == 0 || size >= 4096 || (size >= 8 && unpacker_format(start, size) == UNPACKER_NONE))
            break;
        if (form == PERF_DATA_NONE)
            nanosleep(&pause, NULL);
        before = size;
    }
    free(start);
    return form;
}

enum perf_data_form perf_data_detect_next_form(int fd)
{
    enum perf_data_form form = detect_file_form(fd);
    return form == PERF_DATA_NONE ? detect_pipe_form(fd) : form;
}

/* Releases the pages that were read; queued records are read from the file again. */
static void release_pages(void *context, const unsigned char *bytes, size_t size)
{
    const struct mapped_files *files = context;
    size_t page = (size_t)sysconf(_SC_PAGESIZE), end = size & ~(page - 1);
    for (size_t i = 0; end && i < files->length; i++)
        if (files->data[i].bytes == bytes)
            madvise(files->data[i].bytes, end, MADV_DONTNEED);
}

/* Closes `fd`. */
static int map_file(int fd, const char *name, struct mapped_files *files, uint64_t *mtime, struct error *err)
{
    struct stat info;
    struct mapped_part file = {0};
    int code = fd < 0 || fstat(fd, &info) != 0 ? error_set(err, errno, "cannot open %s: %s", name, strerror(errno)) : 0;
    if (!code && info.st_size) {
        file.size = (size_t)info.st_size;
        file.bytes = mmap(NULL, file.size, PROT_READ, MAP_PRIVATE, fd, 0);
        if (file.bytes == MAP_FAILED)
            code = error_set(err, errno, "cannot read %s: %s", name, strerror(errno));
    }
    if (fd >= 0)
        close(fd);
    if (code)
        return code;
    *mtime = timespec_to_ns(info.st_mtim);
    if (!array_push(files, file)) {
        munmap(file.bytes, file.size);
        return error_no_memory(err);
    }
    return 0;
}

static void unmap_files(struct mapped_files *files)
{
    for (size_t i = 0; i < files->length; i++)
        if (files->data[i].size)
            munmap(files->data[i].bytes, files->data[i].size);
    array_free(files);
}

/* Maps all files path/data.0 and so on. */
static int add_parts(struct perf_data *data, const char *path, const char *name, struct mapped_files *files,
                     uint64_t *mtime, struct error *err)
{
    enum { PARTS_MAX = 4096 };
    int code = 0, directory = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    for (unsigned i = 0; directory >= 0 && i < PARTS_MAX && !code; i++) {
        char part[32];
        snprintf(part, sizeof(part), "data.%u", i);
        int fd = openat(directory, part, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
        if (fd < 0)
            break;
        code = map_file(fd, name, files, mtime, err);
        const struct mapped_part *file = &files->data[files->length - 1];
        if (!code && file->size && !perf_data_add_part(data, file->bytes, file->size))
            code = error_no_memory(err);
    }
    if (directory >= 0)
        close(directory);
    return code;
}

/* ---- the first pass ---- */

static bool is_guest(uint16_t misc)
{
    uint16_t mode = misc & PERF_RECORD_MISC_CPUMODE_MASK;
    return mode == PERF_RECORD_MISC_GUEST_KERNEL || mode == PERF_RECORD_MISC_GUEST_USER;
}

static int examine_record(void *context, const unsigned char *bytes, size_t size, bool lasts)
{
    struct perf_data_feed *feed = context;
    uint32_t type;
    (void)lasts;
    memcpy(&type, bytes, sizeof(type));
    if (type >= PERF_DATA_FIRST_OWN)
        return 0;
    uint64_t time = perf_data_record_get_time(feed->data, bytes, size);
    if (time && time != UINT64_MAX) {
        feed->first = time < feed->first ? time : feed->first;
        feed->last = time > feed->last ? time : feed->last;
    }
    return perf_data_feed_examine(feed, type, bytes, size);
}

/* ---- the second pass ---- */

static int feed_record(void *context, const unsigned char *bytes, size_t size, uint64_t time)
{
    struct perf_data_feed *feed = context;
    struct perf_data_record record;
    if (perf_data_record_parse(feed->data, bytes, size, &record)) {
        feed->result->damaged++;
        return 0;
    }
    if (is_guest(record.record.misc)) {
        feed->result->guest += record.record.type == PERF_RECORD_SAMPLE;
        return 0;
    }
    return perf_data_feed_record(feed, &record, time);
}

static int order_record(void *context, const unsigned char *bytes, size_t size, bool lasts)
{
    struct perf_data_feed *feed = context;
    uint32_t type;
    memcpy(&type, bytes, sizeof(type));
    if (type == PERF_DATA_FINISHED_ROUND) /* rounds apply to one file: another file of the directory may have older
                                           * records */
        return feed->data->parts.length ? 0 : perf_data_order_end_round(&feed->order);
    if (type >= PERF_DATA_FIRST_OWN)
        return 0;
    return perf_data_order_add(&feed->order, perf_data_record_get_time(feed->data, bytes, size), bytes, size, lasts,
                               feed->err);
}

static int feed_records(struct perf_data_feed *feed, struct error *err)
{
    int code = perf_data_visit_records(feed->data, examine_record, feed, err);
    if (!code && !feed->data->attrs.length)
        code = error_set(err, EINVAL, "is a perf.data file without a description of its events");
    if (!code)
        code = perf_data_feed_start(feed);
    if (!code)
        code = perf_data_visit_records(feed->data, order_record, feed, err);
    if (!code)
        code = perf_data_order_finish(&feed->order);
    if (!code && !tracker_count_threads(feed->tracker))
        code = error_set(err, EINVAL, "is a perf.data file %s",
                         feed->data->is_truncated ? "that is truncated before its first thread"
                         : feed->data->damaged    ? "without a readable thread"
                                                  : "without threads");
    return code ? code : perf_data_feed_finish(feed);
}

int perf_data_import(const char *path, const char *name, const char *perf_cache, const char *spool_path,
                     struct perf_data_result *result, struct error *err)
{
    struct mapped_files files = {0};
    struct perf_data data = {0};
    struct perf_data_feed feed = {.data = &data, .result = result, .first = UINT64_MAX, .err = err};
    *result = (struct perf_data_result){0};
    int code = map_file(open_main_file(path), name, &files, &feed.mtime, err);
    if (!code)
        code = perf_data_open(&data, files.data[0].bytes, files.data[0].size, err);
    if (!code)
        code = add_parts(&data, path, name, &files, &feed.mtime, err);
    data.release = release_pages;
    data.context = &files;
    feed.order.take = feed_record;
    feed.order.context = &feed;
    if (data.parts.length)
        perf_data_order_set_unlimited(&feed.order);
    bool has_spool = false;
    if (!code) {
        code = perf_data_feed_open(&feed, spool_path, perf_cache);
        has_spool = !code;
    }
    if (!code)
        code = feed_records(&feed, err);
    snprintf(result->version, sizeof(result->version), "%s", data.features.version);
    result->damaged += data.damaged;
    result->late = feed.order.late;
    result->is_truncated = data.is_truncated;
    int close_code = perf_data_feed_close(&feed, code ? NULL : err);
    code = code ? code : close_code;
    if (code && has_spool)
        unlink(spool_path);
    perf_data_destroy(&data);
    unmap_files(&files);
    return code == -EINVAL || code == -ENOTSUP ? error_prefix(err, code, "%s", name) : code;
}
