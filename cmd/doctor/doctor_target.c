/*
 * Tests the debug info of a program: which function names and lines its profile will have, and the command that adds
 * the missing ones.
 */
#include "cmd/doctor/doctor.h"

#include "base/path.h"
#include "elf/elf_file.h"
#include "process/launch.h"
#include "process/program_file.h"
#include "symbol/debug_file.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

/* ---- the interpreter of a script ---- */

/* Reads the interpreter of a script: the first word after "#!", or the word after env(1). */
static bool read_interpreter(const char *path, char *interpreter, size_t size)
{
    char line[256];
    if (!program_file_read_script_line(path, line, sizeof(line)))
        return false;
    char *rest, *word = strtok_r(line, " \t", &rest);
    if (word && strcmp(path_get_base_name(word), "env") == 0)
        word = strtok_r(NULL, " \t", &rest);
    return word && snprintf(interpreter, size, "%s", word) < (int)size;
}

/* ---- the package of the program ---- */

/* Runs a program and stores the first line of its output; "" if it prints none within two seconds. */
static void read_output(const char *const *argv, char *line, size_t size)
{
    enum { SECONDS = 2 };
    int ends[2];
    pid_t pid = -1;
    posix_spawn_file_actions_t actions;
    line[0] = '\0';
    if (pipe2(ends, O_CLOEXEC))
        return;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
    posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
    if (posix_spawnp(&pid, argv[0], &actions, NULL, (char *const *)argv, environ))
        pid = -1;
    posix_spawn_file_actions_destroy(&actions);
    close(ends[1]);
    struct pollfd wait = {.fd = ends[0], .events = POLLIN};
    ssize_t got = pid > 0 && poll(&wait, 1, SECONDS * 1000) > 0 ? read(ends[0], line, size - 1) : 0;
    line[got > 0 ? got : 0] = '\0';
    line[strcspn(line, "\n")] = '\0';
    close(ends[0]);
    if (pid > 0) {
        kill(pid, SIGKILL);
        waitpid(pid, NULL, 0);
    }
}

/* Asks dpkg-query or rpm for the package of the file; "" if no package contains it. */
static void find_package(const char *path, char *package, size_t size)
{
    const char *const dpkg[] = {"dpkg-query", "-S", path, NULL};
    const char *const rpm[] = {"rpm", "-qf", "--queryformat", "%{NAME}\\n", path, NULL};
    read_output(dpkg, package, size);
    char *colon = strchr(package, ':'); /* dpkg-query prints "binutils: /usr/bin/objdump" or "libc6:amd64: /lib/..." */
    if (colon)
        *colon = '\0';
    else
        read_output(rpm, package, size);
    if (strchr(package, ' '))
        package[0] = '\0'; /* rpm prints "file ... is not owned by any package" */
}

static void advise_debug_files(struct findings *findings, const char *path, bool has_symbols)
{
    char package[256], real[PATH_MAX];
    const char *sudo = geteuid() ? "sudo " : "";
    if (!realpath(path, real))
        snprintf(real, sizeof(real), "%s", path);
    find_package(real, package, sizeof(package));
    if (!package[0] && strncmp(real, "/usr/", 5) == 0)
        find_package(real + strlen("/usr"), package,
                     sizeof(package)); /* the package has the path from before /bin became a link to /usr/bin */
    if (package[0] && access("/usr/bin/apt-get", X_OK) == 0)
        finding_set_fix(
            findings,
            "%sapt-get install %s-dbgsym   # from the archive of debug symbols, or: export DEBUGINFOD_URLS=https://debuginfod.elfutils.org/",
            sudo, package);
    else if (package[0])
        finding_set_fix(findings,
                        "%sdnf debuginfo-install %s   # or: export DEBUGINFOD_URLS=https://debuginfod.elfutils.org/",
                        sudo, package);
    else
        finding_set_fix(findings, has_symbols ? "compile it with -g" : "compile it with -g, and do not strip it");
}

/* ---- the file ---- */

static bool has_section(bool is_there, const struct elf_file *file, const char *name)
{
    return is_there && elf_file_find_section(file, name);
}

static void examine_debug_info(struct findings *findings, const char *path, const struct debug_files *files)
{
    const struct elf_file *mapped = &files->mapped;
    bool separate = files->has_separate, lines = debug_files_get_dwarf(files) != NULL;
    bool symbols = has_section(files->has_mapped, mapped, ".symtab") ||
                   has_section(separate, &files->separate, ".symtab") || files->has_mini;
    bool is_go = has_section(files->has_mapped, mapped, ".gopclntab");
    const char *where = lines && separate ? " (in a separate debug file)" : "";
    enum finding_state state = lines || is_go ? FINDING_OK : FINDING_LESS;
    finding_add(findings, state, "debug_info", "debug info",
                lines     ? "the profile will have functions, inlined functions and lines%s"
                : is_go   ? "the profile will have functions and lines, from the tables of Go%s"
                : symbols ? "the profile will have functions, but no lines and no inlined functions%s"
                          : "stripped: only exported functions will have symbols%s",
                where);
    if (state != FINDING_OK)
        advise_debug_files(findings, path, symbols);
    bool unwinds = has_section(files->has_mapped, mapped, ".eh_frame") ||
                   has_section(files->has_mapped, mapped, ".debug_frame") ||
                   has_section(separate, &files->separate, ".debug_frame");
    finding_add(
        findings, unwinds || is_go ? FINDING_OK : FINDING_LESS, "unwind_info", "stacks",
        unwinds ? "the program has unwind information: stacks will be complete"
        : is_go ? "Go keeps frame pointers: stacks will be complete"
                : "the program has no unwind information (.eh_frame): stacks are complete only with frame pointers");
    if (!unwinds && !is_go)
        finding_set_fix(findings,
                        "compile the program without -fno-asynchronous-unwind-tables, or with -fno-omit-frame-pointer");
}

static void examine_file(struct findings *findings, const char *path)
{
    struct elf_file file;
    struct error err = {0};
    int code = elf_file_open(&file, path, &err);
    if (code) {
        finding_add(findings, code == -ENOEXEC || code == -EACCES ? FINDING_LESS : FINDING_FAILED, "program", "program",
                    "%.380s",
                    code == -EACCES ? "this user may not read the program: only root can symbolize it" : err.text);
        return;
    }
    char id[2 * ELF_BUILD_ID_MAX + 1] = "none";
    for (size_t i = 0; i < file.build_id_size; i++)
        snprintf(id + 2 * i, 3, "%02x", file.build_id[i]);
    finding_add(findings, FINDING_OK, "program", "program", "%.250s, build ID %s", path, id);
    struct symbol_lib lib = {.kind = SYMBOL_LIB_ELF,
                             .name = path_get_base_name(path),
                             .path = path,
                             .build_id = file.build_id_size ? file.build_id : NULL,
                             .build_id_size = file.build_id_size};
    struct debug_files files;
    debug_files_open(&files, &lib, NULL);
    examine_debug_info(findings, path, &files);
    debug_files_close(&files);
    elf_file_close(&file);
}

static void examine_permissions(struct findings *findings, const char *path)
{
    struct stat info;
    if (stat(path, &info) || geteuid() == 0 || (!(info.st_mode & (S_ISUID | S_ISGID)) && access(path, R_OK) == 0))
        return;
    finding_add(findings, FINDING_FAILED, "rights", "rights",
                "%.250s is a setuid program, or this user may not read it: only root can record it", path);
    finding_set_fix(findings, "sudo prof record %.250s", path);
}

void doctor_examine_target(struct findings *findings, const char *program)
{
    char path[PATH_MAX], interpreter[PATH_MAX];
    struct error err = {0};
    if (launch_check_program(program, &err) || program_file_find(program, path)) {
        finding_add(findings, FINDING_FAILED, "program", "program", "%.380s", err.text);
        return;
    }
    if (read_interpreter(path, interpreter, sizeof(interpreter))) {
        finding_add(findings, FINDING_OK, "script", "script", "%.180s is a script: prof records its interpreter %.180s",
                    path, interpreter);
        if (program_file_find(interpreter, path))
            return;
    }
    examine_permissions(findings, path);
    examine_file(findings, path);
}
