#include "assemble/facts.h"

#include "base/json_write.h"
#include "base/text_buffer.h"
#include "record/info.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

struct facts {
    struct profile *profile;
    const struct replay *replay;
    struct extra_section *section; /* the one being filled */
    bool failed;
};

static uint32_t add_text(struct facts *facts, const char *text)
{
    uint32_t index = strings_add_z(&facts->profile->strings, text);
    if (index == STRING_NONE)
        facts->failed = true;
    return index;
}

static uint32_t info_text(struct facts *facts, const char *name)
{
    const char *value = replay_info(facts->replay, name);
    return value && value[0] ? add_text(facts, value) : PROFILE_NONE;
}

/* ---- the machine ---- */

/* The value of the first line "key : value" of a /proc file. */
static bool read_proc_value(const char *path, const char *key, char *out, size_t size)
{
    FILE *file = fopen(path, "re");
    char line[512];
    bool found = false;
    while (file && !found && fgets(line, sizeof(line), file)) {
        char *separator = strpbrk(line, ":=");
        if (!separator || strncmp(line, key, strlen(key)) != 0)
            continue;
        const char *value = separator + 1 + strspn(separator + 1, " \t\"");
        snprintf(out, size, "%.*s", (int)strcspn(value, "\"\n"), value);
        found = true;
    }
    if (file)
        fclose(file);
    return found;
}

/* Cores, from the distinct (package, core) pairs that sysfs lists; 0 if it does not. */
static uint32_t count_cores(long processors)
{
    struct hash cores = {0};
    for (long cpu = 0; cpu < processors; cpu++) {
        char path[128];
        int package = -1, core = -1;
        snprintf(path, sizeof(path), "/sys/devices/system/cpu/cpu%ld/topology/physical_package_id", cpu);
        FILE *file = fopen(path, "re");
        if (file && fscanf(file, "%d", &package) != 1)
            package = -1;
        if (file)
            fclose(file);
        snprintf(path, sizeof(path), "/sys/devices/system/cpu/cpu%ld/topology/core_id", cpu);
        file = fopen(path, "re");
        if (file && fscanf(file, "%d", &core) != 1)
            core = -1;
        if (file)
            fclose(file);
        if (package >= 0 && core >= 0)
            hash_set(&cores, (uint64_t)package << 32 | (uint32_t)core, 1);
    }
    uint32_t count = (uint32_t)cores.length;
    hash_destroy(&cores);
    return count;
}

static void fill_machine(struct facts *facts)
{
    struct profile_meta *meta = &facts->profile->meta;
    struct utsname system;
    char release[256] = "Linux", text[1024];
    if (uname(&system) == 0) {
        read_proc_value("/etc/os-release", "PRETTY_NAME", release, sizeof(release));
        snprintf(text, sizeof(text), "%s (%s %s)", release, system.sysname, system.release);
        meta->os = add_text(facts, text);
        snprintf(text, sizeof(text), "%s-gcc3", system.machine);
        meta->abi = add_text(facts, text);
    }
    meta->platform = add_text(facts, "Linux");
    if (read_proc_value("/proc/cpuinfo", "model name", text, sizeof(text)))
        meta->cpu_name = add_text(facts, text);
    long processors = sysconf(_SC_NPROCESSORS_CONF), pages = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGESIZE);
    if (processors > 0) {
        meta->logical_cpus = (uint32_t)processors;
        meta->physical_cpus = count_cores(processors);
    }
    if (pages > 0 && page > 0)
        meta->main_memory = (uint64_t)pages * (uint64_t)page;
}

/* ---- sections of the info panel ---- */

static void start_section(struct facts *facts, const char *label)
{
    facts->section = array_push_zero(&facts->profile->meta.extra);
    if (facts->section)
        facts->section->label = add_text(facts, label);
    else
        facts->failed = true;
}

static void add_entry(struct facts *facts, const char *label, const char *format, const char *json)
{
    struct extra_entry entry = {
        .label = add_text(facts, label), .format = add_text(facts, format), .value = add_text(facts, json)};
    if (facts->failed || !array_push(&facts->section->entries, entry))
        facts->failed = true;
}

static void add_number(struct facts *facts, const char *label, const char *format, uint64_t value)
{
    char text[32];
    snprintf(text, sizeof(text), "%" PRIu64, value);
    add_entry(facts, label, format, text);
}

/* A part of a whole, written for people: "99.98 %" ("100 %" only if it is all). */
static void format_share(char *out, size_t size, uint64_t part, uint64_t whole)
{
    double percent = whole ? 100.0 * (double)part / (double)whole : 100.0;
    if (part != whole && percent > 99.99)
        percent = 99.99;
    snprintf(out, size, part == whole ? "%.0f %%" : "%.2f %%", percent);
}

/* The value of an entry is JSON text. */
static void add_string(struct facts *facts, const char *label, const char *value)
{
    struct text_buffer json = {0};
    struct byte_sink sink = text_sink(&json);
    struct json_writer *writer = malloc(sizeof(*writer));
    if (!writer) {
        facts->failed = true;
        return;
    }
    json_writer_init(writer, &sink, NULL);
    json_text_z(writer, value);
    if (json_writer_finish(writer) == 0 && text_append(&json, "", 1))
        add_entry(facts, label, "string", json.data);
    else
        facts->failed = true;
    free(writer);
    array_free(&json);
}

static void add_count_and_share(struct facts *facts, const char *label, uint64_t part, uint64_t whole)
{
    char share[32], text[96];
    format_share(share, sizeof(share), part, whole);
    snprintf(text, sizeof(text), "%" PRIu64 " (%s)", part, share);
    add_string(facts, label, text);
}

static void add_info_string(struct facts *facts, const char *label, const char *name)
{
    const char *value = replay_info(facts->replay, name);
    if (value && value[0])
        add_string(facts, label, value);
}

static void fill_recording_section(struct facts *facts)
{
    start_section(facts, "Recording");
    if (!facts->section)
        return;
    add_info_string(facts, "Recorded by", INFO_RECORDER);
    add_info_string(facts, "Event", INFO_EVENT);
    add_info_string(facts, "Sees", INFO_TIER);
    add_info_string(facts, "Not seen", INFO_TIER_NOTES);
    add_info_string(facts, "Target ended with", INFO_EXIT);
    add_number(facts, "Stack copied per sample", "bytes", replay_info_number(facts->replay, INFO_STACK_BYTES, 0));
}

/* How many stacks are cut, and why. */
static void add_cut_stacks(struct facts *facts, uint64_t cut)
{
    static const char *const reasons[][2] = {
        {INFO_CUT_STACK_SHORT, "deeper than what was copied of the stack"},
        {INFO_CUT_NO_RULE, "in code without unwinding information"},
        {INFO_CUT_NO_MODULE, "outside of any code"},
        {INFO_CUT_STUCK, "in a loop or damaged"},
        {INFO_CUT_TOO_DEEP, "deeper than 4096 frames"},
    };
    char text[512];
    int used = snprintf(text, sizeof(text), "%" PRIu64, cut);
    const char *separator = ": ";
    for (size_t i = 0; i < sizeof(reasons) / sizeof(reasons[0]); i++) {
        uint64_t count = replay_info_number(facts->replay, reasons[i][0], 0);
        if (!count)
            continue;
        used += snprintf(text + used, sizeof(text) - (size_t)used, "%s%" PRIu64 " %s", separator, count, reasons[i][1]);
        separator = ", ";
    }
    add_string(facts, "Stacks cut", text);
}

/* Code that belongs to no file has names only if its compiler was asked for them, which the user can do next time. */
static void add_compiled_code(struct facts *facts, const struct naming *naming)
{
    if (!naming->compiled)
        return;
    char share[32], text[160];
    uint64_t named = naming->compiled - naming->compiled_unnamed;
    format_share(share, sizeof(share), named, naming->compiled);
    snprintf(text, sizeof(text), "%" PRIu64 " of %" PRIu64 " (%s)%s", named, naming->compiled, share,
             naming->compiled_unnamed ? "; 'man prof-record' says how compilers are asked to name theirs" : "");
    add_string(facts, "Addresses in no file (JIT code) named", text);
}

/* "cc1, make and 3 more: no debug info, ...". */
static void add_problem(struct facts *facts, const struct naming *naming, size_t first)
{
    enum { NAMED = 5 };
    const struct strings *strings = &facts->profile->strings;
    const struct naming_problem *problems = naming->problems.data;
    uint32_t reason = problems[first].reason;
    char text[1024] = "";
    size_t length = 0, count = 0, libraries = 0;
    for (size_t i = first; i < naming->problems.length; i++)
        libraries += problems[i].reason == reason;
    for (size_t i = first; i < naming->problems.length && count < NAMED; i++) {
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
    add_string(facts, "Symbols", text);
}

/* One line for each reason. */
static void add_problems(struct facts *facts, const struct naming *naming)
{
    for (size_t i = 0; i < naming->problems.length; i++) {
        bool is_first = true;
        for (size_t k = 0; k < i && is_first; k++)
            is_first = naming->problems.data[k].reason != naming->problems.data[i].reason;
        if (is_first)
            add_problem(facts, naming, i);
    }
}

static void fill_trust_section(struct facts *facts, const struct naming *naming)
{
    const struct replay *replay = facts->replay;
    uint64_t cut = 0, topped_up = 0, by_frame_pointer = 0;
    for (size_t i = 0; i < replay->threads.length; i++) {
        cut += replay->threads.data[i].cut;
        topped_up += replay->threads.data[i].topped_up;
        by_frame_pointer += replay->threads.data[i].by_frame_pointer;
    }
    start_section(facts, "Trust");
    if (!facts->section)
        return;
    add_number(facts, "Samples", "integer", replay->sample_count);
    uint64_t expected = replay_info_number(replay, INFO_SAMPLES_EXPECTED, 0);
    if (expected)
        add_number(facts, "Samples asked for", "integer", expected);
    add_number(facts, "Samples lost", "integer", replay->lost);
    add_count_and_share(facts, "Stacks complete", replay->sample_count - cut, replay->sample_count);
    add_cut_stacks(facts, cut);
    add_number(facts, "Stacks completed from the live process", "integer", topped_up);
    add_number(facts, "Stacks with frames found by frame pointer", "integer", by_frame_pointer);
    add_count_and_share(facts, "Addresses named", naming->addresses - naming->unnamed, naming->addresses);
    add_compiled_code(facts, naming);
    if (replay->damaged_blocks)
        add_number(facts, "Damaged parts of the recording", "integer", replay->damaged_blocks);
    uint64_t recorder_cpu = replay_info_number(replay, INFO_RECORDER_CPU, 0);
    if (recorder_cpu) {
        char text[64];
        snprintf(text, sizeof(text), "%.3f s, %.1f µs a sample", (double)recorder_cpu / 1e9,
                 replay->sample_count ? (double)recorder_cpu / 1e3 / (double)replay->sample_count : 0.0);
        add_string(facts, "CPU time of the recorder", text);
    }
    uint64_t memory = replay_info_number(replay, INFO_RECORDER_MEMORY, 0);
    if (memory)
        add_number(facts, "Memory of the recorder", "bytes", memory);
    add_problems(facts, naming);
}

/* Threads whose stacks are worth less than those of the whole: the worst first is for the reader to see. */
static void fill_thread_section(struct facts *facts)
{
    enum { MOST_THREADS = 100 };
    const struct replay *replay = facts->replay;
    size_t listed = 0;
    for (size_t i = 0; i < replay->threads.length && listed < MOST_THREADS; i++) {
        const struct replay_thread *thread = &replay->threads.data[i];
        if (!thread->cut)
            continue;
        if (!listed++)
            start_section(facts, "Threads with cut stacks");
        if (facts->failed)
            return;
        char label[128];
        snprintf(label, sizeof(label), "%s (%" PRIu32 ")", strings_text(&replay->strings, thread->name), thread->tid);
        add_count_and_share(facts, label, thread->cut, thread->samples);
    }
}

int fill_facts(struct profile *profile, const struct replay *replay, const struct naming *naming, uint64_t start_ns,
               struct error *err)
{
    struct facts facts = {.profile = profile, .replay = replay};
    struct profile_meta *meta = &profile->meta;
    uint64_t monotonic = replay_info_number(replay, INFO_START_MONOTONIC, 0);
    uint64_t realtime = replay_info_number(replay, INFO_START_REALTIME, 0);
    *meta = (struct profile_meta){
        .version = PROFILE_VERSION,
        .interval = (double)replay_info_number(replay, INFO_INTERVAL, 1000000) / 1e6,
        .start_time = floor((double)(realtime + (start_ns - monotonic)) / 1e6),
        .product = info_text(&facts, INFO_PRODUCT),
        .arguments = info_text(&facts, INFO_COMMAND),
        .imported_from = PROFILE_NONE,
        .misc = PROFILE_NONE,
        .os = PROFILE_NONE,
        .abi = PROFILE_NONE,
        .platform = PROFILE_NONE,
        .cpu_name = PROFILE_NONE,
        .marker_schema = PROFILE_NONE,
        .symbolicated = 1,
        .has_cpu_delta = true,
        .monotonic_start_ns = start_ns,
        .profiling_start = 0,
    };
    uint64_t end = replay_info_number(replay, INFO_END_MONOTONIC, 0);
    if (end <= start_ns)
        end = replay->last_time;
    if (end > start_ns)
        meta->profiling_end = (double)(end - start_ns) / 1e6;
    if (meta->product == PROFILE_NONE)
        meta->product = add_text(&facts, "prof");
    fill_machine(&facts);
    fill_recording_section(&facts);
    fill_trust_section(&facts, naming);
    fill_thread_section(&facts);
    return facts.failed ? error_no_memory(err) : 0;
}
