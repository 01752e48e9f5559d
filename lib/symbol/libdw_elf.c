#include "symbol/libdw_elf.h"

#include <gelf.h>

/* Returns the size of a section after decompression, or UINT64_MAX if the size is implausible: see is_plausible_size()
 * of elf_file.c. */
static uint64_t find_decompressed_size(Elf_Scn *section, const GElf_Shdr *header, const char *name)
{
    enum { RATIO_MAX = 64, SMALL_SECTION = 16 << 20 };
    uint64_t size = header->sh_size;
    if (header->sh_flags & SHF_COMPRESSED) {
        GElf_Chdr compression;
        size = gelf_getchdr(section, &compression) ? compression.ch_size : UINT64_MAX;
    } else if (name[1] == 'z') {
        const Elf_Data *raw = elf_rawdata(section, NULL);
        const unsigned char *bytes = raw && raw->d_size >= 12 ? raw->d_buf : NULL; /* "ZLIB", size, big-endian */
        size = 0;
        for (int i = 4; bytes && i < 12; i++)
            size = size << 8 | bytes[i];
    }
    return size <= SMALL_SECTION || size / RATIO_MAX <= header->sh_size ? size : UINT64_MAX;
}

static uint64_t sum_debug_sizes(Elf *elf)
{
    uint64_t all = 0;
    size_t names;
    if (elf_getshdrstrndx(elf, &names) != 0)
        return 0;
    for (Elf_Scn *section = NULL; (section = elf_nextscn(elf, section));) {
        GElf_Shdr header;
        const char *name = gelf_getshdr(section, &header) ? elf_strptr(elf, names, header.sh_name) : NULL;
        if (!name || header.sh_type == SHT_NOBITS ||
            (strncmp(name, ".debug_", 7) != 0 && strncmp(name, ".zdebug_", 8) != 0))
            continue;
        uint64_t size = find_decompressed_size(section, &header, name);
        all = size > UINT64_MAX - all ? UINT64_MAX : all + size;
    }
    return all;
}

int libdw_elf_open(const struct elf_file *file, Elf **elf, int *fd, struct error *err)
{
    elf_version(EV_CURRENT);
    if (file->source) {
        *fd = file_source_open(file->source);
        *elf = *fd < 0 ? NULL : elf_begin(*fd, ELF_C_READ, NULL);
    } else {
        *elf = elf_memory((char *)(uintptr_t)file->bytes.memory, (size_t)file->bytes.size);
    }
    if (file->source && *fd < 0)
        return error_set(err, EINVAL, "cannot open the file with the debug info: %s", strerror(-*fd));
    if (!*elf)
        return error_set(err, EINVAL, "libelf cannot open the file: %s", elf_errmsg(-1));
    if (sum_debug_sizes(*elf) > LIBDW_SECTIONS_MAX)
        return error_set(err, E2BIG, "it has more than %d MiB of debug info, the limit for libdw",
                         LIBDW_SECTIONS_MAX >> 20);
    return 0;
}

bool libdw_elf_has_terminated_texts(Elf *elf)
{
    size_t names;
    if (!elf || elf_getshdrstrndx(elf, &names) != 0)
        return true;
    for (Elf_Scn *section = NULL; (section = elf_nextscn(elf, section));) {
        GElf_Shdr header;
        const char *name = gelf_getshdr(section, &header) ? elf_strptr(elf, names, header.sh_name) : NULL;
        if (!name || (!strstr(name, "debug_str") && !strstr(name, "debug_line_str")) || strstr(name, "_offsets"))
            continue;
        const Elf_Data *data = elf_getdata(section, NULL);
        if (data && data->d_buf && data->d_size && ((const char *)data->d_buf)[data->d_size - 1])
            return false;
    }
    return true;
}
