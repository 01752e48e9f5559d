/*
 * Names of functions without their arguments, in C++, Rust, Go, Swift and other languages.
 */
#pragma once

#include "base/text_buffer.h"

/* Writes the qualified name without template arguments, parameters, return type and the text after the parameters:
 * "std::vector::push_back" for "void std::vector<int, std::allocator<int>>::push_back(int const&) [clone .cold]". The
 * type that a Rust name begins with ("<Vec<T> as Extend>::extend") and the receiver of a Go method ("main.(*T).Run")
 * belong to the name. `bare` has room for `length` bytes, which need not end with NUL. Returns the number of bytes
 * written. */
size_t strip_func_name(const char *name, size_t length, char *bare);

/* Appends the stripped name. False if memory ran out. */
bool text_append_func_name(struct text_buffer *text, const char *name);
