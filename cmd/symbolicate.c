/*
 * `prof symbolicate FILE`: symbolizes a saved profile with the files on this machine, and saves it.
 *
 * The command is for profiles without symbols, such as samply's, and for profiles recorded without debug files. prof
 * writes the result to a temporary file and renames it, so FILE itself can be the output.
 *
 * `prof symbolicate --check FILE` changes nothing: it lists the addresses for which the two readers of DWARF disagree.
 */
#include "cmd/common/commands.h"
#include "cmd/common/spool_input.h"
#include "cmd/common/symbolicating.h"
#include "cmd/common/ui.h"

#include "assemble/check_symbols.h"
#include "file/profile_file.h"
#include "profile/write.h"

#include <getopt.h>

static int save(const struct profile *profile, const char *path)
{
    struct profile_file *file;
    struct error err = {0};
    if (profile_file_create(&file, path, &err) != 0)
        return ui_fail_with_error(&err);
    struct byte_sink sink = profile_file_make_sink(file);
    if (profile_write(profile, NULL, profile_find_time_resolution(profile), &sink, &err) != 0) {
        profile_file_abandon(file);
        return ui_fail_with_error(&err);
    }
    return profile_file_commit(file, &err) == 0 ? EXIT_SUCCESS : ui_fail_with_error(&err);
}

static int symbolicate(const char *input, const char *output, struct symbol_options *symbols, bool no_cache)
{
    struct profile profile = {0};
    struct error err = {0};
    int status = profile_load(input, &profile, &err) == 0 ? EXIT_SUCCESS : ui_fail_with_error(&err);
    if (status == EXIT_SUCCESS)
        status = symbolicate_and_report(&profile, output, symbols, no_cache);
    if (status == EXIT_SUCCESS)
        status = save(&profile, output);
    profile_destroy(&profile);
    return status;
}

/* Saves the profile of an unsaved recording; making the profile also symbolizes it. */
static int save_spool(const char *spool, const char *output, const struct symbol_options *symbols, bool no_cache)
{
    struct assemble_result result;
    int status = spool_input_assemble(spool, output, symbols, no_cache, &result);
    if (status == EXIT_SUCCESS)
        ui_print_message("%s: %" PRIu64 " of %" PRIu64 " addresses have a symbol", output,
                         result.addresses - result.unnamed, result.addresses);
    return status;
}

/* ---- --check ---- */

enum { EXIT_DIFFERENT = 3 };

static void print_difference(void *context, const struct symbol_difference *difference)
{
    (void)context;
    ui_print("%s 0x%" PRIx64 ", frame %zu: %s: prof has %s, libdw %s\n", difference->library, difference->rva,
             difference->depth, difference->property, difference->own, difference->libdw);
}

static void print_skipped(void *context, const char *library, const char *why)
{
    (void)context;
    ui_print_message("cannot compare %s: %s", library, why);
}

static int check_readers(const char *input, const struct symbol_options *symbols)
{
    static const struct symbol_check_listener listener = {.differs = print_difference, .skipped = print_skipped};
    struct profile profile = {0};
    struct symbol_check result;
    struct error err = {0};
    int code = profile_load(input, &profile, &err);
    if (code == 0)
        code = profile_check_symbols(&profile, &symbols->search, &listener, &result, &err);
    profile_destroy(&profile);
    if (code != 0)
        return ui_fail_with_error(&err);
    ui_print_message("%s: prof and libdw disagree on %llu of %llu addresses with DWARF; %llu addresses have no DWARF",
                     input, (unsigned long long)result.differing, (unsigned long long)result.compared,
                     (unsigned long long)(result.addresses - result.compared - result.declined));
    if (result.declined)
        ui_print_message("only libdw reads the debug info of %llu addresses", (unsigned long long)result.declined);
    return result.differing ? EXIT_DIFFERENT : EXIT_SUCCESS;
}

/* The output is JSON: it must not replace a file in the other format. */
static bool is_jslb_name(const char *path)
{
    const char *end = strstr(path, ".jslb");
    return end && (!end[5] || !strcmp(end + 5, ".gz"));
}

struct options {
    const char *output;
    bool check, no_cache;
    struct symbol_options symbols;
};

static const struct option_row option_rows[] = {
    {"output", 'o', "FILE", "save to FILE instead of replacing the input; compressed if the name ends in .gz",
     OPTION_NAME(struct options, output)},
    {"check", 0, NULL, "save nothing; list the addresses for which prof's DWARF reader and libdw disagree",
     OPTION_FLAG(struct options, check)},
    {"no-cache", 0, NULL, "neither read nor write the symbol cache, ~/.cache/prof",
     OPTION_FLAG(struct options, no_cache)},
    {.name = NULL},
};

static const struct option_group option_groups[] = {
    {.rows = option_rows},
    {.rows = symbol_option_rows, .offset = offsetof(struct options, symbols)},
    {.rows = NULL},
};

static const char usage[] =
    "usage: prof symbolicate [OPTIONS] FILE\n"
    "\n"
    "Adds functions, lines and inlined calls to a saved profile.\n"
    "Reads them from the programs, libraries and debug files of this machine.\n"
    "Lists the libraries that have addresses without a symbol, and the reason.\n"
    "FILE may also be the spool file of an unsaved recording, or the perf.data file of perf record.\n"
    "For such a file, -o names the profile to write.\n";

const struct option_table symbolicate_table = {
    .command = "symbolicate",
    .usage = usage,
    .groups = option_groups,
    .words = WORDS_FILES,
};

int cmd_symbolicate(int argc, char **argv)
{
    struct options options = {.output = NULL};
    int status;
    if (!options_parse(&symbolicate_table, &options, argc, argv, &status))
        return status;
    const char *output = options.output;
    bool is_check = options.check;
    if (optind == argc)
        return ui_usage("symbolicate", "no file given");
    if (argc - optind > 1)
        return ui_usage("symbolicate", "give one file, not %d", argc - optind);
    if (is_check && output)
        return ui_usage("symbolicate", "--check saves nothing, and takes no -o");
    if (!is_check && !output && is_jslb_name(argv[optind]))
        return ui_usage("symbolicate", "cannot save JSON in %s: name a file with -o", argv[optind]);
    bool is_spool = spool_input_is_recording(argv[optind]);
    if (is_spool && (is_check || !output))
        return ui_usage("symbolicate", "%s is %s: %s", argv[optind], describe_spool_input(argv[optind]),
                        is_check ? "save it first, with -o" : "name a file for its profile with -o");
    symbol_options_open(&options.symbols);
    if (is_spool)
        status = save_spool(argv[optind], output, &options.symbols, options.no_cache);
    else
        status = is_check
                     ? check_readers(argv[optind], &options.symbols)
                     : symbolicate(argv[optind], output ? output : argv[optind], &options.symbols, options.no_cache);
    symbol_options_close(&options.symbols);
    return status;
}
