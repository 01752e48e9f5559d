/*
 * Files that hold the CPython interpreter: the program python3, or libpython.
 *
 * Threads: the recorder thread.
 */
#pragma once

#include "os/file_source.h"

/* Library-relative addresses of CPython's data. */
struct python_library {
    uint64_t runtime;   /* _PyRuntime */
    uint64_t version;   /* Py_Version, or 0 (missing before 3.11) */
    uint64_t code_type; /* PyCode_Type */
};

/* Whether the name of a file suggests Python's library or program. */
bool python_library_is_likely(const char *path);

/* Reads the dynamic symbols of an ELF file. Returns false if the file does not contain CPython 3.7 or later, or cannot
 * be read. */
bool python_library_read(struct file_source *file, struct python_library *library);
