#include "spool/spool_event.h"

#include "base/leb128.h"
#include "spool/spool_format.h"

#include <string.h>

static void code_bytes(struct spool_codec *c, const unsigned char **bytes, uint64_t size)
{
    if (!c->out) {
        *bytes = cursor_bytes(&c->in, size);
        c->failed = c->in.failed;
    } else if (!c->failed && size) {
        c->failed = !array_append(c->out, *bytes, size);
    }
}

static void code_u64(struct spool_codec *c, uint64_t *value)
{
    if (c->out) {
        unsigned char encoded[LEB128_MAX];
        const unsigned char *from = encoded;
        code_bytes(c, &from, (uint64_t)(leb128_put(encoded, *value) - encoded));
    } else {
        *value = cursor_uleb(&c->in);
        c->failed = c->in.failed;
    }
}

static void code_u32(struct spool_codec *c, uint32_t *value)
{
    uint64_t wide = *value;
    code_u64(c, &wide);
    if (wide > UINT32_MAX)
        c->failed = true;
    *value = (uint32_t)wide;
}

static void code_bool(struct spool_codec *c, bool *value)
{
    uint64_t wide = *value;
    code_u64(c, &wide);
    *value = wide != 0;
}

static void code_text(struct spool_codec *c, const char **text)
{
    if (c->out) {
        const char *from = *text ? *text : "";
        const unsigned char *bytes = (const unsigned char *)from;
        code_bytes(c, &bytes, strlen(from) + 1);
    } else {
        *text = cursor_string(&c->in);
        c->failed = c->in.failed;
    }
}

static void code_field(struct spool_codec *c, enum spool_storage storage, void *member)
{
    const unsigned char **bytes = member;
    switch (storage) {
    case SPOOL_STORES_BOOL:
        code_bool(c, member);
        break;
    case SPOOL_STORES_U32:
        code_u32(c, member);
        break;
    case SPOOL_STORES_U64:
        code_u64(c, member);
        break;
    case SPOOL_STORES_TEXT:
        code_text(c, member);
        break;
    case SPOOL_STORES_BYTES:
        code_u64(c, (uint64_t *)(bytes + 1));
        code_bytes(c, bytes, *(uint64_t *)(bytes + 1));
        break;
    case SPOOL_STORES_U64S: /* of samples */
        c->failed = true;
        break;
    }
}

bool spool_event_code(struct spool_codec *c, struct spool_event *event)
{
    const struct spool_kind *kind = spool_event_kind_of(event->kind);
    if (!kind)
        return false;
    for (const struct spool_field *field = kind->fields; field->name && !c->failed; field++)
        if (spool_field_is_in(field, event->mark))
            code_field(c, field->storage, (char *)event + field->offset);
    return !c->failed && event->mark < SPOOL_MARK_KINDS;
}

bool spool_event_read(struct cursor *in, struct spool_event *event)
{
    struct spool_codec codec = {.in = *in};
    *event = (struct spool_event){.kind = cursor_u8(&codec.in)};
    bool done = spool_event_code(&codec, event);
    *in = codec.in;
    return done;
}
