/*
 * Several prof processes may use a directory at once, without locks: a writer creates a temporary file and renames it,
 * so a reader always opens a complete file. The later of two writers wins.
 *
 * prof trusts these files, so only this user may write them. The directory must belong to this user, and other users
 * must not have write permission. prof opens the directory once, and opens all files relative to it, so a replaced
 * parent directory has no effect. The modification time of a file is the time of its last use.
 */
#include "os/directory.h"

#include "base/array.h"
#include "base/search.h"
#include "os/clock.h"
#include "os/file_io.h"
#include "os/file_output.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum {
    TOUCH_AFTER = 3600, /* seconds between two updates of a file's modification time */
    LEFT_BEHIND_AFTER = 3600,
    OTHERS_CAN_WRITE = S_IWGRP | S_IWOTH
};

static const char unfinished[] = ".new-"; /* prefix of files that are being written */

static bool belongs_to_user(const struct stat *info)
{
    return info->st_uid == geteuid() && !(info->st_mode & OTHERS_CAN_WRITE);
}

/* ---- the directory ---- */

/* Creates the directory and missing parents (XDG Base Directory Specification: mode 0700), but only in a directory of
 * this user: root must not create files in another user's home. */
static void make_directory(const char *path)
{
    enum { MISSING_MAX = 3 };
    char part[PATH_MAX], *ends[MISSING_MAX];
    struct stat info;
    size_t missing = 0;
    if (strlen(path) >= sizeof(part))
        return;
    memcpy(part, path, strlen(path) + 1);
    while (stat(part, &info) != 0) {
        char *slash = strrchr(part, '/');
        if (errno != ENOENT || missing == MISSING_MAX || slash == part)
            return;
        if (!slash) { /* in the working directory */
            if (stat(".", &info) != 0 || info.st_uid != geteuid() || (mkdir(part, 0700) != 0 && errno != EEXIST))
                return;
            continue;
        }
        *slash = '\0';
        ends[missing++] = slash;
    }
    bool made = info.st_uid == geteuid();
    while (made && missing) {
        *ends[--missing] = '/';
        made = mkdir(part, 0700) == 0 || errno == EEXIST;
    }
}

int file_directory_open(const char *path, struct error *err)
{
    enum { FLAGS = O_RDONLY | O_DIRECTORY | O_CLOEXEC };
    int directory = open(path, FLAGS);
    if (directory < 0 && errno == ENOENT) {
        make_directory(path);
        directory = open(path, FLAGS);
    }
    if (directory < 0)
        return error_set(err, errno, "cannot open the directory %s: %s", path, strerror(errno));
    struct stat info;
    if (fstat(directory, &info) == 0 && belongs_to_user(&info))
        return directory;
    close(directory);
    return error_set(err, EPERM, "prof does not use the directory %s, because other users can write to it", path);
}

/* ---- one file ---- */

static unsigned char *read_whole(int file, size_t size)
{
    unsigned char *bytes = malloc(size);
    if (bytes && file_read_at(file, bytes, size, 0) == (ssize_t)size)
        return bytes;
    free(bytes);
    return NULL;
}

/* Opens a file of 1 to `limit` bytes. */
static int open_file(int directory, const char *name, size_t limit, size_t *size)
{
    struct stat info;
    int file = openat(directory, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (file < 0)
        return -errno;
    if (fstat(file, &info) != 0 || !S_ISREG(info.st_mode) || !belongs_to_user(&info) || info.st_size <= 0 ||
        (uint64_t)info.st_size > limit) {
        close(file);
        return -EPERM;
    }
    *size = (size_t)info.st_size;
    if (time(NULL) - info.st_mtime > TOUCH_AFTER)
        futimens(file, NULL);
    return file;
}

int file_directory_open_file(int directory, const char *name)
{
    size_t size;
    return open_file(directory, name, SIZE_MAX, &size);
}

unsigned char *file_directory_load(int directory, const char *name, size_t limit, size_t *size)
{
    int file = open_file(directory, name, limit, size);
    if (file < 0)
        return NULL;
    unsigned char *bytes = read_whole(file, *size);
    close(file);
    return bytes;
}

/* Writes a new file, and stores its name in `own`. Returns the descriptor of the file, or a negative errno value
 * without a file. */
static int write_new(int directory, char own[NAME_MAX + 1], const char *name, const void *bytes, size_t size)
{
    int length = snprintf(own, NAME_MAX + 1, "%s%d-%" PRIx64 "-%s", unfinished, (int)getpid(), monotonic_ns(), name);
    if (length < 0 || length > NAME_MAX)
        return -ENAMETOOLONG;
    int file = openat(directory, own, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (file < 0)
        return -errno;
    int code = file_write(file, bytes, size);
    if (code == 0)
        return file;
    close(file);
    unlinkat(directory, own, 0);
    return code;
}

static int save_file(int directory, const char *name, const void *bytes, size_t size, bool is_lasting)
{
    char own[NAME_MAX + 1];
    int file = write_new(directory, own, name, bytes, size), code = 0;
    if (file < 0)
        return file;
    if (is_lasting)
        code = file_replace(directory, file, own, name);
    else if (renameat(directory, own, directory, name) != 0)
        code = -errno;
    close(file);
    if (code != 0)
        unlinkat(directory, own, 0);
    return code;
}

int file_directory_save(int directory, const char *name, const void *bytes, size_t size)
{
    return save_file(directory, name, bytes, size, false);
}

int file_directory_save_lasting(int directory, const char *name, const void *bytes, size_t size)
{
    return save_file(directory, name, bytes, size, true);
}

int file_directory_add(int directory, const char *name, const void *bytes, size_t size)
{
    char own[NAME_MAX + 1];
    int file = write_new(directory, own, name, bytes, size);
    if (file < 0)
        return file;
    int code = file_sync(file);
    if (code == 0 && linkat(directory, own, directory, name, 0) != 0 && errno != EEXIST)
        code = -errno;
    close(file);
    unlinkat(directory, own, 0);
    return code ? code : file_sync(directory);
}

/* ---- all files ---- */

struct found_file {
    char name[NAME_MAX + 1];
    time_t used;
    uint64_t size;
};

ARRAY_TYPE(struct found_files, struct found_file);

DEFINE_COMPARE(compare_last_use, struct found_file, ORDER(a->used, b->used))

static DIR *list_directory(int directory)
{
    /* fdopendir() needs its own file position */
    int listing = openat(directory, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *list = listing >= 0 ? fdopendir(listing) : NULL;
    if (!list && listing >= 0)
        close(listing);
    return list;
}

static void find_files(int directory, struct found_files *files)
{
    DIR *list = list_directory(directory);
    if (!list)
        return;
    time_t now = time(NULL);
    for (struct dirent *entry; (entry = readdir(list)) != NULL;) {
        struct stat info;
        if (fstatat(directory, entry->d_name, &info, AT_SYMLINK_NOFOLLOW) != 0 || !S_ISREG(info.st_mode))
            continue;
        bool is_unfinished = strncmp(entry->d_name, unfinished, sizeof(unfinished) - 1) == 0;
        struct found_file file = {.used = info.st_mtime, .size = (uint64_t)info.st_size};
        memcpy(file.name, entry->d_name, strlen(entry->d_name) + 1);
        if (is_unfinished && now - info.st_mtime > LEFT_BEHIND_AFTER)
            unlinkat(directory, entry->d_name, 0);
        else if (!is_unfinished && !array_push(files, file))
            break;
    }
    closedir(list);
}

void file_directory_trim(int directory, uint64_t limit)
{
    struct found_files files = {0};
    uint64_t size = 0;
    find_files(directory, &files);
    for (size_t i = 0; i < files.length; i++)
        size += files.data[i].size;
    if (size > limit)
        array_sort(&files, compare_last_use);
    for (size_t i = 0; i < files.length && size > limit; i++) {
        unlinkat(directory, files.data[i].name, 0);
        size -= files.data[i].size;
    }
    array_free(&files);
}
