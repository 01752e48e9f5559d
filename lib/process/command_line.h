/*
 * Reads the command lines of recorded processes that call exec.
 *
 * The kernel writes the record of an exec during the exec: a fast recorder finds no command line yet, and a slow
 * recorder may find another program or a zombie.
 *
 * Threads: the recorder thread.
 */
#pragma once

#include "base/error.h"

struct spool_writer;
struct tracked_process;

/* Writes the command line of a process that called exec, and clears process->exec_without_command. If the command line
 * does not exist yet, does nothing, so that a later call can retry, until `time` (ns) is one second after the exec.
 * `name`: the name in the exec record. Writes nothing if the process now has another name, because it runs another
 * program. */
int command_line_read(struct spool_writer *spool, struct tracked_process *process, const char *name, uint64_t time,
                      struct error *err);
