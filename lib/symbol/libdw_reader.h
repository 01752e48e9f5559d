/*
 * The second reader of DWARF: libdw of elfutils. It reads what our own reader declines (dwarf_unit.h: big-endian files,
 * unknown versions, forms and vendor extensions), and answers all addresses of a profile for `prof symbolicate
 * --check`, which compares the two. It shares the naming rules with our reader (dwarf_names.h) and nothing else.
 *
 * Why it is not the first one: it takes 3.6 times the time and ten times the memory (`make bench`), because it loads
 * whole sections and keeps what it decoded. So there are bounds here: on the size of the debug info, on the number of
 * DIEs, and a handle is closed and opened anew after each 32 MiB of units.
 *
 * Threads: a handle of libdw serves one thread. Each call of libdw_read() has its own, so calls may run in parallel,
 * also for the same file; nothing of one outlives the call.
 *
 * The file is read with pread() and not mapped, as our reader does it. The exception are .dwo files, which libdw finds,
 * opens and maps by itself; therefore skeletons are followed only if the caller says so.
 */
#ifndef PROF_SYMBOL_LIBDW_READER_H
#define PROF_SYMBOL_LIBDW_READER_H

#include "elf/elf_file.h"
#include "symbol/dwarf_frames.h"

enum { LIBDW_SECTIONS_MAX = 1 << 30 /* bytes of all debug sections, decompressed */ };

struct libdw_request {
    const struct elf_file *file;      /* with .debug_info; linked */
    const struct elf_file *alternate; /* the file that .gnu_debugaltlink names (dwz), or NULL */
    const uint64_t *vaddrs;           /* sorted */
    size_t count;
    bool follow_skeletons; /* into .dwo files; otherwise addresses in skeletons get no frames */
};

/* Finds the frames of every address. An address without code or debug info gets none. On success destroy `frames`.
 * -ENOMEM; -E2BIG if the debug info exceeds the limit for libdw; -EINVAL if libdw cannot read it. */
int libdw_read(const struct libdw_request *request, struct dwarf_frames *frames, struct error *err);

#endif
