/*
 * A file begins with the line "prof-push 1 URL", followed by the bytes to send. A queue file is written under a
 * temporary name and renamed, so a file with the name of a profile is complete (os/directory.c). The file is synced
 * before the rename, so that an added profile survives a power cut. The sync takes a few milliseconds for each profile,
 * outside of the sampling process. Removal is not synced: after a power cut a profile may be sent again, with the same
 * profile id.
 */
#include "push/push_queue.h"

#include "base/array.h"
#include "base/search.h"
#include "base/starts_with.h"
#include "os/clock.h"
#include "os/directory.h"
#include "os/file_io.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

static const char mark[] = "prof-push 1 ";
static const char ending[] = ".otlp.gz";

enum { HEAD_MAX = 4096 };

struct push_queue {
    char path[PATH_MAX];
    int directory;
    uint64_t limit;
    uint32_t added; /* by this process */
};

struct waiting_file {
    char name[NAME_MAX + 1];
    uint64_t size;
};

ARRAY_TYPE(struct waiting_files, struct waiting_file);

int push_queue_open(struct push_queue **out, const char *path, uint64_t limit, struct error *err)
{
    struct push_queue *queue = calloc(1, sizeof(*queue));
    *out = NULL;
    if (!queue)
        return error_no_memory(err);
    queue->directory = -1;
    queue->limit = limit;
    snprintf(queue->path, sizeof(queue->path), "%s", path);
    queue->directory = file_directory_open(path, err);
    if (queue->directory < 0) {
        int code = queue->directory;
        push_queue_close(queue);
        return code;
    }
    file_directory_trim(queue->directory, UINT64_MAX); /* removes files of killed processes */
    *out = queue;
    return 0;
}

void push_queue_close(struct push_queue *queue)
{
    if (!queue)
        return;
    if (queue->directory >= 0)
        close(queue->directory);
    free(queue);
}

/* ---- the files ---- */

static bool is_name(const char *name)
{
    return name[0] >= '0' && name[0] <= '9' && ends_with(name, ending);
}

DEFINE_COMPARE(compare_names, struct waiting_file, strcmp(a->name, b->name))

/* Lists the files of the queue, the oldest first. */
static int list_files(const struct push_queue *queue, struct waiting_files *files, struct error *err)
{
    int listing = openat(queue->directory, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *list = listing >= 0 ? fdopendir(listing) : NULL;
    if (!list) {
        int reason = errno;
        if (listing >= 0)
            close(listing);
        return error_set(err, reason, "cannot list the directory %s: %s", queue->path, strerror(reason));
    }
    bool enough = true;
    for (struct dirent *entry; enough && (entry = readdir(list)) != NULL;) {
        struct stat info;
        if (!is_name(entry->d_name) || fstatat(queue->directory, entry->d_name, &info, AT_SYMLINK_NOFOLLOW) != 0 ||
            !S_ISREG(info.st_mode))
            continue;
        struct waiting_file file = {.size = (uint64_t)info.st_size};
        memcpy(file.name, entry->d_name, strlen(entry->d_name) + 1);
        enough = array_push(files, file);
    }
    closedir(list);
    if (!enough)
        return error_no_memory(err);
    array_sort(files, compare_names);
    return 0;
}

/* Removes the oldest profiles until `more` bytes fit in the queue. */
static int drop_oldest(struct push_queue *queue, uint64_t more, uint32_t *dropped, struct error *err)
{
    struct waiting_files files = {0};
    uint64_t size = more;
    int code = list_files(queue, &files, err);
    for (size_t i = 0; i < files.length; i++)
        size += files.data[i].size;
    for (size_t i = 0; !code && i < files.length && size > queue->limit; i++) {
        if (unlinkat(queue->directory, files.data[i].name, 0) == 0)
            ++*dropped;
        size -= files.data[i].size;
    }
    array_free(&files);
    return code;
}

int push_queue_add(struct push_queue *queue, const char *url, const void *bytes, size_t size, uint32_t *dropped,
                   struct error *err)
{
    char name[NAME_MAX + 1], head[HEAD_MAX];
    *dropped = 0;
    int length = snprintf(head, sizeof(head), "%s%s\n", mark, url);
    if (length < 0 || (size_t)length >= sizeof(head))
        return error_set(err, ENAMETOOLONG, "the address %.64s... is too long", url);
    size_t whole = (size_t)length + size;
    if (whole > queue->limit)
        return error_set(err, E2BIG, "a profile of %zu KiB exceeds the size limit of the queue, %zu KiB",
                         (size >> 10) + 1, (size_t)queue->limit >> 10);
    unsigned char *text = malloc(whole);
    if (!text)
        return error_no_memory(err);
    memcpy(text, head, (size_t)length);
    if (size)
        memcpy(text + length, bytes, size);
    snprintf(name, sizeof(name), "%020" PRIu64 "-%d-%05" PRIu32 "%s", clock_ns(CLOCK_REALTIME), (int)getpid(),
             queue->added++ % 100000, ending);
    int code = drop_oldest(queue, whole, dropped, err);
    if (!code && (code = file_directory_save_lasting(queue->directory, name, text, whole)) != 0)
        error_set(err, -code, "cannot store a profile in %s: %s", queue->path, strerror(-code));
    free(text);
    return code;
}

/* Reads the first line of an open queue file: its URL, and the position of the bytes to send. Returns false if it is
 * missing. */
static bool read_head(int file, char url[HEAD_MAX], size_t *start)
{
    char head[HEAD_MAX];
    ssize_t got = file_read_at(file, head, sizeof(head), 0);
    char *end = got > 0 ? memchr(head, '\n', (size_t)got) : NULL;
    if (!end || strncmp(head, mark, strlen(mark)) != 0)
        return false;
    *start = (size_t)(end - head) + 1;
    *end = '\0';
    snprintf(url, HEAD_MAX, "%s", head + strlen(mark));
    return true;
}

static int open_file(const struct push_queue *queue, const char *name)
{
    return openat(queue->directory, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
}

/* Locks and reads the queue file if its URL is `url` and no other process sends it. Returns 1, 0 if not, or a negative
 * errno value. */
static int lock_file(struct push_queue *queue, const char *name, const char *url, struct push_item *item,
                     struct error *err)
{
    char of_file[HEAD_MAX];
    size_t start;
    struct stat info;
    int file = open_file(queue, name);
    if (file < 0)
        return 0;
    bool is_free = flock(file, LOCK_EX | LOCK_NB) == 0 && fstat(file, &info) == 0 && info.st_nlink > 0;
    if (!is_free || !read_head(file, of_file, &start) || strcmp(of_file, url) != 0 || (uint64_t)info.st_size < start) {
        close(file);
        return 0;
    }
    *item = (struct push_item){.file = file, .size = (size_t)info.st_size - start};
    item->memory = malloc(item->size + 1);
    if (!item->memory || file_read_at(file, item->memory, item->size, start) != (ssize_t)item->size) {
        bool has_memory = item->memory != NULL;
        push_queue_return(queue, item, false);
        return has_memory ? error_set(err, EIO, "cannot read %s/%s", queue->path, name) : error_no_memory(err);
    }
    item->bytes = item->memory;
    snprintf(item->name, sizeof(item->name), "%s", name);
    return 1;
}

int push_queue_take(struct push_queue *queue, const char *url, const char *after, struct push_item *item,
                    struct error *err)
{
    struct waiting_files files = {0};
    int code = list_files(queue, &files, err);
    for (size_t i = 0; !code && i < files.length; i++)
        if (strcmp(files.data[i].name, after) > 0)
            code = lock_file(queue, files.data[i].name, url, item, err);
    array_free(&files);
    return code;
}

void push_queue_return(struct push_queue *queue, struct push_item *item, bool is_done)
{
    if (is_done)
        unlinkat(queue->directory, item->name, 0);
    close(item->file);
    free(item->memory);
    *item = (struct push_item){.file = -1};
}

int push_queue_count(struct push_queue *queue, const char *url, struct push_waiting *waiting, struct error *err)
{
    struct waiting_files files = {0};
    *waiting = (struct push_waiting){0};
    int code = list_files(queue, &files, err);
    for (size_t i = 0; !code && i < files.length; i++) {
        char of_file[HEAD_MAX];
        size_t start;
        int file = open_file(queue, files.data[i].name);
        bool is_known = file >= 0 && read_head(file, of_file, &start);
        if (file >= 0)
            close(file);
        if (!is_known)
            continue;
        bool is_other = strcmp(of_file, url) != 0;
        waiting->count += !is_other;
        waiting->others += is_other;
        if (is_other)
            snprintf(waiting->other, sizeof(waiting->other), "%.*s", (int)sizeof(waiting->other) - 1, of_file);
    }
    array_free(&files);
    return code;
}
