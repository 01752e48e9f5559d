#include "elf/core_file.h"

#include "base/hash.h"
#include "base/search.h"
#include "elf/elf_note.h"

#include <sys/procfs.h>

enum { NOTE_BYTES_MAX = 64 << 20 }; /* some 18,000 threads, 3.5 KiB each with AVX-512 */

/* ---- notes ---- */

static int add_thread(struct core_file *core, struct cursor note, struct error *err)
{
    struct elf_prstatus status;
    const unsigned char *bytes = cursor_bytes(&note, sizeof(status));
    if (!bytes)
        return 0;
    memcpy(&status, bytes, sizeof(status));
    struct core_thread thread = {.tid = (uint32_t)status.pr_pid};
    _Static_assert(sizeof(thread.registers) == sizeof(status.pr_reg), "both are the registers of ptrace");
    memcpy(&thread.registers, &status.pr_reg, sizeof(thread.registers));
    if (!core->threads.length)
        core->signal = status.pr_cursig > 0 ? (uint32_t)status.pr_cursig : 0;
    return array_push(&core->threads, thread) ? 0 : error_no_memory(err);
}

static void read_program(struct core_file *core, struct cursor note)
{
    struct elf_prpsinfo program;
    const unsigned char *bytes = cursor_bytes(&note, sizeof(program));
    if (!bytes)
        return;
    memcpy(&program, bytes, sizeof(program));
    core->pid = (uint32_t)program.pr_pid;
    snprintf(core->name, sizeof(core->name), "%.*s", (int)sizeof(program.pr_fname), program.pr_fname);
}

static void read_auxiliary_vector(struct core_file *core, struct cursor note)
{
    while (!note.failed && cursor_left(&note)) {
        uint64_t type = cursor_u64(&note), value = cursor_u64(&note);
        if (type == AT_SYSINFO_EHDR && !note.failed)
            core->vdso = value;
    }
}

/* Reads NT_FILE: the number of mappings, the size of a page, the mappings, and their paths. */
static int add_files(struct core_file *core, struct cursor note, struct error *err)
{
    enum { MAPPING_SIZE = 24 };
    uint64_t count = cursor_u64(&note), page = cursor_u64(&note);
    if (count > cursor_left(&note) / MAPPING_SIZE)
        return 0;
    struct cursor paths = note;
    cursor_bytes(&paths, count * MAPPING_SIZE);
    for (uint64_t i = 0; i < count; i++) {
        struct core_mapping mapping = {.executable = true};
        mapping.start = cursor_u64(&note);
        mapping.end = cursor_u64(&note);
        mapping.file_offset = cursor_u64(&note) * page;
        mapping.path = cursor_string(&paths);
        if (!mapping.path)
            break;
        if (mapping.start < mapping.end && !array_push(&core->mappings, mapping))
            return error_no_memory(err);
    }
    return 0;
}

static int read_note(struct core_file *core, uint32_t type, struct cursor note, struct error *err)
{
    switch (type) {
    case NT_PRSTATUS:
        return add_thread(core, note, err);
    case NT_PRPSINFO:
        read_program(core, note);
        return 0;
    case NT_AUXV:
        read_auxiliary_vector(core, note);
        return 0;
    case NT_FILE:
        return add_files(core, note, err);
    default:
        return 0;
    }
}

/* `notes` stay in memory, because paths point into them. */
static int read_notes(struct core_file *core, struct cursor notes, struct error *err)
{
    struct elf_note note;
    int code = 0;
    while (!code && elf_note_next(&notes, &note))
        if (elf_note_has_owner(&note, "CORE", sizeof("CORE")))
            code = read_note(core, note.type, cursor_of(note.bytes, note.size), err);
    return code;
}

/* ---- memory ---- */

DEFINE_COMPARE(compare_segments, struct elf_segment, ORDER(a->address, b->address))

/* Sets which mappings of files are executable, and adds executable memory without a file, such as JIT code. gcore omits
 * the headers of mappings that equal their files, so a mapping without a header may be executable. */
static int add_executable(struct core_file *core, struct error *err)
{
    struct hash by_start = {0};
    size_t files = core->mappings.length;
    int code = 0;
    for (size_t i = 0; i < files && !code; i++)
        code = hash_set(&by_start, core->mappings.data[i].start, (uint32_t)i) ? 0 : error_no_memory(err);
    for (size_t i = 0; i < core->elf.segments.length && !code; i++) {
        const struct elf_segment *segment = &core->elf.segments.data[i];
        if (segment->type != PT_LOAD)
            continue;
        bool is_executable = segment->flags & PF_X;
        uint32_t file = hash_get(&by_start, segment->address);
        if (file != HASH_MISSING)
            core->mappings.data[file].executable = is_executable;
        if (file != HASH_MISSING || !is_executable)
            continue;
        const struct core_mapping memory = {.start = segment->address,
                                            .end = segment->address + segment->file_size,
                                            .path = "//anon",
                                            .executable = true};
        if (segment->address != core->vdso && memory.start < memory.end && !array_push(&core->mappings, memory))
            code = error_no_memory(err);
    }
    hash_destroy(&by_start);
    return code;
}

size_t core_file_read_memory(const struct core_file *core, uint64_t address, void *out, size_t size)
{
    size_t below = search_count(core->memory.data, core->memory.length, element->address <= address);
    const struct elf_segment *segment = below ? &core->memory.data[below - 1] : NULL;
    uint64_t at = segment ? address - segment->address : 0;
    if (!segment || at >= segment->file_size || segment->offset > UINT64_MAX - at)
        return 0;
    struct bytes bytes = bytes_get_part(&core->elf.bytes, segment->offset + at, segment->file_size - at);
    size_t count = bytes.size < size ? (size_t)bytes.size : size;
    return bytes_read(&bytes, 0, out, count) ? count : 0;
}

size_t core_file_read_build_id(const struct core_file *core, uint64_t address, unsigned char *build_id, size_t max)
{
    enum { HEADER_SIZE = 4096 }; /* the page that the kernel dumps of each file by default (core(5)) */
    unsigned char header[HEADER_SIZE];
    struct elf_file file;
    size_t size = core_file_read_memory(core, address, header, sizeof(header));
    if (!size || elf_file_open_image(&file, header, size, "a mapped file", NULL))
        return 0;
    size = file.build_id_size < max ? file.build_id_size : max;
    memcpy(build_id, file.build_id, size);
    elf_file_close(&file);
    return size;
}

/* ---- the file ---- */

static int read_segments(struct core_file *core, struct error *err)
{
    uint64_t left = NOTE_BYTES_MAX;
    int code = 0;
    for (size_t i = 0; i < core->elf.segments.length && !code; i++) {
        const struct elf_segment *segment = &core->elf.segments.data[i];
        struct bytes notes = bytes_get_part(&core->elf.bytes, segment->offset, segment->file_size);
        if (segment->type == PT_LOAD && segment->file_size && !array_push(&core->memory, *segment))
            return error_no_memory(err);
        if (segment->type != PT_NOTE || notes.size > left)
            continue;
        left -= notes.size;
        unsigned char *bytes = bytes_load(&notes);
        if (bytes && !array_push(&core->notes, bytes)) {
            free(bytes);
            return error_no_memory(err);
        }
        if (bytes)
            code = read_notes(core, cursor_of(bytes, (size_t)notes.size), err);
    }
    array_sort(&core->memory, compare_segments);
    return code;
}

int core_file_read(struct core_file *core, struct elf_file *elf, uint16_t machine, const char *name, struct error *err)
{
    *core = (struct core_file){.elf = *elf};
    if (elf->type != ET_CORE)
        return error_set(err, EINVAL, "%s is not a core file", name);
    if (!elf->is_64 || elf->is_big_endian || elf->machine != machine)
        return error_set(err, EINVAL, "%s is a core file of another processor", name);
    int code = read_segments(core, err);
    if (!code && !core->threads.length)
        code = error_set(err, EINVAL, "%s is a core file without threads", name);
    if (!code && !core->pid)
        core->pid = core->threads.data[0].tid;
    return code ? code : add_executable(core, err);
}

void core_file_destroy(struct core_file *core)
{
    for (size_t i = 0; i < core->notes.length; i++)
        free(core->notes.data[i]);
    array_free(&core->notes);
    array_free(&core->threads);
    array_free(&core->mappings);
    array_free(&core->memory);
    elf_file_close(&core->elf);
}
