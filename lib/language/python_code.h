/*
 * The code objects of Python processes: their names, files and line tables.
 *
 * The data of a code object is cached, and later samples use it while the object at that address is the same. A thread
 * that does not run cannot free its code objects, so comparing their identity at the sample is enough: the version,
 * which is unique (3.12), or the objects that it consists of, with the beginnings of its name and its line table.
 *
 * Each part takes 0.4 us. So code of a file, which lives as long as its module, is compared only every
 * PYTHON_CODE_CHECK ns. Code that a program makes ("<string>") is compared at each sample. After an object was found
 * replaced, all code of its process is compared for a second.
 *
 * Threads: one thread, which is the recorder thread of a recording.
 */
#pragma once

#include "base/array.h"
#include "base/hash.h"
#include "base/strings.h"
#include "language/python_layout.h"
#include "language/python_memory.h"
#include "spool/spool.h"

/* Functions by name, file and first line, of all processes. Zero it to start, and set `spool`. */
struct python_functions {
    struct spool_writer *spool;
    struct strings keys; /* index: the number in the spool */
};

void python_functions_destroy(struct python_functions *functions);

enum { PYTHON_CODE_HEAD = 224, PYTHON_NAME_HEAD = 56, PYTHON_TABLE_HEAD = 32, PYTHON_CODE_CHECK = 100000000 };

/* The identity of a code object among earlier and later ones at its address. */
struct python_identity {
    uint64_t type, size, filename, qualname, line_table;
    uint32_t first_line, version;
    unsigned char name_head[PYTHON_NAME_HEAD], table_head[PYTHON_TABLE_HEAD];
};

/* Cached lines, by the offset of their bytecode. */
enum { PYTHON_LINES_KEPT = 16 };

struct python_line {
    uint32_t offset, line; /* offset in bytes, plus 1; 0: empty */
};

struct python_code {
    uint64_t address;
    struct python_identity identity;
    uint32_t function;    /* SPOOL_NO_NUMBER: not in the spool yet */
    bool is_trampoline;   /* the interpreter's own, which tracebacks leave out */
    bool is_made;         /* made by the program, not by a file */
    uint64_t compared;    /* ns: last comparison that found it unchanged */
    uint64_t sample;      /* number of the last sample that found it unchanged */
    uint64_t made;        /* the sample that it was read for */
    char *name, *file;    /* UTF-8 */
    unsigned char *table; /* of lines */
    size_t table_size;
    struct python_line lines[PYTHON_LINES_KEPT];
};

/* The code objects of one process. Starts zeroed. */
struct python_codes {
    ARRAY(struct python_code *) codes;
    struct hash by_address; /* index in codes */
    size_t bytes;           /* of names and tables */
    uint64_t sample, time;  /* number of the current sample, and its time in ns */
    uint64_t suspect;       /* ns until which all code is compared */
};

void python_codes_destroy(struct python_codes *codes);

/* Starts on a sample of `time` ns. */
void python_codes_start(struct python_codes *codes, uint64_t time);

/* The process to read. `code_type`: address of PyCode_Type. */
struct python_source {
    const struct python_layout *layout;
    struct python_memory *memory;
    uint64_t code_type;
};

/* Finds the code objects at `count` addresses, in any order and not distinct, and reads those that are new or changed.
 * found[i] stays valid until the next start. False if one of them is no code object or cannot be read, or if names
 * and line tables exceed 64 MiB, the limit for hostile processes. */
bool python_codes_find(struct python_codes *codes, const struct python_source *source, const uint64_t *addresses,
                       size_t count, struct python_code **found);

/* Drops the data read for the current sample: the thread has run since. */
void python_codes_forget(struct python_codes *codes);

/* Until when (ns) the object need not be compared again; 0: it must be with each sample. */
uint64_t python_code_sure_until(const struct python_code *code);

/* The number of the function in the spool; writes the function to it if it is new. */
int python_code_number(struct python_functions *functions, struct python_code *code, uint32_t *number,
                       struct error *err);

/* The 1-based line of the bytecode at `offset` bytes; 0 if it has none. A negative offset: the first line. */
uint32_t python_code_line(struct python_code *code, int64_t offset);
