#include "cmd/record/record_push.h"

#include "cmd/common/quantities.h"
#include "cmd/common/ui.h"

static const uint64_t shortest_window =
    UINT64_C(1000000000); /* ns: at least a second, because the recorder writes the spool once a second */

static int parse_every(const struct option_use *use)
{
    struct record_push_options *options = use->group;
    return parse_time(use->value, &options->every) && options->every >= shortest_window
               ? 0
               : ui_usage("record", "'%s' is not a time of at least 1s (s, min, h), such as 60s", use->value);
}

const struct option_row record_push_option_rows[] = {
    {"push", 0, "URL",
     "at the end, send the profile to a server for OpenTelemetry profiles; 'env' stands for the address in OTEL_EXPORTER_OTLP_ENDPOINT",
     OPTION_TEXT(struct record_push_options, address), .choices = "env"},
    {"every", 0, "TIME", "with --push: send the newest samples every TIME (60s) during the recording",
     .parse = parse_every},
    {.name = NULL},
};

int record_push_check(struct record_push_options *options, bool is_recovery, bool is_standard_output, uint64_t last)
{
    if (!options->address && (options->every || push_options_are_set(&options->shared)))
        return ui_usage("record", options->every ? "--every needs --push URL"
                                                 : "--label, --header and similar options need --push URL");
    if (!options->address)
        return 0;
    if (is_recovery)
        return ui_usage("record", "--recover takes no --push: 'prof push' sends the saved profile");
    if (is_standard_output && !options->every)
        return ui_usage("record", "--push sends the saved profile, and -o - saves none; give -o FILE, or --every 60s");
    if (options->every && last && last < 2 * options->every)
        return ui_usage("record",
                        "--last must be at least twice the time of --every, because shorter windows miss samples");
    return push_options_resolve(&options->shared, strcmp(options->address, "env") == 0 ? NULL : options->address);
}
