/*
 * The command lines of processes that call exec while they are recorded.
 *
 * The kernel writes the record of an exec in the middle of the exec: a recorder that reads it at once finds no command
 * line, and finds it a moment later. A recorder that reads it late may find another program, or a zombie.
 *
 * Threads: the recorder thread.
 */
#pragma once

#include "base/error.h"

#include <stdint.h>

struct spool_writer;
struct tracked_process;

/* Writes the command line of a process that called exec, and forgets process->exec_without_command. Where there is none
 * yet, that stays for the next call, until `time` (ns) is a second after the exec. `name` is the process's own: if
 * the process has another one now, it runs another program, and nothing is written. */
int command_line_read(struct spool_writer *spool, struct tracked_process *process, const char *name, uint64_t time,
                      struct error *err);
