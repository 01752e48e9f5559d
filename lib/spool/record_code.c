#include "spool/record_code.h"

#include "base/leb128.h"
#include "spool/spool_format.h"

/* ---- writing ---- */

static bool write_leb128(struct spool_bytes *out, uint64_t value)
{
    unsigned char encoded[LEB128_MAX];
    return array_append(out, encoded, (size_t)(leb128_put(encoded, value) - encoded));
}

static bool write_text(struct spool_bytes *out, const char *text)
{
    const char *from = text ? text : "";
    return array_append(out, from, strlen(from) + 1);
}

static bool write_blob(struct spool_bytes *out, const struct spool_blob *blob)
{
    return write_leb128(out, blob->size) && (!blob->size || array_append(out, blob->bytes, blob->size));
}

static bool write_field(struct spool_bytes *out, enum spool_storage storage, const void *member)
{
    uint64_t bits;
    switch (storage) {
    case SPOOL_STORES_BOOL:
        return write_leb128(out, *(const bool *)member);
    case SPOOL_STORES_U32:
        return write_leb128(out, *(const uint32_t *)member);
    case SPOOL_STORES_U64:
        return write_leb128(out, *(const uint64_t *)member);
    case SPOOL_STORES_DOUBLE:
        memcpy(&bits, member, sizeof(bits));
        return write_leb128(out, bits);
    case SPOOL_STORES_TEXT:
        return write_text(out, *(const char *const *)member);
    case SPOOL_STORES_BLOB:
        return write_blob(out, member);
    case SPOOL_STORES_LIST: /* of samples */
        return false;
    }
    return false;
}

bool record_code_write(struct spool_bytes *out, enum spool_record_kind number, const void *record)
{
    const struct spool_kind *kind = number < SPOOL_SAMPLES ? spool_find_kind(number) : NULL;
    size_t before = out->length;
    bool done = kind && array_push(out, (unsigned char)number);
    uint32_t mark = SPOOL_MARK_INSTANT;
    for (const struct spool_field *field = kind ? kind->fields : NULL; done && field->name; field++) {
        const void *member = spool_field_get_member(field, record);
        if (field->type == SPOOL_TYPE_MARK)
            mark = *(const uint32_t *)member;
        done = !spool_field_is_in(field, mark) || write_field(out, field->storage, member);
    }
    if (!done)
        out->length = before;
    return done;
}

/* ---- reading ---- */

static void read_field(struct cursor *in, enum spool_storage storage, void *member)
{
    struct spool_blob *blob = member;
    uint64_t bits;
    switch (storage) {
    case SPOOL_STORES_BOOL:
        *(bool *)member = cursor_uleb(in) != 0;
        break;
    case SPOOL_STORES_U32:
        *(uint32_t *)member = cursor_uleb32(in);
        break;
    case SPOOL_STORES_U64:
        *(uint64_t *)member = cursor_uleb(in);
        break;
    case SPOOL_STORES_DOUBLE:
        bits = cursor_uleb(in);
        memcpy(member, &bits, sizeof(bits));
        break;
    case SPOOL_STORES_TEXT:
        *(const char **)member = cursor_string(in);
        break;
    case SPOOL_STORES_BLOB:
        blob->size = cursor_uleb(in);
        blob->bytes = cursor_bytes(in, blob->size);
        break;
    case SPOOL_STORES_LIST: /* of samples */
        in->failed = true;
        break;
    }
}

bool record_code_read(struct cursor *in, struct spool_record *record)
{
    *record = (struct spool_record){.kind = cursor_u8(in)};
    const struct spool_kind *kind = spool_find_kind(record->kind);
    uint32_t mark = SPOOL_MARK_INSTANT;
    if (!kind)
        return false;
    for (const struct spool_field *field = kind->fields; field->name && !in->failed; field++) {
        void *member = (char *)record + offsetof(struct spool_record, metadata) + field->offset;
        if (!spool_field_is_in(field, mark))
            continue;
        read_field(in, field->storage, member);
        if (field->type == SPOOL_TYPE_MARK)
            mark = *(uint32_t *)member;
    }
    return !in->failed && mark < SPOOL_MARK_KINDS;
}
