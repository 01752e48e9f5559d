/*
 * The interface between the parts of `prof doctor`: doctor.c runs the command and prints, doctor_recording.c tests the
 * permissions of the kernel, doctor_programs.c the libraries and programs that prof uses, doctor_target.c the debug
 * info of a program.
 */
#pragma once

#include "base/array.h"

#include <stdbool.h>

enum finding_state {
    FINDING_OK,
    FINDING_LESS,   /* prof works, but less well */
    FINDING_FAILED, /* prof cannot record, or not show */
};

struct finding {
    enum finding_state state;
    const char *id;    /* for scripts: "perf_events" */
    const char *label; /* "perf events" */
    char text[400];    /* what there is, and what it means */
    char fix[400];     /* the command that changes it; empty: there is nothing to change, or no command for it */
};

struct findings {
    ARRAY(struct finding) items;
    bool out_of_memory;
};

/* Adds a finding without a fix; its text is in the form of printf(). */
struct finding *finding_add(struct findings *findings, enum finding_state state, const char *id, const char *label,
                            const char *format, ...) __attribute__((format(printf, 5, 6)));

/* Sets the command of the finding that was added last. */
void finding_fix(struct findings *findings, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Writes the command that installs what the package systems call this: "sudo apt-get install NAME". An unknown system,
 * or a NULL name for it: no command. */
struct package_names {
    const char *apt, *dnf, *pacman, *zypper;
};
void finding_install(struct findings *findings, const struct package_names *names);

/* Returns whether recording works, by perf events or ptrace. */
bool doctor_examine_recording(struct findings *findings);
void doctor_examine_programs(struct findings *findings);

/* `program` is a path, or a name that is searched as a shell does. */
void doctor_examine_target(struct findings *findings, const char *program);
