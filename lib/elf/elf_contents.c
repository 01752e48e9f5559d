/*
 * Compressed sections: SHF_COMPRESSED with zlib or zstd, and GNU's older .zdebug_ (zlib). elf_compress() is not used:
 * libelf before 0.189 has no zstd, and no version limits the decompressed size.
 */
#include "elf/elf_contents.h"

#include "base/checksum.h"
#include "os/directory.h"
#include "os/vector_registers.h"
#include "elf/elf_relocate.h"
#include "elf/elf_table.h"

#include <isa-l/igzip_lib.h>
#ifdef HAVE_ZSTD
#include <zstd.h>
#endif

#ifndef ELFCOMPRESS_ZSTD /* missing in the <elf.h> of glibc 2.36 and older */
#define ELFCOMPRESS_ZSTD 2
#endif

/* Debug info compresses to a third or a tenth. A section that claims a much higher ratio is a decompression bomb, and
 * is rejected. Small sections may have any ratio, because a few bytes can encode many zeros. */
enum { USUAL_RATIO_MAX = 64, SMALL_SECTION = 16 << 20 };

static bool is_plausible_size(uint64_t size, uint64_t packed_size)
{
    return size > 0 && size <= BYTES_LOAD_MAX && (size <= SMALL_SECTION || size / USUAL_RATIO_MAX <= packed_size);
}

/* Decompresses with ISA-L, in a third of zlib's time. Allocates the 80 KiB of ISA-L's state on the heap, because
 * threads have small stacks. */
static bool decompress_zlib(unsigned char *out, uint64_t size, const unsigned char *packed, size_t packed_size)
{
    struct inflate_state *state = packed_size <= UINT32_MAX ? malloc(sizeof(*state)) : NULL;
    if (!state)
        return false;
    isal_inflate_init(state);
    state->crc_flag = ISAL_ZLIB;
    state->next_in = (unsigned char *)packed; /* isal_inflate() does not change the input */
    state->avail_in = (uint32_t)packed_size;
    state->next_out = out;
    state->avail_out = (uint32_t)size;
    bool done = isal_inflate_stateless(state) == ISAL_DECOMP_OK && state->total_out == size;
    vector_registers_release();
    free(state);
    return done;
}

static bool decompress_zstd(unsigned char *out, uint64_t size, const unsigned char *packed, size_t packed_size)
{
#ifdef HAVE_ZSTD
    return ZSTD_decompress(out, (size_t)size, packed, packed_size) == size;
#else
    (void)out, (void)size, (void)packed, (void)packed_size;
    return false;
#endif
}

/* Returns NULL, or a description of the error in the section. */
static const char *decompress(uint32_t type, const unsigned char *packed, size_t packed_size, uint64_t size,
                              unsigned char **out)
{
    if (type != ELFCOMPRESS_ZLIB && type != ELFCOMPRESS_ZSTD)
        return "is compressed with an unknown method";
#ifndef HAVE_ZSTD
    if (type == ELFCOMPRESS_ZSTD)
        return "is compressed with zstd, which this build of prof does not support";
#endif
    if (!is_plausible_size(size, packed_size))
        return "is damaged: its decompressed size is implausible";
    unsigned char *memory = malloc(size + 1);
    if (!memory)
        return "is too large for the free memory";
    bool done = type == ELFCOMPRESS_ZSTD ? decompress_zstd(memory, size, packed, packed_size)
                                         : decompress_zlib(memory, size, packed, packed_size);
    if (!done) {
        free(memory);
        return "is damaged";
    }
    memory[size] = 0;
    *out = memory;
    return NULL;
}

struct packing {
    uint32_t type; /* ELFCOMPRESS_*, or 0 if unknown */
    uint64_t size; /* decompressed */
    size_t header_size;
};

/* Reads the compression header: an Elf32_Chdr or Elf64_Chdr, or in a .zdebug_ section "ZLIB" and the size as a
 * big-endian number of eight bytes. */
static bool read_compression_header(const struct elf_file *file, const struct elf_section *section,
                                    struct packing *packing)
{
    unsigned char raw[sizeof(Elf64_Chdr)];
    bool is_new = section->flags & SHF_COMPRESSED;
    packing->header_size = !is_new ? 12 : file->is_64 ? sizeof(Elf64_Chdr) : sizeof(Elf32_Chdr);
    if (!bytes_read(&section->bytes, 0, raw, packing->header_size))
        return false;
    if (is_new) {
        elf_convert_to_native(file, ELF_T_CHDR, raw, packing->header_size);
        packing->type = ELF_FIELD(file->is_64, Chdr, raw, ch_type);
        packing->size = ELF_FIELD(file->is_64, Chdr, raw, ch_size);
        return true;
    }
    packing->type = memcmp(raw, "ZLIB", 4) == 0 ? ELFCOMPRESS_ZLIB : 0;
    packing->size = 0;
    for (int i = 4; i < 12; i++)
        packing->size = packing->size << 8 | raw[i];
    return true;
}

/* ---- decompressed sections in the cache directory ----
 *
 * A second recording of a program has a few addresses that are not in the symbol cache. To name these addresses, such a
 * recording spent two thirds of its instructions on decompressing glibc's debug info. A cache file holds the contents
 * of one section and a NUL. The name of a cache file identifies the debug file, and the checksum at the end of the
 * compressed section must match. */

enum { CACHED_SIZE_MIN = 64 << 10, CACHED_SIZE_MAX = 16 << 20, CACHE_NAME_SIZE = 64 };

static bool is_cached(const struct elf_file *file, const struct packing *packing)
{
    return file->section_cache > 0 && file->source && packing->type == ELFCOMPRESS_ZLIB &&
           packing->size >= CACHED_SIZE_MIN && packing->size <= CACHED_SIZE_MAX;
}

static void format_cache_name(char name[CACHE_NAME_SIZE], const struct elf_file *file,
                              const struct elf_section *section)
{
    const struct file_identity *id = &file->source->identity;
    const uint64_t identity[] = {id->device,
                                 id->inode,
                                 id->size,
                                 id->mtime_ns,
                                 section->bytes.offset,
                                 checksum_bytes(file->build_id, file->build_id_size)};
    snprintf(name, CACHE_NAME_SIZE, "section-%016" PRIx64, checksum_bytes(identity, sizeof(identity)));
}

static unsigned char *load_cached(const struct elf_file *file, const struct elf_section *section, const char *name,
                                  uint64_t size)
{
    size_t held;
    unsigned char sum[4], *kept = file_directory_load(file->section_cache, name, (size_t)size + 1, &held);
    if (kept && held == size + 1 && !kept[size] &&
        bytes_read(&section->bytes, section->bytes.size - sizeof(sum), sum, sizeof(sum)) &&
        isal_adler32(1, kept, size) == ((uint32_t)sum[0] << 24 | sum[1] << 16 | sum[2] << 8 | sum[3]))
        return kept;
    free(kept);
    return NULL;
}

static bool is_compressed(const struct elf_section *section)
{
    return (section->flags & SHF_COMPRESSED) || strncmp(section->name, ".zdebug_", 8) == 0;
}

static struct bytes load_decompressed(const struct elf_file *file, const struct elf_section *section,
                                      unsigned char **owned, struct error *err)
{
    if (!is_compressed(section))
        return section->bytes;
    struct packing packing = {0};
    char name[CACHE_NAME_SIZE] = "";
    const char *problem = "is damaged";
    bool is_whole = read_compression_header(file, section, &packing);
    if (is_whole && is_cached(file, &packing)) {
        format_cache_name(name, file, section);
        *owned = load_cached(file, section, name, packing.size);
    }
    unsigned char *raw = is_whole && !*owned ? bytes_load(&section->bytes) : NULL;
    if (raw)
        problem = decompress(packing.type, raw + packing.header_size, (size_t)section->bytes.size - packing.header_size,
                             packing.size, owned);
    if (raw && *owned && name[0])
        file_directory_save(file->section_cache, name, *owned, (size_t)packing.size + 1);
    free(raw);
    if (*owned)
        return (struct bytes){.memory = *owned, .size = packing.size};
    error_set(err, EINVAL, "section %s %s", section->name, problem);
    return (struct bytes){0};
}

uint64_t elf_file_read_contents_size(const struct elf_file *file, const char *name)
{
    const struct elf_section *section = elf_file_find_section(file, name);
    struct packing packing = {0};
    if (!section)
        return 0;
    if (!is_compressed(section))
        return section->bytes.size;
    return read_compression_header(file, section, &packing) ? packing.size : 0;
}

struct bytes elf_file_load_contents(const struct elf_file *file, const char *name, unsigned char **owned,
                                    struct error *err)
{
    *owned = NULL;
    const struct elf_section *section = elf_file_find_section(file, name);
    struct bytes bytes = section ? load_decompressed(file, section, owned, err) : (struct bytes){0};
    if (bytes.size == 0 || !elf_has_relocations(file, section))
        return bytes;
    if (!*owned)
        *owned = bytes_load(&bytes);
    if (!*owned) {
        error_set(err, EIO, "cannot read section %s", name);
        return (struct bytes){0};
    }
    elf_relocate(file, section, *owned, bytes.size);
    return (struct bytes){.memory = *owned, .size = bytes.size};
}
