#include "record/ptrace_limits.h"

#include "os/file_timeout.h"
#include "elf/elf_file.h"
#include "process/attach.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    MOST_CHECKS = 64,      /* limit of programs that a recording searches for LeakSanitizer, about 0.1 ms each */
    STRINGS_MAX = 1 << 22, /* limit of bytes of symbol names read per program */
    FILE_SYSTEM_TIMEOUT_NS = 20000000, /* longest wait (ns) for the file system of a program */
};

/* Adds a note for a set-user-ID program: under ptrace it runs with the rights of the tracing user. */
static void add_privilege_note(struct ptrace_limits *limits, struct record_result *result, const char *path,
                               const char *name)
{
    struct stat info;
    if (limits->privilege || geteuid() == 0 || stat(path, &info) || !(info.st_mode & (S_ISUID | S_ISGID)))
        return;
    limits->privilege = true;
    record_result_add_note(
        result, "%s is a setuid or setgid program, but under ptrace it runs with the permissions of this user", name);
}

/* Whether a program uses LeakSanitizer. GCC links its shared library; clang links its functions into the program, which
 * exports them. */
static bool has_leak_sanitizer(const char *path)
{
    static const char *const marks[] = {"liblsan.so", "libasan.so", "__lsan_", "__asan_init"};
    struct elf_file file;
    struct error ignored = {0};
    bool found = false;
    int fd = file_open_with_timeout(AT_FDCWD, path, O_RDONLY | O_CLOEXEC, FILE_SYSTEM_TIMEOUT_NS);
    if (fd >= 0 && !file_system_responds(fd)) {
        close(fd);
        return false;
    }
    if (fd < 0 || elf_file_open_fd(&file, fd, path, &ignored))
        return false;
    const struct elf_section *strings = elf_file_find_section(&file, ".dynstr");
    unsigned char *text = strings && strings->bytes.size <= STRINGS_MAX ? bytes_load(&strings->bytes) : NULL;
    for (size_t i = 0; text && i < sizeof(marks) / sizeof(*marks) && !found; i++)
        found = memmem(text, strings->bytes.size, marks[i], strlen(marks[i]));
    free(text);
    elf_file_close(&file);
    return found;
}

static void add_leak_sanitizer_note(struct ptrace_limits *limits, struct record_result *result, const char *path,
                                    const char *name)
{
    if (limits->leak_sanitizer || limits->checks == MOST_CHECKS)
        return;
    limits->checks++;
    limits->leak_sanitizer = has_leak_sanitizer(path);
    if (limits->leak_sanitizer)
        record_result_add_note(
            result,
            "LeakSanitizer needs ptrace for itself, so prof disables it (LSAN_OPTIONS): %s reports no leaks while prof samples it with ptrace",
            name);
}

static bool add_tracer_note(struct ptrace_limits *limits, struct record_result *result, const char *name)
{
    static const char *const tracers[] = {"gdb",    "gdbserver", "lldb", "lldb-server", "strace",
                                          "ltrace", "rr",        "dlv",  "proot"};
    for (size_t i = 0; i < sizeof(tracers) / sizeof(*tracers); i++) {
        if (strcmp(name, tracers[i]) != 0)
            continue;
        if (!limits->tracer)
            record_result_add_note(
                result,
                "%s traces the programs that it starts, and a program has only one tracer, so prof does not sample these programs",
                name);
        limits->tracer = true;
        return true;
    }
    return false;
}

bool ptrace_limits_check_program(struct ptrace_limits *limits, struct record_result *result, bool has_command,
                                 uint32_t pid, const char *name)
{
    char path[64];
    snprintf(path, sizeof(path), "/proc/%" PRIu32 "/exe", pid);
    add_privilege_note(limits, result, path, name);
    if (has_command)
        add_leak_sanitizer_note(limits, result, path, name);
    return add_tracer_note(limits, result, name);
}

void ptrace_limits_add_unreadable_note(struct ptrace_limits *limits, struct record_result *result, uint32_t pid)
{
    char name[32];
    if (limits->unreadable)
        return;
    limits->unreadable = true;
    attach_read_thread_name((pid_t)pid, (pid_t)pid, name, sizeof(name));
    record_result_add_note(
        result,
        "process %u (%s) is not dumpable (see prctl(2)), so prof reads only the innermost function of its stacks; with sudo or the capability CAP_SYS_PTRACE, prof reads whole stacks",
        pid, name);
}
