/*
 * Reads the mappings of a live process from /proc/PID/maps, for processes without mapping records.
 */
#pragma once

#include "base/error.h"
#include "sample/perf_record.h"

/* Parses one line of a maps file, and removes its newline and "(deleted)". The path points into `line`. Returns
 * false if the line is malformed. */
bool proc_maps_parse(char *line, struct perf_mapping *mapping);

/* Removes the " (deleted)" that the kernel appends to the path of a deleted file. */
void proc_maps_strip_deleted(char *path);

/* Calls `use` with every mapping until `use` returns nonzero, and returns its value. -ENOMEM if memory ran out; another
 * -errno if the process has ended, or this user may not read it. */
int proc_maps_read(uint32_t pid, int (*use)(void *context, const struct perf_mapping *mapping), void *context);

/* Opens the mappings of thread `tid`'s process for proc_maps_find(). Returns a descriptor, or -errno. Valid for the
 * current program: after exec, proc_maps_find() fails. */
int proc_maps_open(uint32_t tid);

/* Finds the executable mapping at `address`, in about 1 us, and stores its path in `path`. `wants_build_id`: also reads
 * the build id, in 5 us more. Returns 1, or 0 without a mapping; -ENOTTY if the kernel lacks the request (before Linux
 * 6.11); another -errno if the process has ended. */
enum { PROC_MAPS_PATH = 4096 };
int proc_maps_find(int maps, uint64_t address, bool wants_build_id, char path[PROC_MAPS_PATH],
                   struct perf_mapping *mapping);

/* Returns the ELF image of prof's own vDSO, valid while prof runs, or NULL for none. The vDSO is a small library
 * that the kernel maps into every process. The vDSO has no file, but is the same in all 64-bit processes of a
 * running kernel. */
const unsigned char *proc_maps_find_own_vdso(size_t *size);
