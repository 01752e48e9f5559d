#include "unwind/module.h"

#include <elf.h>
#include <fcntl.h>
#include <unistd.h>

/* ---- opening ---- */

static struct unwind_module *module_new(void)
{
    struct unwind_module *module = calloc(1, sizeof(*module));
    if (module)
        module->references = 1;
    return module;
}

/* Fails if the walker cannot walk through the code of this file. */
static int check_machine(const struct elf_file *elf, const char *name, struct error *err)
{
    if (elf->is_big_endian || elf->machine != (elf->is_64 ? ARCH_ELF_MACHINE : ARCH_ELF_MACHINE_32_BIT))
        return error_set(err, ENOEXEC,
                         "%s is for another kind of machine (ELF machine %u); prof walks its stacks by frame pointer",
                         name, elf->machine);
    return elf->has_load ? 0 : error_set(err, ENOEXEC, "%s has no mappable segment", name);
}

/* Creates a module that owns the open file `elf`. Closes `elf` after a failure. */
static int create_module(struct unwind_module **out, struct elf_file *elf, const char *name, struct error *err)
{
    int code = check_machine(elf, name, err);
    if (!code && !(*out = module_new()))
        code = error_no_memory(err);
    if (code)
        elf_file_close(elf);
    else
        (*out)->elf = *elf;
    return code;
}

int unwind_module_open_file(struct unwind_module **out, struct file_source *file, struct error *err)
{
    struct elf_file elf = {0};
    int code = elf_file_open_source(&elf, file, file->path, err);
    *out = NULL;
    return code ? code : create_module(out, &elf, file->path, err);
}

int unwind_module_open(struct unwind_module **out, int fd, const char *name, struct error *err)
{
    struct elf_file elf = {0};
    int own = fcntl(fd, F_DUPFD_CLOEXEC, 3);
    *out = NULL;
    if (own < 0)
        return error_set(err, errno, "cannot open %s again: %s", name, strerror(errno));
    int code = elf_file_open_fd(&elf, own, name, err);
    return code ? code : create_module(out, &elf, name, err);
}

static unsigned char *copy_image(const void *bytes, size_t size)
{
    unsigned char *copy = malloc(size ? size : 1);
    return copy ? memcpy(copy, bytes, size) : NULL;
}

int unwind_module_open_memory(struct unwind_module **out, const void *image, size_t size, const char *name,
                              struct error *err)
{
    struct elf_file elf = {0};
    unsigned char *copy = copy_image(image, size);
    int code = copy ? elf_file_open_image(&elf, copy, size, name, err) : error_no_memory(err);
    *out = NULL;
    if (code) {
        free(copy);
        return code;
    }
    elf.owned_image = copy;
    return create_module(out, &elf, name, err);
}

int unwind_module_open_jit_code(struct unwind_module **out, const void *frames, size_t frames_size, uint64_t start,
                                uint64_t size, struct error *err)
{
    struct elf_segment segment = {.type = PT_LOAD, .address = start, .file_size = size};
    struct unwind_module *module = *out = module_new();
    int code = 0;
    if (!module)
        return error_no_memory(err);
    module->elf.base = start;
    module->owned_frames = copy_image(frames, frames_size);
    if (!module->owned_frames || !array_push(&module->elf.segments, segment))
        code = error_no_memory(err);
    else if (!unwind_module_use_frames(module, frames_size, start + ((size + 7) & ~UINT64_C(7)), start, size))
        code = error_set(err, ENOENT, "the unwind information is not for this code");
    if (code) {
        unwind_module_unref(module);
        *out = NULL;
    }
    return code;
}

struct unwind_module *unwind_module_ref(struct unwind_module *module)
{
    if (module)
        module->references++;
    return module;
}

void unwind_module_unref(struct unwind_module *module)
{
    if (!module || --module->references > 0)
        return;
    file_part_close(&module->header.part);
    file_part_close(&module->eh_frame.part);
    file_part_close(&module->debug_frame.part);
    array_free(&module->eh_frame_table.entries);
    array_free(&module->debug_frame_table.entries);
    free(module->owned_frames);
    go_functions_close(&module->go);
    elf_file_close(&module->elf);
    free(module);
}

size_t unwind_module_copy_build_id(struct unwind_module *module, unsigned char build_id[UNWIND_BUILD_ID_MAX])
{
    _Static_assert((size_t)UNWIND_BUILD_ID_MAX >= (size_t)ELF_BUILD_ID_MAX, "a build id fits");
    memcpy(build_id, module->elf.build_id, module->elf.build_id_size);
    return module->elf.build_id_size;
}

/* ---- addresses and bytes ---- */

struct bytes unwind_module_get_bytes(const struct unwind_module *module, uint64_t vaddr)
{
    return elf_file_get_bytes_at(&module->elf, vaddr);
}

/* Rates how well a segment fits a mapping that begins at this offset of the file. Mappings are whole pages, so the
 * first mapped page of a segment may begin with the end of the previous segment. */
static int rate_segment(const struct elf_segment *segment, uint64_t file_offset)
{
    if (segment->type != PT_LOAD)
        return 0;
    uint64_t page = segment->offset & ~((uint64_t)sysconf(_SC_PAGESIZE) - 1);
    if (file_offset < page || file_offset - page >= segment->file_size + (segment->offset - page))
        return 0;
    return ((segment->flags & PF_X) ? 2 : 0) + (file_offset >= segment->offset ? 2 : 1);
}

uint64_t unwind_module_find_vaddr(const struct unwind_module *module, uint64_t file_offset)
{
    const struct elf_segment *best = NULL;
    int best_fit = 0;
    for (size_t i = 0; i < module->elf.segments.length; i++) {
        int fit = rate_segment(&module->elf.segments.data[i], file_offset);
        if (fit > best_fit) {
            best_fit = fit;
            best = &module->elf.segments.data[i];
        }
    }
    return best ? best->address + (file_offset - best->offset) : UINT64_MAX;
}

uint64_t unwind_module_get_base(const struct unwind_module *module)
{
    return module->elf.base;
}

bool unwind_module_is_32_bit(const struct unwind_module *module)
{
    return module->elf.machine == ARCH_ELF_MACHINE_32_BIT;
}

bool unwind_module_has_code(const struct unwind_module *module)
{
    return module->elf.bytes.size > 0;
}

size_t unwind_module_read_code(struct unwind_module *module, uint64_t vaddr, unsigned char *out, size_t size)
{
    struct bytes bytes = elf_file_get_bytes_at(&module->elf, vaddr);
    if (size > bytes.size)
        size = (size_t)bytes.size;
    return bytes_read(&bytes, 0, out, size) ? size : 0;
}

bool unwind_module_is_haskell(struct unwind_module *module, uint64_t vaddr)
{
    enum { HASKELL_TESTS_MAX = 4 };
    const struct elf_segment *segment = elf_file_find_segment(&module->elf, vaddr);
    if (module->is_haskell || !segment || module->haskell_tests == HASKELL_TESTS_MAX)
        return module->is_haskell;
    unsigned char code[2 * ARCH_HASKELL_REACH];
    uint64_t into = vaddr - segment->address, before = into < ARCH_HASKELL_REACH ? into : ARCH_HASKELL_REACH;
    size_t size = unwind_module_read_code(module, vaddr - before, code, sizeof(code));
    module->is_haskell = arch_code_is_haskell(code, size);
    module->haskell_tests += !module->is_haskell;
    return module->is_haskell;
}

bool unwind_module_read_code_around(struct unwind_module *module, uint64_t vaddr,
                                    unsigned char code[ARCH_CODE_BEFORE + ARCH_CODE_AFTER])
{
    memset(code, 0, ARCH_CODE_BEFORE + ARCH_CODE_AFTER);
    const struct elf_segment *segment = elf_file_find_segment(&module->elf, vaddr);
    uint64_t into = segment ? vaddr - segment->address : 0;
    uint64_t before = into < ARCH_CODE_BEFORE ? into : ARCH_CODE_BEFORE;
    return unwind_module_read_code(module, vaddr - before, code + ARCH_CODE_BEFORE - before, before + ARCH_CODE_AFTER) >
           before;
}
