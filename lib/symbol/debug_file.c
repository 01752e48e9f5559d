/*
 * Opens the candidates for debug files one after the other, the mapped file first, until a file has debug info. If no
 * file has debug info, the best file is used. A symbol table is better than exported functions alone.
 */
#include "symbol/debug_file.h"

#include "os/file_io.h"
#include "os/vector_registers.h"
#include "symbol/debug_server.h"
#include "symbol/kernel_file.h"

#include <isa-l/crc.h>
#include <lzma.h>
#include <stdarg.h>
#include <sys/stat.h>
#include <unistd.h>

/* .gnu_debugdata of the largest programs takes a few MB; the limit stops decompression bombs. */
enum { MINI_SIZE_MAX = 256 << 20 };

/* Stores the first problem, which is the most useful to the user. */
static void set_problem(struct debug_files *files, const char *format, ...) __attribute__((format(printf, 2, 3)));

static void set_problem(struct debug_files *files, const char *format, ...)
{
    va_list args;
    if (files->problem[0])
        return;
    va_start(args, format);
    vsnprintf(files->problem, sizeof(files->problem), format, args);
    va_end(args);
}

/* ---- does a file belong to the library? ---- */

static bool has_crc(const struct elf_file *file, uint32_t wanted)
{
    enum { STEP = 1 << 20 };
    unsigned char *buffer = malloc(STEP);
    uint32_t crc = 0;
    bool read = buffer != NULL;
    for (uint64_t at = 0; read && at < file->bytes.size; at += STEP) {
        size_t size = file->bytes.size - at < STEP ? (size_t)(file->bytes.size - at) : STEP;
        read = bytes_read(&file->bytes, at, buffer, size);
        if (read)
            crc = crc32_gzip_refl(crc, buffer, size);
    }
    vector_registers_release();
    free(buffer);
    return read && crc == wanted;
}

/* Layout of .gnu_debuglink: a name, NUL, padding to four bytes, the CRC-32 of the file. */
static bool read_debug_link(const struct elf_file *file, char *name, size_t size, uint32_t *crc)
{
    const struct elf_section *section = elf_file_find_section(file, ".gnu_debuglink");
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
    *crc = file->is_big_endian ? __builtin_bswap32(*crc) : *crc;
    memcpy(name, text, strlen(text) + 1);
    return !c.failed && *name;
}

/* Returns the build id that a file must have. Sets the size to 0 if the library's build id is unknown. */
static const unsigned char *find_expected_id(const struct debug_files *files, size_t *size)
{
    if (files->lib->build_id) {
        *size = files->lib->build_id_size;
        return files->lib->build_id;
    }
    *size = files->has_mapped ? files->mapped.build_id_size : 0;
    return files->mapped.build_id;
}

/* Compares the build id, or the checksum of a file without a build id, as libdwfl does. */
static bool belongs_to_library(const struct debug_files *files, const struct elf_file *file)
{
    size_t id_size;
    const unsigned char *id = find_expected_id(files, &id_size);
    char name[NAME_MAX + 1];
    uint32_t crc;
    if (id_size)
        return elf_file_has_id(file, id, id_size);
    return files->has_mapped && read_debug_link(&files->mapped, name, sizeof(name), &crc) && has_crc(file, crc);
}

/* ---- the mapped file ---- */

/* Some file systems have another device number after each mount. */
static bool is_unchanged(const struct elf_file *file, const struct symbol_origin *origin)
{
    struct file_identity now = file->source->identity;
    now.device = origin->identity.device;
    return file_identities_are_equal(&now, &origin->identity);
}

static bool is_mapped_file(const struct elf_file *file, const struct symbol_lib *lib)
{
    if (lib->build_id && lib->build_id_size)
        return elf_file_has_id(file, lib->build_id, lib->build_id_size);
    return !lib->origin || is_unchanged(file, lib->origin);
}

static enum missing_symbols_reason convert_errno_to_reason(int code)
{
    switch (code) {
    case -ENOENT:
    case -ENOTDIR:
    case -ELOOP:
    case -ENAMETOOLONG:
        return MISSING_SYMBOLS_NO_FILE;
    case -ENOEXEC:
        return MISSING_SYMBOLS_NOT_ELF;
    case -EINVAL:
        return MISSING_SYMBOLS_DAMAGED;
    default:
        return MISSING_SYMBOLS_NOT_READABLE;
    }
}

/* Opens the mapped file through the recorder's descriptor. */
static bool open_recorded(struct elf_file *file, const struct symbol_lib *lib)
{
    int fd = lib->origin && lib->origin->file ? file_source_open(lib->origin->file) : -1;
    if (fd < 0 || elf_file_open_fd(file, fd, lib->path ? lib->path : lib->name, NULL) != 0)
        return false;
    if (is_mapped_file(file, lib))
        return true;
    elf_file_close(file);
    return false;
}

/* Opens the file that is now at the library's path. */
static int open_path(struct elf_file *file, const struct symbol_lib *lib, struct error *err)
{
    int fd = file_open_in(lib->origin ? lib->origin->root_fd : -1, lib->path);
    if (fd == -EMFILE)
        return error_set(err, EMFILE, "cannot open %s: too many files are open; raise 'ulimit -n'", lib->path);
    return fd < 0 ? error_set(err, -fd, "cannot open %s: %s", lib->path, strerror(-fd))
                  : elf_file_open_fd(file, fd, lib->path, err);
}

static void explain_missing(struct debug_files *files, int code, const struct error *why)
{
    files->missing_symbols = convert_errno_to_reason(code);
    if (files->missing_symbols == MISSING_SYMBOLS_NO_FILE)
        set_problem(files, "%s does not exist: the file was removed, or its file system was unmounted",
                    files->lib->path);
    else
        set_problem(files, "%s", why->text);
}

static void explain_replaced(struct debug_files *files)
{
    const struct symbol_lib *lib = files->lib;
    files->missing_symbols = MISSING_SYMBOLS_REPLACED;
    if (lib->build_id && lib->build_id_size)
        set_problem(files, "%s was replaced after it was mapped: the file there has another build ID", lib->path);
    else if (lib->origin && lib->origin->identity.size)
        set_problem(files, "%s was replaced after it was mapped: the file there has another size or time", lib->path);
    else
        set_problem(files, "prof cannot identify %s: the file was removed before its first sample", lib->path);
}

static bool open_mapped(struct debug_files *files)
{
    const struct symbol_lib *lib = files->lib;
    struct error why = {""};
    if (lib->kind == SYMBOL_LIB_VDSO)
        return lib->image && elf_file_open_image(&files->mapped, lib->image, lib->image_size, lib->name, &why) == 0;
    if (open_recorded(&files->mapped, lib))
        return true;
    if (!lib->path) {
        files->missing_symbols = MISSING_SYMBOLS_NO_FILE;
        if (lib->origin && lib->origin->is_silent)
            set_problem(files, "%s is on a file system that does not answer", lib->name);
        else if (lib->name[0])
            set_problem(files, "%s is not a file", lib->name);
        else
            set_problem(files, "the profile does not contain its path");
        return false;
    }
    int code = open_path(&files->mapped, lib, &why);
    if (code == 0 && is_mapped_file(&files->mapped, lib))
        return true;
    if (code == 0) {
        elf_file_close(&files->mapped);
        explain_replaced(files);
    } else {
        explain_missing(files, code, &why);
    }
    return false;
}

bool debug_file_is_replaced(const struct symbol_lib *lib)
{
    struct stat found;
    if (!lib->path || !lib->origin || !lib->origin->file || lib->origin->root_fd >= 0)
        return false;
    const struct file_identity *mapped = &lib->origin->identity;
    return stat(lib->path, &found) != 0 || found.st_dev != mapped->device || found.st_ino != mapped->inode;
}

/* ---- separate files ---- */

/* Quality of a file's contents, in ascending order. */
enum debug_file_quality { QUALITY_NOTHING, QUALITY_EXPORTS, QUALITY_SYMBOLS, QUALITY_DEBUG_INFO };

static enum debug_file_quality rate_file(const struct elf_file *file)
{
    if (elf_file_find_section(file, ".debug_info"))
        return QUALITY_DEBUG_INFO;
    if (elf_file_find_section(file, ".symtab"))
        return QUALITY_SYMBOLS;
    return elf_file_find_section(file, ".dynsym") ? QUALITY_EXPORTS : QUALITY_NOTHING;
}

static enum debug_file_quality find_best_quality(const struct debug_files *files)
{
    enum debug_file_quality mapped = files->has_mapped ? rate_file(&files->mapped) : QUALITY_NOTHING;
    enum debug_file_quality separate = files->has_separate ? rate_file(&files->separate) : QUALITY_NOTHING;
    return mapped > separate ? mapped : separate;
}

/* Whether the file is a copy of the mapped file, and not a separate debug file. */
static bool has_code(const struct elf_file *file)
{
    return file->has_load && elf_file_find_section(file, ".text");
}

/* Takes ownership of `file`, a file of the library, and keeps the file if it is the best so far. Returns true if no
 * other file can be better. */
static bool keep_if_better(struct debug_files *files, struct elf_file *file)
{
    if (!files->has_mapped && has_code(file)) {
        files->mapped = *file;
        files->has_mapped = true;
    } else if (rate_file(file) > find_best_quality(files)) {
        if (files->has_separate)
            elf_file_close(&files->separate);
        files->separate = *file;
        files->has_separate = true;
    } else {
        elf_file_close(file);
    }
    return find_best_quality(files) == QUALITY_DEBUG_INFO;
}

static bool check_candidate(void *context, int fd, const char *path)
{
    struct debug_files *files = context;
    struct elf_file file;
    if (elf_file_open_fd(&file, fd, path, NULL) != 0)
        return false;
    if (file.is_truncated)
        set_problem(files, "%s is damaged: its end is missing", path);
    if (belongs_to_library(files, &file))
        return keep_if_better(files, &file);
    elf_file_close(&file);
    set_problem(files, "%s does not belong to the mapped file: its build ID or checksum differs", path);
    return false;
}

static void query_servers(struct debug_files *files, const unsigned char *id, size_t id_size)
{
    struct error why = {""};
    int fd = debug_server_fetch(files->search->server, DEBUG_SERVER_DEBUG_INFO, id, id_size, files->lib->name, &why);
    if (fd >= 0)
        check_candidate(files, fd, "the file of the debug server");
    else if (fd != -ENOENT)
        set_problem(files, "%s", why.text);
}

static void find_separate(struct debug_files *files)
{
    char link[NAME_MAX + 1];
    uint32_t crc;
    struct debug_file_query wanted = {.lib = files->lib};
    wanted.id = find_expected_id(files, &wanted.id_size);
    if (files->has_mapped && read_debug_link(&files->mapped, link, sizeof(link), &crc))
        wanted.link = link;
    bool had_problem = files->problem[0] != '\0';
    debug_search_visit_files(files->search, &wanted,
                             &(struct debug_file_visitor){.visit = check_candidate, .context = files});
    bool has_servers = files->lib->kind == SYMBOL_LIB_ELF && files->search && files->search->server && wanted.id_size;
    if (find_best_quality(files) < QUALITY_DEBUG_INFO && has_servers)
        query_servers(files, wanted.id, wanted.id_size);
    if (find_best_quality(files) == QUALITY_DEBUG_INFO && !had_problem)
        files->problem[0] = '\0'; /* other candidates did not match */
}

/* ---- the file in which dwz collects shared debug info ---- */

struct alternate_search {
    struct debug_files *files;
    const unsigned char *id;
    size_t id_size;
};

static bool check_alternate(void *context, int fd, const char *path)
{
    struct alternate_search *search = context;
    struct debug_files *files = search->files;
    if (elf_file_open_fd(&files->alternate, fd, path, NULL) != 0)
        return false;
    files->has_alternate = elf_file_has_id(&files->alternate, search->id, search->id_size);
    if (!files->has_alternate)
        elf_file_close(&files->alternate);
    return files->has_alternate;
}

static void open_alternate_path(struct alternate_search *search, int root_fd, const char *path)
{
    int fd = search->files->has_alternate ? -1 : file_open_in(root_fd, path);
    if (fd >= 0)
        check_alternate(search, fd, path);
}

/* 'dwz -r' writes a path relative to the directory of the linking file. */
static void open_alternate_link(struct alternate_search *search, const struct elf_file *dwarf, const char *name)
{
    char link[64], path[PATH_MAX], whole[PATH_MAX];
    int fd = dwarf->source ? file_source_open(dwarf->source) : -1;
    if (fd < 0)
        return;
    snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
    ssize_t length = readlink(link, path, sizeof(path) - 1);
    close(fd);
    path[length > 0 ? length : 0] = '\0';
    const char *slash = strrchr(path, '/');
    if (slash && snprintf(whole, sizeof(whole), "%.*s/%s", (int)(slash - path), path, name) < (int)sizeof(whole))
        open_alternate_path(search, -1, whole);
}

/* .gnu_debugaltlink: the dwz file's name, NUL, its build id. */
static void open_alternate(struct debug_files *files)
{
    const struct elf_file *dwarf = debug_files_get_dwarf(files);
    const struct elf_section *section = dwarf ? elf_file_find_section(dwarf, ".gnu_debugaltlink") : NULL;
    unsigned char raw[PATH_MAX + ELF_BUILD_ID_MAX + 1];
    if (!section || section->bytes.size > sizeof(raw) ||
        !bytes_read(&section->bytes, 0, raw, (size_t)section->bytes.size))
        return;
    struct cursor c = cursor_of(raw, (size_t)section->bytes.size);
    const char *name = cursor_string(&c);
    struct alternate_search search = {.files = files, .id = c.at, .id_size = cursor_left(&c)};
    if (!name || search.id_size == 0)
        return;
    struct symbol_lib lib = {.name = name, .path = name[0] == '/' ? name : NULL, .origin = files->lib->origin};
    struct debug_file_query wanted = {.lib = &lib, .id = search.id, .id_size = search.id_size};
    debug_search_visit_files(files->search, &wanted,
                             &(struct debug_file_visitor){.visit = check_alternate, .context = &search});
    if (name[0] == '/' && lib.origin && lib.origin->root_fd >= 0)
        open_alternate_path(&search, lib.origin->root_fd, name);
    if (name[0] == '/')
        open_alternate_path(&search, -1, name);
    else
        open_alternate_link(&search, dwarf, name);
    if (!files->has_alternate && files->search && files->search->server) {
        int fd =
            debug_server_fetch(files->search->server, DEBUG_SERVER_DEBUG_INFO, search.id, search.id_size, name, NULL);
        if (fd >= 0)
            check_alternate(&search, fd, name);
    }
    if (!files->has_alternate)
        set_problem(files, "some symbols are missing: prof did not find the shared debug info %s", name);
}

/* ---- .gnu_debugdata ---- */

/* Decompresses an .xz stream into a growing buffer. */
static unsigned char *decompress_xz(const unsigned char *packed, size_t packed_size, size_t *size)
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

/* .gnu_debugdata: an ELF file with a .symtab, compressed with xz, which distributions leave in stripped files. */
static void open_gnu_debugdata(struct debug_files *files)
{
    const struct elf_section *section = elf_file_find_section(&files->mapped, ".gnu_debugdata");
    unsigned char *packed = section ? bytes_load(&section->bytes) : NULL;
    size_t size = 0;
    unsigned char *image = packed ? decompress_xz(packed, (size_t)section->bytes.size, &size) : NULL;
    free(packed);
    if (!image)
        return;
    files->has_mini = elf_file_open_image(&files->mini, image, size, ".gnu_debugdata", NULL) == 0;
    if (files->has_mini)
        files->mini.owned_image = image;
    else
        free(image);
}

/* ---- all files ---- */

void debug_files_open(struct debug_files *files, const struct symbol_lib *lib, const struct debug_search *search)
{
    *files = (struct debug_files){.lib = lib, .search = search};
    if (lib->kind == SYMBOL_LIB_KERNEL || lib->kind == SYMBOL_LIB_MODULE) {
        files->has_separate = kernel_file_open(&files->separate, lib, search);
    } else {
        files->has_mapped = open_mapped(files);
        if (files->has_mapped && files->mapped.is_truncated && lib->kind == SYMBOL_LIB_ELF) {
            files->missing_symbols = MISSING_SYMBOLS_DAMAGED;
            set_problem(files, "%s is damaged: its end is missing", lib->path ? lib->path : lib->name);
        }
        if (find_best_quality(files) < QUALITY_DEBUG_INFO)
            find_separate(files);
    }
    if (files->has_mapped && find_best_quality(files) < QUALITY_SYMBOLS)
        open_gnu_debugdata(files);
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

const struct elf_file *debug_files_get_dwarf(const struct debug_files *files)
{
    if (files->has_mapped && elf_file_find_section(&files->mapped, ".debug_info"))
        return &files->mapped;
    if (files->has_separate && elf_file_find_section(&files->separate, ".debug_info"))
        return &files->separate;
    return NULL;
}

/* ---- code ---- */

static bool check_code_file(void *context, int fd, const char *path)
{
    struct debug_files *files = context;
    struct elf_file file;
    if (elf_file_open_fd(&file, fd, path, NULL) != 0)
        return false;
    files->has_mapped = has_code(&file) && belongs_to_library(files, &file);
    if (files->has_mapped)
        files->mapped = file;
    else
        elf_file_close(&file);
    return files->has_mapped;
}

/* The kernel links a module when it loads the module, so calls in the module's file have no targets. */
static int open_kernel_code(struct elf_file *file, const struct symbol_lib *lib, const struct debug_search *search,
                            struct error *err)
{
    if (lib->kind == SYMBOL_LIB_MODULE)
        return error_set(err, ENOENT, "no file contains the running code of kernel modules");
    if (!kernel_file_open(file, lib, search))
        return error_set(err, ENOENT, "prof did not find the vmlinux of this kernel");
    if (has_code(file))
        return 0;
    elf_file_close(file);
    return error_set(err, ENOENT, "the vmlinux of this kernel has only debug info");
}

int debug_file_open_code(struct elf_file *file, const struct symbol_lib *lib, const struct debug_search *search,
                         struct error *err)
{
    if (lib->kind == SYMBOL_LIB_KERNEL || lib->kind == SYMBOL_LIB_MODULE)
        return open_kernel_code(file, lib, search, err);
    struct debug_files files = {.lib = lib, .search = search};
    struct debug_file_query wanted = {
        .lib = lib, .id = lib->build_id, .id_size = lib->build_id ? lib->build_id_size : 0};
    struct error why = {""};
    files.has_mapped = open_mapped(&files);
    if (!files.has_mapped && wanted.id_size)
        debug_search_visit_files(search, &wanted,
                                 &(struct debug_file_visitor){.visit = check_code_file, .context = &files});
    if (!files.has_mapped && wanted.id_size && search && search->server) {
        int fd = debug_server_fetch(search->server, DEBUG_SERVER_PROGRAM, wanted.id, wanted.id_size, lib->name, &why);
        if (fd >= 0)
            check_code_file(&files, fd, lib->name);
    }
    if (!files.has_mapped)
        return error_set(err, files.missing_symbols == MISSING_SYMBOLS_NOT_READABLE ? EACCES : ENOENT, "%s",
                         files.problem);
    *file = files.mapped;
    return 0;
}
