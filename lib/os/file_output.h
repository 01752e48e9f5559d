/*
 * Files that prof writes for its user. prof writes each file under a temporary name in its directory, syncs it to the
 * disk and renames it: a reader finds the old file or the new file, even after a power failure.
 */
#pragma once

#include "base/error.h"

#include <sys/types.h>

struct file_output {
    int fd;
    char *path;      /* path for messages and readers, with resolved symbolic links */
    char *temporary; /* file name, or NULL (written directly) */
    int directory;   /* directory of the file and its temporary file, or -1 (prof writes the file directly) */
    bool *keeps_old; /* owned by the caller; if not NULL, prof renames a replaced file to "PATH.old", and sets
                      *keeps_old */
};

/* -EACCES if `path` is a symbolic link that lets another user choose where prof writes. */
int file_output_check(const char *path, struct error *err);

/* Opens a new file with the permissions `mode`, owned by the user who called sudo, if any. An existing `path` that
 * is not a regular file (a pipe) is written directly; "-" is the standard output. On failure no file remains. */
int file_output_open(struct file_output *file, const char *path, mode_t mode, struct error *err);

/* Syncs the file to the disk, renames it to its final path and closes it. `path` stays valid until file_output_close().
 * On failure the old file remains. */
int file_output_commit(struct file_output *file, struct error *err);

/* Frees the output, and removes a file that was not committed. */
void file_output_close(struct file_output *file);

/* Syncs an open file or directory to the disk, if its file system can. Returns 0 or a negative errno value. */
int file_sync(int fd);

/* Opens the directory of a file. Returns a descriptor, or a negative errno value. */
int file_open_directory_of(const char *path);

/* The last step of each writer: syncs the file `fd`, renames it from `temporary` to `name` in `directory`, and syncs
 * the directory. Returns 0 or a negative errno value. */
int file_replace(int directory, int fd, const char *temporary, const char *name);

/* Returns the user who called sudo; (uid_t)-1 without sudo. */
uid_t file_find_sudo_user(void);

/* Makes the user who called sudo the owner of a file that this process created at `path`; otherwise the user could not
 * read the file. Does nothing without sudo, or if a symbolic link leads to a directory that this user may not write
 * to. */
void file_give_to_sudo_user(int fd, const char *path);
