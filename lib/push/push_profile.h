/*
 * A profile in its sent form: the message of `prof export --format otlp`, compressed with gzip.
 */
#pragma once

#include "base/text_buffer.h"
#include "export/otlp_export.h"
#include "profile/profile.h"

/* Takes ownership of a checked profile, even on failure. The caller zeroes `out` before the call, and frees it. */
int push_profile_pack(struct profile *profile, const struct otlp_sending *sending, struct text_buffer *out,
                      struct error *err);
