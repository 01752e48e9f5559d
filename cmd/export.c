/*
 * `prof export FILE`: writes a saved profile in the format of another tool, with the samples that the options of `prof
 * report` leave.
 */
#include "cmd/report/report_command.h"
#include "cmd/report/report_options.h"
#include "cmd/report/report_select.h"
#include "cmd/report/report_text.h"

#include "cmd/common/commands.h"
#include "cmd/page.h"
#include "cmd/common/terminal_sink.h"
#include "cmd/common/ui.h"

#include "base/text_buffer.h"
#include "base/starts_with.h"
#include "export/export_profile.h"
#include "export/exporters.h"
#include "export/sanitize.h"
#include "export/html_page.h"
#include "file/profile_file.h"
#include "file/gzip.h"
#include "serve/page_template.h"

#include <pwd.h>
#include <unistd.h>

static const enum export_table tables[REPORT_KINDS] = {
    [REPORT_TREE] = EXPORT_CALL_TREE,      [REPORT_FUNCTIONS] = EXPORT_FUNCTIONS,
    [REPORT_LIBRARIES] = EXPORT_LIBRARIES, [REPORT_CATEGORIES] = EXPORT_CATEGORIES,
    [REPORT_HOT_LINES] = EXPORT_HOT_LINES, [REPORT_MARKERS] = EXPORT_MARKERS,
    [REPORT_THREADS] = EXPORT_THREADS,     [REPORT_WAITS] = EXPORT_WAITS,
    [REPORT_COUNTERS] = EXPORT_COUNTERS,
};

/* Chooses the format: --format, or the extension of the output. Returns an exit status. */
static int choose_exporter(struct report_options *options)
{
    if (!options->exporter && options->output)
        options->exporter = exporter_find_by_file(options->output);
    if (!options->exporter && options->is_dry_run)
        options->exporter = exporter_find("profile");
    if (!options->exporter) {
        char list[REPORT_LINE_SIZE] = "";
        for (size_t i = 0; i < exporter_count; i++)
            report_append_format(list, "%s%s", i == 0 ? "" : i + 1 < exporter_count ? ", " : " or ", exporters[i].name);
        return ui_usage("export", "%s; give --format %s",
                        options->output && strcmp(options->output, "-") != 0
                            ? "the extension of the output does not name a known format"
                            : "no format given",
                        list);
    }
    if (options->kind != REPORT_TREE && strcmp(options->exporter->name, "csv") != 0)
        return ui_usage("export", "tables (--functions, --markers and others) need --format csv, not %s",
                        options->exporter->name);
    if (options->keep_names.length && !options->sanitized)
        options->sanitized = SANITIZE_ALL;
    if (options->is_dry_run && !options->sanitized)
        return ui_usage("export", "--dry-run works only with --sanitize");
    if (options->view && !options->exporter->is_page)
        return ui_usage("export", "--view works only with --format html");
    if (!options->is_dry_run && (!options->output || strcmp(options->output, "-") == 0) &&
        options->exporter->is_binary && isatty(STDOUT_FILENO))
        return ui_usage("export", "cannot write the binary format %s to a terminal; give -o FILE, or a pipe",
                        options->exporter->name);
    return EXIT_SUCCESS;
}

static int write_compressed(const struct exporter *exporter, const struct export_view *view, struct byte_sink sink,
                            struct error *err)
{
    struct gzip_packer *packer;
    int code = gzip_packer_new(&packer, sink, err);
    if (code)
        return code;
    const struct byte_sink packed = gzip_packer_make_sink(packer);
    code = exporter_write(exporter, view, &packed, err);
    if (!code)
        code = gzip_packer_finish(packer, err);
    gzip_packer_free(packer);
    return code;
}

static int write_page(const struct report_options *options, const struct export_view *view, struct byte_sink sink,
                      struct error *err)
{
    struct text_buffer template = {0}, packed = {0};
    const char *address = options->view ? options->view : "";
    int code = append_page_template(page_assets, page_asset_count, &template, err);
    if (!code)
        code = write_compressed(options->exporter, view, text_sink(&packed), err);
    const struct html_page page = {.text = template.data,
                                   .length = template.length,
                                   .gzip = (const unsigned char *)packed.data,
                                   .gzip_size = packed.length,
                                   .view = address + strspn(address, "?"),
                                   .has_editor = !(options->sanitized & SANITIZE_SOURCES) &&
                                                 html_needs_editor(engine_get_profile(view->engine))};
    if (!code)
        code = html_page_write(&page, &sink, err);
    array_free(&template);
    array_free(&packed);
    return code;
}

static int write_in_format(const struct report_options *options, const struct export_view *view, struct byte_sink sink,
                           struct error *err)
{
    const struct exporter *exporter = options->exporter;
    if (exporter->is_page)
        return write_page(options, view, sink, err);
    if (exporter->is_compressed && !(options->output && ends_with(options->output, ".gz")))
        return write_compressed(exporter, view, sink, err);
    return exporter_write(exporter, view, &sink, err);
}

static int write_file(const struct report_options *options, const struct export_view *view)
{
    struct profile_file *file;
    struct error err = {0};
    const char *path = options->output ? options->output : "-";
    if (profile_file_create(&file, path, &err))
        return ui_fail_with_error(&err);
    struct terminal_sink terminal = {.out = profile_file_make_sink(file)};
    bool is_terminal = strcmp(path, "-") == 0 && isatty(STDOUT_FILENO);
    int code = write_in_format(options, view, is_terminal ? terminal_sink(&terminal) : terminal.out, &err);
    if (!code && is_terminal)
        code = terminal_sink_finish(&terminal, &err);
    if (code)
        profile_file_abandon(file);
    else
        code = profile_file_commit(file, &err);
    return code ? ui_fail_with_error(&err) : EXIT_SUCCESS;
}

/* Removes repeated threads from the list. */
static void remove_duplicates(struct report *report)
{
    size_t kept = 0;
    for (size_t i = 0; i < report->threads.length; i++) {
        size_t j = 0;
        while (j < kept && report->threads.data[j] != report->threads.data[i])
            j++;
        if (j == kept)
            report->threads.data[kept++] = report->threads.data[i];
    }
    report->threads.length = kept;
}

/* ---- sanitizing ---- */

static bool add_user(struct sanitize_words *words, const char *name)
{
    return !name || sanitize_add_user(words, name, strlen(name));
}

/* Adds the user's name in /etc/passwd. getpwuid() would load the name services of the system, which a static binary
 * cannot. */
static bool add_login_name(struct sanitize_words *words)
{
    FILE *file = fopen("/etc/passwd", "re");
    const struct passwd *entry = file ? fgetpwent(file) : NULL;
    while (entry && entry->pw_uid != getuid())
        entry = fgetpwent(file);
    bool added = add_user(words, entry ? entry->pw_name : NULL);
    if (file)
        fclose(file);
    return added;
}

/* Adds the names of the current user and machine: usually, the user who exports has also recorded. */
static bool find_identifying_words(struct sanitize_words *words)
{
    char host[256] = "";
    const char *home = getenv("HOME");
    return add_login_name(words) && add_user(words, getenv("USER")) && add_user(words, getenv("SUDO_USER")) &&
           (!home || sanitize_add_home(words, home)) &&
           (gethostname(host, sizeof(host) - 1) || sanitize_add_host(words, host, strlen(host)));
}

/* Prints the list of remaining and removed data to the terminal, with examples for --dry-run. */
static int print_preview(const struct report_options *options, const struct export_view *view)
{
    struct sanitize_summary summary;
    struct arena memory = {0};
    struct text_buffer text = {0};
    struct error err = {0};
    void (*print)(const char *format, ...) = options->is_dry_run ? ui_print : ui_print_error;
    int code = export_preview(view, &memory, &summary, &err);
    if (!code && (!sanitize_describe(&summary, view->sanitize, &text) || !text_append(&text, "", 1)))
        code = error_no_memory(&err);
    char section = '\0';
    for (char *line = code ? NULL : text.data, *end; line && *line; line = end + 1) {
        end = strchr(line, '\n');
        bool is_example = *line == '~' || *line == '=';
        if (is_example && !options->is_dry_run)
            continue;
        if (*line != section &&
            !is_example) /* remaining data comes first, except parts that the user did not request */
            print("%s:\n", *line == '+' ? "Stays" : "Left out");
        section = is_example ? section : *line;
        print("%s%.*s\n", *line == '~' ? "      " : *line == '=' ? "   -> " : "  ", (int)(end - line - 1), line + 1);
    }
    array_free(&text);
    arena_destroy(&memory);
    return code ? ui_fail_with_error(&err) : EXIT_SUCCESS;
}

static int write_sanitized(const struct report_options *options, const struct export_view *view)
{
    struct sanitize_words words = {0};
    const struct sanitize_options sanitize = {.parts = options->sanitized,
                                              .words = &words,
                                              .libraries = options->keep_names.data,
                                              .library_count = options->keep_names.length,
                                              .is_part = !view->is_whole};
    struct export_view sanitized = *view;
    sanitized.sanitize = &sanitize;
    int status = find_identifying_words(&words) ? print_preview(options, &sanitized) : ui_fail("out of memory");
    if (!status && !options->is_dry_run)
        status = write_file(options, &sanitized);
    sanitize_words_destroy(&words);
    return status;
}

static int export(struct report *report)
{
    struct report_options *options = &report->options;
    if (options->threads.length)
        remove_duplicates(report);
    const struct export_view view = {.engine = report->engine,
                                     .threads = report->threads.data,
                                     .thread_count = report->threads.length,
                                     .range = report->range,
                                     .is_whole = !report_is_filtered(report),
                                     .is_inverted = options->inverted,
                                     .weight = report->weight,
                                     .has_one_weight = options->weight != NULL,
                                     .search = options->search,
                                     .table = tables[options->kind],
                                     .wait_grouping = report->wait_grouping};
    return options->sanitized ? write_sanitized(options, &view) : write_file(options, &view);
}

int cmd_export(int argc, char **argv)
{
    struct report report = report_make(&export_table, false);
    int status;
    if (!report_parse_options(argc, argv, &report.options, &status))
        goto out;
    status = choose_exporter(&report.options);
    if (!status)
        status = report_prepare(&report);
    if (!status)
        status = export(&report);
out:
    report_destroy(&report);
    return status;
}
