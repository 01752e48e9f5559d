#include "os/file_io.h"

#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

int file_write(int fd, const void *bytes, size_t size)
{
    for (const char *at = bytes; size;) {
        ssize_t written = write(fd, at, size);
        if (written < 0 && errno == EINTR)
            continue;
        if (written <= 0)
            return written < 0 ? -errno : -EIO;
        at += written;
        size -= (size_t)written;
    }
    return 0;
}

/* Reads all requested bytes, at `offset`, or without an offset at the current file position. */
static ssize_t read_to_the_end(int fd, char *out, size_t size, const uint64_t *offset)
{
    size_t done = 0;
    while (done < size) {
        ssize_t got =
            offset ? pread(fd, out + done, size - done, (off_t)(*offset + done)) : read(fd, out + done, size - done);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return -errno;
        if (got == 0)
            break;
        done += (size_t)got;
    }
    return (ssize_t)done;
}

ssize_t file_read(int fd, void *out, size_t size)
{
    return read_to_the_end(fd, out, size, NULL);
}

ssize_t file_read_at(int fd, void *out, size_t size, uint64_t offset)
{
    return read_to_the_end(fd, out, size, &offset);
}

static int open_in_root(int root_fd, const char *path, uint64_t flags)
{
    struct open_how how = {.flags = flags, .resolve = RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS};
    long fd = syscall(SYS_openat2, root_fd, path, &how, sizeof(how));
    if (fd >= 0 || (errno != ENOSYS && errno != EPERM))
        return (int)fd;
    return openat(root_fd, path + strspn(path, "/"), (int)flags); /* before Linux 5.6 */
}

static int open_at_root(int root_fd, const char *path, int flags)
{
    int fd = root_fd < 0 ? open(path, flags) : open_in_root(root_fd, path, (uint64_t)flags);
    return fd < 0 ? -errno : fd;
}

static bool is_device(int fd)
{
    struct stat status;
    return fstat(fd, &status) == 0 && (S_ISCHR(status.st_mode) || S_ISBLK(status.st_mode));
}

/* Opening a device can have effects (a watchdog, a tape), so O_PATH and fstat() come first. Then /proc reopens the
 * same file; without /proc, the path is opened again. */
int file_open_in(int root_fd, const char *path)
{
    const int flags = O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY;
    char same[40];
    int place = open_at_root(root_fd, path, O_PATH | O_CLOEXEC);
    if (place < 0)
        return place;
    snprintf(same, sizeof(same), "/proc/self/fd/%d", place);
    int fd = is_device(place) ? -ENODEV : open_at_root(-1, same, flags);
    if (fd == -ENOENT)
        fd = open_at_root(root_fd, path, flags);
    close(place);
    return fd;
}

bool file_read_text(const char *path, char *out, size_t size)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t got = fd < 0 ? -1 : file_read(fd, out, size - 1);
    if (fd >= 0)
        close(fd);
    size_t length = got > 0 ? (size_t)got : 0;
    out[length && out[length - 1] == '\n' ? length - 1 : length] = '\0';
    return length > 0;
}

int file_load_text(int fd, const char *name, size_t limit, char **text, size_t *size, struct error *err)
{
    struct stat status;
    int code = 0;
    *text = NULL;
    if (fstat(fd, &status) != 0 || !S_ISREG(status.st_mode))
        code = error_set(err, ENOENT, "%s is not a file", name);
    else if ((uint64_t)status.st_size > limit)
        code = error_set(err, E2BIG, "%s is larger than %zu MiB", name, limit >> 20);
    else if (!(*text = malloc((size_t)status.st_size + 1)))
        code = error_no_memory(err);
    *size = code ? 0 : (size_t)status.st_size;
    if (!code && file_read_at(fd, *text, *size, 0) != (ssize_t)*size)
        code = error_set(err, EIO, "%s changed while prof read it", name);
    close(fd);
    if (!code) {
        (*text)[*size] = '\0';
        return 0;
    }
    free(*text);
    *text = NULL;
    return code;
}
