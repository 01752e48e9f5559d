/*
 * The container (little-endian): magic, version 1, slab count N, number of the root slab, then N times {type, offset,
 * length} as u32, then the slabs. (https://github.com/mstange/json-slabs, FORMAT.md)
 *
 * A slab replaces its reference, so the JSON reader need not know about slabs. Each slab may be used once, so a file
 * with circular or repeated references is an error, and cannot use all memory.
 */
#include "profile/jslb.h"

#include "base/array.h"
#include "base/cursor.h"
#include "base/json.h"
#include "base/json_write.h"

enum slab_type {
    SLAB_I8,
    SLAB_U8,
    SLAB_I16,
    SLAB_U16,
    SLAB_I32,
    SLAB_U32,
    SLAB_F32,
    SLAB_F64,
    SLAB_I64,
    SLAB_U64,
    SLAB_JSON
};

enum { CONTAINER_VERSION = 1, MAX_NESTING = 16 };

static const unsigned char MAGIC[JSLB_MAGIC_SIZE] = {0xdc, 0xdf, 0x4a, 0x53, 0x4c, 0x42, 0x01, 0x00};

struct slab {
    uint32_t type;
    struct cursor bytes;
    bool used;
};

struct container {
    ARRAY(struct slab) slabs;
    uint32_t root;
    unsigned nesting;
    struct json_writer writer;
    struct error *err;
};

bool jslb_begins(const unsigned char *bytes, size_t size)
{
    return size >= JSLB_MAGIC_SIZE && memcmp(bytes, MAGIC, JSLB_MAGIC_SIZE) == 0;
}

static size_t get_element_size(uint32_t type)
{
    static const unsigned char sizes[] = {1, 1, 2, 2, 4, 4, 4, 8, 8, 8, 1};
    return type < sizeof(sizes) ? sizes[type] : 0;
}

static int read_slab_table(struct container *container, const unsigned char *bytes, size_t size)
{
    struct cursor header = cursor_of(bytes, size);
    cursor_bytes(&header, JSLB_MAGIC_SIZE);
    uint32_t version = cursor_u32(&header), count = cursor_u32(&header);
    container->root = cursor_u32(&header);
    if (!header.failed && version != CONTAINER_VERSION)
        return error_set(container->err, EINVAL, "the file is a JSLB container of version %u; prof reads version %d",
                         version, CONTAINER_VERSION);
    for (uint32_t i = 0; i < count && !header.failed; i++) {
        uint32_t type = cursor_u32(&header), offset = cursor_u32(&header), length = cursor_u32(&header);
        if (header.failed)
            break;
        if (offset > size || length > size - offset)
            return error_set(container->err, EINVAL,
                             "the file is truncated: slab %u ends at byte %llu, but the file has %zu bytes", i,
                             (unsigned long long)offset + length, size);
        if (get_element_size(type) == 0 || length % get_element_size(type))
            return error_set(container->err, EINVAL, "JSLB slab %u has the unknown type %u, or ends within an element",
                             i, type);
        struct slab slab = {.type = type, .bytes = cursor_of(bytes + offset, length)};
        if (!array_push(&container->slabs, slab))
            return error_no_memory(container->err);
    }
    if (header.failed)
        return error_set(container->err, EINVAL,
                         "the file is truncated: the slab table of the JSLB container is incomplete");
    if (container->root >= count || container->slabs.data[container->root].type != SLAB_JSON)
        return error_set(container->err, EINVAL, "the JSLB container has no root slab of JSON");
    return 0;
}

static double convert_to_float(uint32_t bits)
{
    float value;
    memcpy(&value, &bits, sizeof(value));
    return value;
}

static double convert_to_double(uint64_t bits)
{
    double value;
    memcpy(&value, &bits, sizeof(value));
    return value;
}

static void write_element(struct json_writer *writer, uint32_t type, struct cursor *bytes)
{
    switch (type) {
    case SLAB_I8:
        json_signed(writer, (int8_t)cursor_u8(bytes));
        break;
    case SLAB_U8:
        json_unsigned(writer, cursor_u8(bytes));
        break;
    case SLAB_I16:
        json_signed(writer, (int16_t)cursor_u16(bytes));
        break;
    case SLAB_U16:
        json_unsigned(writer, cursor_u16(bytes));
        break;
    case SLAB_I32:
        json_signed(writer, (int32_t)cursor_u32(bytes));
        break;
    case SLAB_U32:
        json_unsigned(writer, cursor_u32(bytes));
        break;
    case SLAB_F32:
        json_double(writer, convert_to_float(cursor_u32(bytes)));
        break;
    case SLAB_F64:
        json_double(writer, convert_to_double(cursor_u64(bytes)));
        break;
    case SLAB_I64:
        json_signed(writer, (int64_t)cursor_u64(bytes));
        break;
    default:
        json_unsigned(writer, cursor_u64(bytes));
    }
}

static void write_numbers(struct container *container, struct slab *slab)
{
    json_open(&container->writer, '[');
    while (cursor_left(&slab->bytes) && !container->writer.status)
        write_element(&container->writer, slab->type, &slab->bytes);
    json_close(&container->writer, ']');
}

static int write_slab(struct container *container, double number);

/* The parsed part of a {"$s": N}. If the object is no reference, prof writes the stored tokens. */
enum placeholder { NOTHING, BRACE, KEY, NUMBER };

static void write_placeholder(struct json_writer *writer, enum placeholder seen, double number)
{
    if (seen >= BRACE)
        json_open(writer, '{');
    if (seen >= KEY)
        json_key(writer, "$s");
    if (seen == NUMBER)
        json_double(writer, number);
}

static int write_tokens(struct container *container, struct json *json)
{
    struct json_writer *writer = &container->writer;
    enum placeholder seen = NOTHING;
    double number = 0;
    enum json_type type;
    while ((type = json_next(json)) > JSON_END && !writer->status) {
        if (seen == BRACE && type == JSON_KEY && json_is(json, "$s")) {
            seen = KEY;
        } else if (seen == KEY && type == JSON_NUMBER) {
            seen = NUMBER;
            number = json->number;
        } else if (seen == NUMBER && type == JSON_OBJECT_CLOSE) {
            seen = NOTHING;
            int code = write_slab(container, number);
            if (code)
                return code;
        } else {
            write_placeholder(writer, seen, number);
            seen = type == JSON_OBJECT_OPEN ? BRACE : NOTHING;
            if (!seen)
                json_token(writer, json, type);
        }
    }
    if (writer->status)
        return writer->status;
    if (type != JSON_END)
        return error_set(container->err, EINVAL, "a JSON slab of the JSLB container is damaged at byte %llu: %s",
                         (unsigned long long)json->offset, json->problem ? json->problem : "it ends early");
    return 0;
}

static int write_json(struct container *container, const struct slab *slab)
{
    struct json json;
    json_init_whole(&json, (const char *)slab->bytes.at, cursor_left(&slab->bytes));
    int code = write_tokens(container, &json);
    json_destroy(&json);
    return code;
}

static int write_slab(struct container *container, double number)
{
    struct slab *slab =
        number >= 0 && number < (double)container->slabs.length ? &container->slabs.data[(size_t)number] : NULL;
    if (!slab)
        return error_set(container->err, EINVAL, "the JSLB container has only %zu slabs, but refers to a later slab",
                         container->slabs.length);
    if (slab->used || container->nesting == MAX_NESTING)
        return error_set(container->err, EINVAL, "slab %zu of the JSLB container is used twice, or nested too deeply",
                         (size_t)number);
    slab->used = true;
    if (slab->type != SLAB_JSON) {
        write_numbers(container, slab);
        return 0;
    }
    container->nesting++;
    int code = write_json(container, slab);
    container->nesting--;
    return code;
}

int jslb_to_json(const unsigned char *bytes, size_t size, const struct byte_sink *sink, struct error *err)
{
    struct container *container = calloc(1, sizeof(*container));
    if (!container)
        return error_no_memory(err);
    container->err = err;
    json_writer_init(&container->writer, sink, err);
    int code = read_slab_table(container, bytes, size);
    if (!code)
        code = write_slab(container, container->root);
    if (!code)
        code = json_writer_finish(&container->writer);
    array_free(&container->slabs);
    free(container);
    return code;
}
