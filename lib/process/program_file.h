/*
 * Finds the file that a command runs, and the interpreter of that file.
 */
#pragma once

#include "base/standard.h"

/* Writes the path of the file that execvp() runs for `name`. Returns 0, or a positive errno value (ENOENT, EISDIR,
 * or EACCES if the file is not executable). */
int program_file_find(const char *name, char path[PATH_MAX]);

/* Writes the first line of a script after its "#!", without leading white space, at most `size` bytes. False if the
 * file is not a script. */
bool program_file_read_script_line(const char *path, char *line, size_t size);

/* Writes the path of the interpreter that the kernel starts for this file: the first word of a script's "#!" line, or
 * the dynamic loader of an ELF file (PT_INTERP). False if the file has no interpreter. */
bool program_file_find_interpreter(const char *path, char *interpreter, size_t size);
