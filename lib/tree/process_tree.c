/*
 * Profiles may contradict themselves, so a parent is always a process that started earlier, or at the same time and
 * precedes in the order of starts. The tree has no circles then. The path enters each process at most once.
 */
#include "tree/process_tree.h"

#include "base/search.h"
#include "base/strings.h"
#include "base/utf8.h"
#include "tree/marker_text.h"
#include "tree/order.h"
#include "tree/process_path.h"
#include "tree/process_usage.h"

struct found_process {
    struct process row;
    uint32_t pid, parent_pid; /* strings of `pids` */
    double executed;          /* ms: time of the last command */
};

struct found_exec {
    uint32_t pid;
    double time;
    const char *command;
};

struct making {
    struct process_tree *tree;
    const struct profile *profile;
    struct strings pids; /* process numbers without the number of the program: "123" for "123.1" */
    ARRAY(struct found_process) found;
    ARRAY(struct found_exec) execs;
    struct hash known_pids;
    uint32_t *by_pid;     /* rows of `found`, by pid, then by start */
    uint32_t *parents;    /* per row of `found` */
    uint32_t *numbers;    /* per row of `found`: its index in the tree */
    uint32_t *process_of; /* for each thread, its row in `found` */
    struct payload payload;
    struct text_buffer text;
};

bool profile_has_processes(const struct profile *profile)
{
    const char *first = profile_text(profile, profile->threads.data[0].pid);
    size_t length = strcspn(first, ".");
    bool may_have = !profile_is_comparison(profile) && !profile->meta.has_no_times;
    for (size_t i = 1; may_have && i < profile->threads.length; i++) {
        const char *pid = profile_text(profile, profile->threads.data[i].pid);
        if (strcspn(pid, ".") != length || strncmp(pid, first, length) != 0)
            return true;
    }
    return false;
}

/* ---- processes and commands ---- */

/* Returns the text of a payload's field, or "" without the field. NULL if memory ran out. */
static const char *read_text(struct making *making, const char *key)
{
    const struct payload_value *value = payload_find(&making->payload, key);
    const struct value_context context = {.profile = making->profile};
    making->text.length = 0;
    if (value && !value_text_append(&making->text, &context, "string", value->json, value->length))
        return NULL;
    return arena_copy(&making->tree->texts, making->text.length ? making->text.data : "", making->text.length);
}

static uint32_t add_pid(struct making *making, const char *pid)
{
    const char *dot = strrchr(pid, '.');
    bool has_program = dot && dot > pid && strspn(dot + 1, "0123456789") == strlen(dot + 1);
    return strings_add(&making->pids, pid, has_program ? (size_t)(dot - pid) : strlen(pid));
}

static bool add_found(struct making *making, struct found_process found)
{
    struct time_range range = making->tree->range;
    found.row.start = isnan(found.row.start) ? range.from : fmax(found.row.start, range.from);
    found.row.end = isnan(found.row.end) ? range.to : fmin(found.row.end, range.to);
    found.executed = -INFINITY;
    return hash_set(&making->known_pids, found.pid, 0) &&
           (found.row.start > found.row.end || array_push(&making->found, found));
}

static int add_marker(struct making *making, const struct marker *marker, bool is_exec, struct error *err)
{
    const struct marker_table *markers = &making->profile->threads.data[marker->thread].markers;
    int code = payload_read(&making->payload, making->profile, marker, err);
    if (code)
        return code;
    const char *pid = read_text(making, "pid"), *parent = read_text(making, "parent");
    const char *command = read_text(making, "command"), *name = read_text(making, "process");
    const char *end = read_text(making, "end");
    if (!pid || !parent || !command || !name || !end)
        return error_no_memory(err);
    uint32_t number = add_pid(making, pid), parent_number = add_pid(making, parent);
    if (number == STRING_NONE || parent_number == STRING_NONE)
        return error_no_memory(err);
    double start = markers->start[marker->row];
    bool added = is_exec ? array_push(&making->execs, (struct found_exec){number, start, command})
                         : add_found(making, (struct found_process){.row = {.pid = pid,
                                                                            .name = name,
                                                                            .argument = "",
                                                                            .command = "",
                                                                            .exit = end,
                                                                            .start = start,
                                                                            .end = markers->end[marker->row]},
                                                                    .pid = number,
                                                                    .parent_pid = parent_number});
    return added ? 0 : error_no_memory(err);
}

static int read_markers(struct making *making, struct error *err)
{
    const struct strings *strings = &making->profile->strings;
    uint32_t process = strings_find(strings, "Process", strlen("Process"));
    uint32_t exec = strings_find(strings, "Exec", strlen("Exec"));
    int code = 0;
    for (uint32_t i = 0; i < making->profile->threads.length; i++) {
        const struct marker_table *markers = &making->profile->threads.data[i].markers;
        for (uint32_t row = 0; !code && row < markers->length; row++) {
            const struct marker marker = {.thread = i, .row = row, .end_row = PROFILE_NONE};
            if (markers->name[row] == process || markers->name[row] == exec)
                code = add_marker(making, &marker, markers->name[row] == exec, err);
        }
    }
    return code;
}

static double get_start(const struct thread *thread)
{
    return isnan(thread->start) ? thread->process_start : thread->start;
}

/* Adds the processes without a marker. */
static int add_processes_without_marker(struct making *making, struct error *err)
{
    const struct profile *profile = making->profile;
    for (size_t i = 0; i < profile->threads.length; i++) {
        const struct thread *thread = &profile->threads.data[i];
        uint32_t pid = add_pid(making, profile_text(profile, thread->pid));
        if (pid == STRING_NONE)
            return error_no_memory(err);
        if (hash_get(&making->known_pids, pid) != HASH_MISSING)
            continue;
        uint32_t name = thread->process_name == PROFILE_NONE ? thread->name : thread->process_name;
        const char *text = strings_text(&making->pids, pid);
        const struct found_process found = {.row = {.pid = arena_copy(&making->tree->texts, text, strlen(text)),
                                                    .name = profile_text(profile, name),
                                                    .argument = "",
                                                    .command = "",
                                                    .exit = "",
                                                    .start = thread->process_start,
                                                    .end = thread->process_end},
                                            .pid = pid,
                                            .parent_pid = STRING_NONE};
        if (!found.row.pid || !add_found(making, found))
            return error_no_memory(err);
    }
    return 0;
}

/* ---- search by process number ---- */

DEFINE_MAGNITUDE(get_negative_start, struct found_process, -row->row.start)

static bool is_pid_later(const void *context, uint32_t a, uint32_t b)
{
    const struct making *making = context;
    return making->found.data[b].pid < making->found.data[a].pid;
}

/* Whether a process has a lower number, or the number and started by the time. */
static bool precedes(const struct found_process *found, uint32_t pid, double time)
{
    return found->pid != pid ? found->pid < pid : found->row.start <= time;
}

/* Returns the last process with this number that started by a time, otherwise the first process with this number, or
 * PROFILE_NONE for none. */
static uint32_t find_process(const struct making *making, uint32_t pid, double time)
{
    double latest = isnan(time) ? -INFINITY : time;
    size_t count = making->found.length;
    size_t after = search_count(making->by_pid, count, precedes(&making->found.data[*element], pid, latest));
    if (after > 0 && making->found.data[making->by_pid[after - 1]].pid == pid)
        return making->by_pid[after - 1];
    return after < count && making->found.data[making->by_pid[after]].pid == pid ? making->by_pid[after] : PROFILE_NONE;
}

static int index_processes(struct making *making, struct error *err)
{
    size_t count = making->found.length;
    making->by_pid = malloc((count + 1) * sizeof(*making->by_pid));
    making->parents = malloc((count + 1) * sizeof(*making->parents));
    making->numbers = malloc((count + 1) * sizeof(*making->numbers));
    making->process_of = malloc((making->profile->threads.length + 1) * sizeof(*making->process_of));
    if (!making->by_pid || !making->parents || !making->numbers || !making->process_of)
        return error_no_memory(err);
    int code = order_sort_rows(making->found.data, sizeof(*making->found.data), count, get_negative_start, err);
    for (uint32_t i = 0; i < count; i++)
        making->by_pid[i] = i;
    return code ? code : order_sort_numbers(making->by_pid, count, is_pid_later, making, err);
}

static void find_parents(struct making *making)
{
    for (uint32_t i = 0; i < making->found.length; i++) {
        const struct found_process *found = &making->found.data[i];
        uint32_t parent = find_process(making, found->parent_pid, found->row.start);
        making->parents[i] = parent < i ? parent : PROFILE_NONE;
    }
}

static void assign_commands(struct making *making)
{
    for (size_t i = 0; i < making->execs.length; i++) {
        const struct found_exec *exec = &making->execs.data[i];
        uint32_t row = find_process(making, exec->pid, exec->time);
        if (row == PROFILE_NONE || exec->time < making->found.data[row].executed)
            continue;
        making->found.data[row].executed = exec->time;
        making->found.data[row].row.command = exec->command;
    }
}

/* ---- the argument that differs ---- */

enum { WORDS_MAX = 64, SHORTEST_HASH = 20 }; /* a build id of Go has 20 characters or more */

/* Finds the next argument that may be the name of a file, a package or a target, without its directories. */
static bool find_argument(const char **command, const char **word, size_t *length)
{
    for (const char *at = *command; *at; at = *command) {
        at += strspn(at, " ");
        *command = at + strcspn(at, " ");
        const char *name = *command;
        while (name > at && name[-1] != '/')
            name--;
        *word = name;
        *length = (size_t)(*command - name);
        bool is_hash = *length >= SHORTEST_HASH && !memchr(name, '.', *length);
        if (*length && !is_hash && *at != '-' && *at != '+' && strcspn(name, " '\"=<>{}()$;|&*`") == *length)
            return true;
    }
    return false;
}

static uint64_t hash_word(const struct process *process, const char *word, size_t length)
{
    return hash_mix(hash_bytes(process->name, strlen(process->name)), hash_bytes(word, length));
}

/* Counts the processes of each name, and the processes of each name and argument. */
static bool count_arguments(struct hash *counts, const struct process *process)
{
    const char *command = process->command + strcspn(process->command, " "), *word;
    uint64_t seen[WORDS_MAX];
    size_t length, words = 1;
    seen[0] = hash_word(process, "", 0);
    while (words < WORDS_MAX && find_argument(&command, &word, &length)) {
        seen[words] = hash_word(process, word, length);
        size_t same = 0;
        while (seen[same] != seen[words])
            same++;
        words += same == words;
    }
    for (size_t i = 0; i < words; i++) {
        uint32_t *count = hash_at(counts, seen[i]);
        if (!count)
            return false;
        *count = *count == HASH_MISSING ? 1 : *count + 1;
    }
    return true;
}

static bool choose_argument(struct process_tree *tree, const struct hash *counts, struct process *process)
{
    enum { LONGEST = 40 };
    const char *command = process->command + strcspn(process->command, " "), *word, *rarest = "";
    size_t length, rarest_length = 0;
    uint32_t least = hash_get(counts, hash_word(process, "", 0));
    for (size_t words = 1; words < WORDS_MAX && find_argument(&command, &word, &length); words++) {
        uint32_t count = hash_get(counts, hash_word(process, word, length));
        if (count >= least)
            continue;
        least = count;
        rarest = word;
        rarest_length = length < LONGEST ? length : LONGEST;
    }
    process->argument = arena_copy(&tree->texts, rarest, rarest_length);
    return process->argument != NULL;
}

static int choose_arguments(struct process_tree *tree, struct error *err)
{
    struct hash counts = {0};
    bool done = true;
    for (size_t i = 0; done && i < tree->processes.length; i++)
        done = count_arguments(&counts, &tree->processes.data[i]);
    for (size_t i = 0; done && i < tree->processes.length; i++)
        done = choose_argument(tree, &counts, &tree->processes.data[i]);
    hash_destroy(&counts);
    return done ? 0 : error_no_memory(err);
}

/* ---- the tree ---- */

/* Numbers the processes depth first. */
static int order_tree(struct making *making, struct error *err)
{
    struct process_tree *tree = making->tree;
    size_t count = making->found.length;
    /* the last child of a row, and the sibling before a row, of `found`; index `count` has the roots */
    uint32_t *last = malloc((count + 1) * sizeof(*last)), *before = malloc((count + 1) * sizeof(*before));
    ARRAY(uint32_t) stack = {0};
    int code = last && before && array_reserve(&stack, count + 1) && array_reserve(&tree->processes, count + 1)
                   ? 0
                   : error_no_memory(err);
    if (code)
        goto out;
    memset(last, 0xff, (count + 1) * sizeof(*last));
    for (uint32_t i = 0; i < count; i++) {
        uint32_t parent = making->parents[i] == PROFILE_NONE ? (uint32_t)count : making->parents[i];
        before[i] = last[parent];
        last[parent] = i;
    }
    for (uint32_t next = (uint32_t)count;;) {
        for (uint32_t child = last[next]; child != PROFILE_NONE; child = before[child])
            stack.data[stack.length++] = child;
        if (!stack.length)
            break;
        next = stack.data[--stack.length];
        struct process process = making->found.data[next].row;
        uint32_t parent = making->parents[next];
        process.parent = parent == PROFILE_NONE ? PROFILE_NONE : making->numbers[parent];
        process.depth = parent == PROFILE_NONE ? 0 : tree->processes.data[process.parent].depth + 1;
        making->numbers[next] = (uint32_t)tree->processes.length;
        tree->processes.data[tree->processes.length++] = process;
    }
out:
    free(last);
    free(before);
    array_free(&stack);
    return code;
}

static int assign_threads(struct making *making, struct error *err)
{
    const struct profile *profile = making->profile;
    struct process_tree *tree = making->tree;
    struct process *processes = tree->processes.data;
    tree->threads = malloc((profile->threads.length + 1) * sizeof(*tree->threads));
    if (!tree->threads)
        return error_no_memory(err);
    for (size_t i = 0; i < profile->threads.length; i++) {
        const struct thread *thread = &profile->threads.data[i];
        uint32_t pid = add_pid(making, profile_text(profile, thread->pid));
        uint32_t row = pid == STRING_NONE ? PROFILE_NONE : find_process(making, pid, get_start(thread));
        making->process_of[i] = row == PROFILE_NONE ? PROFILE_NONE : making->numbers[row];
        if (row != PROFILE_NONE)
            processes[making->numbers[row]].thread_count++;
    }
    uint32_t first = 0;
    for (size_t i = 0; i < tree->processes.length; i++) {
        processes[i].first_thread = first;
        first += processes[i].thread_count;
        processes[i].thread_count = 0;
    }
    for (uint32_t i = 0; i < profile->threads.length; i++)
        if (making->process_of[i] != PROFILE_NONE) {
            struct process *process = &processes[making->process_of[i]];
            tree->threads[process->first_thread + process->thread_count++] = i;
        }
    return 0;
}

static void sum_trees(struct process_tree *tree)
{
    struct process *processes = tree->processes.data;
    for (size_t i = tree->processes.length; i-- > 0;) {
        processes[i].tree_cpu += processes[i].cpu;
        if (processes[i].parent == PROFILE_NONE)
            continue;
        processes[processes[i].parent].tree_cpu += processes[i].tree_cpu;
        processes[processes[i].parent].descendants += processes[i].descendants + 1;
    }
}

int process_tree_list(struct process_tree *tree, const struct profile *profile, struct time_range range,
                      struct error *err)
{
    struct making making = {.tree = tree, .profile = profile};
    tree->range = range;
    int code = read_markers(&making, err);
    if (!code)
        code = add_processes_without_marker(&making, err);
    if (!code)
        code = index_processes(&making, err);
    if (!code) {
        find_parents(&making);
        assign_commands(&making);
        code = order_tree(&making, err);
    }
    if (!code)
        code = choose_arguments(tree, err);
    if (!code)
        code = assign_threads(&making, err);
    strings_destroy(&making.pids);
    array_free(&making.found);
    array_free(&making.execs);
    hash_destroy(&making.known_pids);
    free(making.by_pid);
    free(making.parents);
    free(making.numbers);
    free(making.process_of);
    payload_destroy(&making.payload);
    array_free(&making.text);
    return code;
}

int process_tree_make(struct process_tree *tree, const struct profile *profile, struct time_range range,
                      struct error *err)
{
    int code = process_tree_list(tree, profile, range, err);
    if (!code)
        code = measure_process_usage(tree, profile, err);
    if (code)
        return code;
    sum_trees(tree);
    return find_process_path(tree, profile, err);
}

void process_tree_destroy(struct process_tree *tree)
{
    array_free(&tree->processes);
    array_free(&tree->path);
    free(tree->threads);
    arena_destroy(&tree->texts);
    *tree = (struct process_tree){0};
}

int process_tree_append_sentence(struct text_buffer *text, const struct process_tree *tree,
                                 const struct profile *profile, struct error *err)
{
    const struct serial_part *serial = &tree->serial;
    char part[QUANTITY_TEXT_MAX], whole[QUANTITY_TEXT_MAX], start[QUANTITY_TEXT_MAX], sentence[512];
    const struct process *process = serial->process == PROFILE_NONE ? NULL : &tree->processes.data[serial->process];
    double length = serial->to - serial->from;
    if (!(length > 0) || profile->meta.logical_cpus < 2)
        return 0;
    format_time(part, length);
    format_time(whole, tree->range.to - tree->range.from);
    format_time(start, serial->from - tree->range.from);
    bool is_last = tree->range.to - serial->to < 0.02 * length;
    const char *name = process ? process->name : "", *argument = process ? process->argument : "";
    snprintf(sentence, sizeof(sentence),
             "At most one process at a time runs for %s%s of %s%s%s%s%.*s%s%.*s (%.1f of %u CPUs).",
             is_last ? "the last " : "", part, whole, is_last ? "" : " from ", is_last ? "" : start,
             process ? ", mostly " : "", utf8_cut(name, 40), name, *argument ? " " : "", utf8_cut(argument, 40),
             argument, serial->cpu / length, profile->meta.logical_cpus);
    return text_append_z(text, sentence) ? 0 : error_no_memory(err);
}
