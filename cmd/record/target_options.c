#include "cmd/record/target_options.h"

#include "cmd/common/ui.h"

/* Appends "PID[,PID...]". */
static int parse_pids(const struct option_use *use)
{
    struct target_options *options = use->group;
    for (const char *at = use->value;; at++) {
        char *end;
        errno = 0;
        long pid = strtol(at, &end, 10);
        if (*at < '0' || *at > '9' || (*end && *end != ',') || errno || pid < 1 || pid > INT_MAX)
            return ui_usage("record", "'%s' is not a process ID or a list of process IDs, separated by commas",
                            use->value);
        if (options->pid_count == MAX_PIDS)
            return ui_usage("record", "prof records at most %d processes at a time", MAX_PIDS);
        options->pids[options->pid_count++] = (pid_t)pid;
        at = end;
        if (!*at)
            return 0;
    }
}

static int parse_cgroup(const struct option_use *use)
{
    struct target_options *options = use->group;
    options->all = true;
    options->cgroup = use->value;
    return *use->value ? 0 : ui_usage("record", "--cgroup needs the name of a cgroup, such as system.slice");
}

static int parse_cpus(const struct option_use *use)
{
    struct target_options *options = use->group;
    options->has_cpus = true;
    return cpu_list_parse(use->value, &options->cpus, NULL)
               ? ui_usage("record", "'%s' is not a list of CPUs, such as 0-3,8", use->value)
               : 0;
}

const struct option_row target_option_rows[] = {
    {"pid", 'p', "PID", "record this process, its threads and its later children; can be given several times",
     .parse = parse_pids},
    {"all", 'a', NULL, "record all processes (as root, or if kernel.perf_event_paranoid is 0 or below)",
     OPTION_FLAG(struct target_options, all)},
    {"cgroup", 0, "CGROUP", "record the processes in this cgroup and its descendants", .parse = parse_cgroup},
    {"no-inherit", 0, NULL, "record only COMMAND or the processes of -p, without child processes",
     OPTION_FLAG(struct target_options, no_inherit)},
    {"follow-daemons", 0, NULL, "record until background children of COMMAND have ended, too",
     OPTION_FLAG(struct target_options, follow_daemons)},
    {"thread", 0, "NAME", "only threads with this name or pattern ('worker-*'); can be given several times",
     OPTION(option_add_text, struct target_options, threads)},
    {"cpu", 0, "LIST", "sample only these CPUs (0-3,8)", .parse = parse_cpus},
    {.name = NULL},
};

int target_options_check(const struct target_options *options, bool has_command)
{
    const char *all = options->cgroup ? "--cgroup" : "-a";
    if (options->pid_count && has_command)
        return ui_usage("record", "-p takes no command, because it records a running process");
    if (options->pid_count && options->all)
        return ui_usage("record", "%s takes no -p: %s", all,
                        options->cgroup ? "it records a whole cgroup" : "it records all processes");
    if (options->no_inherit && options->all)
        return ui_usage("record", "--no-inherit needs a command or -p, and cannot be used with %s", all);
    if (options->follow_daemons && (options->all || options->no_inherit))
        return ui_usage("record", "--follow-daemons follows child processes, which %s",
                        options->all ? "-a and --cgroup record anyway" : "--no-inherit excludes");
    return 0;
}

void target_options_apply(struct target_options *options, struct record_options *record)
{
    struct error ignored;
    if (options->pid_count && !options->no_inherit)
        attach_list_children(options->pids, options->pid_count, &options->children, &ignored);
    record->pids = options->pids;
    record->pid_count = options->pid_count;
    record->all = options->all;
    record->cgroup = options->cgroup;
    record->no_inherit = options->no_inherit;
    record->follow_daemons = options->follow_daemons;
    record->cpus = options->has_cpus ? &options->cpus : NULL;
    record->thread_names = options->threads.data;
    record->thread_name_count = options->threads.length;
}

/* Prints the running child processes, because users expect prof to record the workers of a server. */
static void print_children(const struct target_options *options)
{
    enum { SHOWN = 32 };
    char subject[64] = "these processes already have", list[SHOWN * 12 + 1] = "";
    size_t count = options->children.length, used = 0;
    if (!count)
        return;
    if (options->pid_count == 1)
        snprintf(subject, sizeof(subject), "process %d already has", (int)options->pids[0]);
    for (size_t i = 0; count <= SHOWN && i < count; i++)
        used += (size_t)snprintf(list + used, sizeof(list) - used, ",%d", (int)options->children.data[i]);
    if (count == 1)
        ui_print_message("%s 1 child process, which is not recorded; add -p %s to record it", subject, list + 1);
    else if (used)
        ui_print_message("%s %zu child processes, which are not recorded; add -p %s to record them", subject, count,
                         list + 1);
    else
        ui_print_message(
            "%s %zu child processes, which are not recorded; add them to -p, or record their cgroup with --cgroup",
            subject, count);
}

void target_options_print(const struct target_options *options, bool has_duration)
{
    char targets[160];
    if (options->cgroup)
        snprintf(targets, sizeof(targets), "the processes of cgroup %.100s", options->cgroup);
    else if (options->all)
        snprintf(targets, sizeof(targets), "all processes");
    else if (options->pid_count > 1)
        snprintf(targets, sizeof(targets), "process %d and %zu more", (int)options->pids[0], options->pid_count - 1);
    else
        snprintf(targets, sizeof(targets), "process %d", (int)options->pids[0]);
    if (has_duration)
        ui_print_message("recording %s", targets);
    else
        ui_print_message("recording %s until Ctrl+C%s", targets,
                         options->all             ? ""
                         : options->pid_count > 1 ? ", or until they end"
                                                  : ", or until it ends");
    print_children(options);
}

void target_options_destroy(struct target_options *options)
{
    array_free(&options->children);
    array_free(&options->cpus);
    array_free(&options->threads);
}
