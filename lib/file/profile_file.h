/*
 * Profiles in files: plain or gzip. A profile is written to a temporary file in the same directory, and renamed when it
 * is complete. So readers never see a partial profile.
 *
 *     struct profile_file *file;
 *     int code = profile_file_create(&file, "profile.json.gz", err);
 *     if (!code) {
 *         struct byte_sink sink = profile_file_make_sink(file);
 *         code = profile_write(&profile, NULL, 0.01, &sink, err);
 *         code = code ? profile_file_abandon(file), code : profile_file_commit(file, err);
 *     }
 */
#pragma once

#include "base/sink.h"
#include "profile/profile.h"

#include <stdatomic.h>

/* Reads a profile file of any format that prof supports (lib/import) into `out`, which the caller zeroes and owns. The
 * path "-" is the standard input. */
int profile_load(const char *path, struct profile *out, struct error *err);

/* Reads a profile from an open file, from beginning to end. The error does not contain the file name. Returns
 * -ECANCELED soon after *stop is true; `stop` may be NULL. */
int profile_load_fd(int fd, const atomic_bool *stop, struct profile *out, struct error *err);

/* Writes the profile to a file in memory, compressed. Returns the file's descriptor, or a negative errno value. */
int profile_write_to_memory(const struct profile *profile, struct error *err);

struct profile_file;

/* Opens a file that only this user may read, as file_output_open() (os/file_output.h) does; the bytes are compressed
 * if `path` ends in ".gz". */
int profile_file_create(struct profile_file **out, const char *path, struct error *err);

/* Lets profile_file_commit() rename an existing file at `path` to "PATH.old"; then *has_old becomes true. */
void profile_file_keep_old(struct profile_file *file, bool *has_old);

/* Creates a compressed file in memory. The caller owns its descriptor *fd, and must not read the file before
 * profile_file_commit(). */
int profile_file_create_in_memory(struct profile_file **out, int *fd, struct error *err);

/* Returns the sink for the bytes of the file. The sink is valid as long as `file`. */
struct byte_sink profile_file_make_sink(struct profile_file *file);

/* Writes the remaining bytes, syncs the file to the disk, renames the file to its final name and frees `file`. A
 * failure leaves no file behind. */
int profile_file_commit(struct profile_file *file, struct error *err);

/* Removes the temporary file and frees `file`. */
void profile_file_abandon(struct profile_file *file);
