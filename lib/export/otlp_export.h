/*
 * OpenTelemetry profiles for whoever sends them: the message of `prof export --format otlp`, with more attributes.
 */
#pragma once

#include "export/exporters.h"

struct otlp_label {
    const char *key, *value; /* of each resource; UTF-8, NUL-terminated */
};

enum { OTLP_ID_SIZE = 16 };

/* What is sent says more than a file. */
struct otlp_sending {
    const struct otlp_label *labels;
    size_t label_count;
    struct time_range range;        /* ms: of the profiles; empty: that of the view */
    unsigned char id[OTLP_ID_SIZE]; /* random: the ids of the profiles are made of it, by which a server knows those
                                       that it gets a second time */
};

/* Writes a ProfilesData message, which is an ExportProfilesServiceRequest, too: both have the same fields. */
int export_otlp_for_sending(const struct export_view *view, const struct otlp_sending *sending,
                            const struct byte_sink *sink, struct error *err);
