#include "spool_input.h"

#include "folders.h"
#include "ui.h"

#include "record/spool.h"

#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

/* ", the last at 14:03:22, 12.34 s after the start" */
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

/* "; 2 damaged parts, 70012 bytes, are missing, and with them the 120 samples of threads that they described" */
static size_t describe_damage(const struct assemble_result *result, char *text, size_t size)
{
    size_t used = 0;
    uint64_t samples = result->samples_without_thread;
    text[0] = '\0';
    if (result->damaged || samples)
        used = (size_t)snprintf(text, size, "; %" PRIu64 " damaged part%s, %" PRIu64 " bytes, %s missing",
                                result->damaged, result->damaged == 1 ? "" : "s", result->damaged_bytes,
                                result->damaged == 1 ? "is" : "are");
    if (samples)
        used += (size_t)snprintf(text + used, size - used, ", and with %s %" PRIu64 " sample%s of threads %s described",
                                 result->damaged == 1 ? "it" : "them", samples, samples == 1 ? "" : "s",
                                 result->damaged == 1 ? "that it" : "that they");
    return used;
}

/* Says what a reader of the profile has to know: the recorder did not end it. */
static void say_state(const char *spool, bool is_running, const struct assemble_result *result)
{
    char last[96], missing[320];
    describe_last_record(result, last, sizeof(last));
    size_t used = describe_damage(result, missing, sizeof(missing));
    if (result->rest && !is_running)
        snprintf(missing + used, sizeof(missing) - used, "; %" PRIu64 " bytes at its end are an incomplete block",
                 result->rest);
    if (is_running)
        ui_say("%s is a recording that still runs: %" PRIu64 " samples so far%s%s", spool, result->samples, last,
               missing);
    else if (result->is_finished)
        ui_say("%s is a recording that was not saved as a profile: %" PRIu64 " samples%s%s", spool, result->samples,
               last, missing);
    else
        ui_say("%s is a recording whose prof ended before it was saved: %" PRIu64
               " samples%s; up to a second after it may be missing%s",
               spool, result->samples, last, missing);
}

int spool_input_assemble(const char *spool, const char *output, const struct symbol_options *symbols, bool no_cache,
                         struct assemble_result *result)
{
    struct folder_path path;
    struct assemble_options options = {.cache_folder = no_cache ? NULL : cache_folder(&path),
                                       .search = &symbols->search};
    sigset_t interrupt;
    sigemptyset(&interrupt);
    sigaddset(&interrupt, SIGINT);
    if (symbols->search.server)
        sigprocmask(SIG_BLOCK, &interrupt, NULL);
    struct error err = {0};
    bool is_running = spool_is_being_written(spool);
    int code = assemble_recording(spool, output, &options, result, &err);
    sigprocmask(SIG_UNBLOCK, &interrupt, NULL);
    if (code)
        return ui_fail_error(&err);
    say_state(spool, is_running, result);
    return EXIT_SUCCESS;
}
