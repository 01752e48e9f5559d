/*
 * OpenTelemetry profiles for senders: the message of `prof export --format otlp`, with more attributes.
 */
#pragma once

#include "export/exporters.h"

struct otlp_label {
    const char *key, *value; /* attribute of each resource; UTF-8, NUL-terminated */
};

enum { OTLP_ID_SIZE = 16 };

/* Attributes that only sent messages have. */
struct otlp_sending {
    const struct otlp_label *labels;
    size_t label_count;
    struct time_range range; /* ms: the time range of the profiles; if empty, the range of the view */
    unsigned char
        id[OTLP_ID_SIZE]; /* random base of the profile ids, by which a server recognizes a repeated message */
};

/* Writes a ProfilesData message, which is also an ExportProfilesServiceRequest: both have the same fields. */
int export_otlp_for_sending(const struct export_view *view, const struct otlp_sending *sending,
                            const struct byte_sink *sink, struct error *err);
