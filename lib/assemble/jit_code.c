/*
 * Copies the JIT code of samples from jitdump files: a jitdump file may be removed, and no other file has the code. A
 * copy typically has some hundred kilobytes. The profile format cannot contain code. The name of the image is its build
 * id, a hash of its contents. So a second recording of the same code takes no more disk space, and the page never shows
 * other code.
 */
#include "assemble/jit_code.h"

#include "assemble/process_jitdump.h"
#include "assemble/process_perf_map.h"
#include "base/checksum.h"
#include "base/search.h"
#include "os/directory.h"
#include "spool/info.h"
#include "symbol/jit_image.h"
#include "symbol/jit_name.h"
#include "symbol/library_id.h"

#include <unistd.h>

/* Limits for damaged and hostile files. */
enum { BYTES_OF_ONE_MAX = 1 << 20, BYTES_MAX = 16 << 20, LINES_OF_ONE_MAX = 1 << 16, IMAGES_MAX = 64 };

struct wanted_code {
    uint32_t process, code;
};

/* A code of the dump. A compiler may write the same code to the same address repeatedly, but the image has the code
 * once. */
struct kept_code {
    uint32_t number, index; /* in the dump; in `codes` */
};

struct maker {
    struct jit_code_places *places;
    const struct replay *replay;
    struct interner *interner;
    const char *directory_path;
    int directory;
    ARRAY(struct wanted_code) wanted; /* by process, then code; distinct */
    /* The image being made: */
    ARRAY(struct jit_image_code) codes;
    ARRAY(struct kept_code) kept;
    struct hash by_contents; /* checksum of a code -> index in `codes` */
    struct arena arena;      /* names and bytes */
};

static uint64_t make_key(uint32_t process, uint32_t code)
{
    return (uint64_t)process << 32 | code;
}

/* ---- sampled code ---- */

DEFINE_COMPARE(compare_wanted, struct wanted_code, ORDER(make_key(a->process, a->code), make_key(b->process, b->code)))

static bool collect_wanted(struct maker *maker)
{
    const struct replay *replay = maker->replay;
    for (size_t i = 0; i < replay->stacks.frames.length; i++)
        if (replay->stacks.frames.data[i].lib == REPLAY_LIB_DUMPED &&
            !array_push(&maker->wanted, (struct wanted_code){.process = replay->stacks.frames.data[i].process,
                                                             .code = replay->stacks.frames.data[i].code}))
            return false;
    struct wanted_code *wanted = maker->wanted.data;
    size_t kept = 0;
    array_sort(&maker->wanted, compare_wanted);
    for (size_t i = 0; i < maker->wanted.length; i++)
        if (!kept || compare_wanted(&wanted[kept - 1], &wanted[i]) != 0)
            wanted[kept++] = wanted[i];
    maker->wanted.length = kept;
    return true;
}

/* ---- one image ---- */

/* Reads the machine code of a JIT function. NULL if the file lacks it, or memory ran out. */
static const unsigned char *read_bytes(struct maker *maker, int fd, const struct jit_code *code)
{
    if (!code->bytes_at || code->size > BYTES_OF_ONE_MAX)
        return NULL;
    unsigned char *bytes = arena_alloc(&maker->arena, (size_t)code->size);
    return bytes && pread(fd, bytes, (size_t)code->size, (off_t)code->bytes_at) == (ssize_t)code->size ? bytes : NULL;
}

/* Copies the lines of a code. Returns NULL if the function has no lines, or memory ran out. V8 before version 12 writes
 * damaged file names: a damaged name counts as the function's own file, or as unknown. */
static const struct jit_image_line *copy_lines(struct maker *maker, const struct jitdump *dump,
                                               const struct jit_code *code, const char *own_file, size_t *line_count)
{
    uint32_t count = code->line_count < LINES_OF_ONE_MAX ? code->line_count : LINES_OF_ONE_MAX;
    struct jit_image_line *lines = count ? arena_alloc(&maker->arena, count * sizeof(*lines)) : NULL;
    for (uint32_t i = 0; lines && i < count; i++) {
        const struct jit_line *from = &dump->lines.data[code->first_line + i];
        const struct string_entry *file = &dump->texts.entries.data[from->file];
        bool is_own = own_file && jitdump_line_is_in_file(dump, from, own_file);
        bool is_whole = jit_text_is_printable(file->text, file->length);
        lines[i] = (struct jit_image_line){.offset = from->offset,
                                           .line = from->line,
                                           .column = from->column,
                                           .file = is_own     ? own_file
                                                   : is_whole ? file->text
                                                              : NULL};
    }
    *line_count = lines ? count : 0;
    return lines;
}

static bool is_same(const struct jit_image_code *a, const struct jit_image_code *b)
{
    return a->start == b->start && a->size == b->size && strcmp(a->name, b->name) == 0 &&
           memcmp(a->bytes, b->bytes, (size_t)a->size) == 0;
}

/* Returns the index of equal code, else the index for new code. */
static uint32_t find_same(struct maker *maker, const struct jit_image_code *code)
{
    uint64_t checksum = checksum_mix(checksum_bytes(code->bytes, (size_t)code->size), code->start);
    checksum = checksum_mix(checksum, checksum_bytes(code->name, strlen(code->name)));
    uint32_t found = hash_get(&maker->by_contents, checksum), next = (uint32_t)maker->codes.length;
    if (found != HASH_MISSING && is_same(&maker->codes.data[found], code))
        return found;
    hash_set(&maker->by_contents, checksum, next); /* if memory runs out, the image has the code twice */
    return next;
}

static int read_wanted_codes(struct maker *maker, int fd, const struct wanted_code *wanted, size_t count,
                             struct error *err)
{
    const struct jitdump *dump = maker->replay->processes.data[wanted->process].jit.dump;
    size_t size = 0;
    maker->codes.length = maker->kept.length = 0;
    hash_destroy(&maker->by_contents);
    for (size_t i = 0; i < count && size < BYTES_MAX && maker->codes.length < JIT_IMAGE_CODES_MAX; i++) {
        const struct jit_code *code = &dump->codes.data[wanted[i].code];
        const struct string_entry *text = &dump->texts.entries.data[code->name];
        const unsigned char *bytes = text->length ? read_bytes(maker, fd, code) : NULL;
        struct jit_name name;
        if (!bytes)
            continue;
        if (jit_name_parse(&name, text->text, text->length, &maker->arena))
            return error_no_memory(err);
        struct jit_image_code kept = {.start = code->start, .size = code->size, .name = name.function, .bytes = bytes};
        uint32_t index = find_same(maker, &kept);
        size += (size_t)code->size + strlen(name.function); /* includes duplicates, whose bytes are in the arena */
        if (index == maker->codes.length) {
            kept.file = process_jitdump_find_source_file(dump, code, &name);
            kept.lines = copy_lines(maker, dump, code, kept.file, &kept.line_count);
            if (!array_push(&maker->codes, kept))
                return error_no_memory(err);
            size += kept.line_count * sizeof(*kept.lines);
        }
        if (!array_push(&maker->kept, (struct kept_code){.number = wanted[i].code, .index = index}))
            return error_no_memory(err);
    }
    return 0;
}

static uint32_t add_library(const struct maker *maker, uint32_t process, const unsigned char *build_id,
                            const char *file)
{
    struct strings *strings = &maker->interner->profile->strings;
    char breakpad_id[BREAKPAD_ID_SIZE], code_id[CODE_ID_SIZE], name[32];
    write_breakpad_id(build_id, JIT_IMAGE_ID_SIZE, breakpad_id);
    write_code_id(build_id, JIT_IMAGE_ID_SIZE, code_id);
    snprintf(name, sizeof(name), "jit-%" PRIu32 ".dump", process_perf_map_get_own_pid(maker->replay, process));
    char *path;
    if (asprintf(&path, "%s/%s", maker->directory_path, file) < 0)
        return PROFILE_NONE;
    const char *machine = replay_get_info(maker->replay, INFO_MACHINE);
    struct library row = {
        .arch = strings_add_z(strings, machine ? machine : ""),
        .name = strings_add_z(strings, name),
        .path = strings_add_z(strings, path),
        .breakpad_id = strings_add_z(strings, breakpad_id),
        .code_id = strings_add_z(strings, code_id),
    };
    free(path);
    row.debug_name = row.name;
    row.debug_path = row.path;
    bool ok = row.arch != STRING_NONE && row.name != STRING_NONE && row.path != STRING_NONE &&
              row.breakpad_id != STRING_NONE && row.code_id != STRING_NONE;
    return ok ? intern_library(maker->interner, &row) : PROFILE_NONE;
}

static int add_code_place(struct maker *maker, uint64_t key, const struct jit_image_code *code, uint32_t lib,
                          struct error *err)
{
    struct native_symbol symbol = {.lib = lib,
                                   .address = (int64_t)code->rva,
                                   .name = strings_add_z(&maker->interner->profile->strings, code->name),
                                   .size = (uint32_t)code->size};
    struct jit_code_place place = {.rva = code->rva, .lib = lib};
    bool ok = symbol.name != STRING_NONE &&
              (place.native_symbol = intern_native_symbol(maker->interner, &symbol)) != PROFILE_NONE &&
              array_push(&maker->places->places, place) &&
              hash_set(&maker->places->by_code, key, (uint32_t)maker->places->places.length - 1);
    return ok ? 0 : error_no_memory(err);
}

static int add_code_places(struct maker *maker, uint32_t process, uint32_t lib, struct error *err)
{
    int code = 0;
    for (size_t i = 0; !code && i < maker->kept.length; i++) {
        const struct kept_code *kept = &maker->kept.data[i];
        const struct jit_image_code *of = &maker->codes.data[kept->index];
        if (of->rva != JIT_IMAGE_NONE)
            code = add_code_place(maker, make_key(process, kept->number), of, lib, err);
    }
    return code;
}

static int save_image(struct maker *maker, uint32_t process, struct error *err)
{
    const struct jitdump *dump = maker->replay->processes.data[process].jit.dump;
    unsigned char build_id[JIT_IMAGE_ID_SIZE];
    char code_id[CODE_ID_SIZE], file[CODE_ID_SIZE + 16];
    struct text_buffer image = {0};
    int code = jit_image_assign_addresses(maker->codes.data, maker->codes.length, err);
    if (!code)
        code = jit_image_write(&image, maker->codes.data, maker->codes.length, dump->machine, build_id, err);
    if (!code) {
        write_code_id(build_id, JIT_IMAGE_ID_SIZE, code_id);
        snprintf(file, sizeof(file), "jit-%s.elf", code_id);
        if (file_directory_save(maker->directory, file, image.data, image.length) == 0) {
            uint32_t lib = add_library(maker, process, build_id, file);
            code = lib == PROFILE_NONE ? error_no_memory(err) : add_code_places(maker, process, lib, err);
        }
    }
    array_free(&image);
    return code;
}

/* ---- all ---- */

static int make_all_images(struct maker *maker, struct error *err)
{
    int code = 0;
    size_t end;
    for (size_t i = 0, images = 0; i < maker->wanted.length && images < IMAGES_MAX && !code; i = end, images++) {
        const struct wanted_code *wanted = &maker->wanted.data[i];
        for (end = i; end < maker->wanted.length && maker->wanted.data[end].process == wanted->process; end++)
            ;
        int fd = process_jitdump_open_again(maker->replay, wanted->process);
        if (fd < 0)
            continue;
        code = read_wanted_codes(maker, fd, wanted, end - i, err);
        close(fd);
        if (!code && maker->codes.length)
            code = save_image(maker, wanted->process, err);
        arena_destroy(&maker->arena);
        maker->arena = (struct arena){0};
    }
    return code;
}

int jit_code_places_make(struct jit_code_places *places, const struct replay *replay, const char *directory,
                         struct interner *interner, struct error *err)
{
    struct maker maker = {
        .places = places, .replay = replay, .interner = interner, .directory_path = directory, .directory = -1};
    int code = collect_wanted(&maker) ? 0 : error_no_memory(err);
    if (!code && directory && maker.wanted.length)
        maker.directory = file_directory_open(directory, NULL);
    if (maker.directory >= 0) {
        code = make_all_images(&maker, err);
        file_directory_trim(maker.directory, CACHE_DIRECTORY_MAX);
        close(maker.directory);
    }
    array_free(&maker.wanted);
    array_free(&maker.codes);
    array_free(&maker.kept);
    hash_destroy(&maker.by_contents);
    arena_destroy(&maker.arena);
    return code;
}

const struct jit_code_place *jit_code_places_find(const struct jit_code_places *places,
                                                  const struct replay_frame *frame)
{
    uint32_t index = hash_get(&places->by_code, make_key(frame->process, frame->code));
    return index == HASH_MISSING ? NULL : &places->places.data[index];
}

void jit_code_places_destroy(struct jit_code_places *places)
{
    array_free(&places->places);
    hash_destroy(&places->by_code);
}
