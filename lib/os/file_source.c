#include "os/file_source.h"

#include "os/clock.h"
#include "os/file_io.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

bool file_identity_read(int fd, struct file_identity *identity)
{
    struct stat info;
    *identity = (struct file_identity){0};
    if (fstat(fd, &info) || !S_ISREG(info.st_mode))
        return false;
    *identity = (struct file_identity){
        .device = info.st_dev,
        .inode = info.st_ino,
        .size = (uint64_t)info.st_size,
        .mtime_ns = timespec_to_ns(info.st_mtim),
    };
    return true;
}

bool file_identities_are_equal(const struct file_identity *a, const struct file_identity *b)
{
    return a->device == b->device && a->inode == b->inode && a->size == b->size && a->mtime_ns == b->mtime_ns;
}

int file_source_new(struct file_source **out, int fd, int root_fd, const char *path, struct error *err)
{
    struct file_source *source = calloc(1, sizeof(*source));
    char *copy = strdup(path);
    int code;
    *out = NULL;
    if (!source || !copy) {
        code = error_no_memory(err);
    } else if (!file_identity_read(fd, &source->identity)) {
        code = error_set(err, EINVAL, "%s is not a regular file", path);
    } else {
        source->references = 1;
        source->fd = fd;
        source->root_fd = root_fd;
        source->path = copy;
        *out = source;
        return 0;
    }
    close(fd);
    free(copy);
    free(source);
    return code;
}

struct file_source *file_source_ref(struct file_source *source)
{
    source->references++;
    return source;
}

void file_source_close(struct file_source *source)
{
    if (source->fd >= 0)
        close(source->fd);
    source->fd = -1;
}

void file_source_unref(struct file_source *source)
{
    if (!source || --source->references > 0)
        return;
    file_source_close(source);
    free(source->path);
    free(source);
}

int file_source_open(const struct file_source *source)
{
    struct file_identity now;
    if (source->fd >= 0) {
        int fd = fcntl(source->fd, F_DUPFD_CLOEXEC, 3);
        return fd < 0 ? -errno : fd;
    }
    int fd = file_open_in(source->root_fd, source->path);
    if (fd < 0)
        return fd;
    if (file_identity_read(fd, &now) && file_identities_are_equal(&now, &source->identity))
        return fd;
    close(fd);
    return -ESTALE;
}

ssize_t file_source_read_at(const struct file_source *source, void *out, size_t size, uint64_t offset)
{
    if (source->fd >= 0)
        return file_read_at(source->fd, out, size, offset);
    int fd = file_source_open(source);
    if (fd < 0)
        return fd;
    ssize_t got = file_read_at(fd, out, size, offset);
    close(fd);
    return got;
}
