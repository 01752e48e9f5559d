#include "assemble/process_markers.h"

#include <signal.h>

enum kind { KIND_PROCESS, KIND_EXEC, KIND_THREAD, KIND_LOAD, KIND_SIGNAL, KIND_OOM_KILL, KINDS };

struct filling {
    struct marker_rows *rows;
    const struct shown_threads *shown;
    const struct replay *replay;
    uint32_t category;
    struct hash exits;    /* pid -> index of the first exit of the pid in replay->program_marks.exits */
    size_t counts[KINDS]; /* markers of each kind, including omitted markers */
};

static size_t get_limit(enum kind kind)
{
    return kind == KIND_PROCESS || kind == KIND_EXEC ? PROCESSES_MAX : PROCESS_MARKERS_MAX;
}

/* Starts the payload of the next marker. Returns NULL if the limit omits the marker, or memory ran out. */
static struct json_writer *start_payload(struct filling *filling, enum kind kind)
{
    static const char *const types[KINDS] = {"Process", "Exec", "Thread", "LibraryLoad", "Signal", "OomKill"};
    if (filling->counts[kind]++ >= get_limit(kind) || filling->rows->failed)
        return NULL;
    return marker_rows_start_payload(filling->rows, types[kind]);
}

static void finish_marker(struct filling *filling, const char *name, uint32_t thread, enum marker_phase phase,
                          uint64_t start, uint64_t end)
{
    struct marker_rows *rows = filling->rows;
    marker_rows_add(rows, get_shown_thread(filling->shown, thread), strings_add_z(&rows->profile->strings, name),
                    filling->category, phase, start, end);
}

static void write_number(struct json_writer *json, const char *key, uint32_t number)
{
    char text[16];
    snprintf(text, sizeof(text), "%" PRIu32, number);
    json_member_text(json, key, text);
}

/* Returns whether the interval starts or ends during the recording. Other intervals have no marker. */
static bool is_in_recording(const struct filling *filling, uint64_t start, uint64_t end)
{
    return start > filling->rows->start_ns || end;
}

static enum marker_phase choose_phase(uint64_t end)
{
    return end ? PHASE_INTERVAL : PHASE_START;
}

/* ---- signals ---- */

enum { SIGNAL_NAME = 32 };

/* Writes the name of a signal: "SIGUSR1", "SIGRTMIN+2", "signal 32". */
static const char *name_signal(char name[SIGNAL_NAME], uint32_t number)
{
    const char *known = number < NSIG ? sigabbrev_np((int)number) : NULL;
    if (known)
        snprintf(name, SIGNAL_NAME, "SIG%s", known);
    else if (number >= (uint32_t)SIGRTMIN && number <= (uint32_t)SIGRTMAX)
        snprintf(name, SIGNAL_NAME, "SIGRTMIN+%" PRIu32, number - (uint32_t)SIGRTMIN);
    else
        snprintf(name, SIGNAL_NAME, "signal %" PRIu32, number);
    return name;
}

/* ---- processes ---- */

/* Returns the exit of a process, not of another process with the same pid. NULL: unknown. */
static const struct process_exit *find_exit(const struct filling *filling, const struct replay_process *process)
{
    const struct program_marks *marks = &filling->replay->program_marks;
    uint32_t i = hash_get(&filling->exits, process->pid);
    for (; i < marks->exits.length; i++)
        if (marks->exits.data[i].pid == process->pid && marks->exits.data[i].time >= process->start)
            return &marks->exits.data[i];
    return NULL;
}

static void write_exit(struct json_writer *json, const struct process_exit *end)
{
    char text[64], name[SIGNAL_NAME];
    if (WIFSIGNALED(end->status))
        snprintf(text, sizeof(text), "killed by %s", name_signal(name, (uint32_t)WTERMSIG(end->status)));
    else
        snprintf(text, sizeof(text), "exit status %d", WEXITSTATUS(end->status));
    json_member_text(json, "end", text);
}

/* Whether the process continues as another program after exec. */
static bool continues_after_exec(const struct filling *filling, const struct replay_process *process)
{
    return process->main_thread < filling->replay->threads.length &&
           filling->replay->threads.data[process->main_thread].cpu_time.goes_on;
}

/* Returns the first program of a process. */
static const struct replay_process *find_first_program(const struct replay *replay,
                                                       const struct replay_process *process)
{
    for (uint32_t i = 0; i < process->instance; i++) {
        if (process->parent >= replay->processes.length || !replay->processes.data[process->parent].known ||
            replay->processes.data[process->parent].pid != process->pid)
            break;
        process = &replay->processes.data[process->parent];
    }
    return process;
}

/* Adds one marker for a process, with the name of the last of its programs. */
static void add_process(struct filling *filling, const struct replay_process *process)
{
    const struct replay *replay = filling->replay;
    const struct replay_process *first = find_first_program(replay, process);
    uint64_t start = first->start;
    if (continues_after_exec(filling, process) || !is_in_recording(filling, start, process->end))
        return;
    struct json_writer *json = start_payload(filling, KIND_PROCESS);
    if (!json)
        return;
    json_member_text(json, "process", strings_text(&replay->strings, process->name));
    write_number(json, "pid", process->pid);
    if (first->parent < replay->processes.length && replay->processes.data[first->parent].known)
        write_number(json, "parent", replay->processes.data[first->parent].pid);
    const struct process_exit *end = process->end ? find_exit(filling, process) : NULL;
    if (end)
        write_exit(json, end);
    /* a process whose row also shows other threads ends with the last of these threads */
    uint64_t until = end && end->time < process->end ? end->time : process->end;
    finish_marker(filling, "Process", process->main_thread, choose_phase(until), start, until);
}

static void add_exec(struct filling *filling, uint32_t number, const struct replay_process *process)
{
    const struct replay *replay = filling->replay;
    const struct program_marks *marks = &replay->program_marks;
    uint32_t known = hash_get(&marks->commands, number);
    struct json_writer *json = known == HASH_MISSING && !process->instance ? NULL : start_payload(filling, KIND_EXEC);
    if (!json)
        return;
    const char *command =
        known == HASH_MISSING ? strings_text(&replay->strings, process->name) : strings_text(&marks->texts, known);
    json_member_text(json, "command", command);
    write_number(json, "pid", process->pid);
    finish_marker(filling, "Exec", process->main_thread, PHASE_INSTANT, process->start, 0);
}

static void add_processes(struct filling *filling)
{
    const struct replay *replay = filling->replay;
    for (size_t i = 0; i < replay->program_marks.exits.length; i++) {
        uint32_t *first = hash_at(&filling->exits, replay->program_marks.exits.data[i].pid);
        filling->rows->failed |= !first;
        if (first && *first == HASH_MISSING)
            *first = (uint32_t)i;
    }
    for (uint32_t i = 0; i < replay->processes.length && !filling->rows->failed; i++) {
        if (!replay->processes.data[i].known)
            continue;
        add_process(filling, &replay->processes.data[i]);
        add_exec(filling, i, &replay->processes.data[i]);
    }
    hash_destroy(&filling->exits);
}

/* ---- threads ---- */

/* Adds the marker of a thread. A main thread has only the marker of its process. */
static void add_thread(struct filling *filling, const struct replay_thread *thread)
{
    const struct replay *replay = filling->replay;
    if (!thread->known || replay_is_main_thread(replay, thread) ||
        !is_in_recording(filling, thread->start, thread->end))
        return;
    struct json_writer *json = start_payload(filling, KIND_THREAD);
    if (!json)
        return;
    json_member_text(json, "thread", strings_text(&replay->strings, thread->name));
    write_number(json, "tid", thread->tid);
    finish_marker(filling, "Thread", replay->processes.data[thread->process].main_thread, choose_phase(thread->end),
                  thread->start, thread->end);
}

/* ---- libraries ---- */

static void add_load(struct filling *filling, const struct replay_load *load)
{
    const struct spool_library *lib = &filling->replay->libs.items.data[load->lib];
    const struct replay_process *process = &filling->replay->processes.data[load->process];
    struct json_writer *json = start_payload(filling, KIND_LOAD);
    if (!json)
        return;
    json_member_text(json, "library", lib->path);
    if (lib->size_bytes)
        json_member_unsigned(json, "size", lib->size_bytes);
    finish_marker(filling, "Library load", process->main_thread, PHASE_INSTANT, load->time, 0);
}

/* ---- signals, and kills for lack of memory ---- */

static void add_signal(struct filling *filling, const struct process_signal *signal, bool is_end)
{
    const struct strings *texts = &filling->replay->program_marks.texts;
    char name[SIGNAL_NAME];
    struct json_writer *json = start_payload(filling, KIND_SIGNAL);
    if (!json)
        return;
    json_member_text(json, "signal", name_signal(name, signal->number));
    write_number(json, "tid", signal->tid);
    write_number(json, "pid", signal->pid);
    if (signal->sender != STRING_NONE && strings_text(texts, signal->sender)[0])
        json_member_text(json, "sender", strings_text(texts, signal->sender));
    if (is_end)
        json_member_text(json, "effect", "ended the process");
    finish_marker(filling, "Signal", signal->thread, PHASE_INSTANT, signal->time, 0);
}

/* Returns the last process with this pid that started before this time, or NULL. */
static const struct replay_process *find_process(const struct replay *replay, uint32_t pid, uint64_t time)
{
    const struct replay_process *last = NULL;
    for (size_t i = 0; i < replay->processes.length; i++) {
        const struct replay_process *process = &replay->processes.data[i];
        if (process->known && process->pid == pid && process->start <= time && (!last || process->start >= last->start))
            last = process;
    }
    return last;
}

static void set_has_end(bool *ends, const struct program_marks *marks, const struct process_exit *end)
{
    for (size_t i = marks->signals.length; i-- > 0;) {
        const struct process_signal *signal = &marks->signals.data[i];
        if (signal->pid != end->pid || signal->time > end->time || signal->number != (uint32_t)WTERMSIG(end->status))
            continue;
        ends[i] = true;
        return;
    }
}

static bool has_end(const bool *ends, const struct program_marks *marks, const struct process_exit *end)
{
    for (size_t i = 0; i < marks->signals.length; i++)
        if (ends[i] && marks->signals.data[i].pid == end->pid && marks->signals.data[i].time <= end->time)
            return true;
    return false;
}

/* Adds the signals. The exit status shows the signal that ended a process, even if the recording has no signals, or the
 * kernel does not report it (SIGKILL). */
static void add_signals(struct filling *filling)
{
    enum { MOST_ENDS = 2000 }; /* limit of the exits that prof compares with all signals */
    const struct program_marks *marks = &filling->replay->program_marks;
    bool *ends = calloc(marks->signals.length + 1, sizeof(*ends));
    filling->rows->failed |= !ends;
    for (size_t i = 0, seen = 0; ends && i < marks->exits.length && seen < MOST_ENDS; i++) {
        const struct process_exit *end = &marks->exits.data[i];
        if (!WIFSIGNALED(end->status))
            continue;
        seen++;
        set_has_end(ends, marks, end);
        const struct replay_process *process = find_process(filling->replay, end->pid, end->time);
        if (process && !has_end(ends, marks, end))
            add_signal(filling,
                       &(struct process_signal){.time = end->time,
                                                .pid = end->pid,
                                                .tid = end->pid,
                                                .number = (uint32_t)WTERMSIG(end->status),
                                                .sender = STRING_NONE,
                                                .thread = process->main_thread},
                       true);
    }
    for (size_t i = 0; ends && i < marks->signals.length && !filling->rows->failed; i++)
        if (marks->signals.data[i].thread != REPLAY_NONE)
            add_signal(filling, &marks->signals.data[i], ends[i]);
    free(ends);
}

static void add_oom_kill(struct filling *filling, const struct oom_kill *kill)
{
    const struct replay_process *process = find_process(filling->replay, kill->pid, kill->time);
    struct json_writer *json = process ? start_payload(filling, KIND_OOM_KILL) : NULL;
    if (!json)
        return;
    json_member_text(json, "process", strings_text(&filling->replay->strings, process->name));
    write_number(json, "pid", kill->pid);
    json_member_unsigned(json, "kills", kill->count);
    finish_marker(filling, "Out of memory", process->main_thread, PHASE_INSTANT, kill->time, 0);
}

size_t process_markers_add(struct marker_rows *rows, const struct shown_threads *shown)
{
    const struct replay *replay = shown->replay;
    struct filling filling = {.rows = rows,
                              .shown = shown,
                              .replay = replay,
                              .category = marker_rows_add_category(rows, "Processes", "lightblue")};
    add_processes(&filling);
    for (size_t i = 0; i < replay->threads.length && !rows->failed; i++)
        add_thread(&filling, &replay->threads.data[i]);
    for (size_t i = 0; i < replay->libs.loads.length && !rows->failed; i++)
        add_load(&filling, &replay->libs.loads.data[i]);
    add_signals(&filling);
    for (size_t i = 0; i < replay->program_marks.oom_kills.length && !rows->failed; i++)
        add_oom_kill(&filling, &replay->program_marks.oom_kills.data[i]);
    size_t left_out = replay->libs.more_loads;
    for (enum kind kind = 0; kind < KINDS; kind++)
        left_out += filling.counts[kind] > get_limit(kind) ? filling.counts[kind] - get_limit(kind) : 0;
    return left_out;
}
