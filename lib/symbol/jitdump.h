/*
 * The dump files in which JIT compilers note what code they make and when: jit-PID.dump, version 1
 * (tools/perf/Documentation/jitdump-specification.txt of the Linux source). Unlike map files (perf_map.h) they have
 * times, so that of code that follows other code at the same address each is known by its own name.
 */
#ifndef PROF_SYMBOL_JITDUMP_H
#define PROF_SYMBOL_JITDUMP_H

#include "base/error.h"
#include "base/strings.h"
#include "symbol/jit_history.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { JITDUMP_NAME_MAX = 4096 }; /* bytes; what is longer is cut */

enum jitdump_clock {
    JITDUMP_MONOTONIC, /* times are ns of CLOCK_MONOTONIC */
    JITDUMP_REALTIME,  /* ns since the Unix epoch */
    JITDUMP_ORDER,     /* of a clock that cannot be told from here (the processor's own): only the order is known */
};

/* Code at one place. What was moved is there again under its new address. */
struct jit_code {
    uint64_t start, size;
    uint32_t name; /* in `texts`; any bytes */
    uint32_t first_line, line_count;
};

struct jit_line {
    uint32_t offset;       /* from the start of the code: its first byte, up to the next line's */
    uint32_t line, column; /* 1-based; 0: not said */
    uint32_t file;         /* in `texts`; compare it with jitdump_line_is_in() */
};

struct jitdump {
    enum jitdump_clock clock;
    ARRAY(struct jit_code) codes;
    ARRAY(struct jit_line) lines; /* of each code ascending */
    struct strings texts;
    struct jit_history history; /* by indexes of `codes` */
    bool is_cut; /* it ends in the middle of a record, or a record makes no sense: what follows is not known */
};

/* Reads the open file. What is read before a record that is damaged counts. `dump` is overwritten; jitdump_destroy() is
 * owed on success. -EINVAL with a sentence if it is no such file, -EIO and the like if it cannot be read. */
int jitdump_read(struct jitdump *dump, int fd, struct error *err);

void jitdump_destroy(struct jitdump *dump);

/* The line of an address in that code, which may be of its last instruction; NULL if there is none. */
const struct jit_line *jitdump_line(const struct jitdump *dump, uint32_t code, uint64_t address);

/* Whether that line is in the file of this name. */
bool jitdump_line_is_in(const struct jitdump *dump, const struct jit_line *line, const char *file);

#endif
