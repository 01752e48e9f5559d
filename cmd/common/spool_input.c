#include "cmd/common/spool_input.h"

#include "cmd/common/directories.h"
#include "cmd/common/symbolicating.h"
#include "cmd/common/ui.h"

#include "os/file_io.h"
#include "perf_data/perf_data_import.h"
#include "file/profile_file.h"
#include "file/unpack.h"
#include "spool/spool.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static bool is_standard_input(const char *path)
{
    return !strcmp(path, "-");
}

static enum perf_data_form detect_perf_data_form(const char *path)
{
    return is_standard_input(path) ? perf_data_detect_next_form(STDIN_FILENO) : perf_data_detect_form(path);
}

static bool is_perf_data(const char *path)
{
    return detect_perf_data_form(path) != PERF_DATA_NONE;
}

bool spool_input_is_recording(const char *path)
{
    return (!is_standard_input(path) && spool_is_spool(path)) || is_perf_data(path);
}

const char *describe_spool_input(const char *path)
{
    return is_perf_data(path) ? "a perf.data file" : "an unsaved recording";
}

/* Appends the time of the last record: ", the last at 14:03:22, 12.34 s after the start". */
static void describe_last_record(const struct assemble_result *result, char *text, size_t size)
{
    char clock[16] = "";
    time_t seconds = (time_t)(result->last_realtime / 1000000000);
    struct tm local;
    if (result->last_realtime && localtime_r(&seconds, &local))
        strftime(clock, sizeof(clock), "%H:%M:%S", &local);
    snprintf(text, size, ", the last record at %s%s%.2f s after the start", clock, clock[0] ? ", " : "",
             (double)result->length / 1e9);
}

/* Appends the losses: "; 2 damaged parts, 70012 bytes, are missing, and with them the 120 samples of threads that they
 * described". */
static size_t describe_damage(const struct assemble_result *result, char *text, size_t size)
{
    size_t used = 0;
    uint64_t samples = result->samples_without_thread;
    text[0] = '\0';
    if (result->damaged || samples)
        used = (size_t)snprintf(text, size, "; %llu damaged part%s with %llu bytes %s missing",
                                (unsigned long long)result->damaged, result->damaged == 1 ? "" : "s",
                                (unsigned long long)result->damaged_bytes, result->damaged == 1 ? "is" : "are");
    if (samples)
        used +=
            (size_t)snprintf(text + used, size - used, "; %llu sample%s of threads without a description are missing",
                             (unsigned long long)samples, samples == 1 ? "" : "s");
    return used;
}

/* Prints that the recorder did not finish the recording, and how complete it is. */
static void print_state(const char *spool, bool is_running, const struct assemble_result *result)
{
    char last[96], missing[320];
    unsigned long long samples = result->samples;
    describe_last_record(result, last, sizeof(last));
    size_t used = describe_damage(result, missing, sizeof(missing));
    if (result->rest && !is_running)
        snprintf(missing + used, sizeof(missing) - used, "; the last %llu bytes are an incomplete block",
                 (unsigned long long)result->rest);
    if (is_running)
        ui_print_message("%s is a running recording: %llu samples so far%s%s", spool, samples, last, missing);
    else if (result->is_finished)
        ui_print_message("%s is an unsaved recording: %llu samples%s%s", spool, samples, last, missing);
    else
        ui_print_message(
            "%s is the recording of a killed prof: %llu samples%s; up to a second at the end may be missing%s", spool,
            samples, last, missing);
}

static int assemble_spool(const char *spool, const char *output, const struct symbol_options *symbols, bool no_cache,
                          struct assemble_result *result, struct error *err)
{
    struct directory_path path;
    struct assemble_options options = {.cache_directory = no_cache ? NULL : find_cache_directory(&path),
                                       .search = &symbols->search,
                                       .keeps_old = true};
    symbol_options_block_interrupts(symbols, true);
    int code = assemble_recording(spool, output, &options, result, err);
    symbol_options_block_interrupts(symbols, false);
    return code;
}

/* ---- perf.data ---- */

static size_t append_count(char *text, size_t size, uint64_t count, const char *what)
{
    return count ? (size_t)snprintf(text, size, ", %" PRIu64 " %s", count, what) : 0;
}

/* Prints one line about the imported data, and one line about each kind of missing data. */
static void print_import(const char *path, const struct perf_data_result *found)
{
    char text[512] = "";
    size_t used = append_count(text, sizeof(text), found->events, "of other events");
    used += append_count(text + used, sizeof(text) - used, found->waits, "waits");
    used += append_count(text + used, sizeof(text) - used, found->truncated, "with a truncated stack");
    used += append_count(text + used, sizeof(text) - used, found->lost, "lost by the kernel");
    used += append_count(text + used, sizeof(text) - used, found->idle, "of idle CPUs omitted");
    used += append_count(text + used, sizeof(text) - used, found->guest, "of virtual machines omitted");
    used += append_count(text + used, sizeof(text) - used, found->other,
                         "omitted, because the file has too many kinds of events");
    used += append_count(text + used, sizeof(text) - used, found->late, "records out of order");
    append_count(text + used, sizeof(text) - used, found->damaged, "damaged records omitted");
    ui_print_message("%s is a perf.data file%s%s: %llu samples%s%s", path, found->version[0] ? " of perf " : "",
                     found->version, (unsigned long long)found->samples, text,
                     found->is_truncated ? "; its end is missing" : "");
    if (found->missing == 1)
        ui_print_message(
            "%s is missing on this machine, or has another build ID: stacks through it may be truncated, and its functions have no symbols",
            found->missing_name);
    else if (found->missing)
        ui_print_message(
            "%s and %llu more files are missing on this machine, or have other build IDs: stacks through them may be truncated, and their functions have no symbols",
            found->missing_name, (unsigned long long)found->missing - 1);
    if (found->is_other_kernel)
        ui_print_message("the recording comes from another kernel, so kernel functions have no symbols");
}

/* A copy of a perf.data file: prof reads the data twice, which a stream or a compressed file does not allow. */
struct copying {
    const char *name, *path; /* path of the file, for messages; path of the copy */
    int from, to;
    uint64_t size;     /* of the copy */
    bool is_truncated; /* the compressed data ends early */
    unsigned char block[256 * 1024], unpacked[256 * 1024];
};

/* Limit of a copy: a small compressed file can unpack to more than a disk holds. */
static const uint64_t UNPACKED_MAX = UINT64_C(64) << 30;

static int write_block(struct copying *copying, const void *bytes, size_t size, struct error *err)
{
    copying->size += size;
    if (copying->size > UNPACKED_MAX)
        return error_set(err, EFBIG, "%s is larger than %llu GiB, the size limit of a temporary copy", copying->name,
                         (unsigned long long)UNPACKED_MAX >> 30);
    int code = file_write(copying->to, bytes, size);
    return code ? error_set(err, -code, "cannot copy %s to %s: %s; set TMPDIR to another directory", copying->name,
                            copying->path, strerror(-code))
                : 0;
}

static int unpack_block(struct copying *copying, struct unpacker *unpacker, size_t size, struct error *err)
{
    int code = 0;
    unpacker_feed(unpacker, copying->block, size);
    for (size_t unpacked = 1; !code && unpacked;) {
        code = unpacker_read(unpacker, copying->unpacked, sizeof(copying->unpacked), &unpacked, err);
        if (code)
            return error_prefix(err, code, "%s", copying->name);
        code = write_block(copying, copying->unpacked, unpacked, err);
    }
    return code;
}

/* Copies a compressed file; of a truncated file, it copies the readable part. */
static int copy_blocks(struct copying *copying, struct error *err)
{
    struct unpacker *unpacker = NULL;
    int code = 0;
    bool is_first = true;
    for (ssize_t size = 1; !code && size > 0; is_first = false) {
        size = file_read(copying->from, copying->block, sizeof(copying->block));
        enum unpacker_format format =
            is_first && size > 0 ? unpacker_format(copying->block, (size_t)size) : UNPACKER_NONE;
        if (size < 0)
            code = error_set(err, (int)-size, "cannot read %s: %s", copying->name, strerror((int)-size));
        else if (format != UNPACKER_NONE && !(unpacker = unpacker_new(format)))
            code = error_no_memory(err);
        else
            code = unpacker ? unpack_block(copying, unpacker, (size_t)size, err)
                            : write_block(copying, copying->block, (size_t)size, err);
    }
    struct error truncated;
    copying->is_truncated = !code && unpacker && unpacker_end_input(unpacker, &truncated);
    unpacker_free(unpacker);
    return code;
}

/* Copies the modification time: it becomes the time of the profile if the file does not contain the time of the
 * recording. */
static void copy_modification_time(int from, int to)
{
    struct stat info;
    if (fstat(from, &info) == 0)
        futimens(to, (struct timespec[]){info.st_atim, info.st_mtim});
}

/* Copies the data until perf ends. In `perf record -o - | prof report -`, Ctrl+C ends perf, and prof continues with the
 * data that perf has written. */
static int copy_perf_data(const char *from, const char *name, const char *path, bool *is_truncated, struct error *err)
{
    static struct copying copying;
    copying = (struct copying){.name = name, .path = path};
    copying.from = is_standard_input(from) ? STDIN_FILENO : open(from, O_RDONLY | O_CLOEXEC);
    if (copying.from < 0)
        return error_set(err, errno, "cannot open %s: %s", name, strerror(errno));
    copying.to = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    int code = copying.to < 0 ? error_set(err, errno, "cannot create %s: %s", path, strerror(errno)) : 0;
    if (!code) {
        struct sigaction ignore = {.sa_handler = SIG_IGN}, before;
        sigaction(SIGINT, &ignore, &before);
        code = copy_blocks(&copying, err);
        sigaction(SIGINT, &before, NULL);
        if (!is_standard_input(from))
            copy_modification_time(copying.from, copying.to);
        close(copying.to);
    }
    if (!is_standard_input(from))
        close(copying.from);
    *is_truncated = copying.is_truncated;
    return code;
}

/* Converts a perf.data file to a spool file. First copies standard input, and compressed files. */
static int import_perf_data(const char *path, const char *perf_cache, const char *spool, struct perf_data_result *found,
                            struct error *err)
{
    struct directory_path copy;
    const char *name = is_standard_input(path) ? "the standard input" : path;
    if (!is_standard_input(path) && detect_perf_data_form(path) == PERF_DATA_FILE)
        return perf_data_import(path, path, perf_cache, spool, found, err);
    bool is_truncated = false;
    int code = make_temporary_path(&copy, "perf.data", err);
    if (code)
        return code;
    code = copy_perf_data(path, name, copy.text, &is_truncated, err);
    if (!code)
        code = perf_data_import(copy.text, name, perf_cache, spool, found, err);
    found->is_truncated |= is_truncated;
    remove_temporary_path(&copy);
    return code;
}

/* Converts the perf.data file to a temporary spool file, and reads the spool file. */
static int assemble_perf_data(const char *path, const char *output, const struct symbol_options *symbols, bool no_cache,
                              struct assemble_result *result)
{
    struct directory_path spool;
    struct error err = {0};
    struct perf_data_result found = {0};
    if (make_temporary_path(&spool, "spool", &err))
        return ui_fail_with_error(&err);
    int code = import_perf_data(path, symbols->search.perf_cache, spool.text, &found, &err);
    if (!code)
        code = assemble_spool(spool.text, output, symbols, no_cache, result, &err);
    remove_temporary_path(&spool);
    if (code)
        return ui_fail_with_error(&err);
    print_import(is_standard_input(path) ? "the standard input" : path, &found);
    return EXIT_SUCCESS;
}

int spool_input_assemble(const char *spool, const char *output, const struct symbol_options *symbols, bool no_cache,
                         struct assemble_result *result)
{
    struct error err = {0};
    if (is_perf_data(spool))
        return assemble_perf_data(spool, output, symbols, no_cache, result);
    bool is_running = spool_is_being_written(spool);
    if (assemble_spool(spool, output, symbols, no_cache, result, &err))
        return ui_fail_with_error(&err);
    print_state(spool, is_running, result);
    return EXIT_SUCCESS;
}

int spool_input_load(const char *path, struct symbol_options *symbols, struct profile *profile)
{
    struct error err = {0};
    struct assemble_result result = {.memory_fd = -1};
    if (!spool_input_is_recording(path)) {
        if (profile_load(path, profile, &err))
            return ui_fail_with_error(&err);
        if (profile->meta.symbolicated)
            return 0;
        symbol_options_open(symbols);
        return symbolicate_and_report(profile, path, symbols, false);
    }
    symbol_options_open(symbols);
    int status = spool_input_assemble(path, NULL, symbols, false, &result);
    if (status)
        return status;
    int code = profile_load_fd(result.memory_fd, NULL, profile, &err);
    close(result.memory_fd);
    return code == 0 ? 0 : ui_fail_with_error(&err);
}
