/*
 * The tracepoints of the kernel as tracefs lists them: a folder events/SYSTEM/NAME for each, with its number in the
 * file "id". tracefs(5) is mounted at /sys/kernel/tracing, or at /sys/kernel/debug/tracing in older systems.
 */
#pragma once

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { TRACEFS_COMMAND = 96 };

/* The command, without sudo, that lets this user's group read tracefs: mounts it, or changes how it is mounted. Its
 * files are readable by their owner and group alone (Linux 5.16 and later). */
void tracefs_command(char text[TRACEFS_COMMAND], bool is_mounted);

/* The folder of tracefs whose events this user may read: "/sys/kernel/tracing". -ENOENT if it is not mounted, -EACCES
 * if it may not be read; the sentence says what to do. */
int tracefs_find(const char **folder, struct error *err);

/* The number of a tracepoint. -EINVAL if there is none of this name, else as tracefs_find(). */
int tracefs_event_id(const char *system, const char *name, uint64_t *id, struct error *err);

/* Where a tracepoint has a field, bytes from the beginning of its fields, by the text of its "format" file; `field` is
 * a part of the declaration: " pid;". False if there is none. */
bool tracefs_field_offset(const char *format, const char *field, size_t *offset);

/* Calls `see` with each tracepoint that can be sampled, in no order, until that returns false. As tracefs_find(). */
int tracefs_list(bool (*see)(void *context, const char *system, const char *name), void *context, struct error *err);
