/*
 * A perf.data file (tools/perf/Documentation/perf.data-file-format.txt) is
 *
 *     "PERFILE2", size of this header (104), size of an attribute entry
 *     section of attributes, of data, of event types (offset and size each)
 *     256 bits: the features of the file attributes: struct perf_event_attr, and the section of its ids data: records
 *     after the data, a section for each feature in the order of their bits
 *
 * or, from a pipe, "PERFILE2", 16, and then only records, some of which hold attributes, features and build ids. A
 * directory has a file in this format, and a file with records for each recording thread.
 */
#include "perf_data/perf_data.h"

#include "base/cursor.h"

enum {
    FILE_HEADER = 104,
    PIPE_HEADER = 16,
    RECORD_HEADER = 8,
    ATTR_MIN = 64, /* size of struct perf_event_attr, version 0 */
    ATTRS_MAX = 4096,
    IDS_MAX = 1 << 20,
    BUILD_IDS_MAX = 1 << 14,
    FIRST_FEATURE = 1,
    LAST_FEATURE = 255,
};

enum feature {
    FEATURE_TRACING_DATA = 1,
    FEATURE_BUILD_ID = 2,
    FEATURE_HOSTNAME = 3,
    FEATURE_OSRELEASE = 4,
    FEATURE_VERSION = 5,
    FEATURE_ARCH = 6,
    FEATURE_NRCPUS = 7,
    FEATURE_CPUDESC = 8,
    FEATURE_TOTAL_MEM = 10,
    FEATURE_CMDLINE = 11,
    FEATURE_EVENT_DESC = 12,
    FEATURE_CLOCK_DATA = 29,
};

struct section {
    uint64_t offset, size;
};

bool perf_data_recognize(const unsigned char *bytes, size_t size)
{
    return size >= 8 &&
           (!memcmp(bytes, "PERFILE2", 8) || !memcmp(bytes, "2ELIFREP", 8) || !memcmp(bytes, "PERFFILE", 8));
}

/* Returns a cursor on a section; an empty cursor if the section exceeds the file. */
static struct cursor open_section(const struct perf_data *data, struct section section)
{
    if (section.offset > data->size || section.size > data->size - section.offset)
        return cursor_of(NULL, 0);
    return cursor_of(data->bytes + section.offset, (size_t)section.size);
}

static struct section read_section(struct cursor *c)
{
    struct section section;
    section.offset = cursor_u64(c);
    section.size = cursor_u64(c);
    return section;
}

/* ---- attributes ---- */

/* Fields after the end of an older, shorter attribute are 0. */
static void parse_attr(struct cursor c, struct perf_data_attr *attr)
{
    *attr = (struct perf_data_attr){0};
    attr->type = cursor_u32(&c);
    cursor_u32(&c); /* size */
    attr->config = cursor_u64(&c);
    attr->sample_period = cursor_u64(&c);
    attr->sample_type = cursor_u64(&c);
    attr->read_format = cursor_u64(&c);
    uint64_t flags = cursor_u64(&c);
    attr->is_inherited = flags >> 1 & 1;
    attr->exclude_kernel = flags >> 5 & 1;
    attr->is_frequency = flags >> 10 & 1;
    attr->starts_at_exec = flags >> 12 & 1;
    attr->has_trailer = flags >> 18 & 1;
    cursor_bytes(&c, 24); /* wakeup_events, bp_type, config1, config2 */
    attr->branch_sample_type = cursor_u64(&c);
    attr->user_registers = cursor_u64(&c);
    attr->stack_size = cursor_u32(&c);
    int32_t clock = (int32_t)cursor_u32(&c);
    attr->clock = flags >> 25 & 1 ? clock : -1;
    attr->interrupt_registers = cursor_u64(&c);
    cursor_u32(&c); /* aux_watermark */
    attr->max_stack = cursor_u16(&c);
}

static int add_ids(struct perf_data *data, struct cursor ids, uint32_t attr, struct error *err)
{
    while (cursor_left(&ids) >= 8 && data->attr_by_id.length < IDS_MAX)
        if (!hash_set(&data->attr_by_id, cursor_u64(&ids), attr))
            return error_no_memory(err);
    return 0;
}

static int read_attrs(struct perf_data *data, struct section section, uint64_t entry_size, struct error *err)
{
    struct cursor c = open_section(data, section);
    if (entry_size < ATTR_MIN + sizeof(struct section) || !cursor_left(&c))
        return error_set(err, EINVAL, "is a damaged perf.data file: the header has no event");
    while (cursor_left(&c) >= entry_size && data->attrs.length < ATTRS_MAX) {
        struct perf_data_attr attr;
        size_t size = (size_t)entry_size - sizeof(struct section);
        parse_attr(cursor_of(cursor_bytes(&c, size), size), &attr);
        struct cursor ids = open_section(data, read_section(&c));
        int code = add_ids(data, ids, (uint32_t)data->attrs.length, err);
        if (code)
            return code;
        if (!array_push(&data->attrs, attr))
            return error_no_memory(err);
    }
    return 0;
}

/* Reads PERF_RECORD_HEADER_ATTR: the attribute, and its ids up to the end of the record; a single event may have no
 * ids. */
static int add_attr(struct perf_data *data, const unsigned char *bytes, size_t size, struct error *err)
{
    struct cursor c = cursor_of(bytes + RECORD_HEADER, size - RECORD_HEADER);
    struct cursor peek = c;
    cursor_u32(&peek);
    uint32_t attr_size = cursor_u32(&peek);
    const unsigned char *start = cursor_bytes(&c, attr_size);
    struct perf_data_attr attr;
    if (!start || attr_size < ATTR_MIN || data->attrs.length >= ATTRS_MAX)
        return 0;
    parse_attr(cursor_of(start, attr_size), &attr);
    peek = c;
    if (cursor_left(&peek) >= 8 && hash_get(&data->attr_by_id, cursor_u64(&peek)) != HASH_MISSING)
        return 0;
    int code = add_ids(data, c, (uint32_t)data->attrs.length, err);
    return code ? code : array_push(&data->attrs, attr) ? 0 : error_no_memory(err);
}

const struct perf_data_attr *perf_data_find_attr(const struct perf_data *data, uint64_t id)
{
    uint32_t index = hash_get(&data->attr_by_id, id);
    return index == HASH_MISSING ? NULL : &data->attrs.data[index];
}

/* ---- features ---- */

static const char *read_text(struct cursor *c)
{
    uint32_t size = cursor_u32(c);
    const unsigned char *bytes = cursor_bytes(c, size);
    return bytes && memchr(bytes, 0, size) ? (const char *)bytes : "";
}

static void copy_text(char *out, size_t size, const char *text)
{
    snprintf(out, size, "%s", text);
}

static void read_event_names(struct perf_data *data, struct cursor c)
{
    uint32_t count = cursor_u32(&c), attr_size = cursor_u32(&c);
    for (uint32_t i = 0; i < count && !c.failed; i++) {
        cursor_bytes(&c, attr_size);
        uint32_t ids = cursor_u32(&c);
        const char *name = read_text(&c);
        struct cursor peek = c;
        uint32_t attr = ids ? hash_get(&data->attr_by_id, cursor_u64(&peek)) : HASH_MISSING;
        if (attr == HASH_MISSING)
            attr = i;
        cursor_bytes(&c, (uint64_t)ids * 8);
        if (!c.failed && attr < data->attrs.length)
            copy_text(data->attrs.data[attr].name, sizeof(data->attrs.data[attr].name), name);
    }
}

/* struct build_id_event: header, pid, 20 bytes of the id, its size and three more, the path. */
static int add_build_id(struct perf_data *data, const unsigned char *bytes, size_t size, struct error *err)
{
    enum { HAS_SIZE = 1 << 15 };
    static const unsigned char none[20] = {0};
    struct cursor c = cursor_of(bytes, size);
    struct perf_data_build_id id = {0};
    cursor_u32(&c);
    uint16_t misc = cursor_u16(&c);
    cursor_u16(&c);
    id.pid = cursor_u32(&c);
    const unsigned char *text = cursor_bytes(&c, sizeof(id.id));
    uint32_t length = cursor_u32(&c) & 0xff;
    id.path = cursor_string(&c);
    if (c.failed || data->build_ids.length >= BUILD_IDS_MAX)
        return 0;
    id.size = misc & HAS_SIZE && length <= sizeof(id.id) ? length : sizeof(id.id);
    memcpy(id.id, text, sizeof(id.id));
    if (!id.size || !memcmp(id.id, none, sizeof(none)))
        return 0; /* perf could not read the build id */
    return array_push(&data->build_ids, id) ? 0 : error_no_memory(err);
}

static int read_build_ids(struct perf_data *data, struct cursor c, struct error *err)
{
    int code = 0;
    while (cursor_left(&c) >= RECORD_HEADER && !code) {
        const unsigned char *start = c.at;
        cursor_u32(&c);
        cursor_u16(&c);
        uint16_t size = cursor_u16(&c);
        if (size < RECORD_HEADER || !cursor_bytes(&c, size - RECORD_HEADER))
            break;
        code = add_build_id(data, start, size, err);
    }
    return code;
}

const struct perf_data_build_id *perf_data_find_build_id(const struct perf_data *data, const char *path)
{
    for (size_t i = 0; i < data->build_ids.length; i++)
        if (!strcmp(data->build_ids.data[i].path, path))
            return &data->build_ids.data[i];
    return NULL;
}

static int read_feature(struct perf_data *data, uint64_t feature, struct cursor c, struct error *err)
{
    struct perf_data_features *out = &data->features;
    switch (feature) {
    case FEATURE_TRACING_DATA:
        return perf_data_tracing_read(&data->tracing, c.at, cursor_left(&c)) ? 0 : error_no_memory(err);
    case FEATURE_BUILD_ID:
        return read_build_ids(data, c, err);
    case FEATURE_HOSTNAME:
        copy_text(out->host, sizeof(out->host), read_text(&c));
        return 0;
    case FEATURE_OSRELEASE:
        copy_text(out->release, sizeof(out->release), read_text(&c));
        return 0;
    case FEATURE_VERSION:
        copy_text(out->version, sizeof(out->version), read_text(&c));
        return 0;
    case FEATURE_ARCH:
        copy_text(out->arch, sizeof(out->arch), read_text(&c));
        return 0;
    case FEATURE_NRCPUS:
        out->cpus = cursor_u32(&c);
        out->cpus_online = cursor_u32(&c);
        return 0;
    case FEATURE_CPUDESC:
        copy_text(out->cpu_name, sizeof(out->cpu_name), read_text(&c));
        return 0;
    case FEATURE_TOTAL_MEM:
        out->memory = cursor_u64(&c) * 1024;
        return 0;
    case FEATURE_CMDLINE:
        return perf_data_command_read(&out->command, c, err);
    case FEATURE_EVENT_DESC:
        read_event_names(data, c);
        return 0;
    case FEATURE_CLOCK_DATA:
        cursor_u32(&c); /* version */
        cursor_u32(&c); /* clock id */
        out->clock_wall = cursor_u64(&c);
        out->clock_of_wall = cursor_u64(&c);
        out->has_clock = !c.failed;
        return 0;
    default:
        return 0;
    }
}

static int read_features(struct perf_data *data, const uint64_t bits[4], struct error *err)
{
    struct cursor c = cursor_of(data->bytes + data->data_end, data->size - data->data_end);
    int code = 0;
    for (unsigned feature = FIRST_FEATURE; feature <= LAST_FEATURE && !code; feature++) {
        if (!(bits[feature / 64] >> feature % 64 & 1))
            continue;
        struct section section = read_section(&c);
        if (c.failed)
            break;
        code = read_feature(data, feature, open_section(data, section), err);
    }
    return code;
}

static int add_feature(struct perf_data *data, const unsigned char *bytes, size_t size, struct error *err)
{
    struct cursor c = cursor_of(bytes + RECORD_HEADER, size - RECORD_HEADER);
    uint64_t feature = cursor_u64(&c);
    return c.failed || feature == FEATURE_BUILD_ID ? 0 : read_feature(data, feature, c, err);
}

/* PERF_RECORD_EVENT_UPDATE: type, id of the event, and for type 2 its name. */
static void set_event_name(struct perf_data *data, const unsigned char *bytes, size_t size)
{
    enum { NAME = 2 };
    struct cursor c = cursor_of(bytes + RECORD_HEADER, size - RECORD_HEADER);
    uint64_t type = cursor_u64(&c), id = cursor_u64(&c);
    const char *name = cursor_string(&c);
    uint32_t attr = hash_get(&data->attr_by_id, id);
    if (!c.failed && type == NAME && attr != HASH_MISSING)
        copy_text(data->attrs.data[attr].name, sizeof(data->attrs.data[attr].name), name);
}

int perf_data_read_own_record(struct perf_data *data, uint32_t type, const unsigned char *bytes, size_t size,
                              bool lasts, struct error *err)
{
    if (data->is_visited)
        return 0;
    switch (type) {
    case PERF_DATA_ATTR:
        return data->is_pipe ? add_attr(data, bytes, size, err) : 0;
    case PERF_DATA_BUILD_ID: /* stores its path */
        return data->is_pipe && lasts ? add_build_id(data, bytes, size, err) : 0;
    case PERF_DATA_FEATURE:
        return data->is_pipe ? add_feature(data, bytes, size, err) : 0;
    case PERF_DATA_EVENT_UPDATE:
        set_event_name(data, bytes, size);
        return 0;
    default:
        return 0;
    }
}

/* ---- opening ---- */

static int read_file_header(struct perf_data *data, struct cursor *c, struct error *err)
{
    uint64_t entry_size = cursor_u64(c), bits[4];
    struct section attrs = read_section(c), records = read_section(c);
    read_section(c); /* unused section of event types */
    for (size_t i = 0; i < 4; i++)
        bits[i] = cursor_u64(c);
    if (c->failed || records.offset > data->size)
        return error_set(err, EINVAL, "is a perf.data file with a truncated header");
    data->data_start = (size_t)records.offset;
    /* perf writes the size last: the size is 0 after a kill */
    data->is_truncated = !records.size || records.size > data->size - data->data_start;
    data->data_end = data->is_truncated ? data->size : data->data_start + (size_t)records.size;
    int code = read_attrs(data, attrs, entry_size, err);
    return code || data->is_truncated ? code : read_features(data, bits, err);
}

int perf_data_open(struct perf_data *data, const void *bytes, size_t size, struct error *err)
{
    *data = (struct perf_data){.bytes = bytes, .size = size};
    struct cursor c = cursor_of(bytes, size);
    const unsigned char *magic = cursor_bytes(&c, 8);
    if (magic && !memcmp(magic, "2ELIFREP", 8))
        return error_set(
            err, EINVAL,
            "is a perf.data file of a machine with another byte order, which prof does not read; 'perf script' reads it");
    if (magic && !memcmp(magic, "PERFFILE", 8))
        return error_set(err, EINVAL, "is a perf.data file of perf before 3.0, which prof does not read");
    if (!magic || memcmp(magic, "PERFILE2", 8) != 0)
        return error_set(err, EINVAL, "is not a perf.data file");
    uint64_t header_size = cursor_u64(&c);
    if (header_size == FILE_HEADER)
        return read_file_header(data, &c, err);
    if (header_size != PIPE_HEADER)
        return error_set(err, EINVAL, "is a damaged perf.data file: the header has an unknown size");
    data->is_pipe = true;
    data->data_start = PIPE_HEADER;
    data->data_end = size;
    return 0;
}

bool perf_data_add_part(struct perf_data *data, const void *bytes, size_t size)
{
    return array_push(&data->parts, (struct perf_data_part){bytes, size});
}

void perf_data_destroy(struct perf_data *data)
{
    array_free(&data->parts);
    array_free(&data->attrs);
    array_free(&data->build_ids);
    hash_destroy(&data->attr_by_id);
    perf_data_tracing_destroy(&data->tracing);
    perf_data_command_destroy(&data->features.command);
    *data = (struct perf_data){0};
}
