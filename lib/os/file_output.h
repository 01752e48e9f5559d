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
    char *path;      /* for messages and readers, with symbolic links resolved */
    char *temporary; /* file name; NULL: written directly */
    int directory;   /* of both; -1: written directly */
    bool *keeps_old; /* the caller's; not NULL: a replaced file becomes "PATH.old", and this is set to true */
};

/* -EACCES if `path` is a symbolic link that lets another user choose where prof writes. */
int file_output_check(const char *path, struct error *err);

/* Opens a new file with the permissions `mode`, owned by the user who called sudo, if any. An existing `path` that
 * is not a regular file (a pipe) is written directly; "-" is the standard output. On failure no file remains. */
int file_output_open(struct file_output *file, const char *path, mode_t mode, struct error *err);

/* Syncs the file to the disk, renames it to its final path and closes it. `path` stays valid until file_output_close().
 * On failure the old file remains. */
int file_output_commit(struct file_output *file, struct error *err);

/* Frees it, and removes a file that has no name yet. */
void file_output_close(struct file_output *file);

/* Syncs an open file or directory to the disk, if its file system can. Returns 0 or a negative errno value. */
int file_sync(int fd);

/* Opens the directory of a file. A descriptor, or a negative errno value. */
int file_open_directory_of(const char *path);

/* The last step of each writer: syncs `fd`, whose name in `directory` is `temporary`, renames it to `name`, and
 * syncs the directory. Returns 0 or a negative errno value. */
int file_replace(int directory, int fd, const char *temporary, const char *name);

/* The user who called sudo; (uid_t)-1 without sudo. */
uid_t file_sudo_user(void);

/* Makes the user who called sudo the owner of a file that this process created at `path`; otherwise that user could
 * not read it. Does nothing without sudo, or if a symbolic link leads to a directory that this user may not write
 * to. */
void file_give_to_sudo_user(int fd, const char *path);
