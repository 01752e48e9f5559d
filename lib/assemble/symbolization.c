/*
 * All addresses of a library go to the symbolizer in one sorted batch, and all libraries in one call, so that it can
 * work on them in parallel (address_batches.h). Its answers become rows (answer_rows.h).
 */
#include "assemble/symbolization.h"

#include "assemble/address_batches.h"
#include "assemble/jit_code.h"
#include "assemble/process_jitdump.h"
#include "assemble/process_perf_map.h"
#include "assemble/replay_names.h"
#include "base/path.h"
#include "base/search.h"
#include "spool/info.h"
#include "language/python_frame.h"
#include "record/wait_reason.h"
#include "symbol/debug_file.h"
#include "symbol/kallsyms.h"
#include "symbol/library_id.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The categories of a recording, in the page's order. */
enum { CATEGORY_OTHER, CATEGORY_USER, CATEGORY_LIBRARY, CATEGORY_JIT, CATEGORY_KERNEL, CATEGORY_IDLE, CATEGORY_COUNT };

static const char *const categories[CATEGORY_COUNT][2] = {
    [CATEGORY_OTHER] = {"Other", "grey"},     [CATEGORY_USER] = {"User", "yellow"},
    [CATEGORY_LIBRARY] = {"Library", "blue"}, [CATEGORY_JIT] = {"JIT", "green"},
    [CATEGORY_KERNEL] = {"Kernel", "orange"}, [CATEGORY_IDLE] = {"Idle", "transparent"},
};

struct frame_builder {
    struct symbolization *symbolization;
    const struct replay *replay;
    struct profile *profile;
    struct interner *interner;
    struct perf_map_names perf_map_names;
    struct jit_code_places jit_code;
    const struct kallsyms *kallsyms; /* NULL: not usable for these addresses */
    uint64_t kernel_unnamed;         /* distinct addresses in the kernel */
    uint64_t kernel_samples;         /* samples in these */
    size_t first;                    /* of the replay's frames: those before have their rows already */
};

static bool starts_with(const char *text, const char *start)
{
    return strncmp(text, start, strlen(start)) == 0;
}

/* Whether the path is a shared library of the system, not the program's own code. */
static bool is_system_library(const char *path)
{
    static const char *const directories[] = {"/lib/",       "/lib64/",     "/lib32/",     "/usr/lib/", "/usr/lib64/",
                                              "/usr/lib32/", "/nix/store/", "/gnu/store/", "/snap/"};
    const char *name = path_base_name(path);
    const char *suffix = strstr(name, ".so");
    if (!suffix || (suffix[3] && suffix[3] != '.'))
        return false;
    for (size_t i = 0; i < sizeof(directories) / sizeof(directories[0]); i++)
        if (starts_with(path, directories[i]))
            return true;
    return false;
}

static uint32_t category_of(const struct spool_library *lib)
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

/* ---- rows ---- */

static uint32_t add_text(struct frame_builder *builder, const char *text)
{
    return strings_add_z(&builder->profile->strings, text);
}

static uint32_t add_frame_with(struct frame_builder *builder, const char *name, uint32_t resource, uint32_t category,
                               uint32_t subcategory)
{
    struct func_row func = {.name = add_text(builder, name), .resource = resource, .source = PROFILE_NONE};
    struct frame_row frame =
        frame_row_of(func.name == STRING_NONE ? PROFILE_NONE : intern_func(builder->interner, &func));
    frame.category = category;
    frame.subcategory = subcategory;
    return frame.func == PROFILE_NONE || subcategory == PROFILE_NONE ? PROFILE_NONE
                                                                     : intern_frame(builder->interner, &frame);
}

/* Adds a func without a library: a marker frame, or an address outside libraries. */
static uint32_t add_bare_frame(struct frame_builder *builder, const char *name, uint32_t resource, uint32_t category)
{
    return add_frame_with(builder, name, resource, category, 0);
}

/* Adds the innermost frame of a wait: what it waits for. */
static uint32_t add_wait_frame(struct frame_builder *builder, uint64_t address)
{
    static const char *const without_object[WAIT_REASONS] = {
        [REASON_UNKNOWN] = "wait",          [REASON_LOCK] = "lock",
        [REASON_SLEEP] = "sleep",           [REASON_DISK] = "disk",
        [REASON_NETWORK] = "network",       [REASON_PIPE] = "pipe",
        [REASON_PAGE_FAULT] = "page fault", [REASON_CHILD] = "child",
        [REASON_PREEMPTED] = "preempted",
    };
    uint32_t reason = replay_wait_reason(address);
    const char *object = replay_object(builder->replay, replay_wait_object(address));
    return add_frame_with(builder, object ? object : without_object[reason], PROFILE_NONE, CATEGORY_IDLE,
                          intern_subcategory(builder->interner, CATEGORY_IDLE, wait_reason_names[reason]));
}

/* Adds the category of waits, with all their reasons, where waits are recorded. */
static bool add_categories(struct frame_builder *builder)
{
    bool has_waits = replay_info_number(builder->replay, INFO_OFF_CPU, 0) || builder->replay->samples.waits;
    for (size_t i = 0; i < CATEGORY_COUNT; i++)
        if ((i != CATEGORY_IDLE || has_waits) &&
            intern_category(builder->interner, categories[i][0], categories[i][1]) == PROFILE_NONE)
            return false;
    for (size_t i = 0; has_waits && i < WAIT_REASONS; i++)
        if (intern_subcategory(builder->interner, CATEGORY_IDLE, wait_reason_names[i]) == PROFILE_NONE)
            return false;
    return true;
}

/* An address in JIT code. */
struct jit_address {
    const struct jit_code_place *place; /* of the code; NULL: it is not kept */
    uint64_t offset;                    /* in the code */
    uint32_t line, column;              /* that run; 0: unknown */
};

/* Adds a frame of JIT code. If the code is not kept, its address means nothing, and it has no library. So all its
 * addresses share one frame per tier and line. */
static uint32_t add_jit_frame(struct frame_builder *builder, const struct jit_name *name, struct jit_address address)
{
    builder->symbolization->shares_frames = true;
    uint32_t text = add_text(builder, name->function), library = add_text(builder, "JIT"), file = STRING_NONE;
    if (text == STRING_NONE || library == STRING_NONE ||
        (name->file && (file = add_text(builder, name->file)) == STRING_NONE))
        return PROFILE_NONE;
    struct func_row func = {
        .name = text,
        .resource = intern_library_resource(builder->interner, library),
        .source = name->file ? intern_source_file(builder->interner, file) : PROFILE_NONE,
        .line = name->line,
        .column = name->column,
        .flags = name->is_javascript ? FUNC_IS_JS : 0,
    };
    if (func.resource == PROFILE_NONE || (name->file && func.source == PROFILE_NONE))
        return PROFILE_NONE;
    struct frame_row frame = frame_row_of(intern_func(builder->interner, &func));
    frame.category = CATEGORY_JIT;
    frame.line = address.line;
    frame.column = address.column;
    if (address.place) {
        frame.address = (int64_t)(address.place->rva + address.offset);
        frame.lib = address.place->lib;
        frame.native_symbol = address.place->native_symbol;
    }
    frame.subcategory = name->tier ? intern_subcategory(builder->interner, CATEGORY_JIT, name->tier) : 0;
    return frame.func == PROFILE_NONE || frame.subcategory == PROFILE_NONE ? PROFILE_NONE
                                                                           : intern_frame(builder->interner, &frame);
}

/* Nothing tells these functions apart, so all their addresses share one func. */
static uint32_t add_unnamed_code(struct frame_builder *builder, const struct replay_frame *frame)
{
    static const struct jit_name unnamed = {.function = "JIT code (no symbols)"};
    builder->symbolization->jit_unnamed++;
    builder->symbolization->jit_unnamed_samples += frame->samples;
    return add_jit_frame(builder, &unnamed, (struct jit_address){0});
}

/* Adds the frame of an address that a perf map names. */
static uint32_t add_anonymous_frame(struct frame_builder *builder, size_t index)
{
    const struct jit_name *name = perf_map_names_of(&builder->perf_map_names, index);
    builder->symbolization->jit_addresses++;
    return name ? add_jit_frame(builder, name, (struct jit_address){0})
                : add_unnamed_code(builder, &builder->replay->stacks.frames.data[index]);
}

/* Adds the frame of an address that a jitdump file names. A line counts only if it is in the function's own file: those
 * of inlined functions may not be. */
static uint32_t add_dumped_frame(struct frame_builder *builder, const struct replay_frame *from)
{
    const struct jitdump *dump = builder->replay->processes.data[from->process].jit.dump;
    const struct jit_code *code = &dump->codes.data[from->code];
    const struct string_entry *text = &dump->texts.entries.data[code->name];
    const struct jit_line *line = jitdump_line(dump, from->code, from->address);
    struct jit_name name;
    builder->symbolization->jit_addresses++;
    if (!text->length)
        return add_unnamed_code(builder, from);
    if (jit_name_parse(&name, text->text, text->length, &builder->perf_map_names.arena))
        return PROFILE_NONE;
    name.file = process_jitdump_file_of(dump, code, &name);
    struct jit_address address = {.place = jit_code_place_of(&builder->jit_code, from),
                                  .offset = from->address - code->start};
    if (line && name.file && jitdump_line_is_in(dump, line, name.file)) {
        address.line = line->line;
        address.column = line->column;
    }
    return add_jit_frame(builder, &name, address);
}

/* Adds a Python frame. Like JIT code, its functions have no address; they are in a library and a category of their own,
 * which only recordings of Python have. */
static uint32_t add_python_frame(struct frame_builder *builder, uint64_t address)
{
    const struct replay *replay = builder->replay;
    uint32_t number = python_frame_function(address), line = python_frame_line(address);
    static const struct replay_function lost = {STRING_NONE, STRING_NONE, 0};
    const struct replay_function *function =
        number < replay->python_functions.length ? &replay->python_functions.data[number] : &lost;
    const char *name = function->name == STRING_NONE ? "Python code" : strings_text(&replay->strings, function->name);
    const char *file = function->file == STRING_NONE ? "" : strings_text(&replay->strings, function->file);
    uint32_t text = add_text(builder, name), library = add_text(builder, "Python");
    uint32_t path = *file ? add_text(builder, file) : STRING_NONE;
    uint32_t category = intern_category(builder->interner, "Python", "purple");
    if (text == STRING_NONE || library == STRING_NONE || category == PROFILE_NONE || (*file && path == STRING_NONE))
        return PROFILE_NONE;
    struct func_row func = {
        .name = text,
        .resource = intern_library_resource(builder->interner, library),
        .source = *file ? intern_source_file(builder->interner, path) : PROFILE_NONE,
        .line = function->line,
    };
    if (func.resource == PROFILE_NONE || (*file && func.source == PROFILE_NONE))
        return PROFILE_NONE;
    builder->symbolization->shares_frames = true;
    struct frame_row frame = frame_row_of(intern_func(builder->interner, &func));
    frame.category = category;
    frame.subcategory = 0;
    frame.line = line;
    return frame.func == PROFILE_NONE ? PROFILE_NONE : intern_frame(builder->interner, &frame);
}

/* ---- kernel code ---- */

/* Addresses outside the kernel as known at the start of the recording may be in code loaded later: BPF programs,
 * modules. */
static int open_kallsyms(struct frame_builder *builder, struct symbolizer *symbolizer, struct error *err)
{
    const struct replay *replay = builder->replay;
    const char *boot = replay_info(replay, INFO_BOOT);
    char boot_now[64];
    bool is_wanted = false;
    for (size_t i = builder->first; i < replay->stacks.frames.length && !is_wanted; i++)
        is_wanted = replay->stacks.frames.data[i].lib == REPLAY_LIB_UNKNOWN_KERNEL;
    if (!is_wanted || !boot || !info_read_boot(boot_now, sizeof(boot_now)) || strcmp(boot, boot_now) != 0)
        return 0;
    return symbolizer_kallsyms(symbolizer, &builder->kallsyms, err);
}

static uint32_t add_kernel_code(struct frame_builder *builder, const char *name, const char *module)
{
    char library[128];
    snprintf(library, sizeof(library), "[%s]", module ? module : "kernel.kallsyms");
    uint32_t text = add_text(builder, library);
    uint32_t resource = text == STRING_NONE ? PROFILE_NONE : intern_library_resource(builder->interner, text);
    return resource == PROFILE_NONE ? PROFILE_NONE : add_bare_frame(builder, name, resource, CATEGORY_KERNEL);
}

static bool add_problem(struct frame_builder *builder, const char *library, const char *reason)
{
    struct symbolization_problem problem = {.library = add_text(builder, library), .reason = add_text(builder, reason)};
    const struct symbolization *symbolization = builder->symbolization;
    for (size_t i = 0; builder->first && i < symbolization->problems.length; i++)
        if (symbolization->problems.data[i].library == problem.library &&
            symbolization->problems.data[i].reason == problem.reason)
            return true;
    return problem.library != STRING_NONE && problem.reason != STRING_NONE &&
           array_push(&builder->symbolization->problems, problem);
}

/* Joins it to what is known of the library from frames before. */
static bool add_missing(struct frame_builder *builder, const struct missing_symbols *missing)
{
    struct symbolization *symbolization = builder->symbolization;
    for (size_t i = 0; builder->first && i < symbolization->missing_symbols.length; i++) {
        struct missing_symbols *known = &symbolization->missing_symbols.data[i];
        if (known->library != missing->library)
            continue;
        known->unnamed += missing->unnamed;
        known->samples += missing->samples;
        known->is_partial &= missing->is_partial;
        return true;
    }
    return missing->library != STRING_NONE && array_push(&symbolization->missing_symbols, *missing);
}

static bool tell_unnamed_kernel(struct frame_builder *builder)
{
    if (!builder->kernel_unnamed)
        return true;
    bool is_hidden = builder->kallsyms && builder->kallsyms->problem[0];
    struct missing_symbols missing = {.library = add_text(builder, "the kernel"),
                                      .reason = is_hidden ? MISSING_SYMBOLS_NOT_READABLE : MISSING_SYMBOLS_STRIPPED,
                                      .unnamed = builder->kernel_unnamed,
                                      .samples = builder->kernel_samples};
    return add_missing(builder, &missing) &&
           add_problem(builder, "the kernel",
                       is_hidden ? builder->kallsyms->problem
                                 : "the program removed some of its code before the recording ended");
}

/* Adds the frame of an unknown kernel address. Without a name, all of them share one func: a kernel address says
 * nothing to a user. */
static uint32_t add_unknown_kernel(struct frame_builder *builder, uint64_t address)
{
    const struct kernel_symbol *symbol = builder->kallsyms ? kallsyms_find_anywhere(builder->kallsyms, address) : NULL;
    builder->symbolization->addresses++;
    builder->symbolization->shares_frames = true;
    if (symbol)
        return add_kernel_code(builder, builder->kallsyms->text + symbol->name,
                               kallsyms_module(builder->kallsyms, symbol));
    builder->symbolization->unnamed++;
    builder->kernel_unnamed++;
    return add_kernel_code(builder, "kernel code (no symbols)", NULL);
}

/* Adds the frame of code that the kernel generated and described in a KSYMBOL record. */
static uint32_t add_made_kernel_code(struct frame_builder *builder, const struct spool_library *code)
{
    builder->symbolization->addresses++;
    builder->symbolization->shares_frames = true;
    return add_kernel_code(builder, code->path, strncmp(code->path, "bpf_", 4) == 0 ? "bpf" : NULL);
}

static bool is_in_library(const struct replay *replay, const struct replay_frame *frame)
{
    return frame->lib < replay->libs.items.length &&
           replay->libs.items.data[frame->lib].library_kind != SPOOL_LIB_KERNEL_CODE;
}

/* The replay rounds the number down to a power of 2. */
static uint32_t add_omitted_frame(struct frame_builder *builder, uint64_t least)
{
    char name[64];
    if (least == 1)
        snprintf(name, sizeof(name), "(1 frame omitted)");
    else
        snprintf(name, sizeof(name), "(%" PRIu64 "-%" PRIu64 " frames omitted)", least, 2 * least - 1);
    return add_bare_frame(builder, name, PROFILE_NONE, CATEGORY_OTHER);
}

/* Adds the frame of an address outside libraries. */
static uint32_t add_frame_of(struct frame_builder *builder, size_t index)
{
    const struct replay *replay = builder->replay;
    const struct replay_frame *from = &replay->stacks.frames.data[index];
    char name[32];
    if (from->lib < replay->libs.items.length)
        return add_made_kernel_code(builder, &replay->libs.items.data[from->lib]);
    switch (from->lib) {
    case REPLAY_LIB_TRUNCATED:
        return add_bare_frame(builder, "(truncated)", PROFILE_NONE, CATEGORY_OTHER);
    case REPLAY_LIB_NOT_SAMPLED:
        return add_bare_frame(builder, "(not sampled)", PROFILE_NONE, CATEGORY_OTHER);
    case REPLAY_LIB_OMITTED:
        return add_omitted_frame(builder, from->address);
    case REPLAY_LIB_WAIT:
        return add_wait_frame(builder, from->address);
    case REPLAY_LIB_PYTHON:
        return add_python_frame(builder, from->address);
    case REPLAY_LIB_UNKNOWN_KERNEL:
        return add_unknown_kernel(builder, from->address);
    case REPLAY_LIB_DUMPED:
        return add_dumped_frame(builder, from);
    case REPLAY_LIB_ANONYMOUS:
        return add_anonymous_frame(builder, index);
    default:
        if (perf_map_names_of(&builder->perf_map_names, index)) /* only the record of its mapping was lost */
            return add_anonymous_frame(builder, index);
        snprintf(name, sizeof(name), "0x%" PRIx64, from->address);
        return add_bare_frame(builder, name, PROFILE_NONE, CATEGORY_OTHER);
    }
}

/* Lists jitdump files that are incomplete or unreadable. */
static bool tell_bad_dumps(struct frame_builder *builder)
{
    const struct replay *replay = builder->replay;
    for (size_t i = 0; i < replay->processes.length; i++) {
        const struct replay_process *process = &replay->processes.data[i];
        bool is_unusable = process->jit.dump_state == REPLAY_JIT_MISSING && process->jit.dump_lib;
        const char *reason =
            is_unusable ? "prof cannot read it, or it is damaged, another user's or a later file"
            : process->jit.dump && process->jit.dump->is_full
                ? "it is so large that prof read only its beginning: some symbols are missing"
            : process->jit.dump && process->jit.dump->is_cut
                ? "it ends in the middle of a record, or part of it is damaged: some symbols are missing"
                : NULL;
        char name[32];
        snprintf(name, sizeof(name), "jit-%" PRIu32 ".dump", process_perf_map_own_pid(replay, (uint32_t)i));
        if (reason && !add_problem(builder, name, reason))
            return false;
    }
    return true;
}

static bool add_map_problem(struct frame_builder *builder, uint32_t process, const char *problem)
{
    char name[32];
    snprintf(name, sizeof(name), "perf-%" PRIu32 ".map", process_perf_map_own_pid(builder->replay, process));
    return add_problem(builder, name, problem);
}

/* Lists perf maps that are not used, or not as a whole. */
static bool tell_bad_maps(struct frame_builder *builder)
{
    const struct replay *replay = builder->replay;
    const struct perf_map_problems *problems = &builder->perf_map_names.problems;
    for (size_t i = 0; i < replay->processes.length; i++)
        if (replay->processes.data[i].jit.map_problem &&
            !add_map_problem(builder, (uint32_t)i, replay->processes.data[i].jit.map_problem))
            return false;
    for (size_t i = 0; i < problems->length; i++)
        if (!add_map_problem(builder, problems->data[i].process, problems->data[i].text))
            return false;
    return true;
}

static bool set_bare(struct frame_builder *builder, size_t index)
{
    struct symbolization *symbolization = builder->symbolization;
    uint64_t unnamed_before = symbolization->unnamed + symbolization->jit_unnamed;
    uint64_t kernel_before = builder->kernel_unnamed;
    uint32_t frame = add_frame_of(builder, index);
    if (builder->kernel_unnamed > kernel_before)
        builder->kernel_samples += builder->replay->stacks.frames.data[index].samples;
    symbolization->named.data[index] =
        (struct symbolized_frame){.first = (uint32_t)symbolization->frames.length,
                                  .count = 1,
                                  .is_unnamed = symbolization->unnamed + symbolization->jit_unnamed > unnamed_before ||
                                                builder->replay->stacks.frames.data[index].lib == REPLAY_LIB_UNMAPPED};
    return frame != PROFILE_NONE && array_push(&symbolization->frames, frame);
}

static void write_ids(const unsigned char *build_id, size_t size, char breakpad_id[BREAKPAD_ID_SIZE],
                      char code_id[CODE_ID_SIZE])
{
    library_breakpad_id(build_id, size, breakpad_id);
    library_code_id(build_id, size, code_id);
}

/* Writes the ids of a file for which the kernel gave no build id. The kernel only reads note segments, where Go
 * programs have no build id. If the file is certainly the one that was mapped, its own build id counts; without one,
 * the id computed from its code, as symbol servers do. Leaves both empty if the file is gone or may be another one. */
static void write_ids_of_code(const struct symbol_lib *lib, char breakpad_id[BREAKPAD_ID_SIZE],
                              char code_id[CODE_ID_SIZE])
{
    struct elf_file file;
    unsigned char id[16];
    if (debug_file_open_code(&file, lib, NULL, NULL) != 0)
        return;
    if (file.build_id_size && lib->origin)
        write_ids(file.build_id, file.build_id_size, breakpad_id, code_id);
    else if (file.build_id_size == 0 && library_text_id(&file, id))
        library_breakpad_id(id, sizeof(id), breakpad_id);
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
    uint32_t name = add_text(builder, path_base_name(lib->path)), path = add_text(builder, lib->path);
    struct library row = {
        .arch = add_text(builder, "x86_64"),
        .name = name,
        .path = path,
        .debug_name = name,
        .debug_path = path,
        .breakpad_id = add_text(builder, breakpad_id),
        .code_id = code_id[0] ? add_text(builder, code_id) : PROFILE_NONE,
    };
    if (name == STRING_NONE || path == STRING_NONE || row.arch == STRING_NONE || row.breakpad_id == STRING_NONE)
        return false;
    rows->lib = intern_library(builder->interner, &row);
    rows->resource = intern_library_resource(builder->interner, name);
    rows->category = category_of(lib);
    rows->subcategory = 0;
    return rows->lib != PROFILE_NONE && rows->resource != PROFILE_NONE;
}

/* ---- addresses in libraries ---- */

static struct symbol_origin origin_of(const struct spool_library *lib, const struct open_files *files, uint32_t number)
{
    return (struct symbol_origin){
        .file = files ? open_files_get(files, number) : NULL,
        .root_fd = files ? open_files_root_fd(files, number) : -1,
        .identity = {.device = lib->device, .inode = lib->inode, .size = lib->size_bytes, .mtime_ns = lib->mtime_ns},
        .is_silent = files && open_files_is_silent(files, number),
    };
}

static struct symbol_lib symbol_lib_of(const struct spool_library *lib, const struct symbol_origin *origin)
{
    static const enum symbol_lib_kind kinds[] = {
        [SPOOL_LIB_FILE] = SYMBOL_LIB_ELF,
        [SPOOL_LIB_KERNEL] = SYMBOL_LIB_KERNEL,
        [SPOOL_LIB_KERNEL_MODULE] = SYMBOL_LIB_MODULE,
        [SPOOL_LIB_VDSO] = SYMBOL_LIB_VDSO,
    };
    return (struct symbol_lib){
        .kind = lib->library_kind <= SPOOL_LIB_VDSO ? kinds[lib->library_kind] : SYMBOL_LIB_ELF,
        .name = path_base_name(lib->path),
        .path = origin && origin->is_silent ? NULL : lib->path,
        .build_id = lib->build_id.size ? lib->build_id.bytes : NULL,
        .build_id_size = lib->build_id.size,
        .image = lib->image_bytes.size ? lib->image_bytes.bytes : NULL,
        .image_size = lib->image_bytes.size,
        .origin = origin,
    };
}

/* The libraries of a recording as the symbolizer needs them. */
struct recorded_libs {
    const struct replay *replay;
    struct symbol_origin *origins; /* per library */
};

static struct symbol_lib recorded_lib(const void *context, uint32_t lib)
{
    const struct recorded_libs *libs = context;
    return symbol_lib_of(&libs->replay->libs.items.data[lib], &libs->origins[lib]);
}

static bool make_batches(struct address_batches *batches, struct recorded_libs *libs, const struct open_files *files,
                         size_t first)
{
    size_t lib_count = libs->replay->libs.items.length;
    libs->origins = calloc(lib_count + 1, sizeof(*libs->origins));
    if (!libs->origins)
        return false;
    for (size_t i = 0; i < lib_count; i++)
        libs->origins[i] = origin_of(&libs->replay->libs.items.data[i], files, (uint32_t)i);
    for (size_t i = first; i < libs->replay->stacks.frames.length; i++) {
        const struct replay_frame *frame = &libs->replay->stacks.frames.data[i];
        if (is_in_library(libs->replay, frame) &&
            !address_batches_add(batches, frame->lib, frame->address, (uint32_t)i))
            return false;
    }
    return address_batches_make(batches, recorded_lib, libs);
}

/* Whether a package may have installed the file. */
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
    struct missing_symbols missing = {.library = add_text(builder, job->lib.name),
                                      .reason = job->answers.missing_symbols ? job->answers.missing_symbols
                                                                             : MISSING_SYMBOLS_STRIPPED,
                                      .is_packaged = is_packaged(&job->lib),
                                      .is_partial = unnamed <= job->count / 2,
                                      .unnamed = unnamed,
                                      .samples = samples};
    return add_missing(builder, &missing);
}

static bool add_if_gone(struct frame_builder *builder, const struct symbol_lib *lib)
{
    if (!debug_file_has_gone(lib))
        return true;
    uint32_t name = add_text(builder, lib->name);
    for (size_t i = 0; builder->first && i < builder->symbolization->gone.length; i++)
        if (builder->symbolization->gone.data[i] == name)
            return true;
    return name != STRING_NONE && array_push(&builder->symbolization->gone, name) &&
           add_problem(builder, lib->name,
                       "deleted, replaced or unmounted since it was mapped; its names are those of the file that ran");
}

static bool add_batch(struct frame_builder *builder, const struct address_batches *batches, size_t index)
{
    const struct symbol_job *job = &batches->jobs.data[index];
    struct symbolization *symbolization = builder->symbolization;
    size_t first = batches->first.data[index], end = batches->first.data[index + 1];
    struct library_rows rows;
    if (!add_lib_rows(builder, &builder->replay->libs.items.data[batches->addresses.data[first].lib], &job->lib, &rows))
        return false;
    if (job->answers.problem[0] && !add_problem(builder, job->lib.name, job->answers.problem))
        return false;
    uint64_t unnamed_before = symbolization->unnamed, samples = 0;
    for (size_t i = first; i < end; i++) {
        const struct batch_address *address = &batches->addresses.data[i];
        const struct symbol_answer *answer = address_batches_answer(batches, index, i);
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
    if (unnamed <= job->count / 2 && !add_if_gone(builder, &job->lib))
        return false;
    return (!samples && unnamed <= job->count / 2) || add_missing_symbols(builder, job, unnamed, samples);
}

static int by_unnamed_samples(const void *a, const void *b)
{
    const struct missing_symbols *left = a, *right = b;
    return left->samples != right->samples ? ORDER(right->samples, left->samples)
                                           : ORDER(right->unnamed, left->unnamed);
}

static bool has_dumped(const struct replay *replay, size_t first)
{
    for (size_t i = first; i < replay->stacks.frames.length; i++)
        if (replay->stacks.frames.data[i].lib == REPLAY_LIB_DUMPED)
            return true;
    return false;
}

int symbolize_frames(struct symbolization *symbolization, const struct replay *replay, const struct open_files *files,
                     const char *cache_directory, struct symbolizer *symbolizer, struct profile *profile,
                     struct interner *interner, struct error *err)
{
    size_t first = symbolization->named.length;
    struct frame_builder builder = {.symbolization = symbolization,
                                    .replay = replay,
                                    .profile = profile,
                                    .interner = interner,
                                    .perf_map_names.first = first,
                                    .first = first};
    struct address_batches batches = {0};
    struct recorded_libs libs = {.replay = replay};
    int code = -ENOMEM;
    if (!add_categories(&builder))
        goto no_memory;
    if (!array_reserve(&symbolization->named, replay->stacks.frames.length - first + 1) ||
        !make_batches(&batches, &libs, files, first))
        goto no_memory;
    symbolization->named.length = replay->stacks.frames.length;
    memset(symbolization->named.data + first, 0,
           (replay->stacks.frames.length - first + 1) * sizeof(*symbolization->named.data));
    code = symbolizer_lookup_all(symbolizer, batches.jobs.data, batches.jobs.length, err);
    if (!code)
        code = perf_map_names_find(&builder.perf_map_names, replay, err);
    if (!code && has_dumped(replay, first))
        code = jit_code_places_make(&builder.jit_code, replay, cache_directory, interner, err);
    if (!code)
        code = open_kallsyms(&builder, symbolizer, err);
    if (code)
        goto out;
    for (size_t i = 0; i < batches.jobs.length; i++)
        if (!add_batch(&builder, &batches, i))
            goto no_memory;
    for (size_t i = first; i < replay->stacks.frames.length; i++)
        if (!is_in_library(replay, &replay->stacks.frames.data[i]) && !set_bare(&builder, i))
            goto no_memory;
    if (!tell_unnamed_kernel(&builder) || !tell_bad_dumps(&builder) || !tell_bad_maps(&builder))
        goto no_memory;
    if (symbolization->missing_symbols.length)
        qsort(symbolization->missing_symbols.data, symbolization->missing_symbols.length,
              sizeof(*symbolization->missing_symbols.data), by_unnamed_samples);
    goto out;
no_memory:
    code = error_no_memory(err);
out:
    address_batches_destroy(&batches);
    free(libs.origins);
    perf_map_names_destroy(&builder.perf_map_names);
    jit_code_places_destroy(&builder.jit_code);
    return code;
}

void symbolization_destroy(struct symbolization *symbolization)
{
    array_free(&symbolization->named);
    array_free(&symbolization->frames);
    array_free(&symbolization->problems);
    array_free(&symbolization->missing_symbols);
    array_free(&symbolization->gone);
}
