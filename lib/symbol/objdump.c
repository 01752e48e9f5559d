#include "symbol/objdump.h"

#include "base/array.h"
#include "os/clock.h"
#include "os/file_io.h"

#include <ctype.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
    SECONDS_MAX = 5,
    BLOCK = 65536,
    OUTPUT_MAX = OBJDUMP_MAX * INSTRUCTION_TEXT_MAX, /* bytes */
};

ARRAY_TYPE(struct text, char);

/* ---- running objdump ---- */

/* Writes the bytes of all instructions to a file in memory; -1 on failure. */
static int write_code(const struct objdump_instruction *list, size_t count)
{
    int fd = memfd_create("code", MFD_CLOEXEC);
    for (size_t i = 0; fd >= 0 && i < count; i++) {
        if (file_write(fd, list[i].bytes, list[i].size) == 0)
            continue;
        close(fd);
        fd = -1;
    }
    return fd;
}

static bool start_objdump(pid_t *pid, int code, int output, bool is_64, size_t syntax)
{
    static const char *const syntaxes[DECODER_SYNTAXES] = {"-Mintel", "-Matt"};
    const char *const argv[] = {"objdump",
                                "-D",
                                "-z",
                                "-w",
                                "--no-show-raw-insn",
                                "-bbinary",
                                is_64 ? "-mi386:x86-64" : "-mi386",
                                syntaxes[syntax],
                                "/dev/stdin",
                                NULL};
    posix_spawn_file_actions_t files;
    posix_spawnattr_t attributes;
    sigset_t none;
    sigemptyset(&none);
    if (posix_spawn_file_actions_init(&files) != 0)
        return false;
    int result = posix_spawnattr_init(&attributes);
    if (result == 0) {
        posix_spawn_file_actions_adddup2(&files, code, STDIN_FILENO);
        posix_spawn_file_actions_adddup2(&files, output, STDOUT_FILENO);
        posix_spawn_file_actions_addopen(&files, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
        posix_spawnattr_setsigmask(&attributes, &none);
        posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK);
        result = posix_spawnp(pid, argv[0], &files, &attributes, (char *const *)(uintptr_t)argv, environ);
        posix_spawnattr_destroy(&attributes);
    }
    posix_spawn_file_actions_destroy(&files);
    return result == 0;
}

/* Reads to the end. Returns false at the limit of time or size. */
static bool read_output(int fd, struct text *out)
{
    const uint64_t ms = 1000000, end = monotonic_ns() + SECONDS_MAX * 1000 * ms;
    while (out->length < OUTPUT_MAX && array_reserve(out, BLOCK)) {
        struct pollfd ready = {.fd = fd, .events = POLLIN};
        uint64_t now = monotonic_ns();
        int status = poll(&ready, 1, now < end ? (int)((end - now) / ms) : 0);
        if (status < 0 && errno == EINTR)
            continue;
        ssize_t got = status > 0 ? read(fd, out->data + out->length, BLOCK) : -1;
        if (got <= 0)
            return got == 0;
        out->length += (size_t)got;
    }
    return false;
}

/* Runs objdump and stores its output, with a NUL at the end. */
static bool run_objdump(struct text *out, int code, bool is_64, size_t syntax)
{
    int pipes[2], status = -1;
    pid_t pid;
    if (pipe2(pipes, O_CLOEXEC) != 0)
        return false;
    bool started = lseek(code, 0, SEEK_SET) == 0 && start_objdump(&pid, code, pipes[1], is_64, syntax);
    close(pipes[1]);
    bool is_whole = started && read_output(pipes[0], out);
    close(pipes[0]);
    if (!started)
        return false;
    if (!is_whole)
        kill(pid, SIGKILL);
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
        ;
    return is_whole && WIFEXITED(status) && WEXITSTATUS(status) == 0 && array_push(out, '\0');
}

/* ---- parsing the output ---- */

/* "vmovups zmm1,ZMMWORD PTR [rip+0x10]        # 0x20" as capstone writes it: "vmovups zmm1, zmmword ptr [rip + 0x10]".
 */
static void write_text(char *out, const char *text)
{
    char *at = out, *end = out + INSTRUCTION_TEXT_MAX - 4;
    bool in_brackets = false;
    for (; *text && *text != '#' && *text != '<' && at < end; text++) {
        char letter = (char)tolower((unsigned char)*text);
        bool is_sum = in_brackets && (letter == '+' || letter == '-' || letter == '*') && text[-1] != '[';
        in_brackets = letter == '[' || (in_brackets && letter != ']');
        if (letter == ' ' && (at == out || at[-1] == ' '))
            continue;
        if (is_sum && letter != '*')
            *at++ = ' ';
        *at++ = letter;
        if (letter == ',' || (is_sum && letter != '*'))
            *at++ = ' ';
    }
    while (at > out && at[-1] == ' ')
        at--;
    *at = '\0';
}

/* Reads the text of a line that has the offset `start` and the length of the instruction. */
static void read_line(struct objdump_instruction *instruction, size_t syntax, const char *text, uint64_t start)
{
    const char *remark = strchr(text, '#');
    if (strstr(text, "(bad)") || strncmp(text, ".byte", 5) == 0)
        return;
    write_text(instruction->texts[syntax], text);
    if (remark && strstr(text, "rip")) {
        instruction->has_memory = true;
        instruction->memory = instruction->address + (strtoull(remark + 1, NULL, 16) - start);
    }
}

/* Parses a line " 1f:\ttext": stores the offset, and returns the text. Returns NULL for another line. */
static const char *find_line_text(const char *line, uint64_t *place)
{
    char *end;
    *place = strtoull(line, &end, 16);
    return end != line && end[0] == ':' && end[1] == '\t' ? end + 2 : NULL;
}

static void read_lines(struct objdump_instruction *list, size_t count, size_t syntax, char *lines)
{
    uint64_t start = 0, place = 0; /* of list[next], of a line */
    const char *held = NULL;       /* text of the previous line, which began where list[next] does */
    size_t next = 0;
    for (char *line = lines, *rest = lines; next < count && rest; line = rest) {
        rest = strchr(line, '\n');
        if (rest)
            *rest++ = '\0';
        const char *text = find_line_text(line, &place);
        if (!text)
            continue;
        if (held && place == start + list[next].size)
            read_line(&list[next], syntax, held, start);
        while (next < count && place >= start + list[next].size)
            start += list[next++].size;
        held = place == start ? text : NULL;
    }
    if (held && next + 1 == count) /* the last line ends with the code */
        read_line(&list[next], syntax, held, start);
}

bool objdump_decode(struct objdump_instruction *list, size_t count, bool is_64)
{
    if (count > OBJDUMP_MAX)
        count = OBJDUMP_MAX;
    int code = write_code(list, count);
    bool done = code >= 0;
    for (size_t syntax = 0; done && syntax < DECODER_SYNTAXES; syntax++) {
        struct text lines = {0};
        done = run_objdump(&lines, code, is_64, syntax);
        if (done)
            read_lines(list, count, syntax, lines.data);
        array_free(&lines);
    }
    if (code >= 0)
        close(code);
    return done;
}
