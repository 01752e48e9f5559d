/* The folder of the symbol cache (option --no-cache). */
#ifndef PROF_CMD_CACHE_H
#define PROF_CMD_CACHE_H

#include <limits.h>

struct cache_path {
    char text[PATH_MAX];
};

/* Writes "$XDG_CACHE_HOME/prof", or "$HOME/.cache/prof" (XDG Base Directory Specification), to `path`. NULL if neither
 * variable is an absolute path. */
const char *cache_folder(struct cache_path *path);

#endif
