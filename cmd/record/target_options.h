/*
 * The options of `prof record` that select processes, threads and CPUs: -p, -a, --cgroup, --no-inherit,
 * --follow-daemons, --cpu, --thread.
 */
#pragma once

#include "cmd/common/options.h"

#include "base/array.h"
#include "process/attach.h"
#include "record/record.h"
#include "sample/cpu_list.h"

#include <sys/types.h>

enum { MAX_PIDS = 256 };

/* Zero it. */
struct target_options {
    pid_t pids[MAX_PIDS];
    size_t pid_count;
    struct tid_array children; /* running child processes of `pids`, which prof does not record */
    bool all;
    const char *cgroup; /* name of --cgroup; `all` is then true */
    bool no_inherit, follow_daemons;
    bool has_cpus;
    struct cpu_list cpus;
    struct option_texts threads; /* patterns */
};

extern const struct option_row target_option_rows[];

/* Checks that no option contradicts another option or the command. Returns 0, or the exit status after a message. */
int target_options_check(const struct target_options *options, bool has_command);

/* Copies the options to `record`, which must not outlive them. Lists the child processes that the processes of -p have
 * before the recording begins. */
void target_options_apply(struct target_options *options, struct record_options *record);

/* Without a command, prints which processes prof records, until when, and which of their child processes it does not
 * record. */
void target_options_print(const struct target_options *options, bool has_duration);

void target_options_destroy(struct target_options *options);
