#include "cmd/common/directories.h"

#include <signal.h>
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

/* ---- temporary files ---- */

static struct {
    struct directory_path *paths[2]; /* NULL if none */
    pid_t owner;                     /* a child process leaves the files alone */
} temporary;

static const int deadly_signals[] = {SIGINT, SIGTERM, SIGHUP};

static void remove_file_and_directory(struct directory_path *path)
{
    unlink(path->text);
    *strrchr(path->text, '/') = '\0';
    rmdir(path->text);
}

static struct directory_path **find_temporary(const struct directory_path *path)
{
    return &temporary.paths[temporary.paths[0] != path];
}

/* Removes the files if a signal ends prof. SA_RESETHAND has restored the signal's default action. */
static void end_by_signal(int number)
{
    for (int i = 0; i < 2 && getpid() == temporary.owner; i++)
        if (temporary.paths[i])
            remove_file_and_directory(temporary.paths[i]);
    raise(number);
}

static void replace_action(void (*from)(int), void (*to)(int))
{
    const struct sigaction action = {.sa_handler = to, .sa_flags = SA_RESETHAND};
    struct sigaction current;
    for (size_t i = 0; i < sizeof(deadly_signals) / sizeof(*deadly_signals); i++)
        if (!sigaction(deadly_signals[i], NULL, &current) && current.sa_handler == from)
            sigaction(deadly_signals[i], &action, NULL);
}

int make_temporary_path(struct directory_path *path, const char *name, struct error *err)
{
    const char *parent = getenv("TMPDIR");
    parent = parent && *parent ? parent : "/tmp";
    int length = snprintf(path->text, sizeof(path->text), "%s/prof-XXXXXX", parent);
    bool fits = length > 0 && (size_t)length < sizeof(path->text) - sizeof("/") - strlen(name);
    if (fits && mkdtemp(path->text)) {
        snprintf(path->text + length, sizeof(path->text) - (size_t)length, "/%s", name);
        *find_temporary(NULL) = path;
        temporary.owner = getpid();
        replace_action(SIG_DFL, end_by_signal);
        return 0;
    }
    int code = fits ? errno : ENAMETOOLONG;
    return error_set(err, code, "cannot create a directory in %s: %s; set TMPDIR to another directory", parent,
                     strerror(code));
}

void remove_temporary_path(struct directory_path *path)
{
    *find_temporary(path) = NULL;
    remove_file_and_directory(path);
    if (!temporary.paths[0] && !temporary.paths[1])
        replace_action(end_by_signal, SIG_DFL);
}
