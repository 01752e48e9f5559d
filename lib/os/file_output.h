/*
 * Files that prof writes for its user. Each is written under a temporary name in its directory, brought to the disk and
 * renamed: a reader finds the old file or the new one, also after a power cut.
 */
#pragma once

#include "base/error.h"

#include <stdbool.h>
#include <sys/types.h>

struct file_output {
    int fd;
    char *path;      /* for messages, and for readers: behind symbolic links */
    char *temporary; /* file name; NULL: written directly */
    int directory;   /* of both; -1: written directly */
    bool *keeps_old; /* the caller's; not NULL: a replaced file becomes "PATH.old", and this is set to true */
};

/* -EACCES if `path` is a symbolic link that lets another user choose where prof writes. */
int file_output_check(const char *path, struct error *err);

/* Opens a new file with the permissions `mode`, of the user who called sudo, if any. A `path` that exists and is no
 * regular file (a pipe) is written directly; "-" is the standard output. On failure nothing is left behind. */
int file_output_open(struct file_output *file, const char *path, mode_t mode, struct error *err);

/* Brings the file to the disk, gives it its name and closes it. `path` stays until file_output_close(). On failure the
 * old file remains. */
int file_output_commit(struct file_output *file, struct error *err);

/* Frees it, and removes a file that has no name yet. */
void file_output_close(struct file_output *file);

/* Brings an open file or directory to the disk, where its file system can. 0, or a negative errno value. */
int file_sync(int fd);

/* Opens the directory of a file. A descriptor, or a negative errno value. */
int file_open_directory_of(const char *path);

/* The last step of each writer: `fd`, whose name in `directory` is `temporary`, is brought to the disk and gets the
 * name `name`; then the directory is brought there. 0, or a negative errno value. */
int file_replace(int directory, int fd, const char *temporary, const char *name);

/* The user who called sudo; (uid_t)-1 without sudo. */
uid_t file_sudo_user(void);

/* Makes the user who called sudo the owner of a file that this process has created at `path`: that user could not read
 * it otherwise. Does nothing without sudo, nor where a symbolic link leads to a directory that this user may not write
 * to. */
void file_give_to_sudo_user(int fd, const char *path);
