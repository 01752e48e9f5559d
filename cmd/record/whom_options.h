/*
 * The options of `prof record` that say whom to record: -p, -a, --cgroup, --no-inherit, --follow-daemons, --cpu,
 * --thread.
 */
#pragma once

#include "cmd/common/options.h"

#include "base/array.h"
#include "process/attach.h"
#include "record/record.h"
#include "sample/cpu_list.h"

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

enum { MAX_PIDS = 256 };

/* Zero it. */
struct whom_options {
    pid_t pids[MAX_PIDS];
    size_t pid_count;
    struct tid_array children; /* processes that run already and are not recorded */
    bool all;
    const char *cgroup; /* its processes alone; `all` is set then */
    bool no_inherit, follow_daemons;
    bool has_cpus;
    struct cpu_list cpus;
    ARRAY(const char *) threads; /* patterns */
};

extern const struct option_row whom_option_rows[];

/* Whether the options go together, and with a command if there is one. Returns 0, or the exit status after a message.
 */
int whom_check(const struct whom_options *options, bool has_command);

/* Copies them to the options of the recorder. They must outlive it. Lists the children that the processes of -p have
 * before the recording begins. */
void whom_apply(struct whom_options *options, struct record_options *record);

/* Says what is recorded, and until when, where there is no command, and which children are not. */
void whom_say(const struct whom_options *options, bool has_duration);

void whom_options_destroy(struct whom_options *options);
