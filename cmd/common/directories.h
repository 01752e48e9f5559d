/* The directories of prof in the user's home (XDG Base Directory Specification). */
#pragma once

#include "base/error.h"

struct directory_path {
    char text[PATH_MAX];
};

/* Writes the directory of the symbol cache (option --no-cache): "$XDG_CACHE_HOME/prof", or "$HOME/.cache/prof", to
 * `path`. Returns NULL if neither environment variable is an absolute path. */
const char *find_cache_directory(struct directory_path *path);

/* The build-id cache of perf, with the programs that perf record recorded: "$PERF_BUILDID_DIR", or "$HOME/.debug". */
const char *find_perf_cache_directory(struct directory_path *path);

/* The directory of lasting server addresses and of the push queue: "$XDG_STATE_HOME/prof", or
 * "$HOME/.local/state/prof". */
const char *find_state_directory(struct directory_path *path);

/* Creates a directory in "$TMPDIR", or /tmp, and writes the path of a file `name` in this directory to `path`. The
 * caller calls remove_temporary_path(). If SIGINT, SIGTERM or SIGHUP ends prof before, its handler does. At most two
 * such paths exist at a time. */
int make_temporary_path(struct directory_path *path, const char *name, struct error *err);

/* Deletes the file, if it exists, and its directory. */
void remove_temporary_path(struct directory_path *path);
