/*
 * `prof load FILE`: checks a saved profile, then serves it. `prof load BASE NEW`: serves a comparison, which is a
 * profile in memory.
 *
 * The command reads the whole file before it prints the address, although the page reads the file again. So a damaged
 * or foreign file causes a message here, and an exit status for scripts, not an empty page. A profile that is not
 * symbolicated yet (samply's) is symbolicated on this machine: prof then serves a copy in memory, and leaves the file
 * as it is.
 */
#include "cmd/common/commands.h"
#include "cmd/report/comparing.h"
#include "cmd/serving.h"
#include "cmd/common/spool_input.h"
#include "cmd/common/symbol_options.h"
#include "cmd/common/symbolicating.h"
#include "cmd/common/ui.h"

#include "os/file_io.h"
#include "file/profile_file.h"
#include "file/unpack.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

static int write_block(int fd, const void *bytes, size_t size, struct error *err)
{
    int code = file_write(fd, bytes, size);
    return code ? error_set(err, -code, "cannot copy the profile to memory: %s", strerror(-code)) : 0;
}

/* Copies the contents of a pipe to memory: prof and the page both read the profile, and a pipe allows only one reading.
 * Returns the descriptor of the copy, or a negative errno value. */
static int copy_to_memory(int pipe, const char *name, struct error *err)
{
    int fd = memfd_create("profile", MFD_CLOEXEC);
    int code = fd < 0 ? error_set(err, errno, "cannot copy the profile to memory: %s", strerror(errno)) : 0;
    unsigned char block[64 * 1024];
    for (ssize_t size = 1; !code && size > 0;) {
        size = file_read(pipe, block, sizeof(block));
        code = size < 0 ? error_set(err, (int)-size, "cannot read %s: %s", name, strerror((int)-size))
                        : write_block(fd, block, (size_t)size, err);
    }
    if (code && fd >= 0)
        close(fd);
    return code ? code : fd;
}

/* Returns a descriptor that can be read several times, or a negative errno value. */
static int open_profile(const char *path, const char *name, struct error *err)
{
    struct stat info;
    int fd = strcmp(path, "-") == 0 ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0 || fstat(fd, &info) != 0)
        return error_set(err, errno, "cannot open %s: %s", name, strerror(errno));
    if (fd != STDIN_FILENO && !S_ISFIFO(info.st_mode))
        return fd;
    int copy = copy_to_memory(fd, name, err);
    close(fd);
    return copy;
}

/* The page decompresses only gzip. */
static bool is_packed_for_page(int fd)
{
    unsigned char start[8];
    ssize_t size = pread(fd, start, sizeof(start), 0);
    enum unpacker_format format = size > 0 ? unpacker_format(start, (size_t)size) : UNPACKER_NONE;
    return format != UNPACKER_NONE && format != UNPACKER_GZIP;
}

/* Serves a copy of the profile; if the profile has no symbols, the copy has those of this machine's files. */
static int serve_copy(struct profile *profile, int fd, const char *name, const struct serving_options *options,
                      struct symbol_options *symbols)
{
    struct error err = {0};
    int status = profile->meta.symbolicated == 0 ? symbolicate_and_report(profile, name, symbols, options->no_cache)
                                                 : EXIT_SUCCESS;
    int named = status == EXIT_SUCCESS ? profile_write_to_memory(profile, &err) : -1;
    profile_destroy(profile);
    if (status == EXIT_SUCCESS)
        status = named < 0 ? ui_fail_with_error(&err) : serve_open_and_wait(named, fd, options, symbols);
    close(fd);
    return status;
}

/* Makes a profile of the recording so far in memory, and serves it. The address depends on the spool file. */
static int load_spool(const char *path, const struct serving_options *options, struct symbol_options *symbols)
{
    struct assemble_result result;
    int status = spool_input_assemble(path, NULL, symbols, options->no_cache, &result);
    if (status)
        return status;
    int spool = open(path, O_RDONLY | O_CLOEXEC);
    status = serve_open_and_wait(result.memory_fd, spool >= 0 ? spool : result.memory_fd, options, symbols);
    if (spool >= 0)
        close(spool);
    return status;
}

int load_profile(const char *path, const struct serving_options *options, struct symbol_options *symbols)
{
    const char *name = strcmp(path, "-") == 0 ? "the standard input" : path;
    struct profile profile = {0};
    struct error err = {0};
    int fd = open_profile(path, name, &err);
    if (fd < 0)
        return ui_fail_with_error(&err);
    int code = profile_load_fd(fd, NULL, &profile, &err);
    const char *warning = code ? "" : profile_text(&profile, profile.meta.warning);
    if (warning[0])
        ui_print_message("%s: %s", name, warning);
    if (code == 0 && (profile.meta.symbolicated == 0 || is_packed_for_page(fd)))
        return serve_copy(&profile, fd, name, options, symbols);
    profile_destroy(&profile);
    if (code == 0)
        return serve_open_and_wait(fd, fd, options, symbols);
    close(fd);
    error_prefix(&err, code, "%s", name);
    return ui_fail_with_error(&err);
}

/* The address depends on the file of the new side. */
static int load_comparison(const struct comparing *comparing, const struct serving_options *options,
                           struct symbol_options *symbols)
{
    struct profile profile;
    struct error err = {0};
    profile_init(&profile);
    int status = comparing_load(comparing, symbols, options->no_cache, &profile);
    int fd = status == EXIT_SUCCESS ? profile_write_to_memory(&profile, &err) : -1;
    profile_destroy(&profile);
    if (status)
        return status;
    if (fd < 0)
        return ui_fail_with_error(&err);
    int original = open(comparing->sides[SIDE_NEW].files.data[0], O_RDONLY | O_CLOEXEC);
    status = serve_open_and_wait(fd, original >= 0 ? original : fd, options, symbols);
    if (original >= 0)
        close(original);
    return status;
}

static bool selects_parts(const struct comparing *comparing)
{
    bool any = false;
    for (int i = 0; i < PROFILE_SIDES; i++)
        any |= comparing->sides[i].threads.length || !isnan(comparing->sides[i].from) || !isnan(comparing->sides[i].to);
    return any;
}

struct options {
    struct serving_options serving;
    struct symbol_options symbols;
    struct comparing comparing;
};

static const struct option_group option_groups[] = {
    {.rows = comparing_option_rows, .offset = offsetof(struct options, comparing)},
    {.rows = serving_option_rows, .offset = offsetof(struct options, serving)},
    {.rows = symbol_option_rows, .offset = offsetof(struct options, symbols)},
    {.rows = NULL},
};

static const char usage[] =
    "usage: prof load [OPTIONS] FILE\n"
    "       prof load [OPTIONS] BASE NEW\n"
    "       prof load [OPTIONS] BASE... -- NEW...\n"
    "\n"
    "Serves a saved profile on this machine until Ctrl+C, and prints the address.\n"
    "Reads profiles of prof, samply and the Firefox Profiler (processed format, since version 1).\n"
    "Symbolizes profiles without symbols, such as those of samply, with the files on this machine.\n"
    "FILE may also be the spool file of a running or killed prof, or the perf.data file of perf record.\n"
    "Also opens perf script, pprof, collapsed stacks, speedscope, V8, Chrome trace and Gecko files.\n"
    "With two files, or two groups of files around '--', shows their comparison (see 'prof help diff').\n";

const struct option_table load_table = {
    .command = "load",
    .usage = usage,
    .groups = option_groups,
    .words = WORDS_FILES,
};

int cmd_load(int argc, char **argv)
{
    struct options options = {.serving = SERVING_DEFAULTS, .comparing = COMPARING_DEFAULTS};
    int status, after = comparing_count_new_files(argc, argv);
    if (!options_parse(&load_table, &options, argc, argv, &status))
        return status;
    if (optind == argc)
        return ui_usage("load", "no file given");
    bool is_comparison = argc - optind > 1 || selects_parts(&options.comparing);
    if (is_comparison)
        status = comparing_choose_files(&options.comparing, "load", argc - optind, argv + optind, after);
    symbol_options_open(&options.symbols);
    if (status == 0 && is_comparison)
        status = load_comparison(&options.comparing, &options.serving, &options.symbols);
    else if (status == 0)
        status = spool_input_is_recording(argv[optind])
                     ? load_spool(argv[optind], &options.serving, &options.symbols)
                     : load_profile(argv[optind], &options.serving, &options.symbols);
    symbol_options_close(&options.symbols);
    comparing_destroy(&options.comparing);
    return status;
}
