#include "profile/notes.h"

#include "base/json.h"

#include <stdio.h>

static const char SECTION[] = "Notes";

bool is_notes_section(const struct profile *profile, const struct extra_section *section)
{
    return strcmp(profile_text(profile, section->label), SECTION) == 0;
}

/* ---- reading ---- */

bool read_note(struct note *note, struct arena *arena, const char *json, size_t length)
{
    struct json reader;
    const char *texts[] = {"", "", ""};
    double times[] = {NAN, NAN};
    size_t text_count = 0, time_count = 0;
    bool is_note = true;
    json_init_whole(&reader, json, length);
    enum json_type type = json_next(&reader);
    if (type != JSON_ARRAY_OPEN)
        is_note = false;
    while (is_note && (type = json_next(&reader)) != JSON_ARRAY_CLOSE) {
        if (type == JSON_NUMBER && text_count == 0 && time_count < 2)
            times[time_count++] = reader.number;
        else if (type == JSON_STRING && text_count < 3)
            texts[text_count++] = arena_copy(arena, reader.text, reader.length);
        else
            is_note = false;
    }
    json_destroy(&reader);
    *note = (struct note){times[0], times[1], PROFILE_NONE, texts[0], texts[1], texts[2]};
    if (time_count == 0)
        return is_note && text_count == 3;
    *note = (struct note){times[0], times[1], PROFILE_NONE, texts[0], "", texts[1]};
    return is_note && text_count == 2 && isfinite(times[0]) && isfinite(times[1]) && times[0] < times[1];
}

/* Whether a function has this name and library. Compares texts, because equal strings can have several numbers. */
static bool is_func_of(const struct note *note, size_t name_length, const struct profile *profile, size_t func)
{
    uint32_t name = profile->funcs.name[func];
    return name != PROFILE_NONE && profile->strings.entries.data[name].length == name_length &&
           memcmp(profile->strings.entries.data[name].text, note->name, name_length) == 0 &&
           strcmp(get_func_library_name(profile, (uint32_t)func), note->library) == 0;
}

void find_funcs_of_notes(struct notes *notes, const struct profile *profile)
{
    for (size_t i = 0; i < notes->length; i++) {
        struct note *note = &notes->data[i];
        size_t length = strlen(note->name);
        for (size_t k = 0; !is_range_note(note) && k < profile->funcs.length && note->func == PROFILE_NONE; k++)
            if (is_func_of(note, length, profile, k))
                note->func = (uint32_t)k;
    }
}

int list_notes(struct notes *notes, struct arena *arena, const struct profile *profile, struct error *err)
{
    for (size_t i = 0; i < profile->meta.extra.length; i++) {
        const struct extra_section *section = &profile->meta.extra.data[i];
        if (!is_notes_section(profile, section))
            continue;
        for (size_t k = 0; k < section->entries.length && notes->length < NOTES_MAX; k++) {
            const char *json = profile_text(profile, section->entries.data[k].value);
            struct note note;
            bool is_note = read_note(&note, arena, json, strlen(json));
            if (!note.name || !note.library || !note.comment || (is_note && !array_push(notes, note)))
                return error_no_memory(err);
        }
    }
    return 0;
}

/* ---- writing ---- */

static void remove_notes(struct profile *profile)
{
    struct extra_sections *extra = &profile->meta.extra;
    size_t kept = 0;
    for (size_t i = 0; i < extra->length; i++)
        if (is_notes_section(profile, &extra->data[i]))
            array_free(&extra->data[i].entries);
        else
            extra->data[kept++] = extra->data[i];
    extra->length = kept;
}

static bool add_note(struct profile *profile, struct extra_section *section, const struct note *note, const char *json,
                     size_t length)
{
    char label[32];
    snprintf(label, sizeof(label), is_range_note(note) ? "Range %zu (ms)" : "Function %zu",
             section->entries.length + 1);
    const struct extra_entry entry = {strings_add_z(&profile->strings, label), strings_add_z(&profile->strings, "list"),
                                      strings_add(&profile->strings, json, length)};
    return entry.label != STRING_NONE && entry.format != STRING_NONE && entry.value != STRING_NONE &&
           array_push(&section->entries, entry);
}

int set_notes(struct profile *profile, const char *json, size_t length, struct error *err)
{
    struct extra_section section = {.label = strings_add_z(&profile->strings, SECTION)};
    struct arena arena = {0};
    struct json reader;
    bool enough = section.label != STRING_NONE;
    remove_notes(profile);
    json_init_whole(&reader, json, length);
    if (json_next(&reader) == JSON_ARRAY_OPEN)
        while (enough && section.entries.length < NOTES_MAX) {
            enum json_type type = json_next(&reader);
            const char *value = json + reader.offset;
            struct note note;
            if (type == JSON_ARRAY_CLOSE || type == JSON_FAILED || !json_skip(&reader, type))
                break;
            size_t size = json_count_read_bytes(&reader) - (size_t)(value - json);
            bool is_note = read_note(&note, &arena, value, size);
            enough = note.name && note.library && note.comment &&
                     (!is_note || add_note(profile, &section, &note, value, size));
        }
    json_destroy(&reader);
    arena_destroy(&arena);
    if (enough && section.entries.length && array_push(&profile->meta.extra, section))
        return 0;
    bool is_empty = enough && section.entries.length == 0;
    array_free(&section.entries);
    return is_empty ? 0 : error_no_memory(err);
}
