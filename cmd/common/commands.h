/*
 * The subcommands of prof. Each command is a function that takes its own arguments (argv[0] is the command's name) and
 * returns the exit status: 0 success, 1 failure, 2 wrong usage. `record` returns the status of its target. cmd/prof.c
 * has the table of commands.
 */
#pragma once

#include "cmd/common/options.h"

int cmd_record(int argc, char **argv);
int cmd_load(int argc, char **argv);
int cmd_stacks(int argc, char **argv);
int cmd_top(int argc, char **argv);
int cmd_symbolicate(int argc, char **argv);
int cmd_report(int argc, char **argv);
int cmd_diff(int argc, char **argv);
int cmd_check(int argc, char **argv);
int cmd_export(int argc, char **argv);
int cmd_push(int argc, char **argv);
int cmd_ctl(int argc, char **argv);
int cmd_events(int argc, char **argv);
int cmd_dump(int argc, char **argv);
int cmd_doctor(int argc, char **argv);
int cmd_help(int argc, char **argv);

extern const struct option_table record_table, load_table, symbolicate_table, report_table, diff_table, check_table,
    export_table, push_table, ctl_table, events_table, dump_table, doctor_table, help_table, stacks_table, top_table;

struct command {
    const char *name;
    int (*run)(int argc, char **argv);
    const char *summary; /* one line of `prof help` */
    const struct option_table *options;
};

/* All commands, in the order of `prof help`; `commands_end` points behind the last command. */
extern const struct command commands[];
extern const struct command *const commands_end;

/* Finds a command by name, or NULL if it does not exist. */
const struct command *find_command(const char *name);

/* Prints that a command does not exist, and suggests the most similar name. Returns EXIT_USAGE. */
int print_unknown_command(const char *name);
