#include "cmd/browser.h"

#include "os/file_io.h"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <unistd.h>

extern char **environ;

static const char *get_environment_variable(const char *name)
{
    const char *value = getenv(name);
    return value && *value ? value : NULL;
}

/* Under sudo the desktop belongs to another user, and a browser started here would run as root. */
bool browser_has_desktop(void)
{
    return (get_environment_variable("DISPLAY") || get_environment_variable("WAYLAND_DISPLAY")) &&
           !get_environment_variable("SUDO_UID");
}

/* Snaps store a user's data in ~/snap. */
static bool has_snaps(const char *home)
{
    char path[PATH_MAX];
    return home && snprintf(path, sizeof(path), "%s/snap", home) < (int)sizeof(path) && access(path, F_OK) == 0;
}

/* Writes `text` to a new file that only the user can read. */
static bool write_private_file(struct browser_file *file, const char *directory, const char *text)
{
    static const char name[] = "prof-XXXXXX.html";
    if (!directory || snprintf(file->path, sizeof(file->path), "%s/%s", directory, name) >= (int)sizeof(file->path))
        return false;
    int fd = mkostemps(file->path, (int)strlen(".html"), O_CLOEXEC); /* with mode 0600 */
    if (fd < 0)
        return false;
    bool is_written = file_write(fd, text, strlen(text)) == 0;
    close(fd);
    if (!is_written)
        unlink(file->path);
    return is_written;
}

/* Writes a page that redirects to `url`, which contains no character that HTML escapes. */
static bool write_redirect(struct browser_file *file, const char *url)
{
    char page[4096];
    if (snprintf(page, sizeof(page),
                 "<!doctype html>\n<meta charset=\"utf-8\">\n<title>prof</title>\n"
                 "<meta name=\"referrer\" content=\"no-referrer\">\n"
                 "<meta http-equiv=\"refresh\" content=\"0; url=%s\">\n<a href=\"%s\">Open the profile</a>\n",
                 url, url) >= (int)sizeof(page))
        return false;
    const char *home = get_environment_variable("HOME");
    return (has_snaps(home) && write_private_file(file, home, page)) ||
           write_private_file(file, get_environment_variable("XDG_RUNTIME_DIR"), page) ||
           write_private_file(file, get_environment_variable("TMPDIR"), page) || write_private_file(file, "/tmp", page);
}

/* Starts xdg-open silently, in its own session, so that Ctrl+C here does not end the browser. */
static bool start_opener(char *path)
{
    char program[] = "xdg-open";
    char *argv[] = {program, path, NULL};
    posix_spawn_file_actions_t files;
    posix_spawnattr_t attributes;
    sigset_t none;
    int code = ENOMEM;
    sigemptyset(&none);
    if (posix_spawn_file_actions_init(&files) != 0)
        return false;
    if (posix_spawnattr_init(&attributes) == 0) {
        posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
        posix_spawn_file_actions_addopen(&files, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
        posix_spawn_file_actions_addopen(&files, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
        posix_spawnattr_setsigmask(&attributes, &none);
        posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSID | POSIX_SPAWN_SETSIGMASK);
        pid_t pid;
        code = posix_spawnp(&pid, program, &files, &attributes, argv, environ);
        posix_spawnattr_destroy(&attributes);
    }
    posix_spawn_file_actions_destroy(&files);
    return code == 0;
}

void open_browser(struct browser_file *file, const char *url)
{
    if (!write_redirect(file, url))
        file->path[0] = '\0';
    else if (!start_opener(file->path))
        remove_browser_file(file);
}

void remove_browser_file(struct browser_file *file)
{
    if (file->path[0])
        unlink(file->path);
    file->path[0] = '\0';
}
