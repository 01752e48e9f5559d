#include "assemble/library_frames.h"

#include "base/path.h"
#include "base/starts_with.h"
#include "spool/info.h"
#include "symbol/debug_file.h"
#include "symbol/library_id.h"

/* Returns whether the path is a shared library of the system, not the program's own code. */
static bool is_system_library(const char *path)
{
    static const char *const directories[] = {"/lib/",       "/lib64/",     "/lib32/",     "/usr/lib/", "/usr/lib64/",
                                              "/usr/lib32/", "/nix/store/", "/gnu/store/", "/snap/"};
    const char *name = path_get_base_name(path);
    const char *suffix = strstr(name, ".so");
    if (!suffix || (suffix[3] && suffix[3] != '.'))
        return false;
    for (size_t i = 0; i < sizeof(directories) / sizeof(directories[0]); i++)
        if (starts_with(path, directories[i]))
            return true;
    return false;
}

static uint32_t choose_category(const struct spool_library *lib)
{
    switch (lib->library_kind) {
    case SPOOL_LIB_KERNEL:
    case SPOOL_LIB_KERNEL_MODULE:
        return CATEGORY_KERNEL;
    case SPOOL_LIB_VDSO:
        return CATEGORY_LIBRARY;
    default:
        return is_system_library(lib->path) ? CATEGORY_LIBRARY : CATEGORY_USER;
    }
}

bool library_frames_has(const struct replay *replay, const struct replay_frame *frame)
{
    return frame->lib < replay->libs.items.length &&
           replay->libs.items.data[frame->lib].library_kind != SPOOL_LIB_KERNEL_CODE;
}

static void write_ids(const unsigned char *build_id, size_t size, char breakpad_id[BREAKPAD_ID_SIZE],
                      char code_id[CODE_ID_SIZE])
{
    write_breakpad_id(build_id, size, breakpad_id);
    write_code_id(build_id, size, code_id);
}

/* Writes the ids of a file for which the kernel gave no build id. The kernel only reads note segments, where Go
 * programs have no build id. If the file is certainly the mapped file, writes its own build id or, without a build id,
 * an id computed from the code, as symbol servers do. Leaves both ids empty if the file no longer exists or may be
 * another file. */
static void write_ids_of_code(const struct symbol_lib *lib, char breakpad_id[BREAKPAD_ID_SIZE],
                              char code_id[CODE_ID_SIZE])
{
    struct elf_file file;
    unsigned char id[16];
    if (debug_file_open_code(&file, lib, NULL, NULL) != 0)
        return;
    if (file.build_id_size && lib->origin)
        write_ids(file.build_id, file.build_id_size, breakpad_id, code_id);
    else if (file.build_id_size == 0 && compute_text_id(&file, id))
        write_breakpad_id(id, sizeof(id), breakpad_id);
    elf_file_close(&file);
}

static void write_ids_of_image(const struct spool_library *lib, char breakpad_id[BREAKPAD_ID_SIZE],
                               char code_id[CODE_ID_SIZE])
{
    struct elf_file file;
    if (elf_file_open_image(&file, lib->image_bytes.bytes, lib->image_bytes.size, lib->path, NULL) != 0)
        return;
    if (file.build_id_size)
        write_ids(file.build_id, file.build_id_size, breakpad_id, code_id);
    elf_file_close(&file);
}

static bool add_lib_rows(struct frame_builder *builder, const struct spool_library *lib,
                         const struct symbol_lib *symbol_lib, struct library_rows *rows)
{
    char breakpad_id[BREAKPAD_ID_SIZE] = "", code_id[CODE_ID_SIZE] = "";
    if (lib->build_id.size)
        write_ids(lib->build_id.bytes, lib->build_id.size, breakpad_id, code_id);
    else if (lib->image_bytes.size)
        write_ids_of_image(lib, breakpad_id, code_id);
    else if (lib->library_kind == SPOOL_LIB_FILE)
        write_ids_of_code(symbol_lib, breakpad_id, code_id);
    const char *machine = replay_get_info(builder->replay, INFO_MACHINE);
    uint32_t name = frame_builder_add_text(builder, path_get_base_name(lib->path)),
             path = frame_builder_add_text(builder, lib->path);
    struct library row = {
        .arch = frame_builder_add_text(builder, machine ? machine : ""),
        .name = name,
        .path = path,
        .debug_name = name,
        .debug_path = path,
        .breakpad_id = frame_builder_add_text(builder, breakpad_id),
        .code_id = code_id[0] ? frame_builder_add_text(builder, code_id) : PROFILE_NONE,
    };
    if (name == STRING_NONE || path == STRING_NONE || row.arch == STRING_NONE || row.breakpad_id == STRING_NONE)
        return false;
    rows->lib = intern_library(builder->interner, &row);
    rows->resource = intern_library_resource(builder->interner, name);
    rows->category = choose_category(lib);
    rows->subcategory = 0;
    return rows->lib != PROFILE_NONE && rows->resource != PROFILE_NONE;
}

static struct symbol_origin make_origin(const struct spool_library *lib, const struct open_files *files,
                                        uint32_t number)
{
    return (struct symbol_origin){
        .file = files ? open_files_get(files, number) : NULL,
        .root_fd = files ? open_files_get_root_fd(files, number) : -1,
        .identity = {.device = lib->device, .inode = lib->inode, .size = lib->size_bytes, .mtime_ns = lib->mtime_ns},
        .is_silent = files && open_files_is_silent(files, number),
    };
}

static struct symbol_lib make_symbol_lib(const struct spool_library *lib, const struct symbol_origin *origin)
{
    static const enum symbol_lib_kind kinds[] = {
        [SPOOL_LIB_FILE] = SYMBOL_LIB_ELF,
        [SPOOL_LIB_KERNEL] = SYMBOL_LIB_KERNEL,
        [SPOOL_LIB_KERNEL_MODULE] = SYMBOL_LIB_MODULE,
        [SPOOL_LIB_VDSO] = SYMBOL_LIB_VDSO,
    };
    return (struct symbol_lib){
        .kind = lib->library_kind <= SPOOL_LIB_VDSO ? kinds[lib->library_kind] : SYMBOL_LIB_ELF,
        .name = path_get_base_name(lib->path),
        .path = origin && origin->is_silent ? NULL : lib->path,
        .build_id = lib->build_id.size ? lib->build_id.bytes : NULL,
        .build_id_size = lib->build_id.size,
        .image = lib->image_bytes.size ? lib->image_bytes.bytes : NULL,
        .image_size = lib->image_bytes.size,
        .origin = origin,
    };
}

struct symbol_lib library_frames_describe_lib(const void *context, uint32_t lib)
{
    const struct recorded_libs *libs = context;
    return make_symbol_lib(&libs->replay->libs.items.data[lib], &libs->origins[lib]);
}

bool library_frames_add_to_batches(struct address_batches *batches, struct recorded_libs *libs,
                                   const struct open_files *files, size_t first)
{
    size_t lib_count = libs->replay->libs.items.length;
    libs->origins = calloc(lib_count + 1, sizeof(*libs->origins));
    if (!libs->origins)
        return false;
    for (size_t i = 0; i < lib_count; i++)
        libs->origins[i] = make_origin(&libs->replay->libs.items.data[i], files, (uint32_t)i);
    for (size_t i = first; i < libs->replay->stacks.frames.length; i++) {
        const struct replay_frame *frame = &libs->replay->stacks.frames.data[i];
        if (library_frames_has(libs->replay, frame) &&
            !address_batches_add(batches, frame->lib, frame->address, (uint32_t)i))
            return false;
    }
    return address_batches_make(batches, library_frames_describe_lib, libs);
}

/* Whether the file is in a directory of packages. */
static bool is_packaged(const struct symbol_lib *lib)
{
    static const char *const directories[] = {"/usr/bin/", "/usr/sbin/", "/usr/lib", "/usr/libexec/",
                                              "/lib",      "/bin/",      "/sbin/"};
    for (size_t i = 0; lib->build_id_size && lib->path && i < sizeof(directories) / sizeof(*directories); i++)
        if (strncmp(lib->path, directories[i], strlen(directories[i])) == 0)
            return true;
    return false;
}

static bool add_missing_symbols(struct frame_builder *builder, const struct symbol_job *job, uint64_t unnamed,
                                uint64_t samples)
{
    struct missing_symbols missing = {.library = frame_builder_add_text(builder, job->lib.name),
                                      .reason = job->answers.missing_symbols ? job->answers.missing_symbols
                                                                             : MISSING_SYMBOLS_STRIPPED,
                                      .is_packaged = is_packaged(&job->lib),
                                      .is_partial = unnamed <= job->count / 2,
                                      .unnamed = unnamed,
                                      .samples = samples};
    return frame_builder_add_missing(builder, &missing);
}

static bool list_missing_file(struct frame_builder *builder, const struct symbol_lib *lib)
{
    if (!debug_file_is_replaced(lib))
        return true;
    uint32_t name = frame_builder_add_text(builder, lib->name);
    for (size_t i = 0; builder->first && i < builder->symbolization->gone.length; i++)
        if (builder->symbolization->gone.data[i] == name)
            return true;
    return name != STRING_NONE && array_push(&builder->symbolization->gone, name) &&
           frame_builder_add_problem(
               builder, lib->name,
               "deleted, replaced or unmounted since the program mapped it; the profile has the names of the mapped file");
}

bool library_frames_add(struct frame_builder *builder, const struct address_batches *batches, size_t index)
{
    const struct symbol_job *job = &batches->jobs.data[index];
    struct symbolization *symbolization = builder->symbolization;
    size_t first = batches->first.data[index], end = batches->first.data[index + 1];
    struct library_rows rows;
    if (!add_lib_rows(builder, &builder->replay->libs.items.data[batches->addresses.data[first].lib], &job->lib, &rows))
        return false;
    if (job->answers.problem[0] && !frame_builder_add_problem(builder, job->lib.name, job->answers.problem))
        return false;
    uint64_t unnamed_before = symbolization->unnamed, samples = 0;
    for (size_t i = first; i < end; i++) {
        const struct batch_address *address = &batches->addresses.data[i];
        const struct symbol_answer *answer = address_batches_get_answer(batches, index, i);
        struct symbolized_frame named = {.first = (uint32_t)symbolization->frames.length,
                                         .is_unnamed = answer->frame_count == 0};
        if (!answer_rows_add(builder->interner, &rows, address->rva, &job->answers, answer, &symbolization->frames))
            return false;
        named.count = (uint32_t)symbolization->frames.length - named.first;
        symbolization->named.data[address->requester] = named;
        symbolization->addresses++;
        symbolization->unnamed += answer->frame_count == 0;
        samples += answer->frame_count ? 0 : builder->replay->stacks.frames.data[address->requester].samples;
    }
    uint64_t unnamed = symbolization->unnamed - unnamed_before;
    if (unnamed <= job->count / 2 && !list_missing_file(builder, &job->lib))
        return false;
    return (!samples && unnamed <= job->count / 2) || add_missing_symbols(builder, job, unnamed, samples);
}
