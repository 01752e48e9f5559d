/*
 * Writes output files. In a directory of another user, who may have created a symbolic link, root must not follow the
 * link. prof creates the new file with O_EXCL and changes the file only through its descriptor, and root replaces
 * another user's link.
 */
#include "os/file_output.h"

#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

static const char *name_in_directory(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

/* "dir/" of "dir/file"; "." without a slash. The caller frees it. */
static char *get_directory(const char *path)
{
    size_t length = (size_t)(name_in_directory(path) - path);
    return length ? strndup(path, length) : strdup(".");
}

enum { DIRECTORY_FLAGS = O_RDONLY | O_DIRECTORY | O_CLOEXEC };

int file_open_directory_of(const char *path)
{
    char *name = get_directory(path);
    int fd = name ? open(name, DIRECTORY_FLAGS) : -1;
    int code = fd >= 0 ? fd : name ? -errno : -ENOMEM;
    if (code == -EACCES) { /* a directory may permit new files, but no listing */
        fd = open(name, O_PATH | O_DIRECTORY | O_CLOEXEC);
        code = fd >= 0 ? fd : -errno;
    }
    free(name);
    return code;
}

/* ---- durability ---- */

int file_sync(int fd)
{
    struct stat info;
    bool is_directory = fstat(fd, &info) == 0 && S_ISDIR(info.st_mode);
    if ((is_directory ? fsync(fd) : fdatasync(fd)) == 0 || errno == EINVAL || errno == EROFS || errno == ENOSYS ||
        errno == EBADF)
        return 0; /* EBADF: O_PATH */
    return -errno;
}

int file_replace(int directory, int fd, const char *temporary, const char *name)
{
    int code = file_sync(fd);
    if (code == 0 && renameat(directory, temporary, directory, name) != 0)
        code = -errno;
    return code ? code : file_sync(directory);
}

/* ---- symbolic links, and sudo ---- */

/* Whether a path is a symbolic link in a directory where all users may create files (/tmp), by a user who is neither
 * this user nor the directory's owner: a trap. With fs.protected_symlinks, the kernel does not follow such a link
 * either. */
static bool is_link_of_other_user(const char *path)
{
    struct stat link, directory;
    if (lstat(path, &link) || !S_ISLNK(link.st_mode) || link.st_uid == geteuid())
        return false;
    char *name = get_directory(path);
    bool is_open = !name || stat(name, &directory) ||
                   ((directory.st_mode & S_ISVTX) && (directory.st_mode & S_IWOTH) && directory.st_uid != link.st_uid);
    free(name);
    return is_open;
}

int file_output_check(const char *path, struct error *err)
{
    if (is_link_of_other_user(path))
        return error_set(
            err, EACCES,
            "cannot write %s: it is a symbolic link of another user in a directory where all users may create links; remove the link, or choose another file",
            path);
    return 0;
}

/* Whether root must not follow a symbolic link: the user who ran sudo may have created the link to redirect root's
 * writes. */
static bool must_replace_link(const char *path)
{
    struct stat link, directory;
    if (geteuid() != 0 || lstat(path, &link) || !S_ISLNK(link.st_mode) || link.st_uid == 0)
        return false;
    char *name = get_directory(path);
    bool is_roots =
        name && stat(name, &directory) == 0 && directory.st_uid == 0 && !(directory.st_mode & (S_IWGRP | S_IWOTH));
    free(name);
    return !is_roots;
}

/* Reads a positive number from an environment variable; (id_t)-1 if it has no such number. */
static id_t read_id(const char *variable)
{
    const char *text = getenv(variable);
    char *end;
    errno = 0;
    unsigned long value = text && *text >= '1' && *text <= '9' ? strtoul(text, &end, 10) : 0;
    return value && !*end && !errno && value < UINT32_MAX ? (id_t)value : (id_t)-1;
}

static bool has_no_links(const char *directory)
{
    struct open_how how = {.flags = DIRECTORY_FLAGS, .resolve = RESOLVE_NO_SYMLINKS};
    long fd = syscall(SYS_openat2, AT_FDCWD, directory, &how, sizeof(how));
    if (fd >= 0)
        close((int)fd);
    return fd >= 0;
}

uid_t file_find_sudo_user(void)
{
    return geteuid() == 0 ? read_id("SUDO_UID") : (uid_t)-1;
}

void file_give_to_sudo_user(int fd, const char *path)
{
    uid_t user = file_find_sudo_user();
    struct stat info;
    if (user == (uid_t)-1)
        return;
    char *directory = get_directory(path);
    bool is_trap = !directory || (!has_no_links(directory) &&
                                  (stat(directory, &info) || (info.st_uid != user && !(info.st_mode & S_IWOTH))));
    free(directory);
    if (!is_trap)
        (void)!fchown(fd, user, read_id("SUDO_GID")); /* some file systems do not support owners */
}

/* ---- writing ---- */

static int open_temporary(struct file_output *file, mode_t mode, struct error *err)
{
    if (asprintf(&file->temporary, "%s.%ld.tmp", name_in_directory(file->path), (long)getpid()) < 0) {
        file->temporary = NULL;
        return error_no_memory(err);
    }
    file->directory = file_open_directory_of(file->path);
    if (file->directory < 0)
        return error_set(err, -file->directory, "cannot create %s: %s", file->path, strerror(-file->directory));
    unlinkat(file->directory, file->temporary, 0); /* left by a killed process with the same pid */
    file->fd = openat(file->directory, file->temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode);
    if (file->fd < 0)
        return error_set(err, errno, "cannot create %s: %s", file->path, strerror(errno));
    file_give_to_sudo_user(file->fd, file->path);
    return 0;
}

static int open_output(struct file_output *file, const char *path, mode_t mode, struct error *err)
{
    struct stat status;
    if (strcmp(path, "-") == 0) {
        file->path = strdup("the standard output");
        file->fd = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 0);
        return file->fd < 0 ? error_set(err, errno, "cannot write to the standard output: %s", strerror(errno)) : 0;
    }
    int code = file_output_check(path, err);
    if (code)
        return code;
    bool exists = !must_replace_link(path) && stat(path, &status) == 0;
    if (exists && S_ISDIR(status.st_mode))
        return error_set(err, EISDIR, "cannot write %s: it is a directory; give a file name in it", path);
    bool special = exists && !S_ISREG(status.st_mode);
    /* resolve a link, so that the rename replaces its target */
    char *target = exists && !special ? realpath(path, NULL) : NULL;
    file->path = target ? target : strdup(path);
    if (!file->path)
        return error_no_memory(err);
    if (!special)
        return open_temporary(file, mode, err);
    file->fd = open(file->path, O_WRONLY | O_CLOEXEC);
    return file->fd < 0 ? error_set(err, errno, "cannot open %s: %s", file->path, strerror(errno)) : 0;
}

int file_output_open(struct file_output *file, const char *path, mode_t mode, struct error *err)
{
    *file = (struct file_output){.fd = -1, .directory = -1};
    int code = open_output(file, path, mode, err);
    if (code)
        file_output_close(file);
    return code;
}

static int rename_old(struct file_output *file, struct error *err)
{
    const char *name = name_in_directory(file->path);
    char *old;
    struct stat info;
    if (!file->keeps_old || fstatat(file->directory, name, &info, AT_SYMLINK_NOFOLLOW) != 0)
        return 0;
    if (asprintf(&old, "%s.old", name) < 0)
        return error_no_memory(err);
    int code = 0;
    if (renameat(file->directory, name, file->directory, old) != 0)
        code = error_set(err, errno, "cannot rename the earlier %s to %s: %s", file->path, old, strerror(errno));
    else
        *file->keeps_old = true;
    free(old);
    return code;
}

int file_output_commit(struct file_output *file, struct error *err)
{
    /* sync the new file before the old file loses its name */
    int code = file->keeps_old || !file->temporary ? file_sync(file->fd) : 0;
    if (code)
        return error_set(err, -code, "cannot write %s: %s", file->path, strerror(-code));
    if (file->temporary) {
        code = rename_old(file, err);
        if (code)
            return code;
        code = file_replace(file->directory, file->fd, file->temporary, name_in_directory(file->path));
        if (code)
            return error_set(err, -code, "cannot save %s: %s", file->path, strerror(-code));
        free(file->temporary);
        file->temporary = NULL;
    }
    int status = close(file->fd);
    file->fd = -1;
    return status ? error_set(err, errno, "cannot write %s: %s", file->path, strerror(errno)) : 0;
}

void file_output_close(struct file_output *file)
{
    if (file->fd >= 0 && file->temporary)
        unlinkat(file->directory, file->temporary, 0);
    if (file->fd >= 0)
        close(file->fd);
    if (file->directory >= 0)
        close(file->directory);
    free(file->temporary);
    free(file->path);
    *file = (struct file_output){.fd = -1, .directory = -1};
}
