#include "tree/findings.h"

#include "base/search.h"
#include "base/starts_with.h"
#include "base/utf8.h"
#include "tree/bottleneck.h"
#include "tree/cpu_findings.h"
#include "tree/engine_state.h"
#include "tree/process_tree.h"
#include "tree/profile_info.h"
#include "tree/quantity.h"
#include "tree/wait_names.h"
#include "tree/weight_list.h"

#include <ctype.h>

static const double least_share = 0.1, large = 1.0 / 3;

/* The objects that findings name: of the critical path, of the waits for each other, and of other waits. PROFILE_NONE:
 * none. */
struct named_objects {
    uint32_t path, waits, other;
};

/* Figures of the query that several findings use. */
struct run {
    struct engine *engine;
    const struct profile *profile;
    double wall, cpu, runnable; /* ms */
    struct wait_groups reasons, objects;
    struct named_objects named;
};

/* ---- the parts ---- */

static enum run_part_kind get_part_kind(const char *reason)
{
    return strcmp(reason, "Runnable") == 0 ? PART_RUNNABLE : strcmp(reason, "Not seen") == 0 ? PART_UNSEEN : PART_WAIT;
}

DEFINE_COMPARE(compare_parts, struct run_part,
               ORDER_THEN(b->ms, a->ms, ORDER_THEN(a->kind, b->kind, ORDER(a->index, b->index))))

static int add_part(struct findings *findings, struct run_part part, struct error *err)
{
    findings->whole += part.ms;
    return part.ms > 0 && !array_push(&findings->parts, part) ? error_no_memory(err) : 0;
}

static int list_parts(struct findings *findings, struct run *run, struct error *err)
{
    struct func_timings libraries = {0};
    int code = engine_list_groups(run->engine, GROUP_LIBRARY, &libraries, err);
    for (size_t i = 0; !code && i < libraries.length; i++)
        code = add_part(findings, (struct run_part){PART_CPU, libraries.rows[i].func, libraries.rows[i].self}, err);
    for (size_t i = 0; !code && i < run->reasons.list.length; i++) {
        const struct wait_group *group = &run->reasons.list.data[i];
        const char *reason = get_wait_reason_name(run->engine, group->key);
        if (strcmp(reason, "Idle thread") != 0)
            code = add_part(findings, (struct run_part){get_part_kind(reason), group->key, group->total}, err);
    }
    func_timings_destroy(&libraries);
    if (!code && findings->parts.length)
        qsort(findings->parts.data, findings->parts.length, sizeof(*findings->parts.data), compare_parts);
    return code;
}

/* ---- threads without work ---- */

/* Returns how likely a wait for this reason lengthens the run. 0: no finding. */
static double get_importance(const char *reason)
{
    static const struct {
        const char *reason;
        double importance;
    } all[] = {{"Sleep", 0.9},         {"Disk", 1},
               {"Child", 0.9},         {"Mutex", 1},
               {"Read-write lock", 1}, {"Semaphore", 0.9},
               {"Page fault", 1},      {"Once", 1},
               {"Barrier", 0.9},       {"Lock", 0.9},
               {"Network", 0.4},       {"Pipe", 0.5},
               {"Future", 0.4},        {"Condition variable", 0.5}};
    for (size_t i = 0; i < sizeof(all) / sizeof(*all); i++)
        if (strcmp(all[i].reason, reason) == 0)
            return all[i].importance;
    return 0;
}

/* Whether threads may wait for work: for a signal or the next connection, or with condition variables, pipes and
 * sockets, and not in the first thread alone. */
static bool may_be_idle(const struct run *run, const struct wait_group *group, double importance)
{
    static const double least_of_locks = 0.9;
    bool is_first = group->threads == 1 && group->thread == run->engine->threads.data[0];
    const char *object = get_wait_object_name(run->engine, group);
    bool is_server = strcmp(object, "signal") == 0 || strstr(object, ", listening");
    return run->engine->threads.length > 1 && (is_server || (importance < least_of_locks && !is_first));
}

/* ---- the headline ---- */

/* Whether most waits of the run may be waits of threads without work. */
static bool may_be_idle_part(const struct run *run, const struct run_part *part)
{
    const struct wait_group *group = run->reasons.list.data;
    while (group < run->reasons.list.data + run->reasons.list.length && group->key != part->index)
        group++;
    double importance = get_importance(get_run_part_name(run->engine, part));
    return part->kind == PART_WAIT && importance > 0 && may_be_idle(run, group, importance);
}

/* Returns the name of the lock for which nearly all waits of a reason are, such as "mutex cache", or NULL. */
static const char *find_only_lock(const struct run *run, const struct run_part *part)
{
    static const double nearly_all = 0.8;
    for (size_t i = 0; i < run->objects.list.length; i++) {
        const struct wait_group *group = &run->objects.list.data[i];
        if (group->reason == part->index && group->total > nearly_all * part->ms)
            return get_wait_object_name(run->engine, group);
    }
    return NULL;
}

/* Writes what threads do most, for more than half of their time: ", mostly waits for mutex cache". */
static void write_verdict(const struct findings *findings, const struct run *run, char *out, size_t size)
{
    static const char *const phrases[][2] = {{"Sleep", "sleeps"},
                                             {"Join", "waits for other threads to end"},
                                             {"Child", "waits for child processes"},
                                             {"Disk", "waits for the disk"},
                                             {"Network", "waits for the network"},
                                             {"Page fault", "waits for pages from the disk"},
                                             {"Runnable", "runnable without a CPU"},
                                             {"Stopped", "stopped"},
                                             {"io_uring", "waits for io_uring"},
                                             {"Not seen", "short waits"}};
    const struct run_part *part = findings->parts.data;
    const char *name = findings->parts.length ? get_run_part_name(run->engine, part) : "", *phrase = NULL;
    out[0] = '\0';
    if (run->cpu > findings->whole / 2 && findings->parts.length && part->kind == PART_CPU && part->ms > run->cpu / 2 &&
        part->index != PROFILE_NONE)
        snprintf(out, size, ", mostly in %.*s (%.0f%% of CPU time)", utf8_cut(name, 100), name,
                 100 * part->ms / run->cpu);
    if (!findings->parts.length || part->kind == PART_CPU || part->ms <= findings->whole / 2 ||
        may_be_idle_part(run, part))
        return;
    for (size_t i = 0; i < sizeof(phrases) / sizeof(*phrases); i++)
        if (strcmp(phrases[i][0], name) == 0)
            phrase = phrases[i][1];
    char lower[64] = "waits for a ";
    size_t used = strlen(lower);
    for (size_t i = 0; name[i] && used + 1 < sizeof(lower); i++)
        lower[used++] = (char)tolower((unsigned char)name[i]);
    lower[used] = '\0';
    const char *lock = phrase ? NULL : find_only_lock(run, part);
    if (!phrase)
        phrase = lock ? lock : lower;
    snprintf(out, size, ", mostly %s%.*s (%.0f%% of %s time)", lock ? "waits for " : "", utf8_cut(phrase, 100), phrase,
             100 * part->ms / findings->whole, run->engine->threads.length == 1 ? "its" : "its threads'");
}

static int write_headline(struct findings *findings, const struct run *run, struct error *err)
{
    char cpu[QUANTITY_TEXT_MAX], wall[QUANTITY_TEXT_MAX], cpus[64] = "", verdict[256], text[768];
    uint32_t available = run->profile->meta.logical_cpus;
    double used = run->wall > 0 ? run->cpu / run->wall : 0;
    format_time(cpu, run->cpu);
    format_time(wall, run->wall);
    write_verdict(findings, run, verdict, sizeof(verdict));
    if (run->engine->threads.length > 1 && used > 1 && available > 1)
        snprintf(cpus, sizeof(cpus), "%.1f of %u CPUs", used, available);
    else
        snprintf(cpus, sizeof(cpus), "%.*f%%", used < 0.01 ? 1 : 0, 100 * used);
    snprintf(text, sizeof(text), "On CPU %s %s %s (%s)%s.", cpu, used > 1 ? "in" : "of", wall, cpus, verdict);
    return text_append(&findings->headline, text, strlen(text) + 1) ? 0 : error_no_memory(err);
}

/* ---- findings about waits ---- */

static int add_sentence(struct findings *findings, enum finding_kind kind, const struct bottleneck *bottleneck,
                        struct error *err)
{
    const struct finding finding = {
        .kind = kind, .weight = bottleneck->weight, .func = bottleneck->object, .thread = PROFILE_NONE};
    if (!bottleneck->sentence.length)
        return 0;
    return findings_add_sentence(findings, finding, err, "%.*s", (int)bottleneck->sentence.length,
                                 bottleneck->sentence.data);
}

static int add_bottlenecks(struct findings *findings, struct run *run, struct error *err)
{
    struct bottleneck path = {0}, waits = {0};
    int code = bottleneck_find_path(&path, run->engine, err);
    if (!code)
        code = bottleneck_find_object(&waits, run->engine, &run->objects, &path, err);
    run->named.path = path.object;
    run->named.waits = waits.object;
    bool is_same = path.sentence.length && waits.object == path.object;
    if (is_same)
        waits.weight = fmax(waits.weight, path.weight);
    if (!code && !(is_same && waits.has_holder))
        code = add_sentence(findings, FINDING_PATH, &path, err);
    if (!code && (!is_same || waits.has_holder))
        code = add_sentence(findings, FINDING_WAIT, &waits, err);
    bottleneck_destroy(&path);
    bottleneck_destroy(&waits);
    return code;
}

/* Returns the thread of another process with the most CPU time, or PROFILE_NONE. */
static uint32_t find_busiest_other_process(const struct run *run, uint32_t waiter)
{
    const struct profile *profile = run->profile;
    uint32_t busiest = PROFILE_NONE;
    double most = 0;
    for (size_t i = 0; i < run->engine->threads.length; i++) {
        uint32_t thread = run->engine->threads.data[i];
        double cpu = profile->threads.data[thread].pid == profile->threads.data[waiter].pid
                         ? 0
                         : engine_get_thread_total(run->engine, thread, WEIGH_CPU_TIME, TABLE_SAMPLES);
        busiest = cpu > most ? thread : busiest;
        most = fmax(most, cpu);
    }
    return busiest;
}

static int append_child(struct text_buffer *text, const struct run *run, uint32_t waiter, struct error *err)
{
    uint32_t busiest = find_busiest_other_process(run, waiter);
    char sentence[256], cpu[QUANTITY_TEXT_MAX];
    if (busiest == PROFILE_NONE)
        return 0;
    format_time(cpu, engine_get_thread_total(run->engine, busiest, WEIGH_CPU_TIME, TABLE_SAMPLES));
    const char *name = profile_thread_name(run->profile, busiest);
    snprintf(sentence, sizeof(sentence), " Process %.*s (%.20s) has the most CPU time of the others, %s.",
             utf8_cut(name, 80), name, profile_text(run->profile, run->profile->threads.data[busiest].pid), cpu);
    return text_append_z(text, sentence) ? 0 : error_no_memory(err);
}

static bool is_named(const struct run *run, const struct wait_group *group)
{
    return group->func == run->named.path || group->func == run->named.waits || group->func == run->named.other;
}

/* Adds the wait that explains most of the run and is no wait of a bottleneck. */
static int add_wait(struct findings *findings, struct run *run, struct error *err)
{
    const struct wait_group *best = NULL;
    double weight = 0;
    for (size_t i = 0; i < run->objects.list.length; i++) {
        const struct wait_group *group = &run->objects.list.data[i];
        const char *reason = get_wait_reason_name(run->engine, group->reason);
        bool is_child = strcmp(reason, "Child") == 0;
        bool ends_run = is_child && group->thread == run->engine->threads.data[0];
        double importance = get_importance(reason);
        double share = group->total / (ends_run ? run->wall : findings->whole) * importance;
        if (may_be_idle(run, group, importance) || group->total < least_share * findings->whole ||
            group->total < large * group->there || share <= weight || is_named(run, group) ||
            (is_child && group->threads > 1))
            continue; /* a tree of processes waits for the work of its children, which other findings explain */
        best = group;
        weight = share;
    }
    if (!best)
        return 0;
    run->named.other = best->func;
    struct bottleneck text = {.object = best->func, .weight = weight};
    int code = wait_group_append_sentence(&text.sentence, run->engine, best, err);
    if (!code && best->threads == 1 && strcmp(get_wait_reason_name(run->engine, best->reason), "Child") == 0)
        code = append_child(&text.sentence, run, best->thread, err);
    if (!code)
        code = add_sentence(findings, FINDING_WAIT, &text, err);
    bottleneck_destroy(&text);
    return code;
}

/* Returns the object for which threads wait longest, or NULL. Sleeps, short waits and the time without a CPU have no
 * object. Threads of runtimes without work have none, either. */
static const struct wait_group *find_main_object(const struct run *run)
{
    static const char *const without[] = {"Runnable", "Not seen", "Sleep", "Idle thread", "Not recorded", NULL};
    for (size_t i = 0; i < run->objects.list.length; i++)
        if (!is_wait_reason_in(run->engine, run->objects.list.data[i].reason, without))
            return &run->objects.list.data[i];
    return NULL;
}

static bool has_finding(const struct findings *findings, enum finding_kind kind)
{
    for (size_t i = 0; i < findings->list.length; i++)
        if (findings->list.data[i].kind == kind)
            return true;
    return false;
}

/* Adds the longest waits of a run with little CPU time also if the threads may wait for work. The finding about one
 * thread already has them. */
static int add_wait_for_work(struct findings *findings, const struct run *run, struct error *err)
{
    static const char *const reasons[] = {"Condition variable", "Pipe", "Future", "Park", NULL};
    static const double weight_of_idle = 0.9;
    const struct wait_group *group = find_main_object(run);
    if (!group || !is_wait_reason_in(run->engine, group->reason, reasons) || is_named(run, group) ||
        run->cpu > large * run->wall || has_finding(findings, FINDING_ONE_THREAD) ||
        group->total < least_share * findings->whole || group->total < large * group->there)
        return 0;
    struct bottleneck text = {.object = group->func, .weight = weight_of_idle * group->total / group->there};
    int code = wait_group_append_sentence(&text.sentence, run->engine, group, err);
    if (!code)
        code = add_sentence(findings, FINDING_WAIT, &text, err);
    bottleneck_destroy(&text);
    return code;
}

/* Waits of goroutines are in no profile of threads: a goroutine that waits leaves its thread without work. */
static int add_goroutines(struct findings *findings, const struct run *run, struct error *err)
{
    static const double mostly_busy = 0.5;
    double idle = 0;
    for (size_t i = 0; i < run->objects.list.length; i++) {
        const struct wait_group *group = &run->objects.list.data[i];
        const char *name = group->own_func == PROFILE_NONE
                               ? ""
                               : profile_text(run->profile, get_func_names(run->profile, group->own_func).name);
        bool is_idle = strcmp(get_wait_reason_name(run->engine, group->reason), "Idle thread") == 0;
        idle += is_idle && (starts_with(name, "runtime.") || starts_with(name, "internal/runtime")) ? group->total : 0;
    }
    const struct finding finding = {
        .kind = FINDING_GOROUTINES, .weight = 0.95, .func = PROFILE_NONE, .thread = PROFILE_NONE};
    if (idle < large * run->objects.totals.there || run->cpu > mostly_busy * run->wall)
        return 0;
    return findings_add_sentence(
        findings, finding, err,
        "Goroutines that wait are on no thread: Go's block and mutex profiles show their waits (go tool pprof).");
}

/* ---- findings about CPUs ---- */

static int add_runnable(struct findings *findings, const struct run *run, double relevance, struct error *err)
{
    double share = run->runnable / (run->cpu + run->runnable);
    uint32_t cpus = run->profile->meta.logical_cpus;
    const struct finding finding = {
        .kind = FINDING_RUNNABLE, .weight = share * relevance, .func = PROFILE_NONE, .thread = PROFILE_NONE};
    if (!cpus || !(share >= 0.2) || run->runnable < least_share * findings->whole)
        return 0;
    char text[QUANTITY_TEXT_MAX];
    format_time(text, run->runnable);
    return findings_add_sentence(
        findings, finding, err,
        "Threads are ready to run without a CPU for %.0f%% of their time (%s), and use %.1f of %u CPUs.",
        100 * run->runnable / findings->whole, text, run->cpu / run->wall, cpus);
}

/* A thread that has nearly all CPU time of its process, while the other threads of the process wait. */
static int add_one_thread(struct findings *findings, const struct run *run, double relevance, struct error *err)
{
    static const double nearly_all = 0.85, long_there = 0.5;
    const struct profile *profile = run->profile;
    uint32_t busiest = PROFILE_NONE, others = 0;
    double most = 0;
    for (size_t i = 0; i < run->engine->threads.length; i++) {
        double cpu = engine_get_thread_total(run->engine, run->engine->threads.data[i], WEIGH_CPU_TIME, TABLE_SAMPLES);
        busiest = cpu > most ? run->engine->threads.data[i] : busiest;
        most = fmax(most, cpu);
    }
    for (size_t i = 0; busiest != PROFILE_NONE && i < run->engine->threads.length; i++) {
        uint32_t thread = run->engine->threads.data[i];
        const struct thread_gaps gaps = find_sample_gaps(profile, thread);
        others += thread != busiest && profile->threads.data[thread].pid == profile->threads.data[busiest].pid &&
                  gaps.end - gaps.start > long_there * run->wall;
    }
    if (others < 2 || most < nearly_all * run->cpu || profile->meta.logical_cpus < 2 || relevance < large)
        return 0;
    const struct finding finding = {.kind = FINDING_ONE_THREAD,
                                    .weight = 0.9 * most / run->cpu * relevance,
                                    .func = PROFILE_NONE,
                                    .thread = busiest};
    const char *name = profile_thread_name(run->profile, busiest);
    const struct wait_group *group = find_main_object(run);
    bool has_object = group && group->total > (run->objects.totals.waited - run->objects.totals.runnable) / 2 &&
                      !is_named(run, group);
    struct text_buffer object = {0};
    int code = has_object ? wait_group_append_object(&object, run->engine, group, err) : 0;
    if (!code)
        code = findings_add_sentence(
            findings, finding, err, "One thread, %.*s (%.20s), has %.0f%% of the CPU time; %u others wait%s%.*s.",
            utf8_cut(name, 80), name, profile_text(profile, profile->threads.data[busiest].tid), 100 * most / run->cpu,
            others, object.length ? ", mostly for " : "", (int)object.length, object.length ? object.data : "");
    array_free(&object);
    return code;
}

/* Whether more processes than a program and the one that starts it could use several CPUs. */
static bool could_be_parallel(const struct run *run, const struct process_tree *tree)
{
    static const double nearly_all = 0.8, least_parallel = 0.05;
    enum { FEWEST_PROCESSES = 3 };
    const struct serial_part *serial = &tree->serial;
    double most = serial->process == PROFILE_NONE ? 0 : tree->processes.data[serial->process].cpu;
    return tree->processes.length >= FEWEST_PROCESSES && tree->alone > tree->idle &&
           (tree->parallel > least_parallel * run->wall || most < nearly_all * run->cpu);
}

/* The time of a build or a script in which one process runs at a time. */
static int add_serial_part(struct findings *findings, const struct run *run, struct time_range range, struct error *err)
{
    static const double least_part = 0.2;
    const struct engine *engine = run->engine;
    struct process_tree tree = {0};
    struct text_buffer text = {0};
    if (engine->threads.length < run->profile->threads.length || engine->is_searching ||
        engine->transforms.items.length || !(run->wall > 0) || !profile_has_processes(run->profile))
        return 0;
    int code = process_tree_make(&tree, run->profile, range, err);
    double share = (tree.serial.to - tree.serial.from) / run->wall;
    if (!code && share > least_part && could_be_parallel(run, &tree))
        code = process_tree_append_sentence(&text, &tree, run->profile, err);
    if (!code && text.length) {
        const struct finding finding = {
            .kind = FINDING_SERIAL_PART, .weight = 0.9 * share, .func = PROFILE_NONE, .thread = PROFILE_NONE};
        code = findings_add_sentence(findings, finding, err, "%.*s", (int)text.length, text.data);
    }
    array_free(&text);
    process_tree_destroy(&tree);
    return code;
}

static int add_lost(struct findings *findings, const struct run *run, struct error *err)
{
    double lost = 0;
    int code = count_lost_samples(run->profile, &lost, err);
    double share = lost / (lost + count_all_samples(run->profile));
    if (code || !(share >= 0.01))
        return code;
    const struct finding finding = {
        .kind = FINDING_LOST, .weight = fmin(1, 3 * share), .func = PROFILE_NONE, .thread = PROFILE_NONE};
    return findings_add_sentence(findings, finding, err, "%.1f%% of the samples were lost.", 100 * share);
}

/* ---- all ---- */

DEFINE_COMPARE(compare_findings, struct finding, ORDER_THEN(b->weight, a->weight, ORDER(a->kind, b->kind)))

static int find_of_times(struct findings *findings, struct run *run, struct error *err)
{
    int code = engine_group_waits(run->engine, WAITS_BY_REASON, &run->reasons, err);
    run->runnable = run->reasons.totals.runnable;
    if (!code)
        code = engine_group_waits(run->engine, WAITS_BY_OBJECT, &run->objects, err);
    if (!code)
        code = list_parts(findings, run, err);
    if (!code && !run->engine->is_searching && !run->engine->transforms.items.length)
        code = write_headline(findings, run, err);
    if (!code && engine_has_waits(run->engine))
        code = add_bottlenecks(findings, run, err);
    if (!code && engine_has_waits(run->engine))
        code = add_wait(findings, run, err);
    return code;
}

int findings_find_all(struct findings *findings, struct engine *engine, struct error *err)
{
    const struct profile *profile = engine_get_profile(engine);
    const struct time_range range = engine_get_queried_range(engine);
    struct run run = {.engine = engine,
                      .profile = profile,
                      .wall = range.to - range.from,
                      .cpu = engine_get_timings(engine)->root_total,
                      .named = {PROFILE_NONE, PROFILE_NONE, PROFILE_NONE}};
    bool has_times = engine->weight == WEIGH_CPU_TIME && !profile->meta.has_no_times;
    if (profile_is_comparison(profile) || !engine->threads.length)
        return 0;
    int code = has_times ? find_of_times(findings, &run, err) : 0;
    double relevance = has_times && run.wall > 0 ? fmin(1, (run.cpu + run.runnable) / run.wall) : 1;
    if (!code && has_times)
        code = add_runnable(findings, &run, relevance, err);
    if (!code && has_times)
        code = add_one_thread(findings, &run, relevance, err);
    if (!code && has_times && engine_has_waits(engine))
        code = add_wait_for_work(findings, &run, err);
    if (!code && has_times)
        code = add_serial_part(findings, &run, range, err);
    if (!code && has_times && engine_has_waits(engine))
        code = add_goroutines(findings, &run, err);
    if (!code)
        code = findings_add_cpu(findings, engine, relevance, err);
    if (!code)
        code = add_lost(findings, &run, err);
    if (findings->list.length)
        qsort(findings->list.data, findings->list.length, sizeof(*findings->list.data), compare_findings);
    wait_groups_destroy(&run.reasons);
    wait_groups_destroy(&run.objects);
    return code;
}

int findings_find_of_threads(struct findings *findings, const struct engine *engine, struct error *err)
{
    struct weight_list weights = {0};
    struct engine *all = engine_share(engine, err);
    int code = all ? list_weights(&weights, engine_get_profile(engine), err) : error_no_memory(err);
    if (!code && weights.length) {
        const struct tree_query query = {.threads = engine->threads.data,
                                         .thread_count = engine->threads.length,
                                         .range = engine->range,
                                         .search = "",
                                         .weight = weights.data[0].kind,
                                         .table = weights.data[0].table};
        code = engine_set_query(all, &query, err);
        if (!code)
            code = findings_find_all(findings, all, err);
    }
    array_free(&weights);
    engine_free(all);
    return code;
}
