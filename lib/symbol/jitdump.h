/*
 * Reads jitdump files, in which JIT compilers log their code: jit-PID.dump, version 1
 * (tools/perf/Documentation/jitdump-specification.txt of the Linux source). Unlike perf maps (perf_map.h), jitdump
 * files have timestamps. So each code keeps its name if later code reuses the address.
 */
#pragma once

#include "base/error.h"
#include "base/strings.h"
#include "symbol/jit_history.h"

enum { JITDUMP_NAME_MAX = 4096 }; /* bytes; longer names are truncated */

enum jitdump_clock {
    JITDUMP_MONOTONIC, /* times are ns of CLOCK_MONOTONIC */
    JITDUMP_REALTIME,  /* ns since the Unix epoch */
    JITDUMP_ORDER,     /* timestamps of another clock (such as the TSC): only their order is known */
};

/* Code at one address. Moved code appears again, at its new address. */
struct jit_code {
    uint64_t start, size;
    uint64_t bytes_at; /* offset of its machine code in the file, or 0 if unknown */
    uint32_t name;     /* offset of the name in `texts`; arbitrary bytes */
    uint32_t first_line, line_count;
};

struct jit_line {
    uint32_t offset;       /* offset of the line's first byte in the code; the line ends at the next line's offset */
    uint32_t line, column; /* 1-based, or 0 if unknown */
    uint32_t file;         /* offset of the file name in `texts`; compare the name with jitdump_line_is_in_file() */
};

struct jitdump {
    enum jitdump_clock clock;
    uint16_t machine;       /* machine of the code as in ELF files, such as EM_X86_64 */
    uint64_t device, inode; /* of the file */
    ARRAY(struct jit_code) codes;
    ARRAY(struct jit_line) lines; /* lines of all codes; the lines of a code ascend */
    struct strings texts;
    struct jit_history history; /* values are indexes of `codes` */
    bool is_cut;                /* the file ends inside a record, or a record is damaged: later records are missing */
    bool is_full;               /* the file exceeds prof's limits: later records are missing */
};

/* Reads the open file into `dump`, which it overwrites. Keeps the records before a damaged record. On success call
 * jitdump_destroy(). -EINVAL with a sentence if the file is not a jitdump file, or another errno value if prof cannot
 * read the file. */
int jitdump_read(struct jitdump *dump, int fd, struct error *err);

void jitdump_destroy(struct jitdump *dump);

/* Returns the line of an address in the code (also of the last instruction), or NULL if unknown. */
const struct jit_line *jitdump_find_line(const struct jitdump *dump, uint32_t code, uint64_t address);

/* Whether a line is in the file of this name. */
bool jitdump_line_is_in_file(const struct jitdump *dump, const struct jit_line *line, const char *file);
