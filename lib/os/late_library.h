/*
 * Loads shared libraries that few runs use on demand: the dynamic linker takes 5 ms of CPU time for capstone and
 * libmicrohttpd (with its TLS library), half of the total of `prof record true`.
 *
 *     #define FUNCTIONS(use) use(cs_open) use(cs_close)
 *     static struct { FUNCTIONS(LATE_FUNCTION) } capstone;
 *     static const struct late_symbol symbols[] = {FUNCTIONS(LATE_SYMBOL)};
 *     if (late_library_load("libcapstone.so.4", symbols, 2, &capstone)) ... capstone.cs_open(...)
 *
 * The portable binary (PROF_PORTABLE) contains the libraries, so that it loads nothing.
 */
#pragma once

#include "base/standard.h"

#define LATE_FUNCTION(name) __typeof__(name) *name;
#ifdef PROF_PORTABLE
#define LATE_SYMBOL(name) {#name, (const void *)&(name)},
#else
#define LATE_SYMBOL(name) {#name, NULL},
#endif

struct late_symbol {
    const char *name;
    const void *linked; /* address of the function in the portable binary */
};

/* Stores the addresses of the functions, in the order of `symbols`, in `functions`: a struct or an array of function
 * pointers. False if the library is not installed or lacks a function. The library stays loaded. */
bool late_library_load(const char *library, const struct late_symbol *symbols, size_t count, void *functions);

/* Loads a library for other libraries that use its functions without linking to it. */
bool late_library_load_for_others(const char *library);
