#include "profile/raw_check.h"

static int check_version(struct raw_meta *meta, struct error *err)
{
    if (isnan(meta->version))
        return error_set(err, EINVAL, "the file is a damaged profile with an invalid version");
    if (meta->version < 0 || meta->version >= UINT32_MAX || floor(meta->version) != meta->version)
        return error_set(
            err, EINVAL,
            "the file is a profile of version %.15g, which does not exist: the file is damaged, or its writer is faulty",
            meta->version);
    if (meta->version < PROFILE_OLDEST_VERSION)
        return error_set(
            err, EINVAL,
            "the file is a profile of version %.15g; prof reads version %d and later: open it in the Firefox Profiler and save it again",
            meta->version, PROFILE_OLDEST_VERSION);
    meta->meta.version = (uint32_t)meta->version;
    return 0;
}

/* Returns whether the tables have columns, as in processed profiles without a version. Gecko profiles have tables of
 * rows. */
static bool has_columns(const struct raw_profile *raw)
{
    for (size_t i = 0; i < raw->threads.length; i++)
        if (raw->threads.data[i]->own.stacks.frame.present)
            return true;
    return false;
}

/* Returns the kind of a foreign file, or NULL for a profile. */
static const char *detect_foreign_kind(const struct raw_profile *raw)
{
    if (raw->has_trace_events)
        return "is a Chrome trace (it has traceEvents), not a profile";
    if (raw->has_resource_profiles)
        return "is an OTLP profile as JSON; prof opens OTLP profiles in binary protobuf";
    if (!raw->meta.present)
        return "is JSON, but not a profile: meta is missing";
    if (raw->meta.has_version)
        return NULL;
    if (!raw->has_processes && !raw->has_threads)
        return "is JSON, but not a profile: threads is missing";
    return has_columns(raw)
               ? NULL
               : "is an unprocessed Gecko profile of Firefox; open it in the Firefox Profiler and save it from there";
}

int raw_profile_check(struct raw_profile *raw, struct error *err)
{
    const char *foreign = detect_foreign_kind(raw);
    if (foreign)
        return error_set(err, EINVAL, "the file %s", foreign);
    if (!raw->meta.has_version)
        raw->meta.version = PROFILE_OLDEST_VERSION;
    return check_version(&raw->meta, err);
}
