/*
 * Parses the records of a perf ring: perf_event_open(2), linux/perf_event.h. The fields of a record depend on the
 * attributes of its event, here called the layout.
 *
 * Threads: any; nothing is shared.
 */
#pragma once

#include "base/cursor.h"
#include "arch/dwarf_registers.h"

/* Fields with the same names and values as in struct perf_event_attr. Records carry the trailer of sample_id_all. */
struct perf_layout {
    /* Bits among PERF_SAMPLE_IP, TID, TIME, ID, CPU, PERIOD, READ, CALLCHAIN, RAW (skipped), REGS_USER, STACK_USER. */
    uint64_t sample_type;
    uint64_t read_format; /* bits among PERF_FORMAT_TOTAL_TIME_ENABLED, TOTAL_TIME_RUNNING, ID, LOST */
};

struct perf_sample {
    uint64_t ip;
    uint64_t period;  /* period since this event's previous sample: ns for cpu-clock, else cycles */
    uint64_t value;   /* SAMPLE_READ: counter of this thread on this CPU, in the unit of `period` */
    uint64_t running; /* SAMPLE_READ: ns for which the counter of `value` was running */
    uint64_t id;      /* SAMPLE_READ: id of the event; an inherited event has the id of its parent */

    /* The kernel's call chain, leaf first, including the kernel's context markers; unaligned. */
    const unsigned char *callchain;
    size_t callchain_length; /* in addresses */

    uint64_t registers_abi;               /* PERF_SAMPLE_REGS_ABI_NONE, _32, _64 */
    uint64_t registers[SAMPLE_REGISTERS]; /* by DWARF number */

    const unsigned char *stack; /* from the stack pointer upwards */
    size_t stack_size;          /* number of stack bytes that the kernel copied */
    size_t stack_below;         /* number of copied bytes below sp, which precede `stack`, or 0 with perf events */
    bool stack_full;            /* the copy has its maximum size: the stack may continue above */
};

struct perf_mapping {
    uint64_t start, length, file_offset;
    bool executable;
    bool has_build_id; /* with a build id, device, inode and generation are unknown */
    unsigned char build_id[20];
    size_t build_id_size;
    uint32_t device_major, device_minor;
    uint64_t inode, generation; /* generation 0: unknown */
    const char *path;           /* name of the mapping in the process: a path, "//anon", "[vdso]" */
};

/* Code that the kernel created or removed while it ran: a BPF program, a trampoline. */
struct perf_kernel_symbol {
    uint64_t start, length;
    bool is_removed;
    const char *name;
};

struct perf_record {
    uint32_t type; /* PERF_RECORD_...; a type without a member in the union fills only the common fields */
    uint16_t misc;
    uint32_t pid, tid; /* of the record's thread */
    uint32_t cpu;
    uint64_t time; /* ns of the event's clock */
    /* id of the event; inherited events have the id of their parent; 0 without PERF_SAMPLE_ID or IDENTIFIER */
    uint64_t id;
    union {
        struct perf_sample sample;               /* PERF_RECORD_SAMPLE */
        struct perf_mapping mapping;             /* PERF_RECORD_MMAP2 */
        struct perf_kernel_symbol kernel_symbol; /* PERF_RECORD_KSYMBOL */
        struct {
            const char *name;
            bool exec; /* the process called exec, so its name changed */
        } comm;        /* PERF_RECORD_COMM */
        struct {
            uint32_t parent_pid, parent_tid;
        } task; /* PERF_RECORD_FORK, PERF_RECORD_EXIT */
        struct {
            bool out;             /* true if the thread leaves its CPU; false if the thread starts to run */
            bool preempted;       /* the thread leaves its CPU while runnable (preemption) */
            uint32_t ended;       /* ptrace: number of waits of the thread that have ended (ptrace_run.h), else 0 */
            bool stopped;         /* ptrace: a signal has stopped the thread */
            uint64_t slept_until; /* ptrace: as in ptrace_run.h, else 0 */
        } context_switch;         /* PERF_RECORD_SWITCH, PERF_RECORD_SWITCH_CPU_WIDE */
        uint64_t lost;            /* PERF_RECORD_LOST, PERF_RECORD_LOST_SAMPLES: number of lost records */
    };
};

/* Parses one record of `size` bytes, header included. Texts and stacks point into `bytes`. Returns 0, or -EINVAL if the
 * record is too short for its layout. */
int perf_record_parse(const struct perf_layout *layout, const void *bytes, size_t size, struct perf_record *record);

/* Parse parts of a sample that are the same in all layouts. Damaged data sets cursor.failed. */
void perf_sample_read_head(uint64_t sample_type, struct cursor *c, struct perf_record *record); /* before PERIOD */
void perf_sample_read_callchain(struct perf_sample *sample, struct cursor *c);
void perf_sample_read_stack(struct perf_sample *sample, struct cursor *c);

/* Returns the event id of a sample, or 0 for other records, and without PERF_SAMPLE_ID. The function works for all
 * layouts with the same fields before the id. */
uint64_t perf_record_read_sample_id(const struct perf_layout *layout, const void *bytes, size_t size);

/* Returns the offset of the time in a record of this type and size (header included): bytes, a multiple of 8, or
 * SIZE_MAX if the record has no time. So a reader can sort records without parsing them. */
size_t perf_record_find_time_offset(const struct perf_layout *layout, uint32_t type, size_t size);
