/*
 * Matches the functions of two profiles, for comparisons.
 *
 * Functions match by name in the same library. If several functions of a library share a name (static functions,
 * lambdas), they match by file and line, then by file and order. Matching ignores differences between builds: the
 * version in a library name (libc-2.31.so, libc.so.6), the build directory, the lines. A library of one side matches a
 * differently named library of the other side if most of its function names exist there: a renamed program.
 */
#pragma once

#include "profile/profile.h"

struct func_matches {
    uint32_t *func;     /* per func of `other`: the matching func of `base`, or PROFILE_NONE */
    uint32_t *resource; /* per resource of `other`: the matching resource of `base`, or PROFILE_NONE */
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

/* Removes the forgiven parts of function names, and merges functions with equal names. */
int forgive_func_names(struct profile *profile, unsigned forgiven, struct error *err);

/* Returns the length of the version-independent part of a library's name, such as "libc" of libc-2.31.so. */
size_t measure_library_stem(const char *name);
