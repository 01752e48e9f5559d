/*
 * Turns linker symbols of C++ (Itanium), Rust (legacy and v0), D, and procedures of Fortran modules into the names that
 * programmers write. Go, OCaml and Haskell symbols are readable as they are.
 *
 * Swift symbols stay mangled. Swift's demangler is a part of the compiler and of the language runtime (swift_demangle()
 * in libswiftCore.so), which Debian 13 has and Debian 12 lacks. The cost of a demangling has no bound, and no callback
 * can stop the demangler: "$s4main1fyyAA1GVySiSiG_ADyAEAEG..." of 185 characters takes 2 s and 80 MB in version 6.0.3,
 * and each further 8 characters double the cost.
 */
#pragma once

#include "base/arena.h"

/* Whether demangle() recognizes the name as mangled. */
bool is_mangled(const char *name);

/* Returns the demangled name, in `arena`. Returns a copy of `name` if the name is not mangled, is damaged, is longer
 * than DEMANGLE_INPUT_MAX, or demangles to more than DEMANGLE_OUTPUT_MAX. Suffixes of compilers stay: "work() [clone
 * .cold]". NULL if memory ran out. Needs 1 MiB of stack, for deeply nested names up to 8 MiB: call it on a thread with
 * DEMANGLE_STACK_SIZE. */
const char *demangle(const char *name, struct arena *arena);

/* Demangles a name and drops suffixes of compilers, so that parts and copies of a function get the function's name. */
const char *demangle_function(const char *name, struct arena *arena);

/* Turns GNAT's symbol of an Ada subprogram into Ada: "shapes__Oadd__2" is shapes."+". Call this only for symbols of Ada
 * units, because other languages also use double underscores. */
const char *demangle_ada(const char *name, struct arena *arena);

enum { DEMANGLE_NIM_MAX = 1024 };

/* Turns the C name of a Nim procedure into Nim: "hotLoop__work_12" is work.hotLoop, "dollar___work_3" is work.`$`.
 * Returns false for other names, and for too long names. Call this only for functions in .nim files, because other
 * languages also use double underscores. */
bool demangle_nim(const char *name, char out[DEMANGLE_NIM_MAX]);

/* Returns the length of the name without the suffixes of parts and copies of a function (".cold", ".part.0",
 * ".constprop.1", ".isra.0", ".llvm.123"). */
size_t measure_base_name(const char *name);

enum { DEMANGLE_INPUT_MAX = 16 << 10, DEMANGLE_OUTPUT_MAX = 64 << 10, DEMANGLE_STACK_SIZE = 64 << 20 };
