/*
 * The search for debug files. Nothing here touches the network: files come from this machine's disks alone.
 *
 * Order, as gdb has it (manual, 18.3 "Debugging Information in Separate Files"):
 *   1. /usr/lib/debug/.build-id/xx/yyyy.debug by the build id,
 *   2. the name in .gnu_debuglink beside the library, in .debug/ there, and below /usr/lib/debug.
 */
#include "symbol/debug_file.h"

#include <errno.h>
#include <libgen.h>
#include <limits.h>
#include <lzma.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

/* .gnu_debugdata of the largest programs is a few MB; a bomb stops here. */
enum { MINI_SIZE_MAX = 256 << 20 };

static void say(struct debug_files *files, const char *format, const char *name, const char *detail)
{
    char text[2 * PATH_MAX];
    if (files->problem[0])
        return;
    snprintf(text, sizeof(text), format, name, detail);
    size_t length = strnlen(text, sizeof(files->problem) - 1);
    memcpy(files->problem, text, length);
    files->problem[length] = '\0';
}

static bool has_id(const struct elf_file *file, const unsigned char *id, size_t size)
{
    return file->build_id_size == size && memcmp(file->build_id, id, size) == 0;
}

static void build_id_path(char *path, size_t size, const char *root, const unsigned char *id, size_t id_size)
{
    int used = snprintf(path, size, "%s/.build-id/%02x/", root, id[0]);
    for (size_t i = 1; i < id_size && (size_t)used + 3 < size; i++)
        used += snprintf(path + used, size - (size_t)used, "%02x", id[i]);
    snprintf(path + used, size - (size_t)used, ".debug");
}

static bool open_by_build_id(struct elf_file *file, const char *root, const unsigned char *id, size_t id_size)
{
    char path[PATH_MAX];
    if (id_size < 2 || id_size > ELF_BUILD_ID_MAX)
        return false;
    build_id_path(path, sizeof(path), root, id, id_size);
    if (elf_file_open(file, path, NULL) != 0)
        return false;
    if (has_id(file, id, id_size))
        return true;
    elf_file_close(file);
    return false;
}

static bool crc_is(const struct elf_file *file, uint32_t wanted)
{
    enum { STEP = 1 << 20 };
    unsigned char *buffer = malloc(STEP);
    uLong crc = crc32(0, NULL, 0);
    bool read = buffer != NULL;
    for (uint64_t at = 0; read && at < file->bytes.size; at += STEP) {
        size_t size = file->bytes.size - at < STEP ? (size_t)(file->bytes.size - at) : STEP;
        read = bytes_read(&file->bytes, at, buffer, size);
        if (read)
            crc = crc32(crc, buffer, (uInt)size);
    }
    free(buffer);
    return read && crc == wanted;
}

/* A candidate of .gnu_debuglink. The build id decides; without one, the CRC. */
static bool try_link(struct debug_files *files, const char *path, uint32_t crc)
{
    if (elf_file_open(&files->separate, path, NULL) != 0)
        return false;
    const struct elf_file *mapped = &files->mapped;
    bool fits = mapped->build_id_size ? has_id(&files->separate, mapped->build_id, mapped->build_id_size)
                                      : crc_is(&files->separate, crc);
    if (fits)
        return true;
    elf_file_close(&files->separate);
    say(files, "%s does not belong to %s: its build id or checksum differs", path, "the mapped file");
    return false;
}

/* Layout of .gnu_debuglink: a name, NUL, padding to four bytes, the CRC-32 of the file. */
static bool read_debug_link(const struct elf_file *file, char *name, size_t size, uint32_t *crc)
{
    const struct elf_section *section = elf_file_section(file, ".gnu_debuglink");
    unsigned char raw[NAME_MAX + 9];
    if (!section || section->bytes.size > sizeof(raw) ||
        !bytes_read(&section->bytes, 0, raw, (size_t)section->bytes.size))
        return false;
    struct cursor c = cursor_of(raw, (size_t)section->bytes.size);
    const char *text = cursor_string(&c);
    if (!text || strchr(text, '/') || strlen(text) >= size)
        return false;
    size_t used = (size_t)(c.at - raw);
    cursor_bytes(&c, (4 - used % 4) % 4);
    *crc = cursor_u32(&c);
    memcpy(name, text, strlen(text) + 1);
    return !c.failed && *name;
}

static bool open_by_link(struct debug_files *files, const char *mapped_path)
{
    char name[NAME_MAX + 1], directory[PATH_MAX], path[3 * PATH_MAX];
    uint32_t crc;
    if (!mapped_path || strlen(mapped_path) >= sizeof(directory) ||
        !read_debug_link(&files->mapped, name, sizeof(name), &crc))
        return false;
    memcpy(directory, mapped_path, strlen(mapped_path) + 1);
    const char *parent = dirname(directory);
    snprintf(path, sizeof(path), "%s/%s", parent, name);
    if (strcmp(path, mapped_path) != 0 && try_link(files, path, crc))
        return true;
    snprintf(path, sizeof(path), "%s/.debug/%s", parent, name);
    if (try_link(files, path, crc))
        return true;
    snprintf(path, sizeof(path), "%s%s/%s", files->debug_root, parent, name);
    return try_link(files, path, crc);
}

/* .gnu_debugaltlink: the name of the dwz file, NUL, its build id. */
static void open_alternate(struct debug_files *files)
{
    const struct elf_file *dwarf = debug_files_dwarf(files);
    const struct elf_section *section = dwarf ? elf_file_section(dwarf, ".gnu_debugaltlink") : NULL;
    unsigned char raw[PATH_MAX + ELF_BUILD_ID_MAX + 1];
    if (!section || section->bytes.size > sizeof(raw) ||
        !bytes_read(&section->bytes, 0, raw, (size_t)section->bytes.size))
        return;
    struct cursor c = cursor_of(raw, (size_t)section->bytes.size);
    const char *name = cursor_string(&c);
    size_t id_size = cursor_left(&c);
    if (!name || id_size == 0)
        return;
    files->has_alternate = open_by_build_id(&files->alternate, files->debug_root, c.at, id_size);
    if (!files->has_alternate && name[0] == '/' && elf_file_open(&files->alternate, name, NULL) == 0) {
        files->has_alternate = has_id(&files->alternate, c.at, id_size);
        if (!files->has_alternate)
            elf_file_close(&files->alternate);
    }
    if (!files->has_alternate)
        say(files, "some names are missing: the shared debug info %s%s was not found", name, "");
}

/* Decompresses an .xz stream that grows as it goes. */
static unsigned char *unpack_xz(const unsigned char *packed, size_t packed_size, size_t *size)
{
    lzma_stream stream = LZMA_STREAM_INIT;
    if (lzma_stream_decoder(&stream, UINT64_C(1) << 28, 0) != LZMA_OK)
        return NULL;
    ARRAY(unsigned char) out = {0};
    stream.next_in = packed;
    stream.avail_in = packed_size;
    lzma_ret state = LZMA_OK;
    while (state == LZMA_OK && out.length < MINI_SIZE_MAX && array_reserve(&out, 1 << 16)) {
        stream.next_out = out.data + out.length;
        stream.avail_out = out.capacity - out.length;
        state = lzma_code(&stream, LZMA_FINISH);
        out.length = out.capacity - stream.avail_out;
    }
    lzma_end(&stream);
    if (state != LZMA_STREAM_END)
        array_free(&out);
    *size = out.length;
    return out.data;
}

/* .gnu_debugdata: an ELF file with a .symtab, compressed with xz, that distributions leave in stripped files. */
static void open_mini(struct debug_files *files)
{
    const struct elf_section *section = elf_file_section(&files->mapped, ".gnu_debugdata");
    unsigned char *packed = section ? bytes_load(&section->bytes) : NULL;
    size_t size = 0;
    unsigned char *image = packed ? unpack_xz(packed, (size_t)section->bytes.size, &size) : NULL;
    free(packed);
    if (!image)
        return;
    files->has_mini = elf_file_open_image(&files->mini, image, size, ".gnu_debugdata", NULL) == 0;
    if (files->has_mini)
        files->mini.owned_image = image;
    else
        free(image);
}

static bool open_mapped(struct debug_files *files, const struct symbol_lib *lib)
{
    struct error why = {""};
    if (lib->kind == SYMBOL_LIB_VDSO)
        return lib->image && elf_file_open_image(&files->mapped, lib->image, lib->image_size, lib->name, &why) == 0;
    if (!lib->path) {
        say(files, "%s is not a file%s", lib->name, "");
        return false;
    }
    int result = elf_file_open(&files->mapped, lib->path, &why);
    if (result == -ENOENT)
        say(files, "%s is gone%s", lib->path, "");
    else if (result != 0)
        say(files, "%s%s", why.text, "");
    if (result != 0)
        return false;
    if (!lib->build_id || lib->build_id_size == 0 || has_id(&files->mapped, lib->build_id, lib->build_id_size))
        return true;
    elf_file_close(&files->mapped);
    say(files, "%s was replaced after recording: its build id is another one%s", lib->path, "");
    return false;
}

void debug_files_open(struct debug_files *files, const struct symbol_lib *lib, const char *debug_root)
{
    *files = (struct debug_files){.debug_root = debug_root};
    files->has_mapped = open_mapped(files, lib);
    const unsigned char *id = lib->build_id;
    size_t id_size = lib->build_id_size;
    if (files->has_mapped && !id) {
        id = files->mapped.build_id;
        id_size = files->mapped.build_id_size;
    }
    bool is_whole = files->has_mapped && elf_file_section(&files->mapped, ".debug_info");
    if (!is_whole && id)
        files->has_separate = open_by_build_id(&files->separate, debug_root, id, id_size);
    if (!is_whole && !files->has_separate && files->has_mapped)
        files->has_separate = open_by_link(files, lib->path);
    if (files->has_mapped && !files->has_separate)
        open_mini(files);
    open_alternate(files);
    files->base = files->has_mapped ? files->mapped.base : files->has_separate ? files->separate.base : 0;
}

void debug_files_close(struct debug_files *files)
{
    if (files->has_mapped)
        elf_file_close(&files->mapped);
    if (files->has_separate)
        elf_file_close(&files->separate);
    if (files->has_alternate)
        elf_file_close(&files->alternate);
    if (files->has_mini)
        elf_file_close(&files->mini);
}

const struct elf_file *debug_files_dwarf(const struct debug_files *files)
{
    if (files->has_mapped && elf_file_section(&files->mapped, ".debug_info"))
        return &files->mapped;
    if (files->has_separate && elf_file_section(&files->separate, ".debug_info"))
        return &files->separate;
    return NULL;
}
