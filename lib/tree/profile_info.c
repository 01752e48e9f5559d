#include "tree/profile_info.h"

#include "base/ascii.h"

#include "tree/value_text.h"
#include "tree/weights.h"

struct metadata_writer {
    struct metadata *metadata;
    struct arena *arena;
    const struct profile *profile;
    bool failed;
};

static void add_entry(struct metadata_writer *writer, const char *label, const char *value)
{
    const char *copy = arena_copy(writer->arena, value, strlen(value));
    if (!copy || !array_push(writer->metadata, (struct metadata_entry){label, copy}))
        writer->failed = true;
}

static void add_string(struct metadata_writer *writer, const char *label, uint32_t string)
{
    if (string < writer->profile->strings.entries.length && strings_text(&writer->profile->strings, string)[0])
        add_entry(writer, label, strings_text(&writer->profile->strings, string));
}

static const char *format_value(struct arena *arena, const struct profile *profile, const char *format,
                                const struct string_entry *json)
{
    struct value_context context = {.profile = profile};
    struct text_buffer text = {0};
    const char *copy = NULL;
    if (value_text_append(&text, &context, format, json->text, json->length))
        copy = arena_copy(arena, text.data ? text.data : "", text.length);
    array_free(&text);
    return copy;
}

int list_section_metadata(struct metadata *metadata, struct arena *arena, const struct profile *profile,
                          const struct extra_section *section, struct error *err)
{
    for (size_t i = 0; i < section->entries.length; i++) {
        const struct extra_entry *entry = &section->entries.data[i];
        const char *value = format_value(arena, profile, strings_text(&profile->strings, entry->format),
                                         &profile->strings.entries.data[entry->value]);
        if (!value ||
            !array_push(metadata, (struct metadata_entry){strings_text(&profile->strings, entry->label), value}))
            return error_no_memory(err);
    }
    return 0;
}

/* ---- the meta block of the profile ---- */

static void add_cores(struct metadata_writer *writer, const struct profile_meta *meta)
{
    char text[QUANTITY_TEXT_MAX];
    if (meta->physical_cpus && meta->logical_cpus)
        snprintf(text, sizeof(text), "%u physical, %u logical", meta->physical_cpus, meta->logical_cpus);
    else if (meta->physical_cpus || meta->logical_cpus)
        snprintf(text, sizeof(text), "%u", meta->physical_cpus ? meta->physical_cpus : meta->logical_cpus);
    else
        return;
    add_entry(writer, "Cores", text);
}

int list_profile_metadata(struct metadata *metadata, struct arena *arena, const struct profile *profile,
                          struct error *err)
{
    struct metadata_writer writer = {metadata, arena, profile, false};
    const struct profile_meta *meta = &profile->meta;
    char number[QUANTITY_TEXT_MAX];
    add_string(&writer, "Command", meta->arguments);
    add_string(&writer, "Imported from", meta->imported_from);
    add_string(&writer, "System", meta->os);
    add_string(&writer, "Platform", meta->platform);
    add_string(&writer, "ABI", meta->abi);
    add_string(&writer, "CPU", meta->cpu_name);
    add_cores(&writer, meta);
    if (meta->main_memory) {
        format_number(number, "bytes", (double)meta->main_memory);
        add_entry(&writer, "Memory", number);
    }
    add_string(&writer, "Versions", meta->misc);
    snprintf(number, sizeof(number), "%u", meta->version);
    add_entry(&writer, "File format", number);
    add_string(&writer, "Warning", meta->warning);
    return writer.failed ? error_no_memory(err) : 0;
}

/* ---- the metadata that the recorder wrote ---- */

int list_recording_metadata(struct metadata *metadata, struct arena *arena, const struct profile *profile,
                            struct error *err)
{
    int code = 0;
    for (size_t i = 0; !code && i < profile->meta.extra.length; i++)
        code = list_section_metadata(metadata, arena, profile, &profile->meta.extra.data[i], err);
    return code;
}

const char *find_metadata(const struct metadata *metadata, const char *const *labels)
{
    for (; *labels; labels++)
        for (size_t i = 0; i < metadata->length; i++)
            if (strcmp(metadata->data[i].label, *labels) == 0)
                return metadata->data[i].value;
    return NULL;
}

double parse_metadata_number(const char *value)
{
    double number = 0;
    for (; value && (is_digit(*value) || *value == ','); value++)
        if (*value != ',')
            number = 10 * number + (*value - '0');
    return number;
}

bool is_recorded_with_ptrace(const struct profile *profile)
{
    static const char *const labels[] = {"Event", NULL};
    struct metadata metadata = {0};
    struct arena arena = {0};
    struct error err;
    int code = list_recording_metadata(&metadata, &arena, profile, &err);
    const char *event = code ? NULL : find_metadata(&metadata, labels);
    bool is_ptrace = event && strcmp(event, "ptrace") == 0;
    array_free(&metadata);
    arena_destroy(&arena);
    return is_ptrace;
}

int count_lost_samples(const struct profile *profile, double *lost, struct error *err)
{
    static const char *const labels[] = {"Samples lost", NULL};
    struct arena arena = {0};
    struct metadata metadata = {0};
    int code = list_recording_metadata(&metadata, &arena, profile, err);
    *lost = code ? 0 : parse_metadata_number(find_metadata(&metadata, labels));
    array_free(&metadata);
    arena_destroy(&arena);
    return code;
}

struct address_counts count_symbolized_addresses(const struct profile *profile)
{
    struct address_counts counts = {0};
    const struct frame_table *frames = &profile->frames;
    for (size_t i = 0; i < frames->length; i++) {
        if (frames->address[i] < 0 || frames->inline_depth[i] > 0)
            continue;
        counts.all++;
        counts.resolved += !profile_is_address(strings_text(&profile->strings, profile->funcs.name[frames->func[i]]));
    }
    return counts;
}

struct unnamed_time {
    const struct profile *profile;
    double all, unnamed;
};

static void add_unnamed(void *context, uint32_t stack, double weight, unsigned count)
{
    struct unnamed_time *time = context;
    const struct profile *profile = time->profile;
    (void)count;
    if (stack >= profile->stacks.length)
        return;
    uint32_t func = profile->frames.func[profile->stacks.frame[stack]];
    time->all += weight;
    time->unnamed += profile_is_address(strings_text(&profile->strings, profile->funcs.name[func])) ? weight : 0;
}

double compute_unnamed_share(const struct profile *profile)
{
    struct unnamed_time time = {.profile = profile};
    const struct weighing weighing = {
        .range = whole_time, .weight = WEIGH_CPU_TIME, .table = TABLE_SAMPLES, .not_running = PROFILE_NONE};
    for (uint32_t i = 0; i < profile->threads.length; i++)
        weigh_thread(profile, &weighing, i, add_unnamed, &time);
    return time.all > 0 ? time.unnamed / time.all : 0;
}
