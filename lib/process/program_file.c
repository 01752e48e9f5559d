#include "process/program_file.h"

#include "os/file_io.h"
#include "elf/elf_file.h"

#include <elf.h>
#include <sys/stat.h>
#include <unistd.h>

/* Returns 0 if the file can be run, else a positive errno value. */
static int check_file(const char *path)
{
    struct stat info;
    if (stat(path, &info))
        return errno;
    if (S_ISDIR(info.st_mode))
        return EISDIR;
    return access(path, X_OK) ? errno : 0;
}

/* Searches as execvp() does: a file that is not executable does not end the search, but EACCES is the result if the
 * search finds no other file. */
int program_file_find(const char *name, char path[PATH_MAX])
{
    const char *search = getenv("PATH");
    int code = ENOENT;
    if (strchr(name, '/'))
        return snprintf(path, PATH_MAX, "%s", name) < PATH_MAX ? check_file(name) : ENAMETOOLONG;
    for (const char *at = search ? search : "/bin:/usr/bin";; at++) {
        size_t length = strcspn(at, ":");
        int used = snprintf(path, PATH_MAX, "%.*s%s%s", (int)length, at, length ? "/" : "", name);
        if (used > 0 && used < PATH_MAX) {
            int found = check_file(path);
            if (!found)
                return 0;
            if (found == EACCES)
                code = EACCES;
        }
        at += length;
        if (!*at)
            return code;
    }
}

bool program_file_read_script_line(const char *path, char *line, size_t size)
{
    char text[256]; /* the kernel's own limit: BINPRM_BUF_SIZE */
    int fd = file_open_in(-1, path);
    ssize_t got = fd < 0 ? -1 : file_read(fd, text, sizeof(text) - 1);
    if (fd >= 0)
        close(fd);
    if (got < 3 || text[0] != '#' || text[1] != '!')
        return false;
    text[got] = '\0';
    text[strcspn(text, "\n")] = '\0';
    snprintf(line, size, "%s", text + 2 + strspn(text + 2, " \t"));
    return true;
}

bool program_file_find_interpreter(const char *path, char *interpreter, size_t size)
{
    struct elf_file file;
    struct error ignored;
    interpreter[0] = '\0';
    if (program_file_read_script_line(path, interpreter, size)) {
        interpreter[strcspn(interpreter, " \t")] = '\0';
        return interpreter[0];
    }
    if (elf_file_open(&file, path, &ignored))
        return false;
    for (size_t i = 0; i < file.segments.length && !interpreter[0]; i++) {
        const struct elf_segment *segment = &file.segments.data[i];
        if (segment->type == PT_INTERP && segment->file_size < size &&
            bytes_read(&file.bytes, segment->offset, interpreter, segment->file_size))
            interpreter[segment->file_size] = '\0';
    }
    elf_file_close(&file);
    return interpreter[0];
}
