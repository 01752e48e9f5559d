#include "import/import.h"

#include "import/importers.h"
#include "profile/jslb.h"

enum { MOST_UNDECIDED = 64 << 20 }; /* size limit of JSON before its kind is known, bytes */

struct import {
    struct profile_reader *reader;
    struct json_kind_scanner scanner;
    const struct importer *importer; /* importer of this file, or NULL (the profile reader reads the file) */
    bool is_decided, failed, takes_parts;
    bool is_behind_mark; /* a byte order mark, if any, was skipped */
    unsigned mark;       /* number of bytes of the byte order mark read so far */
    size_t scanned;      /* length of the stored text that the scanner has read */
    size_t least_deferred;
    const atomic_bool *stop;
    ARRAY(char) held; /* stored bytes: until the format is known, or the whole text for an importer */
    struct error error;
};

struct import *import_new(void)
{
    struct import *import = calloc(1, sizeof(*import));
    if (!import)
        return NULL;
    json_kind_init(&import->scanner);
    import->reader = profile_reader_new();
    if (import->reader)
        return import;
    import_free(import);
    return NULL;
}

void import_free(struct import *import)
{
    if (!import)
        return;
    profile_reader_free(import->reader);
    json_kind_destroy(&import->scanner);
    array_free(&import->held);
    free(import);
}

void import_accept_parts(struct import *import)
{
    import->takes_parts = true;
}

void import_set_stop_flag(struct import *import, const atomic_bool *stop)
{
    import->stop = stop;
    profile_reader_set_stop_flag(import->reader, stop);
}

void import_defer_numbers(struct import *import, size_t least)
{
    import->least_deferred = least;
    profile_reader_defer_numbers(import->reader, least);
}

struct profile_reader *import_get_reader(struct import *import)
{
    return import->reader;
}

/* Returns the first byte that is not white space, or 0 if no such byte has arrived. */
static char find_first_byte(const char *text, size_t size)
{
    for (size_t i = 0; i < size; i++)
        if (!strchr(" \t\r\n", text[i]) || !text[i])
            return text[i];
    return 0;
}

/* Returns whether the bytes so far identify the format. */
static bool detect_format(struct import *import, const char *text, size_t size, bool is_whole)
{
    if (size < JSLB_MAGIC_SIZE && !is_whole)
        return false;
    if (jslb_begins((const unsigned char *)text, size))
        return true;
    /* pprof begins with a field of a few bytes, whose tag is a line feed */
    bool is_binary = size >= 2 && text[0] == '\n' && text[1] > 0 && text[1] < '\t';
    char first = find_first_byte(text, size);
    if (!is_binary && (first == '{' || first == '[') && !import->scanner.is_no_json) {
        enum json_kind kind = json_kind_feed(&import->scanner, text + import->scanned, size - import->scanned);
        import->scanned = size;
        import->importer = importer_find_by_kind(kind);
        if (!import->scanner.is_no_json)
            return kind != JSON_KIND_NONE || size > MOST_UNDECIDED;
    }
    if (size < IMPORT_SNIFF_SIZE && !is_whole)
        return false;
    bool is_all = is_whole && size <= IMPORT_SNIFF_SIZE;
    import->importer =
        importer_find_by_text(text, is_all ? size : size < IMPORT_SNIFF_SIZE ? size : IMPORT_SNIFF_SIZE, is_all);
    return true;
}

static int set_failed(struct import *import, int code)
{
    import->failed = true;
    return code;
}

static int store_until_detected(struct import *import, const char *bytes, size_t size)
{
    const struct importer *importer = import->importer;
    if (importer && import->held.length + size > importer->most)
        return error_set(&import->error, EFBIG, "the file is a %s of more than %zu MiB, the size limit", importer->from,
                         importer->most >> 20);
    return array_append(&import->held, bytes, size) ? 0 : error_no_memory(&import->error);
}

/* Passes the stored bytes to the profile reader. The reader cannot defer runs of these bytes, because they come from
 * several pieces. */
static int feed_stored_bytes(struct import *import)
{
    profile_reader_defer_numbers(import->reader, 0);
    int code = profile_reader_feed(import->reader, import->held.data, import->held.length, &import->error);
    profile_reader_defer_numbers(import->reader, import->least_deferred);
    array_free(&import->held);
    return code;
}

static int feed_bytes(struct import *import, const char *bytes, size_t size)
{
    if (!import->is_decided && import->held.length == 0)
        import->is_decided = detect_format(import, bytes, size, false);
    else if (!import->is_decided) {
        int code = store_until_detected(import, bytes, size);
        if (code)
            return code;
        import->is_decided = detect_format(import, import->held.data, import->held.length, false);
        return import->is_decided && !import->importer ? feed_stored_bytes(import) : 0;
    }
    if (!import->is_decided || import->importer)
        return store_until_detected(import, bytes, size);
    return profile_reader_feed(import->reader, bytes, size, &import->error);
}

static const char byte_order_mark[] = "\xef\xbb\xbf";

/* Skips a byte order mark at the beginning; feeds bytes that only resemble its start. */
static int feed_after_byte_order_mark(struct import *import, const char *bytes, size_t size)
{
    while (size && !import->is_behind_mark) {
        if (*bytes != byte_order_mark[import->mark]) {
            import->is_behind_mark = true;
            int code = import->mark ? feed_bytes(import, byte_order_mark, import->mark) : 0;
            if (code)
                return code;
            break;
        }
        import->is_behind_mark = ++import->mark == 3;
        bytes++;
        size--;
    }
    return size ? feed_bytes(import, bytes, size) : 0;
}

int import_feed(struct import *import, const void *bytes, size_t size, struct error *err)
{
    int code = import->failed ? -EINVAL : feed_after_byte_order_mark(import, bytes, size);
    if (code && err)
        *err = import->error;
    return code ? set_failed(import, code) : 0;
}

/* Reads the profile. Fails for a part of a growing profile, whose tables refer to rows of other parts. */
static int read_profile(struct import *import, struct profile *out)
{
    int code = profile_reader_finish(import->reader, out, &import->error);
    if (code || !out->meta.added_from || import->takes_parts)
        return code;
    profile_destroy(out);
    *out = (struct profile){0};
    return error_set(&import->error, EINVAL,
                     "the file is an update of a live profile, without the start of the profile");
}

static int finish_import(struct import *import, struct profile *out)
{
    if (!import->is_behind_mark && import->mark) {
        int code = feed_bytes(import, byte_order_mark, import->mark);
        if (code)
            return code;
    }
    if (!import->is_decided) {
        detect_format(import, import->held.data ? import->held.data : "", import->held.length, true);
        int code = import->importer ? 0 : feed_stored_bytes(import);
        if (code)
            return code;
    }
    if (!import->importer)
        return read_profile(import, out);
    if (import->stop && *import->stop)
        return error_set(&import->error, ECANCELED, "canceled");
    return importer_read(import->importer, import->held.data, import->held.length, out, &import->error);
}

int import_finish(struct import *import, struct profile *out, struct error *err)
{
    int code = import->failed ? -EINVAL : finish_import(import, out);
    if (code && err)
        *err = import->error;
    return set_failed(import, code);
}
