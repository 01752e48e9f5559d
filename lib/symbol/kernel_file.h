/*
 * The debug info of the kernel (vmlinux) and of its modules, as distributions package it. The names of kernel functions
 * come from /proc/kallsyms; debug info adds lines and inlined functions, and names that /proc/kallsyms lacks.
 */
#pragma once

#include "elf/elf_file.h"
#include "symbol/debug_search.h"

/*
 * Opens the debug file of a SYMBOL_LIB_KERNEL or SYMBOL_LIB_MODULE by its build id. Returns false if none is found.
 * rvas count from file->base. Searches, with R for `uname -r`:
 *
 *     by build id, as debug_search_visit_files() does, in the user's directories and the system's
 *     /usr/lib/debug/boot/vmlinux-R    /usr/lib/debug/lib/modules/R/vmlinux    /boot/vmlinux-R /lib/modules/R/vmlinux
 *     for a module also its path in /lib/modules/R/modules.dep, there and below /usr/lib/debug
 *
 * Sends no requests to servers: a vmlinux takes half a gigabyte, and /proc/kallsyms has most names.
 */
bool kernel_file_open(struct elf_file *file, const struct symbol_lib *lib, const struct debug_search *search);

/* Whether the running kernel, or its loaded module, has this build id, so that /proc/kallsyms describes the library.
 * Also true if one of the two build ids is unknown. */
bool kernel_file_is_running(const struct symbol_lib *lib);
