#include "base/file_io.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <string.h>
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

ssize_t file_read_at(int fd, void *out, size_t size, uint64_t offset)
{
    size_t done = 0;
    while (done < size) {
        ssize_t got = pread(fd, (char *)out + done, size - done, (off_t)(offset + done));
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

static int open_in_root(int root_fd, const char *path, uint64_t flags)
{
    struct open_how how = {.flags = flags, .resolve = RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS};
    long fd = syscall(SYS_openat2, root_fd, path, &how, sizeof(how));
    if (fd >= 0 || (errno != ENOSYS && errno != EPERM))
        return (int)fd;
    return openat(root_fd, path + strspn(path, "/"), (int)flags); /* before Linux 5.6 */
}

int file_open_in(int root_fd, const char *path)
{
    const int flags = O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY;
    int fd = root_fd < 0 ? open(path, flags) : open_in_root(root_fd, path, (uint64_t)flags);
    return fd < 0 ? -errno : fd;
}
