/*
 * Records the stacks of a core file: one sample of each thread, or one wait of a thread in a system call.
 *
 * Threads: any; nothing is shared.
 */
#pragma once

#include "base/error.h"

struct record_core_result {
    uint32_t pid;
    uint32_t signal, signal_tid; /* signal that ended the process and the thread that received it, or 0 */
    uint64_t missing;            /* mapped files that are missing on this machine, or have another build ID */
    char missing_name[64];       /* the first of these files */
};

/* Writes a spool file for assemble_recording(). After a failure, removes the spool file. */
int record_core(const char *path, const char *spool_path, struct record_core_result *result, struct error *err);
