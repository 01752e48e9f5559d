/*
 * `prof ctl`: sends requests to running recordings over their sockets (os/control_socket.h): pause, resume, mark,
 * snapshot, stop.
 */
#include "cmd/ctl.h"

#include "cmd/common/commands.h"
#include "cmd/common/quantities.h"
#include "cmd/common/ui.h"

#include "base/array.h"
#include "os/control_socket.h"

#include <dirent.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

/* A recording that runs. */
struct running {
    pid_t pid; /* of prof */
    char path[CONTROL_PATH_SIZE];
    char status[CONTROL_LINE]; /* the answer to "status" */
};

struct ARRAY_TYPE(running_list, struct running);

/* ---- the socket ---- */

static bool belongs_to_user(int fd)
{
    struct ucred peer;
    socklen_t size = sizeof(peer);
    return getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0 && peer.uid == geteuid();
}

static int connect_to_recorder(const char *path)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    snprintf(address.sun_path, sizeof(address.sun_path), "%s", path);
    if (fd >= 0 && connect(fd, (struct sockaddr *)&address, sizeof(address)) == 0 && belongs_to_user(fd))
        return fd;
    if (fd >= 0)
        close(fd);
    return -1;
}

/* Sends a request, waits for the answer, and removes its newline. Returns false without an answer. */
static bool send_and_receive(const char *path, const char *request, char *answer, size_t size)
{
    int fd = connect_to_recorder(path);
    if (fd < 0)
        return false;
    size_t length = 0;
    bool sent = send(fd, request, strlen(request), MSG_NOSIGNAL) == (ssize_t)strlen(request) &&
                send(fd, "\n", 1, MSG_NOSIGNAL) == 1;
    for (ssize_t got = 1; sent && got > 0 && length < size - 1;) {
        got = recv(fd, answer + length, size - 1 - length, 0);
        if (got < 0 && errno == EINTR)
            got = 1;
        else if (got > 0)
            length += (size_t)got;
    }
    close(fd);
    answer[length] = '\0';
    answer[strcspn(answer, "\n")] = '\0';
    return length > 0;
}

bool ctl_send_request(pid_t pid, const char *request, char *answer, size_t size)
{
    char directories[CONTROL_DIRECTORIES][CONTROL_PATH_SIZE], path[CONTROL_PATH_SIZE];
    control_socket_list_directories(directories);
    for (size_t i = 0; i < CONTROL_DIRECTORIES; i++) {
        int length = snprintf(path, sizeof(path), "%s/%d.sock", directories[i], (int)pid);
        if (directories[i][0] && length > 0 && (size_t)length < sizeof(path) &&
            control_socket_is_private(directories[i]) && send_and_receive(path, request, answer, size))
            return true;
    }
    return false;
}

/* ---- the running recordings ---- */

/* Returns the pid in the file name "PID.sock", or 0 for any other name. */
static pid_t parse_socket_name(const char *name)
{
    char *end;
    unsigned long pid = name[0] >= '1' && name[0] <= '9' ? strtoul(name, &end, 10) : 0;
    return pid && pid <= INT_MAX && strcmp(end, ".sock") == 0 ? (pid_t)pid : 0;
}

/* Sockets of recorders that were killed do not answer. */
static bool list_directory(struct running_list *list, const char *directory)
{
    DIR *names = control_socket_is_private(directory) ? opendir(directory) : NULL;
    bool ok = true;
    for (const struct dirent *entry; names && ok && (entry = readdir(names));) {
        struct running running = {.pid = parse_socket_name(entry->d_name)};
        int length = snprintf(running.path, sizeof(running.path), "%s/%s", directory, entry->d_name);
        if (running.pid && length > 0 && (size_t)length < sizeof(running.path) &&
            send_and_receive(running.path, "status", running.status, sizeof(running.status)))
            ok = array_push(list, running);
    }
    if (names)
        closedir(names);
    return ok;
}

static bool list_running(struct running_list *list)
{
    char directories[CONTROL_DIRECTORIES][CONTROL_PATH_SIZE];
    bool ok = true;
    control_socket_list_directories(directories);
    for (size_t i = 0; i < CONTROL_DIRECTORIES && ok; i++)
        ok = !directories[i][0] || list_directory(list, directories[i]);
    return ok;
}

struct status {
    char state[16], what[256];
    double seconds;
    uint64_t samples;
    int target;
};

static bool parse_status(const char *text, struct status *status)
{
    return sscanf(text, "ok %15s %lf %" SCNu64 " %d %255[^\n]", status->state, &status->seconds, &status->samples,
                  &status->target, status->what) == 5;
}

static void print_list(const struct running_list *list)
{
    ui_print("%8s %8s %10s %12s  %-9s  %s\n", "prof", "process", "seconds", "samples", "state", "what");
    for (size_t i = 0; i < list->length; i++) {
        struct status status;
        if (parse_status(list->data[i].status, &status))
            ui_print("%8d %8d %10.1f %12" PRIu64 "  %-9s  %s\n", (int)list->data[i].pid, status.target, status.seconds,
                     status.samples, status.state, status.what);
    }
}

/* Removes all recordings from the list except those whose recorder or target has the pid. */
static void select_pid(struct running_list *list, pid_t pid)
{
    size_t kept = 0;
    for (size_t i = 0; i < list->length; i++) {
        struct status status = {.target = 0};
        parse_status(list->data[i].status, &status);
        if (list->data[i].pid == pid || status.target == pid)
            list->data[kept++] = list->data[i];
    }
    list->length = kept;
}

/* ---- the command ---- */

struct options {
    const char *verb, *text; /* text: of a mark */
    bool all;
    pid_t pid; /* 0: the only one */
};

static int send_request(const struct running_list *list, const struct options *options)
{
    char request[CONTROL_LINE], answer[CONTROL_LINE];
    int status = EXIT_SUCCESS;
    snprintf(request, sizeof(request), "%s%s%s", options->verb, options->text ? " " : "",
             options->text ? options->text : "");
    for (size_t i = 0; i < list->length; i++) {
        const struct running *running = &list->data[i];
        if (!send_and_receive(running->path, request, answer, sizeof(answer)))
            status = ui_fail("recording %d ended before it answered", (int)running->pid);
        else if (strncmp(answer, "ok ", 3) == 0)
            ui_print_message("recording %d: %s", (int)running->pid, answer + 3);
        else
            status = ui_fail("recording %d: %s", (int)running->pid,
                             answer + strcspn(answer, " ") + (strchr(answer, ' ') != NULL));
    }
    return status;
}

static int send_to_recordings(const struct options *options)
{
    struct running_list list = {0};
    int status = EXIT_SUCCESS;
    char problem[400];
    bool ok = list_running(&list);
    if (ok && !list.length && control_socket_find_problem(problem, sizeof(problem)))
        ui_print_message("cannot connect to recordings: %s", problem);
    if (!ok)
        status = ui_fail("out of memory");
    else if (strcmp(options->verb, "list") == 0)
        print_list(&list);
    else {
        if (options->pid)
            select_pid(&list, options->pid);
        if (!list.length && options->pid)
            status = ui_fail(
                "the process ID %d is neither a recording of yours nor a process that one records; 'prof ctl list' lists your recordings",
                (int)options->pid);
        else if (!list.length)
            status = ui_fail("found no running recording of yours");
        else if (list.length > 1 && !options->all && !options->pid)
            status = ui_fail("%zu recordings of yours run; give a process ID ('prof ctl list' lists them) or --all",
                             list.length);
        else
            status = send_request(&list, options);
    }
    array_free(&list);
    return status;
}

/* VERB [TEXT] [PID]. Returns 0 or the exit status after a message. */
static int parse_words(struct options *options, int count, char **words)
{
    static const char *const verbs[] = {"pause", "resume", "mark", "snapshot", "stop", "list"};
    size_t known = 0;
    if (!count)
        return ui_usage("ctl", "no request given: pause, resume, mark TEXT, snapshot, stop or list");
    while (known < sizeof(verbs) / sizeof(*verbs) && strcmp(words[0], verbs[known]) != 0)
        known++;
    if (known == sizeof(verbs) / sizeof(*verbs))
        return ui_usage("ctl", "'%s' is not a request; give pause, resume, mark, snapshot, stop or list", words[0]);
    options->verb = words[0];
    int at = 1;
    if (strcmp(options->verb, "mark") == 0) {
        if (count < 2 || !words[1][0] || strlen(words[1]) > CONTROL_LINE / 2 || strchr(words[1], '\n'))
            return ui_usage("ctl", "mark needs one line of text, of at most %d bytes", CONTROL_LINE / 2);
        options->text = words[at++];
    }
    uint64_t pid = 0;
    if (at < count && !parse_number(words[at], 1, INT_MAX, &pid))
        return ui_usage("ctl", "'%s' is not a process ID", words[at]);
    options->pid = (pid_t)pid;
    if (count > at + 1)
        return ui_usage("ctl", "give one process ID, not %d", count - at);
    if (options->pid && options->all)
        return ui_usage("ctl", "--all takes no process ID");
    if (strcmp(options->verb, "list") == 0 && (options->pid || options->all))
        return ui_usage("ctl", "list takes no process ID and no --all");
    return 0;
}

static const struct option_row option_rows[] = {
    {"all", 0, NULL, "control all recordings of this user", OPTION_FLAG(struct options, all)},
    {.name = NULL},
};

static const char usage[] =
    "usage: prof ctl pause|resume|snapshot|stop [--all|PID]\n"
    "       prof ctl mark TEXT [--all|PID]\n"
    "       prof ctl list\n"
    "\n"
    "Makes a running recording pause, resume, add a marker with TEXT, save a snapshot, or stop.\n"
    "A snapshot is a profile of the recording so far (profile-1.json.gz, beside the output).\n"
    "PID is the process ID of 'prof record' or of its target.\n"
    "If this user has only one recording, PID is not necessary.\n";

const struct option_table ctl_table = {
    .command = "ctl",
    .usage = usage,
    .groups = (const struct option_group[]){{.rows = option_rows}, {.rows = NULL}},
    .words = WORDS_RECORDINGS,
    .first_choice = "pause resume mark snapshot stop list",
};

int cmd_ctl(int argc, char **argv)
{
    struct options options = {.verb = ""};
    int status;
    if (!options_parse(&ctl_table, &options, argc, argv, &status))
        return status;
    status = parse_words(&options, argc - optind, argv + optind);
    return status ? status : send_to_recordings(&options);
}
