/*
 * Creates the directory of mark buffers, in /dev/shm if possible: the kernel writes pages of files on a disk back, and
 * a program that sets marks would wait for the disk.
 */
#include "record/mark_buffers.h"

#define PROF_MARKS_LAYOUT_ONLY
#include "include/prof/marks.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

static void remove_files(int directory)
{
    int copy = openat(directory, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *names = copy >= 0 ? fdopendir(copy) : NULL;
    for (const struct dirent *entry; names && (entry = readdir(names));)
        if (entry->d_name[0] != '.')
            unlinkat(directory, entry->d_name, 0);
    if (names)
        closedir(names);
    else if (copy >= 0)
        close(copy);
}

/* A recorder holds a lock on its directory. The directory of a killed recorder has no lock. */
static void remove_leftover(const char *base, const char *name)
{
    char path[512];
    struct stat info;
    if (snprintf(path, sizeof(path), "%s/%s", base, name) >= (int)sizeof(path))
        return;
    int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
    if (fd < 0)
        return;
    if (fstat(fd, &info) == 0 && info.st_uid == geteuid() && flock(fd, LOCK_EX | LOCK_NB) == 0) {
        remove_files(fd);
        rmdir(path);
    }
    close(fd);
}

static void remove_leftovers(const char *base)
{
    DIR *names = opendir(base);
    for (const struct dirent *entry; names && (entry = readdir(names));)
        if (strncmp(entry->d_name, PROF_MARKS_NAME, sizeof(PROF_MARKS_NAME) - 1) == 0)
            remove_leftover(base, entry->d_name);
    if (names)
        closedir(names);
}

/* Creates and locks a directory. Between mkdtemp() and the lock, another recorder may mistake the directory for a
 * leftover and remove it. */
static bool try_make_directory_in(struct mark_buffers *buffers, const char *base)
{
    if (snprintf(buffers->directory, sizeof(buffers->directory), "%s/" PROF_MARKS_NAME "XXXXXX", base) >=
            (int)sizeof(buffers->directory) ||
        !mkdtemp(buffers->directory))
        return false;
    struct stat info;
    buffers->directory_fd = open(buffers->directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
    if (buffers->directory_fd >= 0 && flock(buffers->directory_fd, LOCK_EX | LOCK_NB) == 0 &&
        stat(buffers->directory, &info) == 0)
        return true;
    if (buffers->directory_fd >= 0)
        close(buffers->directory_fd);
    buffers->directory_fd = -1;
    rmdir(buffers->directory);
    return false;
}

static bool make_directory_in(struct mark_buffers *buffers, const char *base)
{
    enum { TRIES = 20 };
    bool is_made = false;
    for (int i = 0; i < TRIES && !is_made && access(base, W_OK | X_OK) == 0; i++)
        is_made = try_make_directory_in(buffers, base);
    return is_made;
}

void mark_buffers_make_directory(struct mark_buffers *buffers)
{
    const char *temporary = getenv("TMPDIR");
    const char *const bases[] = {"/dev/shm", temporary && temporary[0] == '/' ? temporary : "/tmp"};
    if (buffers->directory_fd >= 0)
        return;
    for (size_t i = 0; i < sizeof(bases) / sizeof(*bases); i++) {
        remove_leftovers(bases[i]);
        if (make_directory_in(buffers, bases[i]))
            return;
    }
    buffers->directory[0] = '\0';
}

void mark_buffers_remove_directory(struct mark_buffers *buffers)
{
    if (buffers->directory_fd < 0)
        return;
    remove_files(buffers->directory_fd);
    rmdir(buffers->directory);
    close(buffers->directory_fd);
    buffers->directory_fd = -1;
    buffers->directory[0] = '\0';
}
