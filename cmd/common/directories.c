#include "cmd/common/directories.h"

#include <unistd.h>

static const char *find_directory(struct directory_path *path, const char *variable, const char *inside)
{
    const char *parent = getenv(variable);
    if (!parent || parent[0] != '/')
        return NULL;
    int length = snprintf(path->text, sizeof(path->text), "%s%s", parent, inside);
    return length > 0 && (size_t)length < sizeof(path->text) ? path->text : NULL;
}

const char *find_cache_directory(struct directory_path *path)
{
    const char *directory = find_directory(path, "XDG_CACHE_HOME", "/prof");
    return directory ? directory : find_directory(path, "HOME", "/.cache/prof");
}

const char *find_perf_cache_directory(struct directory_path *path)
{
    const char *directory = find_directory(path, "PERF_BUILDID_DIR", "");
    return directory ? directory : find_directory(path, "HOME", "/.debug");
}

const char *find_state_directory(struct directory_path *path)
{
    const char *directory = find_directory(path, "XDG_STATE_HOME", "/prof");
    return directory ? directory : find_directory(path, "HOME", "/.local/state/prof");
}

int make_temporary_path(struct directory_path *path, const char *name, struct error *err)
{
    const char *parent = getenv("TMPDIR");
    parent = parent && *parent ? parent : "/tmp";
    int length = snprintf(path->text, sizeof(path->text), "%s/prof-XXXXXX", parent);
    bool fits = length > 0 && (size_t)length < sizeof(path->text) - sizeof("/") - strlen(name);
    if (fits && mkdtemp(path->text)) {
        snprintf(path->text + length, sizeof(path->text) - (size_t)length, "/%s", name);
        return 0;
    }
    int code = fits ? errno : ENAMETOOLONG;
    return error_set(err, code, "cannot create a directory in %s: %s; set TMPDIR to another directory", parent,
                     strerror(code));
}

void remove_temporary_path(struct directory_path *path)
{
    unlink(path->text);
    *strrchr(path->text, '/') = '\0';
    rmdir(path->text);
}
