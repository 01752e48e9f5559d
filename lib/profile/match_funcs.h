/*
 * Matches the functions of two profiles, for comparisons.
 *
 * A function is the same by its name in the same library; where several of a library have one name (static functions,
 * lambdas), by file and line, then by file and their order in it. What differs from one build to the next is forgiven:
 * the version in the name of a library (libc-2.31.so, libc.so.6), the directory it was built in, the lines. A library
 * that only one side has is paired with one that only the other side has if most of the functions of one have a name
 * that is in the other: a program that was renamed.
 */
#pragma once

#include "profile/profile.h"

struct func_matches {
    uint32_t *func;     /* per func of `other`: the matching func of `base`, or PROFILE_NONE */
    uint32_t *resource; /* the same for resources */
};

/* Finds the matches in time linear in the number of functions, plus sorting. The caller destroys `matches` also
 * after a failure. */
int func_matches_find(struct func_matches *matches, const struct profile *base, const struct profile *other,
                      struct error *err);
void func_matches_destroy(struct func_matches *matches);

/* Parts of names to ignore: functions with the same remaining name become one. */
enum forgiven {
    FORGIVE_TEMPLATES = 1, /* arguments of templates and generics: push<int> and push<long> are push<> */
    FORGIVE_SUFFIXES = 2   /* suffixes of compilers: .isra.0, .constprop.1, .part.2, .cold, .llvm.123 */
};

/* Renames the functions of a profile, and merges equal ones. */
int funcs_forgive(struct profile *profile, unsigned forgiven, struct error *err);

/* Returns the length of the version-independent part of a library's name: of libc in libc-2.31.so. */
size_t library_stem(const char *name);
