/*
 * prof runs ssh(1) twice, with one connection. The first ssh runs the keeper, a shell script that installs prof on the
 * other machine, makes a directory for the profile, and then reads a word from each line of its input: a signal for the
 * recorder, or "get", which the keeper answers with the profile. The second ssh runs the recorder with prof's own
 * standard input, output and error. If prof or the connection ends, the keeper reads the end of its input, ends the
 * recorder and removes the directory. So neither a recorder nor a profile stays on the other machine.
 *
 * The keeper's answers begin with "prof: " on a new line, because the login shell may print other text. The binary
 * stays in the cache directory of prof, which removes the least recently used files (os/directory.h).
 */
#include "cmd/record/remote.h"

#include "cmd/common/ui.h"

#include "base/shell_quote.h"
#include "base/starts_with.h"
#include "os/file_io.h"
#include "os/file_output.h"

#include <elf.h>
#include <fcntl.h>
#include <spawn.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { EXIT_SSH = 255, EXIT_NO_PROFILE = 3, EXIT_SIGNAL = 128, ANSWER_SIZE = 4096, CHECKSUM_SIZE = 64 };

#ifdef PROF_PORTABLE
static const bool is_portable = true;
#else
static const bool is_portable = false;
#endif

/* The input of the script is "NAME SIZE" and, after "prof: send", the binary. Then a line for each signal, and "get
 * FILE" at the end.
 */
static const char keeper[] =
    "umask 077\n"
    "printf '\\nprof: %s\\n' \"$(uname -s) $(uname -m)\"\n"
    "read -r name size || exit\n"
    "cache=${XDG_CACHE_HOME:-$HOME/.cache}/prof work=\n"
    "file=$cache/$name new=$cache/.new-$$-$name\n"
    "is_intact() { [ \"$(sha256sum <\"$1\")\" = \"${name##*-}  -\" ]; }\n"
    "trap 'rm -rf \"$new\" \"$work\"' EXIT\n"
    "trap 'exit 1' HUP INT TERM\n"
    "if [ -x \"$file\" ] && is_intact \"$file\"; then\n"
    "    touch \"$file\"\n"
    "else\n"
    "    echo 'prof: send'\n"
    "    mkdir -p \"$cache\" && head -c \"$size\" >\"$new\" && is_intact \"$new\" && chmod 700 \"$new\" &&\n"
    "        mv -f \"$new\" \"$file\" || exit\n"
    "fi\n"
    "work=$(mktemp -d \"${TMPDIR:-/tmp}/prof-XXXXXX\") && ln -s \"$file\" \"$work/prof\" && echo >\"$work/pid\" &&\n"
    "    \"$work/prof\" --version >/dev/null || exit\n"
    "echo \"prof: $work\"\n"
    "while read -r word name; do\n"
    "    [ \"$word\" != get ] || { [ -s \"$work/$name\" ] || exit 3; cat \"$work/$name\"; exit; }\n"
    "    read -r pid <\"$work/pid\" && kill -\"$word\" \"$pid\"\n"
    "done 2>/dev/null\n"
    "{ read -r pid <\"$work/pid\" && kill -HUP \"$pid\"; } 2>/dev/null || exit\n"
    "for second in 1 2 3 4 5 6 7 8 9 10; do kill -0 \"$pid\" 2>/dev/null && sleep 1; done\n";

/* ---- the two ssh ---- */

static struct {
    const char *host;
    struct directory_path control;   /* the socket of the connection */
    int to, from;                    /* pipes of the keeper */
    volatile pid_t keeper, recorder; /* their ssh, or 0 */
    volatile sig_atomic_t count;     /* of signals during the recording */
    volatile sig_atomic_t signal;    /* the one that ended the connection, or 0 */
} ssh;

/* During the recording, the first two signals go to prof on the other machine. The third signal ends the waiting for
 * programs that still write on the other machine. Before and after the recording, a signal ends the connection. */
static void handle_signal(int number)
{
    const char *word = number == SIGINT ? "INT\n" : number == SIGHUP ? "HUP\n" : "TERM\n";
    int before = errno;
    if (ssh.recorder && ++ssh.count > 2)
        kill(ssh.recorder, SIGTERM);
    else if (!ssh.recorder || write(ssh.to, word, strlen(word)) < 0)
        ssh.signal = number;
    if (ssh.signal && ssh.keeper)
        kill(ssh.keeper, SIGTERM);
    errno = before;
}

/* Starts a program with these standard files, where -1 stands for prof's own. Ctrl+C sends SIGINT to all programs of
 * the terminal, but prof decides about the connection, so the program starts with SIGINT and SIGHUP blocked. Returns
 * the pid of the program, or 0 after a message. */
static pid_t start(const char *const *argv, int input, int output)
{
    posix_spawn_file_actions_t files;
    posix_spawnattr_t attributes;
    sigset_t blocked, reset;
    pid_t pid = 0;
    sigemptyset(&blocked);
    sigaddset(&blocked, SIGINT);
    sigaddset(&blocked, SIGHUP);
    sigemptyset(&reset);
    sigaddset(&reset, SIGPIPE);
    posix_spawn_file_actions_init(&files);
    if (input >= 0)
        posix_spawn_file_actions_adddup2(&files, input, STDIN_FILENO);
    if (output >= 0)
        posix_spawn_file_actions_adddup2(&files, output, STDOUT_FILENO);
    posix_spawnattr_init(&attributes);
    posix_spawnattr_setsigmask(&attributes, &blocked);
    posix_spawnattr_setsigdefault(&attributes, &reset);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
    int code = posix_spawnp(&pid, argv[0], &files, &attributes, (char *const *)(uintptr_t)argv, environ);
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&files);
    if (!code)
        return pid;
    ui_fail("cannot run %s: %s", argv[0], code == ENOENT ? "it is not installed" : strerror(code));
    return 0;
}

/* Returns the exit status, or EXIT_SSH after a signal. */
static int wait_for(pid_t pid)
{
    int status;
    while (waitpid(pid, &status, 0) < 0)
        if (errno != EINTR)
            return EXIT_SSH;
    return WIFEXITED(status) ? WEXITSTATUS(status) : EXIT_SSH;
}

/* Runs "sh -c SCRIPT WORDS" on the other machine, where the login shell may be another shell. `words` are for a shell.
 * Returns the pid of ssh, or 0 after a message. */
static pid_t start_ssh(const char *master, const char *script, const struct text_buffer *words, int input, int output)
{
    struct text_buffer command = {0};
    char path[PATH_MAX + 32];
    snprintf(path, sizeof(path), "ControlPath=\"%s\"", ssh.control.text);
    bool ok = text_append_z(&command, "exec sh -c ") && shell_quote(&command, script) &&
              text_append(&command, words->data, words->length) && text_append(&command, "", 1);
    const char *const argv[] = {"ssh",        "-T",
                                "-o",         path,
                                "-o",         master,
                                "-o",         "ControlPersist=no",
                                "-o",         "ServerAliveInterval=15",
                                "-o",         "ClearAllForwardings=yes",
                                "-o",         "RemoteCommand=none",
                                "--",         ssh.host,
                                command.data, NULL};
    pid_t pid = ok ? start(argv, input, output) : 0;
    if (!ok)
        ui_fail("out of memory");
    array_free(&command);
    return pid;
}

/* Opens the connection. Returns false after a message. */
static bool start_keeper(void)
{
    static const struct text_buffer no_words;
    int to[2], from[2];
    if (pipe2(to, O_CLOEXEC) || pipe2(from, O_CLOEXEC))
        return !ui_fail("cannot create a pipe: %s", strerror(errno));
    ssh.keeper = start_ssh("ControlMaster=yes", keeper, &no_words, to[0], from[1]);
    close(to[0]);
    close(from[1]);
    ssh.to = to[1];
    ssh.from = from[0];
    return ssh.keeper != 0;
}

/* Reads the next line "prof: ANSWER" of the keeper. Returns false at the end. */
static bool read_answer(char answer[ANSWER_SIZE])
{
    static const char start[] = "prof: ";
    size_t length = 0;
    for (char byte; file_read(ssh.from, &byte, 1) == 1;) {
        if (byte != '\n' && length < ANSWER_SIZE - 1) {
            answer[length++] = byte;
            continue;
        }
        answer[length] = '\0';
        length = 0;
        if (byte != '\n' || !starts_with(answer, start))
            continue;
        memmove(answer, answer + strlen(start), strlen(answer + strlen(start)) + 1);
        return true;
    }
    return false;
}

static bool send_line(const char *first, const char *second)
{
    char line[ANSWER_SIZE];
    int length = snprintf(line, sizeof(line), "%s %s\n", first, second);
    return file_write(ssh.to, line, (size_t)length) == 0;
}

/* ---- prof on the other machine ---- */

/* Returns the number of a processor in ELF headers, or EM_NONE. `machine` is a name of uname(2). */
static unsigned get_elf_machine(const char *machine)
{
    return !strcmp(machine, "x86_64") ? EM_X86_64 : !strcmp(machine, "aarch64") ? EM_AARCH64 : EM_NONE;
}

/* Writes the path of the static binary, which is this file, or the file that `make portable` makes beside it. */
static void find_binary(char path[PATH_MAX])
{
    static const char portable[] = "/portable/prof";
    const char *named = getenv("PROF_PORTABLE");
    ssize_t length = named || is_portable ? 0 : readlink("/proc/self/exe", path, PATH_MAX - sizeof(portable));
    if (length > 0) {
        path[length] = '\0';
        memcpy(strrchr(path, '/'), portable, sizeof(portable));
    } else {
        snprintf(path, PATH_MAX, "%s", named ? named : "/proc/self/exe");
    }
}

/* Opens the binary for the other machine. Returns a descriptor, or -1 after a message. */
static int open_binary(const char *machine)
{
    char path[PATH_MAX];
    Elf64_Ehdr header = {.e_machine = EM_NONE};
    find_binary(path);
    if (get_elf_machine(machine) == EM_NONE)
        return -ui_fail("%s has the processor %s, on which prof does not run", ssh.host, machine);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return -ui_fail(
            "cannot open %s, the binary for %s: %s; build a static prof with 'make portable', or name one in PROF_PORTABLE",
            path, ssh.host, strerror(errno));
    if (file_read_at(fd, &header, sizeof(header), 0) == sizeof(header) && header.e_machine == get_elf_machine(machine))
        return fd;
    close(fd);
    return -ui_fail(
        "%s has the processor %s, but %s is no program for it: build prof for %s (docs/install.md), and name it in PROF_PORTABLE",
        ssh.host, machine, path, machine);
}

/* Writes the SHA-256 of an open file, in hexadecimal. */
static bool compute_checksum(int fd, char checksum[CHECKSUM_SIZE + 1])
{
    static const char *const argv[] = {"sha256sum", NULL};
    int ends[2];
    if (pipe2(ends, O_CLOEXEC))
        return false;
    pid_t pid = start(argv, fd, ends[1]);
    close(ends[1]);
    ssize_t length = file_read(ends[0], checksum, CHECKSUM_SIZE);
    close(ends[0]);
    checksum[CHECKSUM_SIZE] = '\0';
    return pid && wait_for(pid) == 0 && length == CHECKSUM_SIZE;
}

/* Copies `from` to its end. Returns 0, or a negative errno value. */
static int copy_file(int from, int to)
{
    unsigned char block[64 * 1024];
    ssize_t size;
    int code = 0;
    while (!code && (size = file_read(from, block, sizeof(block))) != 0)
        code = size < 0 ? (int)size : file_write(to, block, (size_t)size);
    return code;
}

/* Sends the binary, unless the other machine has it, and gets the directory of the profile. */
static bool install_binary(int binary, bool is_quiet, char directory[ANSWER_SIZE])
{
    char checksum[CHECKSUM_SIZE + 1], name[128], size[32];
    struct stat info;
    if (!compute_checksum(binary, checksum) || fstat(binary, &info) || lseek(binary, 0, SEEK_SET))
        return false;
    snprintf(name, sizeof(name), "prof-%s-%s", PROF_VERSION, checksum);
    snprintf(size, sizeof(size), "%jd", (intmax_t)info.st_size);
    if (!send_line(name, size) || !read_answer(directory))
        return false;
    if (strcmp(directory, "send") != 0)
        return true;
    if (!is_quiet)
        ui_print_message("copying prof (%.1f MB) to %s", (double)info.st_size / 1e6, ssh.host);
    return copy_file(binary, ssh.to) == 0 && read_answer(directory);
}

/* Prepares the other machine. Returns 0, or the exit status after a message. */
static int prepare_machine(bool is_quiet, char directory[ANSWER_SIZE])
{
    char system[ANSWER_SIZE];
    if (!start_keeper())
        return EXIT_FAILURE;
    if (!read_answer(system))
        return ssh.signal
                   ? EXIT_FAILURE
                   : ui_fail("cannot connect to %s, so test the connection with 'ssh %s true'", ssh.host, ssh.host);
    if (!starts_with(system, "Linux "))
        return ui_fail("%s runs %s, and prof records only on Linux", ssh.host, system);
    int binary = open_binary(system + strlen("Linux "));
    if (binary < 0)
        return EXIT_FAILURE;
    bool ok = install_binary(binary, is_quiet, directory);
    close(binary);
    return ok || ssh.signal ? !ok : ui_fail("cannot install prof on %s", ssh.host);
}

/* ---- the recording ---- */

static const char *get_profile_name(const char *output)
{
    return ends_with(output, ".gz") ? "profile.json.gz" : "profile.json";
}

/* Records. Returns the exit status of ssh. */
static int run_recorder(const struct record_line *line, const char *directory)
{
    static const char script[] = "echo $$ >\"$0/pid\" && export " OUTPUT_NAME_VARIABLE "=\"$1\" && shift &&\n"
                                 "    exec \"$0/prof\" record \"$@\"";
    struct text_buffer words = {0};
    pid_t pid = 0;
    bool ok = text_append_z(&words, " ") && shell_quote(&words, directory) && text_append_z(&words, " ") &&
              shell_quote(&words, line->output) && text_append_z(&words, " -s --output=") &&
              shell_quote(&words, directory) && text_append_all(&words, "/", get_profile_name(line->output)) &&
              text_append(&words, line->remote_words.data, line->remote_words.length);
    if (ok)
        pid = start_ssh("ControlMaster=no", script, &words, -1, record_line_is_piped(line) ? STDERR_FILENO : -1);
    else
        ui_fail("out of memory");
    array_free(&words);
    ssh.recorder = pid;
    int status = pid ? wait_for(pid) : EXIT_FAILURE;
    ssh.recorder = 0;
    return status;
}

/* Returns the exit status of the keeper. */
static int end_keeper(void)
{
    close(ssh.to);
    close(ssh.from);
    int status = wait_for(ssh.keeper);
    ssh.keeper = 0;
    return status;
}

/* Saves the profile that the keeper sends. Returns 0, or the exit status after a message. */
static int fetch(const struct record_line *line, int recorder)
{
    struct file_output file;
    struct error err = {0};
    bool has_old = false;
    if (file_output_open(&file, line->output, 0600, &err))
        return ui_fail_with_error(&err);
    file.keeps_old = &has_old;
    int code = send_line("get", get_profile_name(line->output)) ? copy_file(ssh.from, file.fd) : 0;
    int status = end_keeper();
    if (code)
        status = ui_fail("cannot write %s: %s", file.path, strerror(-code));
    else if (status == EXIT_NO_PROFILE && recorder && recorder != EXIT_SSH)
        status = recorder; /* after a message of the recorder */
    else if (status == EXIT_NO_PROFILE)
        status = ui_fail("the recording on %s ended without a profile", ssh.host);
    else if (status && !ssh.signal)
        status = ui_fail("the connection to %s ended, and the recording there ends without a profile", ssh.host);
    else if (!status && file_output_commit(&file, &err))
        status = ui_fail_with_error(&err);
    if (!status && has_old && !line->quiet)
        ui_print_message("the earlier file is now %s.old", file.path);
    file_output_close(&file);
    return status;
}

static int record_over_ssh(const struct record_line *line, bool *is_saved)
{
    char directory[ANSWER_SIZE];
    int status = prepare_machine(line->quiet, directory);
    if (!status) {
        int recorder = run_recorder(line, directory);
        status = fetch(line, recorder);
        *is_saved = !status;
        status = status ? status : recorder;
    }
    if (ssh.keeper)
        end_keeper();
    return ssh.signal ? EXIT_SIGNAL + ssh.signal : status;
}

int record_remotely(const struct record_line *line, bool *is_saved)
{
    static const int numbers[] = {SIGINT, SIGTERM, SIGHUP, SIGPIPE};
    enum { NUMBERS = sizeof(numbers) / sizeof(*numbers) };
    struct sigaction before[NUMBERS];
    struct error err = {0};
    *is_saved = false;
    ssh.host = line->host;
    if (make_temporary_path(&ssh.control, "ssh", &err))
        return ui_fail_with_error(&err);
    for (size_t i = 0; i < NUMBERS; i++) {
        struct sigaction action = {.sa_handler = numbers[i] == SIGPIPE ? SIG_IGN : handle_signal};
        sigaction(numbers[i], NULL, &before[i]);
        if (before[i].sa_handler != SIG_IGN) /* as under nohup */
            sigaction(numbers[i], &action, NULL);
    }
    int status = record_over_ssh(line, is_saved);
    for (size_t i = 0; i < NUMBERS; i++)
        sigaction(numbers[i], &before[i], NULL);
    remove_temporary_path(&ssh.control);
    return status;
}
