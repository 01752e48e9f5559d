#include "export/exporters.h"

#include "base/starts_with.h"
#include "export/export_profile.h"

const struct exporter exporters[] = {
    {"html", ".html .htm", "a self-contained page for any browser", false, true, true, export_profile_json},
    {"profile", ".json.gz .json", "a profile for prof, the Firefox Profiler and samply", false, false, false,
     export_profile_json},
    {"pprof", ".pb.gz .pprof .pb", "for 'go tool pprof' and other readers of profile.proto", true, true, false,
     export_pprof},
    {"collapsed", ".collapsed .folded", "one line per stack, for flamegraph.pl and speedscope", false, false, false,
     export_collapsed},
    {"speedscope", ".speedscope.json .speedscope", "for speedscope.app", false, false, false, export_speedscope},
    {"perf-script", ".perf .perf.txt", "the text format of 'perf script'", false, false, false, export_perf_script},
    {"chrome-trace", ".trace.json", "for Chrome's developer tools and Perfetto", false, false, false,
     export_chrome_trace},
    {"jslb", ".jslb", "a profile for prof, samply and the Firefox Profiler", true, false, false, export_jslb},
    {"svg", ".svg", "the flame graph, for a browser", false, false, false, export_svg},
    {"otlp", ".otlp", "OpenTelemetry profiles, v1development", true, false, false, export_otlp},
    {"csv", ".csv", "one of the tables, for spreadsheets", false, false, false, export_csv},
};
const size_t exporter_count = sizeof(exporters) / sizeof(*exporters);

const struct exporter *exporter_find(const char *name)
{
    for (size_t i = 0; i < exporter_count; i++)
        if (strcmp(exporters[i].name, name) == 0)
            return &exporters[i];
    return NULL;
}

/* Returns the length of the path's ending if the format has this ending, else 0. */
static size_t match_ending(const struct exporter *exporter, const char *path, size_t length)
{
    for (const char *at = exporter->endings; *at;) {
        size_t size = strcspn(at, " ");
        if (size && length > size && memcmp(path + length - size, at, size) == 0)
            return size;
        at += size + strspn(at + size, " ");
    }
    return 0;
}

const struct exporter *exporter_find_by_file(const char *path)
{
    const struct exporter *best = NULL;
    size_t longest = 0, length = strlen(path);
    for (int pass = 0; pass < 2 && !best; pass++) {
        for (size_t i = 0; i < exporter_count; i++) {
            size_t size = match_ending(&exporters[i], path, length);
            if (size > longest) {
                longest = size;
                best = &exporters[i];
            }
        }
        if (!part_ends_with(path, length, ".gz"))
            break;
        length -= 3;
    }
    return best;
}

double export_get_weight_scale(const struct weight *weight)
{
    return strcmp(weight->unit, "ms") == 0 ? 1e6 : 1;
}

int export_list_weights(const struct export_view *view, struct weight_list *weights, struct error *err)
{
    if (!view->has_one_weight)
        return list_weights(weights, engine_get_profile(view->engine), err);
    return array_push(weights, view->weight) ? 0 : error_no_memory(err);
}

const char *export_get_weight_name(const struct weight *weight)
{
    if (weight->table != TABLE_SAMPLES)
        return weight->id;
    switch (weight->kind) {
    case WEIGH_RECORDED:
        return strcmp(weight->unit, "samples") == 0 && strcmp(weight->label, "Samples") == 0 ? "samples" : weight->id;
    case WEIGH_CPU_TIME:
        return "cpu";
    case WEIGH_OFF_CPU_TIME:
        return "off-cpu";
    case WEIGH_ON_CPU:
        return "on-cpu-samples";
    case WEIGH_OFF_CPU:
        return "off-cpu-samples";
    default:
        return weight->id;
    }
}

const char *export_get_weight_unit(const struct weight *weight)
{
    return strcmp(weight->unit, "ms") == 0 ? "nanoseconds" : strcmp(weight->unit, "bytes") == 0 ? "bytes" : "count";
}

int64_t export_round_with_carry(double value, double *carry)
{
    static const double most = 9e18;
    double exact = value + *carry;
    if (!(exact < most && exact > -most)) {
        *carry = 0;
        return exact > 0 ? INT64_MAX : exact < 0 ? INT64_MIN : 0;
    }
    double whole = rint(exact);
    *carry = exact - whole;
    return (int64_t)whole;
}
