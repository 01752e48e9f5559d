/*
 * The command line of `prof record`.
 */
#pragma once

#include "cmd/record/control_options.h"
#include "cmd/record/event_options.h"
#include "cmd/record/record_push.h"
#include "cmd/record/target_options.h"
#include "cmd/common/symbol_options.h"
#include "cmd/serving.h"

#include "record/record.h"

/* With --host, the environment variable with the name of the output here, for the messages of the other machine's prof.
 */
#define OUTPUT_NAME_VARIABLE "PROF_OUTPUT_NAME"

enum choice { CHOICE_DEFAULT, CHOICE_YES, CHOICE_NO };

struct record_line {
    enum record_sampler sampler;
    const char *output;
    const char *shown_output;        /* the name of the output in the summary */
    const char *host;                /* the machine that records, a destination of ssh(1), or NULL (this machine) */
    struct text_buffer remote_words; /* with `host`: its options and the command, as words for a shell */
    const char *recover;             /* spool file of an earlier recording, to save its profile */
    uint32_t rate;
    uint64_t duration; /* ns, or 0 for no limit */
    uint32_t counters; /* bit set of enum counter_group */
    bool no_machine_name;
    struct option_texts variables; /* names of environment variables to save */
    ARRAY(char *) arguments;       /* arguments before the command, with NULL at the end */
    bool live, save_only, wakers, no_wakers, quiet, verbose;
    enum choice off_cpu, python;
    struct serving_options serving;
    struct symbol_options symbols;
    char **command;
    struct target_options targets;
    struct control_options control;
    struct event_options events;
    struct record_push_options push;
};

/* Parses the command line and checks that its options fit together. Returns true if the command continues; otherwise
 * *status is its exit status, after a message or the help. */
bool record_line_parse(struct record_line *line, int argc, char **argv, int *status);

/* True if the profile goes to the standard output. */
bool record_line_is_piped(const struct record_line *line);

void record_line_destroy(struct record_line *line);
