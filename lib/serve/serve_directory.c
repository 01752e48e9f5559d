#include "serve/serve_directory.h"

#include <fcntl.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

enum { LONGEST_NAME = 255 };

int served_directory_open(const char *path, struct error *err)
{
    uint64_t size;
    int directory = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (directory < 0)
        return error_set(err, errno, "cannot open the directory %s: %s", path, strerror(errno));
    int index = served_directory_open_file(directory, "index.html", &size);
    if (index < 0) {
        close(directory);
        return error_set(err, ENOENT, "%s is not a front end: it has no index.html", path);
    }
    close(index);
    return directory;
}

/* Copies the next component of a path to `name`. Returns false for components that no file of a front-end has, such as
 * "..". */
static bool read_path_component(const char **path, char name[LONGEST_NAME + 1])
{
    size_t length = strcspn(*path, "/");
    if (length == 0 || length > LONGEST_NAME || **path == '.')
        return false;
    memcpy(name, *path, length);
    name[length] = '\0';
    *path += length;
    return true;
}

/* Opens a regular file. Never opens pipes and devices for reading, which could block. */
static int open_regular(int directory, const char *name, uint64_t *size)
{
    struct stat info;
    int fd = openat(directory, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    if (fd < 0)
        return -ENOENT;
    if (fstat(fd, &info) != 0 || !S_ISREG(info.st_mode)) {
        close(fd);
        return -ENOENT;
    }
    *size = (uint64_t)info.st_size;
    return fd;
}

int served_directory_open_file(int directory, const char *path, uint64_t *size)
{
    char name[LONGEST_NAME + 1];
    int at = directory, found = -ENOENT;
    while (read_path_component(&path, name)) {
        if (*path == '\0') {
            found = open_regular(at, name, size);
            break;
        }
        path++;
        int next = openat(at, name, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        if (at != directory)
            close(at);
        at = next;
        if (at < 0)
            return -ENOENT;
    }
    if (at != directory)
        close(at);
    return found;
}

const char *get_content_type(const char *path)
{
    static const struct {
        const char *ending, *type;
    } types[] = {
        {".html", "text/html; charset=utf-8"},
        {".js", "text/javascript; charset=utf-8"},
        {".mjs", "text/javascript; charset=utf-8"},
        {".css", "text/css; charset=utf-8"},
        {".json", "application/json"},
        {".map", "application/json"},
        {".webmanifest", "application/manifest+json"},
        {".wasm", "application/wasm"},
        {".svg", "image/svg+xml"},
        {".png", "image/png"},
        {".jpg", "image/jpeg"},
        {".gif", "image/gif"},
        {".webp", "image/webp"},
        {".ico", "image/x-icon"},
        {".woff2", "font/woff2"},
        {".woff", "font/woff"},
        {".ttf", "font/ttf"},
        {".txt", "text/plain; charset=utf-8"},
    };
    size_t length = strlen(path);
    for (size_t i = 0; i < sizeof(types) / sizeof(*types); i++) {
        size_t ending = strlen(types[i].ending);
        if (length > ending && !strcasecmp(path + length - ending, types[i].ending))
            return types[i].type;
    }
    return "application/octet-stream";
}
