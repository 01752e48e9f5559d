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

/* Calls `use` with every mapping until it returns another value than 0, and returns that value. -ENOMEM if memory ran
 * out; another -errno if the process has ended, or we may not look into it. */
int proc_maps_read(uint32_t pid, int (*use)(void *context, const struct perf_mapping *mapping), void *context);

/* Returns the ELF image of our own vDSO, valid as long as we run, or NULL if there is none. The vDSO is the small
 * library that the kernel maps into every process. It is no file, but the same in all 64-bit processes of a running
 * kernel, so ours stands for that of any other process. */
const unsigned char *proc_maps_own_vdso(size_t *size);
