#include "spool/spool_event.h"

#include "base/leb128.h"

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

static void code_size(struct spool_codec *c, size_t *value)
{
    uint64_t wide = *value;
    code_u64(c, &wide);
    *value = (size_t)wide;
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

static void code_lib(struct spool_codec *c, struct spool_lib *lib)
{
    code_u32(c, &lib->kind);
    code_text(c, &lib->path);
    code_size(c, &lib->build_id_size);
    code_bytes(c, &lib->build_id, lib->build_id_size);
    code_u64(c, &lib->device);
    code_u64(c, &lib->inode);
    code_u64(c, &lib->size);
    code_u64(c, &lib->mtime_ns);
    code_size(c, &lib->image_size);
    code_bytes(c, &lib->image, lib->image_size);
}

bool spool_event_code(struct spool_codec *c, struct spool_event *event)
{
    switch (event->kind) {
    case SPOOL_INFO:
        code_text(c, &event->name);
        code_text(c, &event->value);
        break;
    case SPOOL_PROCESS:
        code_u32(c, &event->number);
        code_u32(c, &event->parent);
        code_bool(c, &event->exec);
        code_u32(c, &event->pid);
        code_u64(c, &event->time);
        code_text(c, &event->name);
        break;
    case SPOOL_THREAD:
        code_u32(c, &event->number);
        code_u32(c, &event->process);
        code_u32(c, &event->tid);
        code_u64(c, &event->time);
        code_text(c, &event->name);
        break;
    case SPOOL_NAME:
        code_u32(c, &event->number);
        code_u64(c, &event->time);
        code_text(c, &event->name);
        break;
    case SPOOL_THREAD_END:
        code_u32(c, &event->number);
        code_u64(c, &event->time);
        break;
    case SPOOL_LIB:
        code_u32(c, &event->number);
        code_lib(c, &event->lib);
        break;
    case SPOOL_MAP:
        code_u32(c, &event->number);
        code_u64(c, &event->time);
        code_u64(c, &event->start);
        code_u64(c, &event->end);
        code_u64(c, &event->rva);
        code_u32(c, &event->lib_number);
        break;
    case SPOOL_LOST:
        code_u64(c, &event->time);
        code_u64(c, &event->start);
        code_u32(c, &event->cpu);
        code_u64(c, &event->count);
        break;
    case SPOOL_PAUSED:
    case SPOOL_RESUMED:
        code_u64(c, &event->time);
        break;
    case SPOOL_MARK:
        code_u64(c, &event->time);
        code_text(c, &event->value);
        break;
    case SPOOL_RUN:
        code_u64(c, &event->time);
        code_u64(c, &event->count);
        break;
    case SPOOL_UNSAMPLED:
    case SPOOL_UNSEEN:
        code_u32(c, &event->number);
        code_u64(c, &event->time);
        code_u64(c, &event->count);
        break;
    case SPOOL_OBJECT:
    case SPOOL_MARK_NAME:
        code_u32(c, &event->number);
        code_text(c, &event->name);
        break;
    case SPOOL_PROGRAM_MARK:
        code_u32(c, &event->mark);
        code_u32(c, &event->number);
        code_u32(c, &event->pid);
        code_u32(c, &event->tid);
        code_u64(c, &event->time);
        if (event->mark >= SPOOL_MARK_SPAN)
            code_u64(c, &event->end);
        code_text(c, &event->value);
        break;
    case SPOOL_MARKS_LOST:
        code_u32(c, &event->pid);
        code_u64(c, &event->start);
        code_u64(c, &event->time);
        code_u64(c, &event->count);
        break;
    case SPOOL_COMMAND:
        code_u32(c, &event->number);
        code_text(c, &event->value);
        break;
    case SPOOL_EXIT:
        code_u32(c, &event->pid);
        code_u64(c, &event->time);
        code_u64(c, &event->count);
        break;
    case SPOOL_WORK:
        code_u64(c, &event->time);
        code_u64(c, &event->end);
        code_text(c, &event->name);
        break;
    case SPOOL_PYTHON_FUNCTION:
        code_u32(c, &event->number);
        code_text(c, &event->name);
        code_text(c, &event->value);
        code_u64(c, &event->count);
        break;
    case SPOOL_SIGNAL:
        code_u32(c, &event->pid);
        code_u32(c, &event->tid);
        code_u64(c, &event->time);
        code_u32(c, &event->number);
        code_text(c, &event->name);
        break;
    case SPOOL_OOM_KILL:
        code_u32(c, &event->pid);
        code_u64(c, &event->time);
        code_u64(c, &event->count);
        break;
    default:
        c->failed = true;
    }
    return !c->failed;
}

bool spool_event_read(struct cursor *in, struct spool_event *event)
{
    struct spool_codec codec = {.in = *in};
    *event = (struct spool_event){.kind = cursor_u8(&codec.in)};
    bool done = spool_event_code(&codec, event);
    *in = codec.in;
    return done;
}
