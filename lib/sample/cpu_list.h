/*
 * Lists of CPUs, in the kernel's notation ("0-3,8,10-11").
 *
 * Threads: any; nothing is shared.
 */
#pragma once

#include "base/array.h"
#include "base/error.h"

struct ARRAY_TYPE(cpu_list, uint32_t);

/* Appends the CPUs listed in `text` to a zeroed list, in that order. -EINVAL if `text` is not in the kernel's notation.
 */
int cpu_list_parse(const char *text, struct cpu_list *list, struct error *err);

/* Lists the CPUs in /sys/devices/system/cpu/online. Without /sys, lists as many CPUs as sysconf() reports. */
int cpu_list_read_online(struct cpu_list *list, struct error *err);

/* Whether the CPU is in the list. NULL: the list of all CPUs. */
bool cpu_list_has(const struct cpu_list *list, uint32_t cpu);
