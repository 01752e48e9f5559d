#include "import/importers.h"

#define MIB ((size_t)1 << 20)

static const struct importer importers[] = {
    {"pprof", "pprof profile", 1024 * MIB, JSON_KIND_NONE, pprof_begins, pprof_read},
    {"otlp", "OpenTelemetry profile", 1024 * MIB, JSON_KIND_NONE, otlp_begins, otlp_read},
    {"gperftools", "CPU profile of gperftools", 1024 * MIB, JSON_KIND_NONE, gperftools_begins, gperftools_read},
    {"pprof-text", "text profile of pprof", 1024 * MIB, JSON_KIND_NONE, pprof_text_begins, pprof_text_read},
    {"callgrind", "callgrind profile", 1024 * MIB, JSON_KIND_NONE, callgrind_begins, callgrind_read},
    {"perf-script", "text of perf script", 1024 * MIB, JSON_KIND_NONE, perf_script_begins, perf_script_read},
    {"chrome-trace", "Chrome trace", 1024 * MIB, JSON_KIND_TRACE_EVENTS, NULL, trace_events_read},
    {"speedscope", "speedscope profile", 256 * MIB, JSON_KIND_SPEEDSCOPE, NULL, speedscope_read},
    {"gecko", "Gecko profile", 256 * MIB, JSON_KIND_GECKO, NULL, gecko_read},
    {"cpuprofile", "V8 CPU profile", 256 * MIB, JSON_KIND_CPU_PROFILE, NULL, cpuprofile_read},
    {"heapprofile", "V8 heap profile", 256 * MIB, JSON_KIND_HEAP_PROFILE, NULL, heapprofile_read},
    {"dhat", "DHAT profile", 256 * MIB, JSON_KIND_DHAT, NULL, dhat_read},
    {"collapsed", "collapsed stacks", 1024 * MIB, JSON_KIND_NONE, collapsed_begins, collapsed_read},
};

#define IMPORTERS (sizeof(importers) / sizeof(*importers))

const struct importer *importer_find_by_kind(enum json_kind kind)
{
    for (size_t i = 0; i < IMPORTERS; i++)
        if (importers[i].kind == kind && kind != JSON_KIND_NONE)
            return &importers[i];
    return NULL;
}

const struct importer *importer_find_by_text(const char *text, size_t size, bool is_whole)
{
    for (size_t i = 0; i < IMPORTERS; i++)
        if (importers[i].begins && importers[i].begins(text, size, is_whole))
            return &importers[i];
    return NULL;
}

int importer_read(const struct importer *importer, const char *text, size_t size, struct profile *out,
                  struct error *err)
{
    struct profile_builder builder;
    int code = profile_builder_init(&builder, out, importer->from, err);
    if (!code)
        code = importer->read(text, size, &builder, err);
    if (builder.no_memory)
        code = error_no_memory(err);
    if (!code)
        code = profile_builder_finish(&builder, err);
    profile_builder_destroy(&builder);
    if (!code)
        return 0;
    profile_destroy(out);
    return code == -ENOMEM ? code : error_prefix(err, code, "cannot read the %s", importer->from);
}
