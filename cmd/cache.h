/* Where names that were looked up are kept for the next time (option --no-cache). */
#ifndef PROF_CMD_CACHE_H
#define PROF_CMD_CACHE_H

#include <limits.h>

struct cache_path {
    char text[PATH_MAX];
};

/* "$XDG_CACHE_HOME/prof", or "$HOME/.cache/prof" (XDG Base Directory Specification), in `path`; NULL if the environment
 * names neither as an absolute path. */
const char *cache_folder(struct cache_path *path);

#endif
