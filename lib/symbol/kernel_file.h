/*
 * The debug info of the kernel (vmlinux) and of its modules, as distributions package it. The names of kernel functions
 * come from /proc/kallsyms; this adds lines and inlined functions, and stands in where that file says nothing.
 */
#ifndef PROF_SYMBOL_KERNEL_FILE_H
#define PROF_SYMBOL_KERNEL_FILE_H

#include "elf/elf_file.h"
#include "symbol/debug_search.h"

/* Opens the file for a SYMBOL_LIB_KERNEL or SYMBOL_LIB_MODULE, whose build id it has; without a build id there is none.
 * rvas count from file->base. Looked for, R being what uname -r says:
 *
 *     by build id, as debug_search_files() does, in the folders that the user names and the system's
 *     /usr/lib/debug/boot/vmlinux-R    /usr/lib/debug/lib/modules/R/vmlinux    /boot/vmlinux-R /lib/modules/R/vmlinux
 *     of a module also where /lib/modules/R/modules.dep has it, there and below /usr/lib/debug
 *
 * Servers are not asked: a vmlinux is half a gigabyte, for what is mostly known without it. */
bool kernel_file_open(struct elf_file *file, const struct symbol_lib *lib, const struct debug_search *search);

/* Whether the kernel that runs, or the module that it has loaded, is the one with that build id, so that /proc/kallsyms
 * speaks of it. True also if one of the two build ids is not known. */
bool kernel_file_is_running(const struct symbol_lib *lib);

#endif
