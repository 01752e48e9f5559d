/*
 * The interface between the parts of `prof doctor`: doctor.c runs the command and prints, doctor_recording.c tests the
 * permissions of the kernel, doctor_programs.c the libraries and programs that prof uses, doctor_target.c the debug
 * info of a program.
 */
#pragma once

#include "base/array.h"

enum finding_state {
    FINDING_OK,
    FINDING_LESS,   /* prof works, but less well */
    FINDING_FAILED, /* prof cannot record, or cannot show profiles */
};

struct finding {
    enum finding_state state;
    const char *id;    /* for scripts: "perf_events" */
    const char *label; /* "perf events" */
    char text[400];    /* the tested fact, and its consequence */
    char fix[400];     /* the command that enables the feature; empty: none needed, or none known */
};

struct findings {
    ARRAY(struct finding) items;
    bool can_record, out_of_memory;
};

/* Adds a finding without a fix; `format` is a format of printf() for its text. */
struct finding *finding_add(struct findings *findings, enum finding_state state, const char *id, const char *label,
                            const char *format, ...) __attribute__((format(printf, 5, 6)));

/* Sets the command of the finding that was added last. */
void finding_set_fix(struct findings *findings, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Sets the fix of the last finding to the command that installs a package: "sudo apt-get install NAME". Sets no fix if
 * the package system is unknown, or its name is NULL. */
struct package_names {
    const char *apt, *dnf, *pacman, *zypper;
};
void finding_set_package(struct findings *findings, const struct package_names *names);

/* Tests which recordings work. Returns whether prof can record at all, by perf events or ptrace. */
bool doctor_examine_recording(struct findings *findings);
void doctor_examine_programs(struct findings *findings);

/* Tests the debug info of a program. `program` is a path, or a command name that is searched in PATH. */
void doctor_examine_target(struct findings *findings, const char *program);
