/*
 * The mappings of a living process, from /proc/PID/maps: for processes whose mapping records were not seen.
 */
#pragma once

#include "base/error.h"
#include "sample/perf_record.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

/* Parses one line of a maps file, and removes its newline and "(deleted)". The path points into `line`. Returns false
 * if it is not such a line. */
bool proc_maps_parse(char *line, struct perf_mapping *mapping);

/* Removes the " (deleted)" that the kernel puts behind the path of a file that has none any more. */
void proc_maps_cut_deleted(char *path);

/* Calls `use` with every mapping until it returns another value than 0, and returns that value. -ENOMEM if memory ran
 * out; another -errno if the process has ended, or we may not look into it. */
int proc_maps_read(uint32_t pid, int (*use)(void *context, const struct perf_mapping *mapping), void *context);

/* Opens the mappings of the process of thread `tid` for proc_maps_find(). Returns a descriptor, or -errno. It stays
 * with the program that runs now: after exec, proc_maps_find() fails. */
int proc_maps_open(uint32_t tid);

/* Finds the executable mapping that holds `address`, in about 1 us; its path is in `path`. `wants_build_id`: that of an
 * ELF file as well, in 5 us more. Returns 1; 0 if there is none; -ENOTTY if the kernel has no such request (before
 * Linux 6.11); another -errno if the process has ended. */
enum { PROC_MAPS_PATH = 4096 };
int proc_maps_find(int maps, uint64_t address, bool wants_build_id, char path[PROC_MAPS_PATH],
                   struct perf_mapping *mapping);

/* Returns the ELF image of our own vDSO, valid as long as we run, or NULL if there is none. The vDSO is the small
 * library that the kernel maps into every process. It is no file, but the same in all 64-bit processes of a running
 * kernel, so ours stands for that of any other process. */
const unsigned char *proc_maps_own_vdso(size_t *size);
