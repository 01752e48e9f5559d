/*
 * `prof stacks PID`: reads the stack of each thread of a process once, prints the stacks, and ends. The process
 * continues. `prof stacks CORE` prints the stacks of a core file.
 *
 * The reading is a recording: ptrace_source_read_once() or record_core() stores one wait or one sample for each thread.
 * prof assembles its spool file to a profile in memory, and prints the stack of each thread in this profile.
 */
#include "cmd/common/commands.h"
#include "cmd/common/symbol_options.h"
#include "cmd/common/ui.h"

#include "assemble/assemble.h"
#include "base/json_write.h"
#include "base/path.h"
#include "base/search.h"
#include "file/profile_file.h"
#include "record/record.h"
#include "record/record_core.h"
#include "tree/quantity.h"
#include "tree/stack_view.h"
#include "tree/wait_rows.h"

#include <signal.h>
#include <unistd.h>

/* The process or the core file that the command line names. */
struct subject {
    pid_t pid;        /* process to read, or the process that left the core file */
    const char *core; /* path of a core file; NULL: a running process */
    uint32_t signal, signal_tid;
};

/* ---- the reading ---- */

static int record_process(pid_t pid, const char *spool, struct open_files *files, struct error *err)
{
    struct record_result result;
    const struct record_options options = {.sampler = RECORD_BY_PTRACE,
                                           .pids = &pid,
                                           .pid_count = 1,
                                           .no_inherit = true,
                                           .rate = 1000,
                                           .spool_path = spool,
                                           .recorder = "prof " PROF_VERSION,
                                           .once = true,
                                           .python = true,
                                           .environment = {.no_machine_name = true},
                                           .files = files};
    sigset_t signals, before;
    list_recorder_signals(&signals);
    sigprocmask(SIG_BLOCK, &signals, &before);
    int code = record_command(&options, &result, err);
    sigprocmask(SIG_SETMASK, &before, NULL);
    if (!code && result.problem.text[0])
        code = error_set(err, EIO, "%s", result.problem.text);
    for (size_t i = 0; i < result.note_count && !code; i++)
        ui_print_message("%s", result.notes[i]);
    return code;
}

static int record_core_file(struct subject *subject, const char *spool, struct error *err)
{
    struct record_core_result result;
    int code = record_core(subject->core, spool, &result, err);
    subject->pid = (pid_t)result.pid;
    subject->signal = result.signal;
    subject->signal_tid = result.signal_tid;
    if (!code && result.missing)
        ui_print_message(
            "%s%s missing on this machine, or with another build ID: stacks through %s may be truncated, and functions there have no names",
            result.missing_name, result.missing > 1 ? " and other files are" : " is",
            result.missing > 1 ? "them" : "it");
    return code;
}

static int assemble_profile(const char *spool, const struct open_files *files, struct symbol_options *symbols,
                            struct profile *profile, struct error *err)
{
    struct directory_path path;
    const struct assemble_options options = {
        .cache_directory = find_cache_directory(&path), .files = files, .search = symbol_options_open(symbols)};
    struct assemble_result result;
    symbol_options_block_interrupts(symbols, true);
    int code = assemble_recording(spool, NULL, &options, &result, err);
    symbol_options_block_interrupts(symbols, false);
    if (code)
        return code;
    code = profile_load_fd(result.memory_fd, NULL, profile, err);
    close(result.memory_fd);
    return code;
}

/* Reads the stacks into a profile, through a temporary spool file. */
static int read_stacks(struct subject *subject, struct symbol_options *symbols, struct profile *profile,
                       struct error *err)
{
    struct directory_path spool;
    int code = make_temporary_path(&spool, "spool", err);
    if (code)
        return code;
    struct open_files files;
    open_files_init(&files);
    code = subject->core ? record_core_file(subject, spool.text, err)
                         : record_process(subject->pid, spool.text, &files, err);
    if (!code)
        code = assemble_profile(spool.text, &files, symbols, profile, err);
    open_files_destroy(&files);
    remove_temporary_path(&spool);
    return code;
}

/* ---- the stack of a thread ---- */

struct thread_stack {
    const struct thread *thread;
    long tid;
    uint32_t stack;  /* PROFILE_NONE: no stack */
    uint32_t wait;   /* frame of the wait's object; PROFILE_NONE: the thread runs */
    double waited;   /* ms; 0: unknown */
    const char *why; /* kind of the wait, or "" */
};

ARRAY_TYPE(struct thread_stacks, struct thread_stack);

DEFINE_COMPARE(compare_tids, struct thread_stack, ORDER(a->tid, b->tid))

static const char *get_func_name(const struct profile *profile, uint32_t frame)
{
    return profile_text(profile, get_func_names(profile, profile->frames.func[frame]).name);
}

/* Finds the stack and the wait of a thread in the rows of its reading. */
static struct thread_stack find_thread_stack(const struct profile *profile, uint32_t number)
{
    const struct wait_rows rows = get_wait_rows(profile, number);
    const struct thread *thread = &profile->threads.data[number];
    struct thread_stack found = {.thread = thread,
                                 .tid = strtol(profile_text(profile, thread->tid), NULL, 10),
                                 .stack = PROFILE_NONE,
                                 .wait = PROFILE_NONE,
                                 .why = ""};
    for (size_t i = 0; i < rows.samples->length; i++) {
        uint32_t stack = rows.samples->stack[i];
        if (stack == PROFILE_NONE)
            continue;
        found.stack = stack;
        if (!is_wait_row(&rows, i))
            continue;
        const struct category *idle = &profile->categories.data[rows.category];
        uint32_t reason = get_wait_row_reason(&rows, i);
        found.wait = profile->stacks.frame[stack];
        found.stack = profile->stacks.prefix[stack];
        found.waited = rows.samples->weight[i];
        found.why = reason < idle->subcategories.length ? profile_text(profile, idle->subcategories.data[reason]) : "";
    }
    return found;
}

static bool list_stacks(const struct profile *profile, struct thread_stacks *stacks)
{
    for (uint32_t i = 0; i < profile->threads.length; i++)
        if (!array_push(stacks, find_thread_stack(profile, i)))
            return false;
    array_sort(stacks, compare_tids);
    return true;
}

/* ---- output ---- */

static void print_frame(const struct profile *profile, size_t number, uint32_t frame)
{
    struct func_names names = get_func_names(profile, profile->frames.func[frame]);
    const char *file = profile_text(profile, names.file), *library = profile_text(profile, names.lib);
    uint32_t line = profile->frames.line[frame];
    ui_print("  #%-3zu %s", number, profile_text(profile, names.name));
    if (file[0] && line)
        ui_print(" (%s:%" PRIu32 ")", path_get_base_name(file), line);
    else if (file[0] || library[0])
        ui_print(" (%s)", path_get_base_name(file[0] ? file : library));
    ui_print("%s\n", profile->frames.inline_depth[frame] ? " inlined" : "");
}

static void print_thread(const struct profile *profile, const struct thread_stack *thread)
{
    char length[QUANTITY_TEXT_MAX] = "";
    if (thread->waited > 0)
        format_time(length, thread->waited);
    ui_print("\nthread %ld %s", thread->tid, profile_text(profile, thread->thread->name));
    if (thread->wait != PROFILE_NONE)
        ui_print(" waits (%s%s%s): %s\n", thread->why, length[0] ? ", " : "", length,
                 get_func_name(profile, thread->wait));
    else
        ui_print(" %s\n", thread->stack != PROFILE_NONE ? "runs" : "ended before prof could read its stack");
    size_t number = 0;
    for (uint32_t stack = thread->stack; stack != PROFILE_NONE; stack = profile->stacks.prefix[stack])
        print_frame(profile, number++, profile->stacks.frame[stack]);
}

static void write_frame(struct json_writer *json, const struct profile *profile, uint32_t frame)
{
    struct func_names names = get_func_names(profile, profile->frames.func[frame]);
    const char *file = profile_text(profile, names.file), *library = profile_text(profile, names.lib);
    json_open(json, '{');
    json_member_text(json, "function", profile_text(profile, names.name));
    if (library[0])
        json_member_text(json, "library", library);
    if (file[0])
        json_member_text(json, "file", file);
    if (profile->frames.line[frame])
        json_member_unsigned(json, "line", profile->frames.line[frame]);
    if (profile->frames.inline_depth[frame])
        json_member_bool(json, "inlined", true);
    json_close(json, '}');
}

static void write_thread(struct json_writer *json, const struct profile *profile, const struct thread_stack *thread)
{
    json_open(json, '{');
    json_member_unsigned(json, "tid", (uint64_t)thread->tid);
    json_member_text(json, "name", profile_text(profile, thread->thread->name));
    json_member_text(json, "state",
                     thread->wait != PROFILE_NONE    ? "waiting"
                     : thread->stack != PROFILE_NONE ? "running"
                                                     : "ended");
    if (thread->wait != PROFILE_NONE) {
        json_member_text(json, "reason", thread->why);
        json_member_text(json, "object", get_func_name(profile, thread->wait));
    }
    if (thread->waited > 0)
        json_member_double(json, "waited_ms", thread->waited);
    json_member_open(json, "frames", '[');
    for (uint32_t stack = thread->stack; stack != PROFILE_NONE; stack = profile->stacks.prefix[stack])
        write_frame(json, profile, profile->stacks.frame[stack]);
    json_close(json, ']');
    json_close(json, '}');
}

struct answer {
    const struct profile *profile;
    const struct thread_stacks *stacks;
    const struct subject *subject;
};

static void write_answer(struct json_writer *json, const void *context)
{
    const struct answer *answer = context;
    json_member_unsigned(json, "pid", (uint64_t)answer->subject->pid);
    if (answer->subject->core)
        json_member_text(json, "core", answer->subject->core);
    if (answer->subject->signal) {
        json_member_unsigned(json, "signal", answer->subject->signal);
        json_member_unsigned(json, "signal_tid", answer->subject->signal_tid);
    }
    json_member_open(json, "threads", '[');
    for (size_t i = 0; i < answer->stacks->length; i++)
        write_thread(json, answer->profile, &answer->stacks->data[i]);
    json_close(json, ']');
}

static int print_answer(const struct answer *answer, bool as_json)
{
    if (as_json)
        return ui_print_json(write_answer, answer);
    const struct subject *subject = answer->subject;
    ui_print("process %d %s", (int)subject->pid,
             profile_text(answer->profile, answer->profile->threads.data[0].process_name));
    if (subject->signal) {
        const char *name = sigabbrev_np((int)subject->signal);
        ui_print(" ended by signal %u%s%s in thread %u", subject->signal, name ? ", SIG" : "", name ? name : "",
                 subject->signal_tid);
    }
    ui_print("\n");
    for (size_t i = 0; i < answer->stacks->length; i++)
        print_thread(answer->profile, &answer->stacks->data[i]);
    return EXIT_SUCCESS;
}

/* ---- the command ---- */

struct options {
    struct symbol_options symbols;
    bool json;
};

static const struct option_row option_rows[] = {
    {"json", 0, NULL, "print JSON for programs", OPTION_FLAG(struct options, json)},
    {.name = NULL},
};

static const struct option_group option_groups[] = {
    {.rows = option_rows},
    {.rows = symbol_option_rows, .offset = offsetof(struct options, symbols)},
    {.rows = NULL},
};

static const char usage[] = "usage: prof stacks [OPTIONS] PID|CORE\n"
                            "\n"
                            "Prints the stack of each thread of a running process, with functions, lines, inlined\n"
                            "functions and Python functions, and what the thread waits for.\n"
                            "The process continues: prof reads waiting threads without a stop, and stops a running\n"
                            "thread for the time of its stack walk.\n"
                            "CORE is a core file, from the kernel or from gcore.\n";

const struct option_table stacks_table = {
    .command = "stacks",
    .usage = usage,
    .groups = option_groups,
    .words = WORDS_FILES,
};

/* A word of digits is a process ID. Any other word is a path. */
static int parse_subject(const char *word, struct subject *subject)
{
    char *end;
    long pid = strtol(word, &end, 10);
    if (*end)
        subject->core = word;
    else if (pid < 1 || pid > INT_MAX)
        return ui_usage("stacks", "'%s' is not a process ID", word);
    else
        subject->pid = (pid_t)pid;
    return EXIT_SUCCESS;
}

int cmd_stacks(int argc, char **argv)
{
    struct options options = {.json = false};
    int status;
    if (!options_parse(&stacks_table, &options, argc, argv, &status))
        return status;
    if (argc - optind != 1)
        return argc == optind ? ui_usage("stacks", "no process ID or core file given")
                              : ui_usage("stacks", "give one process ID or core file, not %d", argc - optind);
    struct subject subject = {.pid = 0};
    status = parse_subject(argv[optind], &subject);
    if (status)
        return status;
    struct profile profile = {0};
    struct thread_stacks stacks = {0};
    struct error err = {0};
    int code = read_stacks(&subject, &options.symbols, &profile, &err);
    if (!code && !list_stacks(&profile, &stacks))
        code = error_no_memory(&err);
    const struct answer answer = {&profile, &stacks, &subject};
    status = code ? ui_fail_with_error(&err) : print_answer(&answer, options.json);
    symbol_options_close(&options.symbols);
    array_free(&stacks);
    profile_destroy(&profile);
    return status;
}
