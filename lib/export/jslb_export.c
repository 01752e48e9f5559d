/*
 * A profile as JSLB (lib/profile/jslb.h), which the Firefox Profiler and samply read: the container with one slab, the
 * processed JSON.
 */
#include "export/export_profile.h"

#include "base/text_buffer.h"
#include "export/exporters.h"

enum { SLAB_JSON = 10, HEAD_SIZE = 32 }; /* header: magic, version, count, root, and one row of the table */

static void store_u32(unsigned char *at, uint32_t value)
{
    for (unsigned i = 0; i < 4; i++)
        at[i] = (unsigned char)(value >> (8 * i));
}

int export_jslb(const struct export_view *view, const struct byte_sink *sink, struct error *err)
{
    static const unsigned char magic[8] = {0xdc, 0xdf, 0x4a, 0x53, 0x4c, 0x42, 0x01, 0x00};
    unsigned char head[HEAD_SIZE];
    struct text_buffer json = {0};
    const struct byte_sink json_sink = text_sink(&json);
    int code = export_profile_json(view, &json_sink, err);
    if (!code && json.length > UINT32_MAX - HEAD_SIZE)
        code =
            error_set(err, EFBIG, "the profile exceeds the limit of JSLB files, 4 GiB; export a part of the profile");
    if (!code) {
        memcpy(head, magic, sizeof(magic));
        store_u32(head + 8, 1);  /* version */
        store_u32(head + 12, 1); /* slabs */
        store_u32(head + 16, 0); /* the root */
        store_u32(head + 20, SLAB_JSON);
        store_u32(head + 24, HEAD_SIZE);
        store_u32(head + 28, (uint32_t)json.length);
        code = sink->write(sink->context, head, sizeof(head), err);
    }
    if (!code)
        code = sink->write(sink->context, json.data, json.length, err);
    array_free(&json);
    return code;
}
