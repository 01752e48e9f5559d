/*
 * Names as programmers write them, from the names that linkers see: C++ (Itanium), Rust (legacy and v0), D, and the
 * procedures of Fortran modules. (Names of Go, OCaml and Haskell are readable as they are.)
 *
 * Those of Swift stay mangled. Its demangler is packaged as a part of the compiler and of the language's runtime
 * (swift_demangle() in libswiftCore.so; Debian 13, not 12), and cannot be kept in bounds: it has no callback that could
 * stop it, "$s4main1fyyAA1GVySiSiG_ADyAEAEG..." of 185 characters takes 2 s and 80 MB in version 6.0.3, and each 8
 * characters more double that.
 */
#ifndef PROF_SYMBOL_DEMANGLE_H
#define PROF_SYMBOL_DEMANGLE_H

#include "base/arena.h"

#include <stdbool.h>

/* Whether the name looks like one that demangle() knows. */
bool is_mangled(const char *name);

/* The demangled name in `arena`; `name` itself, copied, if it is not mangled, damaged, or absurd (longer than
 * DEMANGLE_INPUT_MAX, or longer than DEMANGLE_OUTPUT_MAX when demangled). What compilers append to parts of a function
 * is kept: "work() [clone .cold]". NULL if memory ran out. Wants 1 MiB of stack and up to 8 MiB for names that nest
 * deeply: call it on a thread with DEMANGLE_STACK_SIZE of it. */
const char *demangle(const char *name, struct arena *arena);

/* The same without what compilers append: parts and copies of a function have its name. */
const char *demangle_function(const char *name, struct arena *arena);

/* The name that GNAT gave a subprogram, as Ada writes it: "shapes__Oadd__2" is shapes."+". For names that are known to
 * be of Ada, because others may have two underscores too. */
const char *demangle_ada(const char *name, struct arena *arena);

/* The length of the name without what compilers append to parts and copies of a function (".cold", ".part.0",
 * ".constprop.1", ".isra.0", ".llvm.123"): by it they are one function. */
size_t demangle_base_length(const char *name);

enum { DEMANGLE_INPUT_MAX = 16 << 10, DEMANGLE_OUTPUT_MAX = 64 << 10, DEMANGLE_STACK_SIZE = 64 << 20 };

#endif
