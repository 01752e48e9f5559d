/*
 * The second reader of DWARF: libdw of elfutils. libdw reads units that prof's own reader declines (dwarf_unit.h:
 * big-endian files, unknown versions, forms and vendor extensions). For `prof symbolicate --check`, libdw reads all
 * addresses of a profile, to compare both readers. The readers share only the naming rules (dwarf_names.h).
 *
 * libdw loads whole sections and caches all decoded data. So the reader limits the size of the debug info and the
 * number of DIEs, and reopens its handle after each 32 MiB of units. docs/decisions.md, "prof reads DWARF itself, with
 * libdw as the second reader", has the reasons for prof's own reader.
 *
 * Threads: a libdw handle serves one thread. Each call of libdw_find_frames() opens and closes its own handle, so calls
 * may run in parallel, also on the same file.
 *
 * The libdw reader uses pread() and does not map the file, like prof's own reader. But libdw finds, opens and maps .dwo
 * files by itself, so the reader follows skeletons only on request.
 */
#pragma once

#include "elf/elf_file.h"
#include "symbol/dwarf_frames.h"

struct libdw_request {
    const struct elf_file *file;      /* file with .debug_info, after linking */
    const struct elf_file *alternate; /* the file that .gnu_debugaltlink names (dwz), or NULL */
    const uint64_t *vaddrs;           /* sorted */
    size_t count;
    bool follow_skeletons; /* follow skeletons into .dwo files; otherwise addresses in skeletons get no frames */
};

/* Finds the frames of every address. An address without code or debug info gets none. On success destroy `frames`.
 * -ENOMEM; -E2BIG if the debug info exceeds the limit for libdw; -EINVAL if libdw cannot read the file. */
int libdw_find_frames(const struct libdw_request *request, struct dwarf_frames *frames, struct error *err);
