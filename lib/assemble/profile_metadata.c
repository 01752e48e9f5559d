#include "assemble/profile_metadata.h"

#include "assemble/replay_events.h"
#include "base/json_write.h"
#include "base/text_buffer.h"
#include "os/clock.h"
#include "spool/info.h"
#include "unwind/unwind.h"

#include <time.h>

struct metadata {
    struct profile *profile;
    const struct replay *replay;
    struct extra_section *section; /* the section being filled */
    struct metadata_listener listener;
    bool is_about_quality; /* the section is about data quality, which options.trust receives too */
    bool failed;
};

static uint32_t add_text(struct metadata *metadata, const char *text)
{
    uint32_t index = strings_add_z(&metadata->profile->strings, text);
    if (index == STRING_NONE)
        metadata->failed = true;
    return index;
}

static uint32_t add_info_text(struct metadata *metadata, const char *name)
{
    const char *value = replay_get_info(metadata->replay, name);
    return value && value[0] ? add_text(metadata, value) : PROFILE_NONE;
}

/* ---- the machine ---- */

static void fill_machine(struct metadata *metadata)
{
    struct profile_meta *meta = &metadata->profile->meta;
    const char *machine = replay_get_info(metadata->replay, INFO_MACHINE);
    char abi[128];
    meta->os = add_info_text(metadata, INFO_SYSTEM);
    if (machine) {
        snprintf(abi, sizeof(abi), "%s-gcc3", machine);
        meta->abi = add_text(metadata, abi);
    }
    meta->platform = add_text(metadata, "Linux");
    meta->cpu_name = add_info_text(metadata, INFO_CPU_NAME);
    meta->logical_cpus = (uint32_t)replay_get_info_number(metadata->replay, INFO_CPUS, 0);
    meta->physical_cpus = (uint32_t)replay_get_info_number(metadata->replay, INFO_CORES, 0);
    meta->main_memory = replay_get_info_number(metadata->replay, INFO_MEMORY, 0);
}

/* ---- sections of the info panel ---- */

static void start_section(struct metadata *metadata, const char *label)
{
    metadata->section = array_push_zero(&metadata->profile->meta.extra);
    if (metadata->section)
        metadata->section->label = add_text(metadata, label);
    else
        metadata->failed = true;
}

static void add_entry(struct metadata *metadata, const char *label, const char *format, const char *json)
{
    struct extra_entry entry = {
        .label = add_text(metadata, label), .format = add_text(metadata, format), .value = add_text(metadata, json)};
    if (metadata->failed || !array_push(&metadata->section->entries, entry))
        metadata->failed = true;
}

static void report_entry(struct metadata *metadata, const char *label, const char *format, const char *value)
{
    if (metadata->is_about_quality && metadata->listener.receive)
        metadata->listener.receive(metadata->listener.context, label, format, value);
}

static void add_number(struct metadata *metadata, const char *label, const char *format, uint64_t value)
{
    char text[32];
    snprintf(text, sizeof(text), "%" PRIu64, value);
    report_entry(metadata, label, format, text);
    add_entry(metadata, label, format, text);
}

/* Formats a percentage such as "99.98 %", and "100 %" only if part == whole. */
static void format_share(char *out, size_t size, uint64_t part, uint64_t whole)
{
    double percent = whole ? 100.0 * (double)part / (double)whole : 100.0;
    if (part != whole && percent > 99.99)
        percent = 99.99;
    snprintf(out, size, part == whole ? "%.0f %%" : "%.2f %%", percent);
}

/* Adds an entry with a text value, as JSON text. */
static void add_string(struct metadata *metadata, const char *label, const char *value)
{
    struct text_buffer json = {0};
    struct byte_sink sink = text_sink(&json);
    struct json_writer *writer = malloc(sizeof(*writer));
    report_entry(metadata, label, "string", value);
    if (!writer) {
        metadata->failed = true;
        return;
    }
    json_writer_init(writer, &sink, NULL);
    json_text_z(writer, value);
    if (json_writer_finish(writer) == 0 && text_append(&json, "", 1))
        add_entry(metadata, label, "string", json.data);
    else
        metadata->failed = true;
    free(writer);
    array_free(&json);
}

static void add_count_and_share(struct metadata *metadata, const char *label, uint64_t part, uint64_t whole)
{
    char share[32], text[96];
    if (!whole) /* no value for "0 of 0" */
        return;
    format_share(share, sizeof(share), part, whole);
    snprintf(text, sizeof(text), "%" PRIu64 " (%s)", part, share);
    add_string(metadata, label, text);
}

static void add_info_string(struct metadata *metadata, const char *label, const char *name)
{
    const char *value = replay_get_info(metadata->replay, name);
    if (value && value[0])
        add_string(metadata, label, value);
}

static void fill_recording_section(struct metadata *metadata)
{
    start_section(metadata, "Recording");
    if (!metadata->section)
        return;
    add_info_string(metadata, "Recorded by", INFO_RECORDER);
    add_info_string(metadata, "Event", INFO_EVENT);
    add_info_string(metadata, "Scope", INFO_TIER);
    add_info_string(metadata, "Processes", INFO_SCOPE);
    add_info_string(metadata, "Filters", INFO_FILTERS);
    add_info_string(metadata, "Not recorded", INFO_TIER_NOTES);
    if (replay_get_info(metadata->replay, INFO_END_MONOTONIC))
        add_info_string(metadata, "Exit status", INFO_EXIT);
    else
        add_string(metadata, "Exit status",
                   metadata->replay->spool.is_running ? "still running" : "unknown: the recording did not finish");
    if (metadata->replay->spool.keeps_last)
        add_string(metadata, "Part", "only the newest samples (--last)");
    if (replay_get_info(metadata->replay, INFO_STACK_BYTES)) /* perf's call chains have no stack copies */
        add_number(metadata, "Stack copied per sample", "bytes",
                   replay_get_info_number(metadata->replay, INFO_STACK_BYTES, 0));
}

/* Adds the wall-clock time of the profile's time 0, and its CLOCK_MONOTONIC time, for a program's own time stamps. */
static void add_zero_time(struct metadata *metadata, uint64_t start_ns)
{
    uint64_t realtime = replay_convert_to_realtime(metadata->replay, start_ns);
    time_t seconds = (time_t)(realtime / SECOND);
    struct tm utc;
    const char *clock = replay_get_info(metadata->replay, INFO_CLOCK);
    char date[64], text[160];
    if (!realtime || !gmtime_r(&seconds, &utc) || !strftime(date, sizeof(date), "%Y-%m-%d %H:%M:%S", &utc))
        return;
    snprintf(text, sizeof(text), "%s.%09" PRIu64 " UTC; %.32s %" PRIu64 ".%09" PRIu64 " s", date, realtime % SECOND,
             clock ? clock : "CLOCK_MONOTONIC", start_ns / SECOND, start_ns % SECOND);
    add_string(metadata, "Time origin", text);
}

/* Fills the section with the environment, which a user needs to repeat the recording. */
static void fill_environment_section(struct metadata *metadata, uint64_t start_ns)
{
    static const struct {
        const char *label, *name;
    } known[] = {{"Options of prof record", INFO_OPTIONS},
                 {"Options of perf record", INFO_PERF_OPTIONS},
                 {"Directory", INFO_DIRECTORY},
                 {"Host", INFO_HOST},
                 {"Kernel", INFO_KERNEL},
                 {"CPU frequency", INFO_FREQUENCY},
                 {"NUMA nodes", INFO_NUMA_NODES},
                 {"CPUs allowed", INFO_CPUS_ALLOWED},
                 {"Virtual machine", INFO_HYPERVISOR},
                 {"Container", INFO_CONTAINER},
                 {"Counters", INFO_COUNTERS}};
    const struct replay *replay = metadata->replay;
    char label[256];
    start_section(metadata, "Environment");
    if (!metadata->section)
        return;
    add_zero_time(metadata, start_ns);
    for (size_t i = 0; i < sizeof(known) / sizeof(*known); i++)
        add_info_string(metadata, known[i].label, known[i].name);
    for (size_t i = 0; i < replay->infos.items.length; i++) {
        const char *name = strings_text(&replay->strings, replay->infos.items.data[i].name);
        if (strncmp(name, INFO_VARIABLE, strlen(INFO_VARIABLE)) != 0)
            continue;
        snprintf(label, sizeof(label), "Variable %s", name + strlen(INFO_VARIABLE));
        add_string(metadata, label, strings_text(&replay->strings, replay->infos.items.data[i].value));
    }
}

/* Adds the truncated stacks: "3 (2 deeper than 64 KiB, 1 outside of any code)"; "2 (deeper than 64 KiB)" if all have
 * the same reason. */
static void add_truncated_stacks(struct metadata *metadata, uint64_t truncated)
{
    char text[1024], name[64];
    int used = snprintf(text, sizeof(text), "%" PRIu64, truncated);
    size_t reasons = 0;
    for (size_t i = 0; i < UNWIND_ENDS; i++) {
        snprintf(name, sizeof(name), INFO_TRUNCATED "%s", unwind_ends[i].key);
        uint64_t count = replay_get_info_number(metadata->replay, name, 0);
        if (!count || metadata->replay->spool.keeps_last)
            continue;
        used += snprintf(text + used, sizeof(text) - (size_t)used, "%s", reasons++ ? "; " : " (");
        if (count < truncated)
            used += snprintf(text + used, sizeof(text) - (size_t)used, "%" PRIu64 " ", count);
        used += snprintf(text + used, sizeof(text) - (size_t)used, "%s", unwind_ends[i].reason);
    }
    if (reasons)
        snprintf(text + used, sizeof(text) - (size_t)used, ")");
    add_string(metadata, "Stacks truncated", text);
}

/* Adds the JIT code without symbols. Only the user can enable symbols in the JIT compiler, so the value has the
 * instructions. */
static void add_jit_code(struct metadata *metadata, const struct symbolization *symbolization)
{
    if (!symbolization->jit_addresses)
        return;
    char share[32], text[160];
    uint64_t named = symbolization->jit_addresses - symbolization->jit_unnamed;
    format_share(share, sizeof(share), named, symbolization->jit_addresses);
    snprintf(text, sizeof(text), "%" PRIu64 " of %" PRIu64 " (%s)%s", named, symbolization->jit_addresses, share,
             symbolization->jit_unnamed ? "; 'man prof-record' describes how JIT compilers can name the rest" : "");
    add_string(metadata, "JIT addresses resolved", text);
}

/* Adds the libraries with the same problem: "cc1, make and 3 more: no debug info, ...". */
static void add_problem(struct metadata *metadata, const struct symbolization *symbolization, size_t first)
{
    enum { NAMED = 5 };
    const struct strings *strings = &metadata->profile->strings;
    const struct symbolization_problem *problems = symbolization->problems.data;
    uint32_t reason = problems[first].reason;
    char text[1024] = "";
    size_t length = 0, count = 0, libraries = 0;
    for (size_t i = first; i < symbolization->problems.length; i++)
        libraries += problems[i].reason == reason;
    for (size_t i = first; i < symbolization->problems.length && count < NAMED; i++) {
        if (problems[i].reason != reason || length >= sizeof(text))
            continue;
        const char *joint = !count ? "" : count + 1 == libraries ? " and " : ", ";
        length += (size_t)snprintf(text + length, sizeof(text) - length, "%s%.64s", joint,
                                   strings_text(strings, problems[i].library));
        count++;
    }
    if (libraries > count)
        length += (size_t)snprintf(text + length, sizeof(text) - length, " and %zu more", libraries - count);
    snprintf(text + length, sizeof(text) - length, ": %s", strings_text(strings, reason));
    add_string(metadata, "Symbols", text);
}

/* Adds one entry per reason for missing symbols. */
static void add_problems(struct metadata *metadata, const struct symbolization *symbolization)
{
    for (size_t i = 0; i < symbolization->problems.length; i++) {
        bool is_first = true;
        for (size_t k = 0; k < i && is_first; k++)
            is_first = symbolization->problems.data[k].reason != symbolization->problems.data[i].reason;
        if (is_first)
            add_problem(metadata, symbolization, i);
    }
}

/* Formats "12, of which 3 truncated, 2 lost", without parts of 0. `text` must be large enough for all parts. */
static void format_parts(char *text, size_t size, uint64_t whole, const uint64_t *counts, const char *const *names,
                         size_t parts)
{
    int length = snprintf(text, size, "%" PRIu64, whole);
    for (size_t i = 0, listed = 0; i < parts; i++)
        if (counts[i])
            length += snprintf(text + length, size - (size_t)length, "%s%" PRIu64 " %s",
                               listed++ ? ", " : ", of which ", counts[i], names[i]);
}

/* Adds the CPU time that samples cover, the number of requested samples, and the reasons for the difference. */
static void add_coverage(struct metadata *metadata, const struct trust *trust)
{
    const struct replay *replay = metadata->replay;
    uint64_t covered = replay->cpu_time.covered, used = replay_get_info_number(replay, INFO_CPU_TIME, 0);
    if (replay->spool.keeps_last || replay_has_only_events(replay))
        return;
    uint64_t interval = replay->infos.interval;
    char share[32], text[512];
    if (used && !replay->spool.damaged_blocks && !replay->samples.without_thread) {
        covered = covered < used ? covered : used;
        format_share(share, sizeof(share), covered, used);
        snprintf(text, sizeof(text), "%s (%.3f of %.3f s)%s", share, (double)covered / 1e9, (double)used / 1e9,
                 covered < used ? "; the rest is shown as (not sampled)" : "");
        add_string(metadata, "CPU time covered by samples", text);
    }
    if (used < covered)
        used = covered;
    uint64_t requested = trust->all.requested, received = replay->samples.count;
    if (requested <= received)
        return;
    uint64_t missing = requested - received;
    uint64_t lost = replay->samples.lost < missing ? replay->samples.lost : missing;
    uint64_t uncovered = (used - covered) / interval < missing - lost ? (used - covered) / interval : missing - lost;
    uint64_t unseen = replay->cpu_time.unseen / interval < uncovered ? replay->cpu_time.unseen / interval : uncovered;
    const uint64_t counts[] = {uncovered - unseen, unseen, lost, missing - lost - uncovered};
    static const char *const reasons[] = {"in threads that ended before their next sample",
                                          "in the kernel while it switched between threads or ended them",
                                          "lost because the kernel's buffers were full",
                                          "merged into the next sample, because the timer fired late or in the kernel"};
    format_parts(text, sizeof(text), requested, counts, reasons, sizeof(counts) / sizeof(*counts));
    add_string(metadata, "Samples requested", text);
}

/* Adds the number of waits: "1,234, of which 3 with a truncated stack, 2 without a stack". A recovered recording has no
 * such counts. */
static void add_waits(struct metadata *metadata)
{
    const struct replay *replay = metadata->replay;
    const uint64_t counts[] = {replay_get_info_number(replay, INFO_WAITS_TRUNCATED, 0),
                               replay_get_info_number(replay, INFO_WAITS_WITHOUT_STACK, 0)};
    static const char *const what[] = {"with a truncated stack", "without a stack"};
    char text[256];
    uint64_t looks = replay_get_info_number(replay, INFO_WAIT_CHECK_INTERVAL, 0);
    if (!replay->samples.waits)
        return;
    format_parts(text, sizeof(text), replay->samples.waits, counts, what, sizeof(counts) / sizeof(*counts));
    size_t used = strlen(text);
    if (looks)
        snprintf(text + used, sizeof(text) - used,
                 "; prof read the state of each thread every %.3g ms, so shorter waits are merged",
                 (double)looks / 1e6);
    add_string(metadata, "Waits", text);
}

/* Adds the counts of events: "5,012 in 5,012 samples, of which 3 with a truncated stack, 2 lost". A recovered recording
 * has no count of losses. */
static void add_events(struct metadata *metadata)
{
    const struct replay *replay = metadata->replay;
    for (size_t i = 0; i < replay->events.length; i++) {
        const struct replay_event *event = &replay->events.data[i];
        const char *name = replay_get_event_name(replay, i);
        uint64_t period = replay_get_event_number(replay, INFO_EVENT_PERIOD, i);
        uint64_t lost = replay_get_event_number(replay, INFO_EVENT_LOST, i);
        uint64_t throttled = replay_get_event_number(replay, INFO_EVENT_THROTTLED, i);
        char label[160], text[256];
        snprintf(label, sizeof(label), "Event %.140s", name ? name : "?");
        int length = snprintf(text, sizeof(text), "%.0f in %" PRIu64 " sample%s", replay_get_event_total(replay, i),
                              event->samples, event->samples == 1 ? "" : "s");
        if (period > 1)
            length += snprintf(text + length, sizeof(text) - (size_t)length, ", one for %" PRIu64, period);
        uint64_t count = replay_get_event_number(replay, INFO_EVENT_COUNT, i);
        if (count > event->total && period)
            length += snprintf(text + length, sizeof(text) - (size_t)length, ", of %" PRIu64 " events", count);
        if (event->truncated)
            length += snprintf(text + length, sizeof(text) - (size_t)length, ", %" PRIu64 " with a truncated stack",
                               event->truncated);
        if (lost)
            length += snprintf(text + length, sizeof(text) - (size_t)length, ", %" PRIu64 " lost", lost);
        if (throttled)
            snprintf(text + length, sizeof(text) - (size_t)length,
                     ", throttled %llu time%s by the kernel (kernel.perf_event_max_sample_rate)",
                     (unsigned long long)throttled, throttled == 1 ? "" : "s");
        add_string(metadata, label, text);
    }
}

static uint64_t count_samples(const struct replay *replay)
{
    uint64_t count = replay->samples.count;
    for (size_t i = 0; i < replay->events.length; i++)
        count += replay->events.data[i].samples;
    return count;
}

/* Adds the libraries of samples without symbols: "libLLVM-14.so.1 1,234, libc.so.6 5 and 3 more". */
static void add_unnamed_libraries(struct metadata *metadata, const struct symbolization *symbolization)
{
    enum { LISTED = 5 };
    char text[512] = "";
    size_t used = 0, count = 0;
    for (size_t i = 0; i < symbolization->missing_symbols.length; i++) {
        const struct missing_symbols *missing = &symbolization->missing_symbols.data[i];
        if (!missing->samples || count++ >= LISTED)
            continue;
        used += (size_t)snprintf(text + used, sizeof(text) - used, "%s%.64s %" PRIu64, used ? ", " : "",
                                 strings_text(&metadata->profile->strings, missing->library), missing->samples);
    }
    if (count > LISTED)
        snprintf(text + used, sizeof(text) - used, " and %zu more", count - LISTED);
    if (count)
        add_string(metadata, "Samples without symbols, by library", text);
}

static void add_python(struct metadata *metadata)
{
    const struct replay *replay = metadata->replay;
    uint64_t samples = replay_get_info_number(replay, INFO_PYTHON_SAMPLES, 0);
    uint64_t read = replay_get_info_number(replay, INFO_PYTHON_READ, 0);
    uint64_t late = replay_get_info_number(replay, INFO_PYTHON_LATE, 0);
    if (!samples || read > samples || late > samples - read)
        return;
    add_count_and_share(metadata, "Python samples with their Python frames", read, samples);
    if (late)
        add_number(metadata, "Samples without Python frames, because the thread continued", "integer", late);
    if (samples - read - late)
        add_number(metadata, "Samples without Python frames, because the interpreter changed them", "integer",
                   samples - read - late);
}

static void fill_trust_section(struct metadata *metadata, const struct metadata_source *source)
{
    const struct replay *replay = metadata->replay;
    const struct symbolization *symbolization = source->symbolization;
    const struct hints *hints = source->hints;
    const struct trust_counts *all = &source->trust->all;
    start_section(metadata, "Data quality");
    if (!metadata->section)
        return;
    for (size_t i = 0; i < hints->count; i++)
        add_string(metadata, "Hint", hints->text[i]);
    add_info_string(metadata, "Limit reached", INFO_LIMITS);
    add_number(metadata, "Samples", "integer", replay->samples.count);
    add_coverage(metadata, source->trust);
    uint64_t left_out = replay_get_info_number(replay, INFO_EXCLUDED_SAMPLES, 0);
    if (left_out)
        add_number(metadata, "Samples excluded by --thread", "integer", left_out);
    add_number(metadata, "Samples lost", "integer", replay->samples.lost);
    uint64_t throttled = replay_get_info_number(replay, INFO_THROTTLED, 0);
    if (throttled)
        add_number(metadata, "Times the kernel throttled sampling", "integer", throttled);
    add_events(metadata);
    add_count_and_share(metadata, "Stacks complete", replay->samples.count - all->truncated, replay->samples.count);
    if (replay->samples.count)
        add_truncated_stacks(metadata, all->truncated);
    if (replay->stacks.omitted_stacks) {
        char text[128];
        _Static_assert((int)CHUNK_MAX_FRAMES == 4096, "the text of the metadata contains this number");
        snprintf(text, sizeof(text), "%llu, from the middle of %llu stacks deeper than 4,096 frames",
                 (unsigned long long)replay->stacks.omitted_frames, (unsigned long long)replay->stacks.omitted_stacks);
        add_string(metadata, "Frames omitted", text);
    }
    add_number(metadata, "Stacks completed from the live process", "integer", all->completed_live);
    add_waits(metadata);
    add_python(metadata);
    if (replay_get_info_number(metadata->replay, INFO_BY_LIBUNWIND, 0))
        add_number(metadata, "Stacks completed by libunwind", "integer",
                   replay_get_info_number(metadata->replay, INFO_BY_LIBUNWIND, 0));
    add_number(metadata, "Stacks unwound without unwind information", "integer", all->without_cfi);
    if (all->unnamed)
        add_count_and_share(metadata, "Samples without symbols", all->unnamed, all->samples);
    add_unnamed_libraries(metadata, symbolization);
    add_count_and_share(metadata, "Addresses resolved", symbolization->addresses - symbolization->unnamed,
                        symbolization->addresses);
    add_jit_code(metadata, symbolization);
    if (replay->spool.damaged_blocks)
        add_number(metadata, "Damaged parts of the recording", "integer", replay->spool.damaged_blocks);
    if (replay->samples.without_thread)
        add_number(metadata, "Samples of threads whose description is damaged", "integer",
                   replay->samples.without_thread);
    uint64_t recorder_cpu = replay_get_info_number(replay, INFO_RECORDER_CPU, 0);
    if (recorder_cpu) {
        char text[96];
        uint64_t wall = replay_get_wall_time(replay), all_samples = count_samples(replay);
        int length = snprintf(text, sizeof(text), "%.3f s", (double)recorder_cpu / 1e9);
        if (wall && all_samples)
            snprintf(text + length, sizeof(text) - (size_t)length, " (%.2f %% of one CPU, %.1f µs a sample)",
                     100 * (double)recorder_cpu / (double)wall, (double)recorder_cpu / 1e3 / (double)all_samples);
        else if (wall)
            snprintf(text + length, sizeof(text) - (size_t)length, " (%.2f %% of one CPU)",
                     100 * (double)recorder_cpu / (double)wall);
        add_string(metadata, "CPU time of the recorder", text);
    }
    uint64_t memory = replay_get_info_number(replay, INFO_RECORDER_MEMORY, 0);
    if (memory)
        add_number(metadata, "Memory of the recorder", "bytes", memory);
    add_problems(metadata, symbolization);
}

/* "997 samples of 1000 requested; stacks 99.10 % complete, 12 completed from the live process, 9 truncated". Parts of 0
 * are left out. */
static void describe_counts(const struct trust_counts *counts, char *text, size_t size)
{
    char share[32];
    const uint64_t parts[] = {counts->completed_live, counts->truncated, counts->without_cfi};
    static const char *const what[] = {"completed from the live process", "truncated",
                                       "unwound without unwind information"};
    int length = snprintf(text, size, "%" PRIu64 " sample%s", counts->samples, counts->samples == 1 ? "" : "s");
    if (counts->requested > counts->samples)
        length += snprintf(text + length, size - (size_t)length, " of %" PRIu64 " requested", counts->requested);
    format_share(share, sizeof(share), counts->samples - counts->truncated, counts->samples);
    length += snprintf(text + length, size - (size_t)length, "; stacks %s complete", share);
    for (size_t i = 0; i < sizeof(parts) / sizeof(*parts); i++)
        if (parts[i])
            length += snprintf(text + length, size - (size_t)length, ", %" PRIu64 " %s", parts[i], what[i]);
    if (counts->unnamed)
        snprintf(text + length, size - (size_t)length, "; %" PRIu64 " sample%s without symbols", counts->unnamed,
                 counts->unnamed == 1 ? "" : "s");
}

/* Fills the section with the data quality of threads: a small share of all samples may be most samples of a thread. */
static void fill_thread_section(struct metadata *metadata, const struct trust *trust)
{
    const struct replay *replay = metadata->replay;
    char label[128], text[320];
    if (!trust->threads.length)
        return;
    start_section(metadata, "Data quality, by thread");
    for (size_t i = 0; i < trust->threads.length && !metadata->failed; i++) {
        const struct replay_thread *thread = &replay->threads.data[trust->threads.data[i].thread];
        snprintf(label, sizeof(label), "%s (%" PRIu32 ")", strings_text(&replay->strings, thread->name), thread->tid);
        describe_counts(&trust->threads.data[i].counts, text, sizeof(text));
        add_string(metadata, label, text);
    }
    if (trust->others && !metadata->failed) {
        snprintf(text, sizeof(text), "%zu with fewer samples each", trust->others);
        add_string(metadata, "Other threads", text);
    }
}

int fill_metadata(struct profile *profile, const struct metadata_source *source, struct error *err)
{
    const struct replay *replay = source->replay;
    const uint64_t start_ns = source->start_ns;
    struct metadata metadata = {.profile = profile, .replay = replay, .listener = source->listener};
    struct profile_meta *meta = &profile->meta;
    uint64_t monotonic = replay_get_info_number(replay, INFO_START_MONOTONIC, 0);
    uint64_t realtime = replay_get_info_number(replay, INFO_START_REALTIME, 0);
    *meta = (struct profile_meta){
        .version = PROFILE_VERSION,
        .interval = (double)replay_get_info_number(replay, INFO_INTERVAL, 1000000) / 1e6,
        .start_time = floor((double)(realtime + (start_ns - monotonic)) / 1e6),
        .product = add_info_text(&metadata, INFO_PRODUCT),
        .arguments = add_info_text(&metadata, INFO_COMMAND),
        .imported_from = PROFILE_NONE,
        .misc = PROFILE_NONE,
        .os = PROFILE_NONE,
        .abi = PROFILE_NONE,
        .platform = PROFILE_NONE,
        .cpu_name = PROFILE_NONE,
        .marker_schema = PROFILE_NONE,
        .symbolicated = 1,
        .has_cpu_delta = replay_get_info_number(replay, INFO_NO_CPU_TIME, 0) == 0,
        .monotonic_start_ns = start_ns,
        .profiling_start = source->range_start,
    };
    uint64_t end = replay_get_info_number(replay, INFO_END_MONOTONIC, 0);
    if (end <= start_ns)
        end = replay->range.last;
    if (end > start_ns)
        meta->profiling_end = (double)(end - start_ns) / 1e6;
    if (meta->product == PROFILE_NONE)
        meta->product = add_text(&metadata, "prof");
    fill_machine(&metadata);
    fill_recording_section(&metadata);
    fill_environment_section(&metadata, start_ns);
    metadata.is_about_quality = true;
    fill_trust_section(&metadata, source);
    fill_thread_section(&metadata, source->trust);
    return metadata.failed ? error_no_memory(err) : 0;
}

int metadata_add_omitted(struct profile *profile, size_t counters, size_t markers, struct error *err)
{
    struct metadata metadata = {.profile = profile, .section = profile->meta.extra.data};
    char text[160];
    if (markers) {
        snprintf(text, sizeof(text), "%zu of the later markers of processes, threads and libraries", markers);
        add_string(&metadata, "Markers omitted", text);
    }
    if (counters) {
        snprintf(text, sizeof(text), "%zu of the later counters of processes", counters);
        add_string(&metadata, "Counters omitted", text);
    }
    return metadata.failed ? error_no_memory(err) : 0;
}
