/*
 * The layout of CPython's frames: offsets in the structs of one version.
 *
 * Python 3.13 and later store the offsets at the start of _PyRuntime (_Py_DebugOffsets in
 * Include/internal/pycore_runtime.h, in 3.14 pycore_debug_offsets.h). A table in python_layout.c has the offsets of
 * 3.11 and 3.12, whose structs do not change within a minor version. Only tested versions have a layout: other versions
 * change the meaning of fields.
 */
#pragma once

#include "base/error.h"

/* The way to find the frames that one call of _PyEval_EvalFrameDefault runs. */
enum python_grouping {
    /* 3.11: each interpreter call has a _PyCFrame on its C stack, which points to its innermost Python frame */
    PYTHON_CFRAMES,
    /* 3.12 and later: each interpreter call has a frame without code on its C stack, the caller of its other frames */
    PYTHON_SHIMS,
};

/* All in bytes. */
struct python_layout {
    enum python_grouping grouping;
    uint32_t interpreters;                                                  /* in _PyRuntime: the first interpreter */
    uint32_t next_interpreter, threads;                                     /* in PyInterpreterState */
    uint32_t next_thread, interpreter, native_thread_id, current;           /* in PyThreadState */
    bool has_cframes;                                                       /* `current` is a _PyCFrame */
    uint32_t cframe_current, cframe_previous;                               /* in _PyCFrame */
    uint32_t previous, code, instruction, owner;                            /* in _PyInterpreterFrame */
    uint32_t is_entry;                                                      /* PYTHON_CFRAMES: in _PyInterpreterFrame */
    unsigned char shim_owner;                                               /* PYTHON_SHIMS: value of `owner` */
    uint32_t filename, qualname, line_table, first_line, bytecode, version; /* in PyCodeObject; version 0: missing */
    uint32_t text_state, text_length, text_ascii, text_compact;             /* in PyASCIIObject, and sizes of headers */
    /* true if `instruction` is the running instruction; false if the last code unit before the next instruction */
    bool points_to_next;
};

/* Bytes at _PyRuntime that python_layout_find() needs, in 3.13 and later. */
enum { PYTHON_DEBUG_OFFSETS_SIZE = 1024 };

/* `version`: Py_Version of the process, PY_VERSION_HEX. `runtime`: the first PYTHON_DEBUG_OFFSETS_SIZE bytes of its
 * _PyRuntime. Returns -ENOTSUP, with a sentence, if prof does not support this Python version, or the offsets are
 * invalid. */
int python_layout_find(struct python_layout *layout, uint32_t version, const unsigned char *runtime, struct error *err);
