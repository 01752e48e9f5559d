/*
 * The CPUs that are online, from the kernel's list notation ("0-3,8,10-11").
 */
#ifndef PROF_SAMPLE_CPU_LIST_H
#define PROF_SAMPLE_CPU_LIST_H

#include "base/array.h"
#include "base/error.h"

#include <stdint.h>

struct ARRAY_TYPE(cpu_list, uint32_t);

/* Adds the CPUs of `text` to a zeroed list, in the order given. -EINVAL for anything that is not such a list. */
int cpu_list_parse(const char *text, struct cpu_list *list, struct error *err);

/* The same for /sys/devices/system/cpu/online; where /sys is not mounted, as many as sysconf() counts. */
int cpu_list_online(struct cpu_list *list, struct error *err);

#endif
