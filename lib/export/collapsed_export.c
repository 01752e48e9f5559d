/*
 * Collapsed stacks, the format of Brendan Gregg's stackcollapse-*.pl, which flamegraph.pl, speedscope and inferno read.
 * A line has the functions of a stack from the root, with semicolons between them, then a blank and the weight as an
 * integer. Times are in ns. A semicolon in a name (Rust's "[u8; 4]") becomes a colon, a control character a blank.
 */
#include "export/exporters.h"

#include "base/sink_writer.h"
#include "base/text_buffer.h"

static bool append_name(struct text_buffer *path, const struct profile *profile, uint32_t func)
{
    size_t first = path->length;
    const char *name = profile_text(profile, get_func_names(profile, func).name);
    if (!text_append_z(path, *name ? name : "(no name)"))
        return false;
    for (size_t i = first; i < path->length; i++) {
        unsigned char byte = (unsigned char)path->data[i];
        path->data[i] = byte == ';' ? ':' : byte < ' ' || byte == 0x7f ? ' ' : (char)byte;
    }
    return true;
}

int export_collapsed(const struct export_view *view, const struct byte_sink *sink, struct error *err)
{
    const struct profile *profile = engine_get_profile(view->engine);
    const struct call_nodes *nodes = engine_get_nodes(view->engine);
    const struct timings *timings = engine_get_timings(view->engine);
    struct sink_writer *writer = malloc(sizeof(*writer));
    struct text_buffer path = {0};
    ARRAY(size_t) lengths = {0}; /* length of the path's text before each level */
    double scale = export_get_weight_scale(&view->weight), carry = 0;
    bool enough = writer != NULL;
    if (enough)
        sink_writer_init(writer, sink, err);
    for (uint32_t node = 0; enough && node < nodes->length && !writer->code; node++) {
        if (!timings->alive[node]) {
            node = nodes->end[node] - 1;
            continue;
        }
        uint32_t depth = nodes->depth[node];
        if (depth < lengths.length) {
            path.length = lengths.data[depth];
            lengths.length = depth;
        }
        enough = array_push(&lengths, path.length) && (depth == 0 || text_append(&path, ";", 1)) &&
                 append_name(&path, profile, nodes->func[node]);
        if (!enough || timings->self[node] == 0)
            continue;
        int64_t value = export_round_with_carry(timings->self[node] * scale, &carry);
        if (value == 0)
            continue;
        sink_put(writer, path.data, path.length);
        sink_put_z(writer, value < 0 ? " -" : " ");
        sink_put_unsigned(writer, value < 0 ? 0 - (uint64_t)value : (uint64_t)value);
        sink_put_z(writer, "\n");
    }
    int code = enough ? sink_writer_finish(writer) : error_no_memory(err);
    array_free(&path);
    array_free(&lengths);
    free(writer);
    return code;
}
