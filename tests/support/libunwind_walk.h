/*
 * The reference walker: libunwind on a captured stack, through accessors that read the copy and the ELF files. It is
 * loaded on first use, so tests and benchmarks link without it, and report if it is missing.
 *
 * libunwind reads slots below sp, which are not in a copy (gcc's CFI still names them in epilogues). In the live
 * process such a slot nearly always holds the frame pointer that was just popped, so the accessor returns that.
 */
#pragma once

#include "stack_capture.h"

#include <dlfcn.h>
#include <elf.h>
#include <libunwind.h>
#include <sys/stat.h>

struct libunwind {
    unw_addr_space_t (*create_addr_space)(unw_accessors_t *, int);
    int (*set_caching_policy)(unw_addr_space_t, unw_caching_policy_t);
    int (*init_remote)(unw_cursor_t *, unw_addr_space_t, void *);
    int (*step)(unw_cursor_t *);
    int (*get_reg)(unw_cursor_t *, int, unw_word_t *);
    int (*is_signal_frame)(unw_cursor_t *);
    void (*destroy_addr_space)(unw_addr_space_t);
    void (*flush_cache)(unw_addr_space_t, unw_word_t, unw_word_t);
    int (*search_table)(unw_addr_space_t, unw_word_t, unw_dyn_info_t *, unw_proc_info_t *, int, void *);
    unw_addr_space_t space;
    unw_accessors_t accessors;
};

struct libunwind_file { /* of one capture module, by the same index */
    unsigned char *bytes;
    size_t size;
};

struct libunwind_sample {
    const struct libunwind *library;
    struct capture *capture;
    struct libunwind_file *files;
    const struct address_space *space;
    const struct capture_event *sample;
};

static inline struct libunwind_file libunwind_file(const char *path)
{
    struct libunwind_file file = {0};
    if (strcmp(path, "[vdso]") == 0)
        return (struct libunwind_file){(unsigned char *)getauxval(AT_SYSINFO_EHDR), 4096};
    struct stat status;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd >= 0 && fstat(fd, &status) == 0) {
        void *map = mmap(NULL, (size_t)status.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
        if (map != MAP_FAILED)
            file = (struct libunwind_file){map, (size_t)status.st_size};
    }
    if (fd >= 0)
        close(fd);
    return file;
}

static inline const Elf64_Phdr *libunwind_header(const struct libunwind_file *file, uint32_t type, uint64_t vaddr)
{
    const Elf64_Ehdr *elf = (const void *)file->bytes;
    const Elf64_Phdr *headers = (const void *)(file->bytes + elf->e_phoff);
    for (unsigned i = 0; i < elf->e_phnum; i++)
        if (headers[i].p_type == type && (type != PT_LOAD || vaddr - headers[i].p_vaddr < headers[i].p_filesz))
            return &headers[i];
    return NULL;
}

static inline uint64_t libunwind_bias(const struct mapping *mapping)
{
    return mapping->start - mapping->rva - unwind_module_get_base(mapping->module);
}

/* The mapping whose file holds the byte at `address` in any of its segments. */
static inline const unsigned char *libunwind_file_bytes(struct libunwind_sample *s, uint64_t address)
{
    const struct mapping *mapping = address_space_find_at_or_above(s->space, 0);
    for (; mapping; mapping = address_space_find_at_or_above(s->space, mapping->end)) {
        if (!mapping->module)
            continue;
        struct libunwind_file *file = &s->files[mapping->lib];
        if (!file->bytes)
            *file = libunwind_file(s->capture->modules.data[mapping->lib].path);
        uint64_t vaddr = address - libunwind_bias(mapping);
        const Elf64_Phdr *segment = file->bytes ? libunwind_header(file, PT_LOAD, vaddr) : NULL;
        if (segment && segment->p_offset + (vaddr - segment->p_vaddr) + 8 <= file->size)
            return file->bytes + segment->p_offset + (vaddr - segment->p_vaddr);
    }
    return NULL;
}

static inline int libunwind_access_mem(unw_addr_space_t as, unw_word_t address, unw_word_t *value, int write,
                                       void *context)
{
    struct libunwind_sample *s = context;
    (void)as;
    uint64_t sp = s->sample->regs.r[UNWIND_REG_SP], offset = address - sp;
    if (write)
        return -UNW_EINVAL;
    if (s->sample->stack_size >= 8 && offset <= s->sample->stack_size - 8) {
        memcpy(value, s->sample->stack + offset, 8);
        return 0;
    }
    if (sp - address <= 512) {
        *value = s->sample->regs.r[UNWIND_REG_BP];
        return 0;
    }
    const unsigned char *bytes = libunwind_file_bytes(s, address);
    if (!bytes)
        return -UNW_EINVAL;
    memcpy(value, bytes, 8);
    return 0;
}

static inline int libunwind_access_reg(unw_addr_space_t as, unw_regnum_t reg, unw_word_t *value, int write,
                                       void *context)
{
    struct libunwind_sample *s = context;
    (void)as;
    if (write || reg < 0 || reg >= UNWIND_REGS)
        return -UNW_EBADREG;
    *value = s->sample->regs.r[reg];
    return 0;
}

static inline int libunwind_find(unw_addr_space_t as, unw_word_t ip, unw_proc_info_t *info, int need_info,
                                 void *context)
{
    struct libunwind_sample *s = context;
    const struct mapping *mapping = address_space_find(s->space, ip);
    if (!mapping || !mapping->module)
        return -UNW_ENOINFO;
    const unsigned char *code = libunwind_file_bytes(s, mapping->start); /* opens the file */
    struct libunwind_file *file = &s->files[mapping->lib];
    const Elf64_Phdr *header = code || file->bytes ? libunwind_header(file, PT_GNU_EH_FRAME, 0) : NULL;
    if (!header)
        return -UNW_ENOINFO;
    const unsigned char *table = file->bytes + header->p_offset;
    uint32_t count;
    memcpy(&count, table + 8, sizeof(count));
    unw_dyn_info_t di = {.format = UNW_INFO_FORMAT_REMOTE_TABLE, .start_ip = mapping->start, .end_ip = mapping->end};
    di.u.rti.segbase = libunwind_bias(mapping) + header->p_vaddr;
    di.u.rti.table_data = di.u.rti.segbase + 12;
    di.u.rti.table_len = count * 8ul / sizeof(unw_word_t);
    return s->library->search_table(as, ip, &di, info, need_info, context);
}

static inline void libunwind_put_info(unw_addr_space_t as, unw_proc_info_t *info, void *context)
{
    (void)as, (void)info, (void)context;
}

static inline int libunwind_no_list(unw_addr_space_t as, unw_word_t *address, void *context)
{
    (void)as, (void)address, (void)context;
    return -UNW_ENOINFO;
}

static inline int libunwind_no_fpreg(unw_addr_space_t as, unw_regnum_t reg, unw_fpreg_t *value, int write,
                                     void *context)
{
    (void)as, (void)reg, (void)value, (void)write, (void)context;
    return -UNW_EBADREG;
}

/* False if the library is not installed. */
static inline bool libunwind_open(struct libunwind *library)
{
    void *handle = dlopen("libunwind-x86_64.so.8", RTLD_NOW | RTLD_LOCAL);
    if (!handle)
        return false;
    *(void **)&library->create_addr_space = dlsym(handle, "_Ux86_64_create_addr_space");
    *(void **)&library->set_caching_policy = dlsym(handle, "_Ux86_64_set_caching_policy");
    *(void **)&library->init_remote = dlsym(handle, "_Ux86_64_init_remote");
    *(void **)&library->step = dlsym(handle, "_Ux86_64_step");
    *(void **)&library->get_reg = dlsym(handle, "_Ux86_64_get_reg");
    *(void **)&library->is_signal_frame = dlsym(handle, "_Ux86_64_is_signal_frame");
    *(void **)&library->destroy_addr_space = dlsym(handle, "_Ux86_64_destroy_addr_space");
    *(void **)&library->flush_cache = dlsym(handle, "_Ux86_64_flush_cache");
    *(void **)&library->search_table = dlsym(handle, "_Ux86_64_dwarf_search_unwind_table");
    if (!library->create_addr_space || !library->set_caching_policy || !library->init_remote || !library->step ||
        !library->get_reg || !library->is_signal_frame || !library->flush_cache || !library->destroy_addr_space ||
        !library->search_table)
        return false;
    library->accessors = (unw_accessors_t){.find_proc_info = libunwind_find,
                                           .put_unwind_info = libunwind_put_info,
                                           .get_dyn_info_list_addr = libunwind_no_list,
                                           .access_mem = libunwind_access_mem,
                                           .access_reg = libunwind_access_reg,
                                           .access_fpreg = libunwind_no_fpreg};
    library->space = library->create_addr_space(&library->accessors, 0);
    library->set_caching_policy(library->space, UNW_CACHE_GLOBAL);
    return true;
}

static inline void libunwind_close(struct libunwind *library)
{
    library->destroy_addr_space(library->space);
}

/* The pcs of the frames as libunwind sees them, with the conventions of unwind_walk(). */
static inline size_t libunwind_walk(struct libunwind_sample *s, uint64_t *pcs, size_t max)
{
    const struct libunwind *library = s->library;
    unw_cursor_t cursor;
    size_t count = 0;
    if (library->init_remote(&cursor, library->space, s) < 0)
        return 0;
    bool exact = true;
    do {
        unw_word_t ip = 0;
        library->get_reg(&cursor, UNW_REG_IP, &ip);
        if (ip == 0)
            break;
        bool is_trampoline = library->is_signal_frame(&cursor) > 0;
        pcs[count++] = ip - (exact || is_trampoline ? 0 : 1);
        exact = is_trampoline;
    } while (count < max && library->step(&cursor) > 0);
    return count;
}
