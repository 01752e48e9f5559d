/* Translates struct spool_event and struct sample, which precede the structs of each kind (records.h). */
#pragma once

#include "spool/chunk.h"
#include "spool/event_types.h"

/* False if the kind is unknown. */
bool spool_legacy_record(const struct spool_event *event, struct spool_record *record);
void spool_legacy_event(const struct spool_record *record, struct spool_event *event);

void spool_legacy_record_of_sample(const struct sample *sample, struct spool_record *record);
void spool_legacy_sample(const struct spool_record *record, struct sample *sample);
