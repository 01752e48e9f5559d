#include "cmd/report/report_notes.h"

#include "cmd/report/report_text.h"

#include "cmd/common/ui.h"

#include "profile/notes.h"
#include "tree/engine.h"

/* Appends where the note belongs: "1.250 s to 1.400 s, parsing" or "memcpy (libc.so.6)". */
static bool append_place(struct text_buffer *text, const struct report *report, const struct note *note)
{
    double start = engine_get_full_range(report->engine).from;
    char range[64];
    if (!is_range_note(note))
        return text_append_z(text, note->name) &&
               (!note->library[0] || text_append_all(text, " (", note->library, ")"));
    snprintf(range, sizeof(range), "%.3f s to %.3f s", (note->from - start) / 1000, (note->to - start) / 1000);
    return text_append_z(text, range) && (!note->name[0] || text_append_all(text, ", ", note->name));
}

static int print_note(const struct report *report, const struct note *note, struct error *err)
{
    struct text_buffer text = {0};
    bool markdown = report->options.markdown;
    bool enough = append_place(&text, report, note) &&
                  (!note->comment[0] || text_append_all(&text, ": ", note->comment)) && text_append(&text, "", 1);
    ui_print(markdown ? "- " : "  ");
    if (enough)
        report_print_wrapped(report, text.data, 4, 2);
    array_free(&text);
    return enough ? 0 : error_no_memory(err);
}

int report_print_notes(const struct report *report, size_t most, struct error *err)
{
    struct arena arena = {0};
    struct notes notes = {0};
    int code = list_notes(&notes, &arena, report->profile, err);
    if (!code && notes.length) {
        putchar('\n');
        report_print_color(report, COLOR_BOLD);
        ui_print(report->options.markdown ? "## Notes\n\n" : "Notes\n");
        report_print_color(report, COLOR_NORMAL);
    }
    for (size_t i = 0; !code && i < notes.length && i < most; i++)
        code = print_note(report, &notes.data[i], err);
    if (!code && notes.length > most)
        ui_print("  and %zu more, which --json lists\n", notes.length - most);
    array_free(&notes);
    arena_destroy(&arena);
    return code;
}

static void write_shortened_text(struct json_writer *json, const char *key, const char *text, size_t longest)
{
    json_key(json, key);
    json_text(json, text, strnlen(text, longest));
}

int report_write_notes(struct json_writer *json, const struct report *report, size_t most, size_t longest,
                       struct error *err)
{
    struct arena arena = {0};
    struct notes notes = {0};
    int code = list_notes(&notes, &arena, report->profile, err);
    bool has_times = !report->profile->meta.has_no_times;
    json_member_open(json, "notes", '[');
    for (size_t i = 0; !code && i < notes.length && i < most; i++) {
        const struct note *note = &notes.data[i];
        json_open(json, '{');
        if (is_range_note(note)) {
            json_member_double(json, "from_ms", has_times ? note->from : NAN);
            json_member_double(json, "to_ms", has_times ? note->to : NAN);
            write_shortened_text(json, "name", note->name, longest);
        } else {
            write_shortened_text(json, "function", note->name, longest);
            write_shortened_text(json, "library", note->library, longest);
        }
        write_shortened_text(json, "comment", note->comment, longest);
        json_close(json, '}');
    }
    json_close(json, ']');
    array_free(&notes);
    arena_destroy(&arena);
    return code;
}
