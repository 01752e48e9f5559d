/*
 * Loads shared libraries that few runs use on demand: the dynamic linker takes 5 ms of CPU time for capstone and
 * libmicrohttpd (with its TLS library), half of the total of `prof record true`.
 *
 *     #define FUNCTIONS(use) use(cs_open) use(cs_close)
 *     static struct { FUNCTIONS(LATE_FUNCTION) } capstone;
 *     static const char *const names[] = {FUNCTIONS(LATE_NAME)};
 *     if (late_library_load("libcapstone.so.4", names, 2, &capstone)) ... capstone.cs_open(...)
 */
#pragma once

#include "base/standard.h"

#define LATE_FUNCTION(name) __typeof__(name) *name;
#define LATE_NAME(name)     #name,

/* Stores the addresses of the functions, in the order of their names, in `functions`: a struct or an array of function
 * pointers. False if the library is not installed or lacks a function. The library stays loaded. */
bool late_library_load(const char *library, const char *const *names, size_t count, void *functions);

/* Loads a library for other libraries that use its functions without linking to it. */
bool late_library_provide(const char *library);
