/*
 * The rename makes the file whole or absent for everyone on this machine. There is no fsync(): it would cost more than
 * all the writing, to survive a power cut in the second after a recording.
 */
#include "profile/file.h"

#include "base/file_io.h"
#include "profile/file_gzip.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

struct profile_file {
    int fd;
    char *path;                 /* what it will be called */
    char *temporary;            /* what it is called until then; NULL: written directly */
    struct gzip_packer *packer; /* NULL: plain */
};

static int write_to_file(void *context, const void *bytes, size_t size, struct error *err)
{
    struct profile_file *file = context;
    int code = file_write(file->fd, bytes, size);
    return code ? error_set(err, -code, "cannot write %s: %s", file->path, strerror(-code)) : 0;
}

static int pack(void *context, const void *bytes, size_t size, struct error *err)
{
    return gzip_packer_add(context, bytes, size, err);
}

struct byte_sink profile_file_sink(struct profile_file *file)
{
    if (file->packer)
        return (struct byte_sink){.write = pack, .context = file->packer};
    return (struct byte_sink){.write = write_to_file, .context = file};
}

static bool ends_in_gz(const char *path)
{
    size_t length = strlen(path);
    return length >= 3 && strcmp(path + length - 3, ".gz") == 0;
}

/* A link in a folder where everybody may put one (/tmp), by someone who is neither this user nor the folder's owner: a
 * trap. The kernel does not follow it either, where fs.protected_symlinks is set. */
static bool is_strangers_link(const char *path)
{
    struct stat link, folder;
    if (lstat(path, &link) || !S_ISLNK(link.st_mode) || link.st_uid == geteuid())
        return false;
    const char *slash = strrchr(path, '/');
    char *name = slash ? strndup(path, (size_t)(slash - path) + 1) : strdup(".");
    bool is_open = !name || stat(name, &folder) ||
                   ((folder.st_mode & S_ISVTX) && (folder.st_mode & S_IWOTH) && folder.st_uid != link.st_uid);
    free(name);
    return is_open;
}

int profile_file_check(const char *path, struct error *err)
{
    if (is_strangers_link(path))
        return error_set(err, EACCES,
                         "cannot write %s: it is a symbolic link of another user in a folder where everybody may make "
                         "one; remove it, or name another file",
                         path);
    return 0;
}

/* The file behind symbolic links, so that the rename replaces it and not the link. */
static char *final_path(const char *path)
{
    char *resolved = realpath(path, NULL);
    return resolved ? resolved : strdup(path);
}

static int open_temporary(struct profile_file *file, struct error *err)
{
    if (asprintf(&file->temporary, "%s.%ld.tmp", file->path, (long)getpid()) < 0) {
        file->temporary = NULL;
        return error_no_memory(err);
    }
    unlink(file->temporary); /* of a process that had the same number and was killed */
    file->fd = open(file->temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (file->fd < 0)
        return error_set(err, errno, "cannot create %s: %s", file->path, strerror(errno));
    return 0;
}

static int open_directly(struct profile_file *file, struct error *err)
{
    file->fd = open(file->path, O_WRONLY | O_CLOEXEC);
    return file->fd < 0 ? error_set(err, errno, "cannot open %s: %s", file->path, strerror(errno)) : 0;
}

static int open_output(struct profile_file *file, const char *path, struct error *err)
{
    struct stat status;
    if (strcmp(path, "-") == 0) {
        file->path = strdup("the standard output");
        file->fd = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 0);
        return file->fd < 0 ? error_set(err, errno, "cannot write to the standard output: %s", strerror(errno)) : 0;
    }
    int code = profile_file_check(path, err);
    if (code)
        return code;
    bool exists = stat(path, &status) == 0;
    if (exists && S_ISDIR(status.st_mode))
        return error_set(err, EISDIR, "cannot write %s: it is a folder; give a file name in it", path);
    bool special = exists && !S_ISREG(status.st_mode);
    file->path = special ? strdup(path) : final_path(path);
    if (!file->path)
        return error_no_memory(err);
    return special ? open_directly(file, err) : open_temporary(file, err);
}

static void file_free(struct profile_file *file)
{
    gzip_packer_free(file->packer);
    if (file->fd >= 0)
        close(file->fd);
    free(file->temporary);
    free(file->path);
    free(file);
}

int profile_file_create(struct profile_file **out, const char *path, struct error *err)
{
    *out = NULL;
    struct profile_file *file = calloc(1, sizeof(*file));
    if (!file)
        return error_no_memory(err);
    file->fd = -1;
    int code = open_output(file, path, err);
    if (!code && ends_in_gz(path))
        code = gzip_packer_new(&file->packer, (struct byte_sink){.write = write_to_file, .context = file}, err);
    if (code)
        profile_file_abandon(file);
    else
        *out = file;
    return code;
}

int profile_file_create_in_memory(struct profile_file **out, int *fd, struct error *err)
{
    *out = NULL;
    *fd = memfd_create("profile", MFD_CLOEXEC);
    if (*fd < 0)
        return error_set(err, errno, "cannot make a file in memory: %s", strerror(errno));
    struct profile_file *file = calloc(1, sizeof(*file));
    int code = 0;
    if (file) {
        file->path = strdup("a file in memory");
        file->fd = fcntl(*fd, F_DUPFD_CLOEXEC, 0);
        code = file->fd < 0 ? error_set(err, errno, "cannot make a file in memory: %s", strerror(errno)) : 0;
    }
    if (!code)
        code = file && file->path
                   ? gzip_packer_new(&file->packer, (struct byte_sink){.write = write_to_file, .context = file}, err)
                   : error_no_memory(err);
    if (!code) {
        *out = file;
        return 0;
    }
    if (file)
        profile_file_abandon(file);
    close(*fd);
    *fd = -1;
    return code;
}

static int close_output(struct profile_file *file, struct error *err)
{
    int status = close(file->fd);
    file->fd = -1;
    return status < 0 ? error_set(err, errno, "cannot write %s: %s", file->path, strerror(errno)) : 0;
}

static int give_name(struct profile_file *file, struct error *err)
{
    if (!file->temporary || rename(file->temporary, file->path) == 0)
        return 0;
    return error_set(err, errno, "cannot rename %s to %s: %s", file->temporary, file->path, strerror(errno));
}

int profile_file_commit(struct profile_file *file, struct error *err)
{
    int code = file->packer ? gzip_packer_finish(file->packer, err) : 0;
    if (!code)
        code = close_output(file, err);
    if (!code)
        code = give_name(file, err);
    if (code) {
        profile_file_abandon(file);
        return code;
    }
    file_free(file);
    return 0;
}

void profile_file_abandon(struct profile_file *file)
{
    if (file->temporary)
        unlink(file->temporary);
    file_free(file);
}
