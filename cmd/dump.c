/*
 * `prof dump FILE`: prints each record of a spool file as a line of JSON, also while the recorder writes the file, and
 * after the recorder was killed. `prof dump --format` prints the documentation of the records.
 */
#include "cmd/common/commands.h"
#include "cmd/common/ui.h"

#include "base/json_write.h"
#include "base/text_buffer.h"
#include "spool/spool.h"
#include "spool/spool_dump.h"
#include "spool/spool_format.h"

#include <getopt.h>

static int print_records(struct spool_reader *reader, struct error *err)
{
    static struct json_writer json;
    struct spool_record record;
    int item = 0;
    json_writer_init(&json, &ui_sink, err);
    while (!json.status && (item = spool_reader_read(reader, &record, err)) > 0) {
        spool_dump_record(&json, &record);
        json.separator = false;
        json_raw(&json, "\n", 1);
        json.separator = false;
    }
    int code = json_writer_finish(&json);
    return code ? code : item;
}

/* Prints a sentence about unreadable parts of the file, and returns the exit status. */
static int report_damage(const char *path, const struct spool_reader *reader, bool is_running)
{
    uint64_t damaged = spool_reader_count_damaged_parts(reader),
             rest = is_running ? 0 : spool_reader_count_bytes_left(reader);
    if (damaged)
        ui_print_message(
            "%s: prof could not read %llu damaged part%s with %llu bytes; the other records are printed above", path,
            (unsigned long long)damaged, damaged == 1 ? "" : "s",
            (unsigned long long)spool_reader_count_damaged_bytes(reader));
    if (rest)
        ui_print_message("%s: the last %llu bytes are an incomplete block; the other records are printed above", path,
                         (unsigned long long)rest);
    return damaged || rest ? EXIT_FAILURE : EXIT_SUCCESS;
}

static int dump(const char *path)
{
    struct spool_reader *reader;
    struct error err = {0};
    bool is_running = spool_is_being_written(path);
    if (spool_reader_open(&reader, path, &err))
        return ui_fail_with_error(&err);
    int code = print_records(reader, &err);
    if (!code && fflush(stdout))
        code = error_set(&err, errno, "cannot write to standard output: %s", strerror(errno));
    int status = code ? ui_fail_with_error(&err) : report_damage(path, reader, is_running);
    spool_reader_close(reader);
    return status;
}

static int print_format(void)
{
    struct text_buffer text = {0};
    bool done = spool_format_describe(&text) && ui_write(text.data, text.length) && !fflush(stdout);
    array_free(&text);
    return done ? EXIT_SUCCESS : ui_fail("cannot write the format of spool files to standard output");
}

struct options {
    bool format;
};

static const struct option_row option_rows[] = {
    {"format", 0, NULL, "print the documentation of the records, in Markdown", OPTION_FLAG(struct options, format)},
    {.name = NULL},
};

static const char usage[] =
    "usage: prof dump FILE\n"
    "       prof dump --format\n"
    "\n"
    "Prints each record of a recording (samples, waits, counters, processes ...) as a line of JSON.\n"
    "FILE is the spool file that prof record writes beside its output while it runs.\n"
    "A killed prof record leaves its spool file.\n"
    "Exits with status 1 if a part of FILE is damaged, after the other records are printed.\n";

const struct option_table dump_table = {
    .command = "dump",
    .usage = usage,
    .groups = (const struct option_group[]){{.rows = option_rows}, {.rows = NULL}},
    .words = WORDS_FILES,
};

int cmd_dump(int argc, char **argv)
{
    struct options options = {.format = false};
    int status;
    if (!options_parse(&dump_table, &options, argc, argv, &status))
        return status;
    int files = argc - optind;
    if (options.format)
        return files ? ui_usage("dump", "--format takes no file") : print_format();
    if (files != 1)
        return files ? ui_usage("dump", "give one file, not %d", files) : ui_usage("dump", "no file given");
    return dump(argv[optind]);
}
