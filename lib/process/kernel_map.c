#include "process/kernel_map.h"

#include "elf/elf_note.h"

#include <elf.h>
#include <fcntl.h>
#include <unistd.h>

enum { LINES_BEFORE_TEXT = 20000 }; /* kallsyms starts with any per-CPU symbols, before _text */

/* The kernel image lies in the gigabyte below its modules (Documentation/arch/x86/x86_64/mm.rst). */
static const uint64_t kernel_area_mask = ~UINT64_C(0x3fffffff);
static const uint64_t kernel_area_size = UINT64_C(0x40000000);

/* Returns the address of _text, or 0 if the kernel hides it. */
static uint64_t find_kernel_text(void)
{
    FILE *symbols = fopen("/proc/kallsyms", "re");
    char line[512];
    uint64_t text = 0;
    for (int i = 0; symbols && !text && i < LINES_BEFORE_TEXT && fgets(line, sizeof(line), symbols); i++) {
        uint64_t address;
        char type, name[64];
        if (sscanf(line, "%" SCNx64 " %c %63s", &address, &type, name) == 3 && !strcmp(name, "_text"))
            text = address;
    }
    if (symbols)
        fclose(symbols);
    return text;
}

static size_t read_build_id(const char *notes_path, unsigned char *build_id, size_t max)
{
    unsigned char notes[4096];
    int fd = open(notes_path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return 0;
    ssize_t notes_size = read(fd, notes, sizeof(notes));
    close(fd);
    size_t size = 0;
    const unsigned char *found =
        elf_note_find(notes, notes_size > 0 ? (size_t)notes_size : 0, ELF_NOTE_GNU, NT_GNU_BUILD_ID, &size);
    if (!found || size > max)
        return 0;
    memcpy(build_id, found, size);
    return size;
}

bool kernel_map_is_running(const unsigned char *build_id, size_t size, uint64_t text)
{
    unsigned char now[UNWIND_BUILD_ID_MAX];
    size_t now_size = read_build_id("/sys/kernel/notes", now, sizeof(now));
    if (size && (now_size != size || memcmp(now, build_id, size) != 0))
        return false;
    return text && text == find_kernel_text();
}

struct kernel_range {
    enum spool_lib_kind kind;
    const char *name, *notes_path;
    uint64_t start, end;
};

static int write_range(struct library_table *libraries, struct spool_writer *spool, uint64_t time,
                       const struct kernel_range *range, struct error *err)
{
    unsigned char build_id[UNWIND_BUILD_ID_MAX];
    struct spool_library library = {.library_kind = range->kind, .path = range->name};
    library.build_id = (struct spool_blob){build_id, read_build_id(range->notes_path, build_id, sizeof(build_id))};
    struct spool_mapping mapping = {
        .process = SPOOL_NO_NUMBER, .time_ns = time, .start = range->start, .end = range->end};
    int code = library_table_add(libraries, &library, &mapping.library, err);
    return code ? code : spool_write_mapping(spool, &mapping, err);
}

static int write_module(struct library_table *libraries, struct spool_writer *spool, uint64_t time, const char *line,
                        struct error *err)
{
    char module[64], name[80], notes_path[160];
    uint64_t size, start;
    if (sscanf(line, "%63s %" SCNu64 " %*s %*s %*s %" SCNx64, module, &size, &start) != 3 || !start ||
        start > UINT64_MAX - size)
        return 0;
    snprintf(name, sizeof(name), "[%s]", module);
    snprintf(notes_path, sizeof(notes_path), "/sys/module/%s/notes/.note.gnu.build-id", module);
    struct kernel_range range = {
        .kind = SPOOL_LIB_KERNEL_MODULE, .name = name, .notes_path = notes_path, .start = start, .end = start + size};
    return write_range(libraries, spool, time, &range, err);
}

int kernel_map_write(struct library_table *libraries, struct spool_writer *spool, uint64_t time, struct error *err)
{
    int code = 0;
    uint64_t text = find_kernel_text();
    if (text) {
        struct kernel_range kernel = {.kind = SPOOL_LIB_KERNEL,
                                      .name = "[kernel.kallsyms]",
                                      .notes_path = "/sys/kernel/notes",
                                      .start = text,
                                      .end = (text & kernel_area_mask) + kernel_area_size};
        code = write_range(libraries, spool, time, &kernel, err);
    }
    FILE *modules = fopen("/proc/modules", "re");
    char line[1024];
    while (!code && modules && fgets(line, sizeof(line), modules))
        code = write_module(libraries, spool, time, line, err);
    if (modules)
        fclose(modules);
    return code;
}

int kernel_map_write_symbol(struct library_table *libraries, struct spool_writer *spool, uint64_t time,
                            const struct perf_kernel_symbol *symbol, struct error *err)
{
    if (!symbol->length || symbol->start > UINT64_MAX - symbol->length)
        return 0;
    struct spool_mapping mapping = {.process = SPOOL_NO_NUMBER,
                                    .time_ns = time,
                                    .start = symbol->start,
                                    .end = symbol->start + symbol->length,
                                    .library = SPOOL_NO_NUMBER};
    const struct spool_library library = {.library_kind = SPOOL_LIB_KERNEL_CODE, .path = symbol->name};
    int code = symbol->is_removed ? 0 : library_table_add(libraries, &library, &mapping.library, err);
    return code ? code : spool_write_mapping(spool, &mapping, err);
}
