/*
 * The command lines of `prof report`, `diff`, `check` and `export`.
 */
#pragma once

#include "cmd/report/report.h"

/* Parses the command line of options->table->command. Returns true if the command continues; otherwise *status is its
 * exit status, after a message or the help. */
bool report_parse_options(int argc, char **argv, struct report_options *options, int *status);
