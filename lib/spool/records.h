/*
 * The records of a spool file: a struct for each kind, with the fields that record_kinds.h gives it.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { SPOOL_NO_NUMBER = UINT32_MAX };

/* Kind of a record. An event's is its first byte in the file. */
enum spool_record_kind {
    SPOOL_SAMPLES = 256, /* kinds from here on are entries of a chunk */
#define EVENT(ID, name, number, ...)  SPOOL_##ID = (number),
#define SAMPLE(ID, name, number, ...) SPOOL_##ID = SPOOL_SAMPLES + (number),
#include "spool/record_kinds.h"
};

/* Values of the type MARK. */
enum spool_mark {
    SPOOL_MARK_INSTANT,
    SPOOL_MARK_BEGIN,   /* of an interval of the thread */
    SPOOL_MARK_END,     /* of the last open interval of this name */
    SPOOL_MARK_SPAN,    /* a whole interval */
    SPOOL_MARK_COUNTER, /* a value */
    SPOOL_MARK_KINDS
};

/* Values of the type LIBRARY_KIND. */
enum spool_lib_kind {
    SPOOL_LIB_FILE,
    SPOOL_LIB_KERNEL,
    SPOOL_LIB_KERNEL_MODULE,
    SPOOL_LIB_VDSO,
    SPOOL_LIB_KERNEL_CODE, /* generated while the kernel ran (a BPF program): one function, whose name is the path */
    SPOOL_LIB_KINDS
};

/* Values of the type SAMPLE_FLAGS. */
enum sample_flags {
    SAMPLE_TRUNCATED = 1,      /* the stack does not reach the thread's start */
    SAMPLE_WITHOUT_CFI = 2,    /* some frame was found without CFI */
    SAMPLE_COMPLETED_LIVE = 4, /* some frame was read from the live process */
};

struct spool_blob {
    const unsigned char *bytes;
    size_t size;
};

/* Addresses of a stack, or values of counters. */
struct spool_list {
    const uint64_t *items;
    size_t count;
};

/* The type in C of each field. A time and a duration have ns, a size bytes. */
#define SPOOL_C_TEXT         const char *
#define SPOOL_C_BYTES        struct spool_blob
#define SPOOL_C_IMAGE        struct spool_blob
#define SPOOL_C_BOOL         bool
#define SPOOL_C_COUNT        uint64_t
#define SPOOL_C_SIZE         uint64_t
#define SPOOL_C_TIME         uint64_t
#define SPOOL_C_REALTIME     uint64_t
#define SPOOL_C_DURATION     uint64_t
#define SPOOL_C_DOUBLE       double
#define SPOOL_C_ADDRESS      uint64_t
#define SPOOL_C_PID          uint32_t
#define SPOOL_C_CPU          uint32_t
#define SPOOL_C_PROCESS      uint32_t
#define SPOOL_C_THREAD       uint32_t
#define SPOOL_C_LIBRARY      uint32_t
#define SPOOL_C_OBJECT       uint32_t
#define SPOOL_C_FUNCTION     uint32_t
#define SPOOL_C_MARK_NAME    uint32_t
#define SPOOL_C_SIGNAL       uint32_t
#define SPOOL_C_EVENT        uint32_t
#define SPOOL_C_LIBRARY_KIND uint32_t
#define SPOOL_C_MARK         uint32_t
#define SPOOL_C_WAIT_REASON  uint32_t
#define SPOOL_C_SAMPLE_FLAGS uint32_t
#define SPOOL_C_COUNTED      uint32_t
#define SPOOL_C_FRAME_COUNT  uint32_t
#define SPOOL_C_FRAMES       struct spool_list
#define SPOOL_C_VALUES       struct spool_list

/* struct spool_process, struct spool_wait and so on. */
#define EVENT(ID, name, number, since, meaning, ...)                                                                   \
    struct spool_##name {                                                                                              \
        __VA_ARGS__                                                                                                    \
    };
#define SAMPLE                          EVENT
#define FIELD(name, TYPE, ...)          SPOOL_C_##TYPE name;
#define FIELD_IF(mark, name, TYPE, ...) SPOOL_C_##TYPE name;
#include "spool/record_kinds.h"

/* A record of any kind. The member named as the kind is valid. Texts, bytes and lists that the reader returns are valid
 * until it reads the next record. */
struct spool_record {
    enum spool_record_kind kind;
    union {
#define EVENT(ID, name, ...) struct spool_##name name;
#define SAMPLE               EVENT
#include "spool/record_kinds.h"
    };
};
