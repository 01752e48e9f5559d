/*
 * Reads the kernel's tracepoints from tracefs: a directory events/SYSTEM/NAME for each, with its number in the file
 * "id". tracefs is mounted at /sys/kernel/tracing, on older systems at /sys/kernel/debug/tracing.
 */
#pragma once

#include "base/error.h"

enum { TRACEFS_COMMAND = 96 };

/* Writes the command, without sudo, that mounts or remounts tracefs so that this user's group can read it. Only the
 * owner and the group of tracefs can read its files (Linux 5.16 and later). */
void tracefs_format_command(char text[TRACEFS_COMMAND], bool is_mounted);

/* Finds the tracefs directory whose events this user may read: "/sys/kernel/tracing". Fails with -ENOENT if tracefs is
 * not mounted, and with -EACCES if this user may not read it. The message has a solution. */
int tracefs_find(const char **directory, struct error *err);

/* Reads the number of a tracepoint. -EINVAL if no tracepoint has this name; other errors as in tracefs_find(). */
int tracefs_read_event_id(const char *system, const char *name, uint64_t *id, struct error *err);

/* Reads the number of a tracepoint, and the text of its "format" file, which is empty if the file is unreadable. Errors
 * as tracefs_read_event_id(). */
enum { TRACEFS_FORMAT = 4096 };
int tracefs_read_format(const char *system, const char *name, uint64_t *id, char format[TRACEFS_FORMAT],
                        struct error *err);

/* Finds the offset of a field, in bytes from the start of the tracepoint's fields, in the text of its "format" file.
 * `field` is the end of the field's declaration, for example " pid;". False if no field matches. */
bool tracefs_find_field(const char *format, const char *field, size_t *offset);

/* Calls `see` with each tracepoint that the kernel can sample, in any order, until `see` returns false. Errors as
 * tracefs_find(). */
int tracefs_list(bool (*see)(void *context, const char *system, const char *name), void *context, struct error *err);
