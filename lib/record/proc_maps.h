/*
 * The mappings of a living process, from /proc/PID/maps: for processes whose mapping records were not seen.
 */
#ifndef PROF_RECORD_PROC_MAPS_H
#define PROF_RECORD_PROC_MAPS_H

#include "base/error.h"
#include "sample/perf_record.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

/* Takes one line of a maps file apart. The path points into `line`, whose newline and "(deleted)" are cut off. False if
 * it is not such a line. */
bool proc_maps_parse(char *line, struct perf_mapping *mapping);

/* Calls `use` with every mapping. Stops at its first non-zero result and returns it. -ENOMEM if memory ran out; another
 * -errno if the process is gone, or may not be looked into. */
int proc_maps_read(uint32_t pid, int (*use)(void *context, const struct perf_mapping *mapping), void *context);

/* The ELF image of the vDSO, the small library that the kernel maps into every process, which stays where it is as long
 * as we live; NULL if there is none. It is no file, but the same in all 64-bit processes of a running kernel, so our
 * own stands for that of any other. */
const unsigned char *proc_maps_own_vdso(size_t *size);

#endif
