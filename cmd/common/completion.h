/*
 * `prof help --completion SHELL`: the completion of prof's command line for bash, zsh or fish, made of the tables of
 * options.
 */
#pragma once

#include "base/standard.h"

/* Prints the script for the shell on standard output. Returns false for an unknown shell. */
bool completion_print(const char *shell);
