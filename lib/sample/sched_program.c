/*
 * The program is written in the kernel's BPF instructions (Documentation/bpf/standardization/instruction-set.rst),
 * since a compiler for BPF would be a dependency. `offsets` has the places of the fields of the running kernel's
 * structs.
 *
 * The map is an array of rings, one per CPU. A ring has a page with its positions, then records of 32 bytes:
 *
 *     header                             type, misc and size, as all records of perf events
 *     next_prev_pid, next_prev_tid       or the number of lost records
 *     pid, tid, time                     the trailer of sample_id_all
 *
 * The kernel calls the program with interrupts off, so one CPU never runs it twice at a time.
 */
#include "sample/sched_program.h"

#include "sample/btf.h"
#include "sample/cpu_list.h"

#include <linux/bpf.h>
#include <linux/btf.h>
#include <linux/perf_event.h>
#include <stddef.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

enum {
    RECORD_SIZE = 32,
    RING_SIZE = 2 << 20,   /* bytes, room for 65,000 switches, which are 145 ms at 450,000 switches a second */
    RINGS_SIZE = 32 << 20, /* limit of bytes for the rings of all CPUs */
    RING_MIN = 64 << 10,

    /* places in a ring, from the start of its page */
    HEAD = offsetof(struct perf_event_mmap_page, data_head),
    TAIL = offsetof(struct perf_event_mmap_page, data_tail),
    LOST = HEAD + 128, /* number of lost records that no record reports; the kernel does not use this place */

    /* places in a record, from its start */
    OTHER_TID = 12,
    LOST_RECORDS = 8,
    TID = 20,
    TIME = 24,
};

const struct perf_layout sched_program_layout = {.sample_type = PERF_SAMPLE_TID | PERF_SAMPLE_TIME};

/* ---- the kernel's structs ---- */

struct offsets {
    uint32_t tracepoint; /* BTF id of the type of the tracepoint's probes */
    size_t tid, on_rq;   /* in task_struct */
    size_t delayed;      /* since Linux 6.12: the thread sleeps, although it is still on the run queue; 0: none */
    size_t events;       /* pointers to the perf events of the thread */
    size_t event_count;  /* number of these pointers: two before Linux 6.2 */
};

static bool find_offsets(const struct btf *btf, struct offsets *offsets)
{
    struct btf_type_info tracepoint;
    size_t entity, delayed;
    uint32_t kind;
    *offsets = (struct offsets){.event_count = 1};
    if (!btf_find(btf, BTF_KIND_TYPEDEF, "btf_trace_sched_switch", &tracepoint) ||
        !btf_find_member(btf, "task_struct", "pid", &offsets->tid, &kind) ||
        !btf_find_member(btf, "task_struct", "on_rq", &offsets->on_rq, &kind) || kind != BTF_KIND_INT ||
        !btf_find_member(btf, "task_struct", "perf_event_ctxp", &offsets->events, &kind))
        return false;
    offsets->tracepoint = tracepoint.id;
    if (kind == BTF_KIND_ARRAY)
        offsets->event_count = 2;
    if (btf_find_member(btf, "task_struct", "se", &entity, &kind) &&
        btf_find_member(btf, "sched_entity", "sched_delayed", &delayed, &kind))
        offsets->delayed = entity + delayed;
    return true;
}

static int read_offsets(struct offsets *offsets)
{
    struct btf btf;
    int code = btf_open_kernel(&btf);
    if (code)
        return code;
    code = find_offsets(&btf, offsets) ? 0 : -ENOENT;
    btf_close(&btf);
    return code;
}

/* ---- the program ---- */

enum { R0, R1, R2, R3, R4, R5, R6, R7, R8, R9, FRAME };

/* Registers of the program, which calls keep. */
enum { PREVIOUS = R7, NEXT = R8, NOW = R9 };

struct code {
    struct bpf_insn instructions[96];
    uint32_t length;
};

static uint32_t emit(struct code *code, int opcode, int to, int from, int offset, int value)
{
    code->instructions[code->length] = (struct bpf_insn){.code = (uint8_t)opcode,
                                                         .dst_reg = (uint8_t)(to & 15),
                                                         .src_reg = (uint8_t)(from & 15),
                                                         .off = (int16_t)offset,
                                                         .imm = value};
    return code->length++;
}

static void emit_load(struct code *code, int size, int to, int from, size_t offset)
{
    emit(code, BPF_LDX | BPF_MEM | size, to, from, (int)offset, 0);
}

static void emit_store(struct code *code, int size, int to, size_t offset, int from)
{
    emit(code, BPF_STX | BPF_MEM | size, to, from, (int)offset, 0);
}

static void emit_copy(struct code *code, int to, int from)
{
    emit(code, BPF_ALU64 | BPF_MOV | BPF_X, to, from, 0, 0);
}

static void emit_add(struct code *code, int to, int value)
{
    emit(code, BPF_ALU64 | BPF_ADD, to, 0, 0, value); /* BPF_K is 0 */
}

static void emit_wide(struct code *code, int to, int kind, uint64_t value)
{
    emit(code, BPF_LD | BPF_IMM | BPF_DW, to, kind, 0, (int)(uint32_t)value);
    emit(code, 0, 0, 0, 0, (int)(uint32_t)(value >> 32));
}

static void emit_call(struct code *code, int function)
{
    emit(code, BPF_JMP | BPF_CALL, 0, 0, 0, function);
}

/* Returns a forward jump, for land(). */
static uint32_t emit_jump(struct code *code, int condition, int a, int value)
{
    return emit(code, BPF_JMP | condition | BPF_K, a, 0, 0, value);
}

/* Makes a jump lead to the next instruction. */
static void land(struct code *code, uint32_t jump)
{
    code->instructions[jump].off = (int16_t)(code->length - jump - 1);
}

static uint64_t make_header(uint32_t type, uint32_t misc)
{
    return type | (uint64_t)misc << 32 | (uint64_t)RECORD_SIZE << 48;
}

/* Leaves the program unless one of both threads is recorded. Returns the jump to the end. */
static uint32_t emit_filter(struct code *code, const struct offsets *offsets)
{
    uint32_t recorded[3] = {0}, count = 0, end = 0;
    for (size_t i = 0; i < 2 * offsets->event_count; i++) {
        bool is_last = i == 2 * offsets->event_count - 1;
        emit_load(code, BPF_DW, R1, i % 2 ? NEXT : PREVIOUS, offsets->events + i / 2 * sizeof(uint64_t));
        if (is_last)
            end = emit_jump(code, BPF_JEQ, R1, 0);
        else
            recorded[count++] = emit_jump(code, BPF_JNE, R1, 0);
    }
    for (uint32_t i = 0; i < count; i++)
        land(code, recorded[i]);
    return end;
}

/* Sets R0 to the ring of this CPU. Returns the jump to the end, if the CPU has no ring. */
static uint32_t emit_find_ring(struct code *code, int map_fd)
{
    emit_call(code, BPF_FUNC_get_smp_processor_id);
    emit_store(code, BPF_W, FRAME, (size_t)-4, R0);
    emit_copy(code, R2, FRAME);
    emit_add(code, R2, -4);
    emit_wide(code, R1, BPF_PSEUDO_MAP_FD, (uint32_t)map_fd);
    emit_call(code, BPF_FUNC_map_lookup_elem);
    return emit_jump(code, BPF_JEQ, R0, 0);
}

/* Sets R2 so that offset `page_size` from it is the record at the head, R1. */
static void emit_find_record(struct code *code, size_t ring_size)
{
    emit_copy(code, R2, R1);
    emit(code, BPF_ALU64 | BPF_AND | BPF_K, R2, 0, 0, (int)(ring_size - RECORD_SIZE));
    emit(code, BPF_ALU64 | BPF_ADD | BPF_X, R2, R0, 0, 0);
}

/* Sets R1 to the head. Counts a lost record if the ring has no room for two; returns the jump to the end in this case.
 * Otherwise reports lost records. */
static uint32_t emit_reserve(struct code *code, size_t page_size, size_t ring_size)
{
    emit_load(code, BPF_DW, R1, R0, HEAD);
    emit_load(code, BPF_DW, R2, R0, TAIL);
    emit_copy(code, R3, R1);
    emit(code, BPF_ALU64 | BPF_SUB | BPF_X, R3, R2, 0, 0);
    emit_load(code, BPF_DW, R4, R0, LOST);
    uint32_t has_room = emit_jump(code, BPF_JLE, R3, (int)(ring_size - 2 * RECORD_SIZE));
    emit_add(code, R4, 1);
    emit_store(code, BPF_DW, R0, LOST, R4);
    uint32_t end = emit_jump(code, BPF_JA, 0, 0);

    land(code, has_room);
    uint32_t has_lost_none = emit_jump(code, BPF_JEQ, R4, 0);
    emit_find_record(code, ring_size);
    emit_wide(code, R3, 0, make_header(PERF_RECORD_LOST_SAMPLES, 0));
    emit_store(code, BPF_DW, R2, page_size, R3);
    emit_store(code, BPF_DW, R2, page_size + LOST_RECORDS, R4);
    emit_store(code, BPF_DW, R2, page_size + TIME, NOW);
    emit_add(code, R1, RECORD_SIZE);
    emit(code, BPF_ST | BPF_MEM | BPF_DW, R0, 0, LOST, 0);
    land(code, has_lost_none);
    return end;
}

static void emit_switch(struct code *code, const struct offsets *offsets, size_t page_size)
{
    uint32_t sleeps[2] = {0};
    emit_wide(code, R3, 0, make_header(PERF_RECORD_SWITCH_CPU_WIDE, PERF_RECORD_MISC_SWITCH_OUT));
    emit_load(code, BPF_W, R4, PREVIOUS, offsets->on_rq);
    sleeps[0] = emit_jump(code, BPF_JEQ, R4, 0);
    if (offsets->delayed) {
        emit_load(code, BPF_B, R4, PREVIOUS, offsets->delayed);
        sleeps[1] = emit_jump(code, BPF_JNE, R4, 0);
    }
    emit_wide(
        code, R3, 0,
        make_header(PERF_RECORD_SWITCH_CPU_WIDE, PERF_RECORD_MISC_SWITCH_OUT | PERF_RECORD_MISC_SWITCH_OUT_PREEMPT));
    land(code, sleeps[0]);
    if (offsets->delayed)
        land(code, sleeps[1]);
    emit_store(code, BPF_DW, R2, page_size, R3);
    emit_load(code, BPF_W, R4, NEXT, offsets->tid);
    emit_store(code, BPF_W, R2, page_size + OTHER_TID, R4);
    emit_load(code, BPF_W, R4, PREVIOUS, offsets->tid);
    emit_store(code, BPF_W, R2, page_size + TID, R4);
    emit_store(code, BPF_DW, R2, page_size + TIME, NOW);
}

/* Publishes the records up to the head, R1. */
static void emit_publish(struct code *code)
{
#ifdef __x86_64__ /* stores become visible in their order */
    emit_store(code, BPF_DW, R0, HEAD, R1);
#else
    emit(code, BPF_STX | BPF_ATOMIC | BPF_DW, R0, R1, HEAD, BPF_XCHG);
#endif
}

/* The arguments of the tracepoint are preempt, prev, next. */
static void write_program(struct code *code, const struct offsets *offsets, int map_fd, size_t page_size,
                          size_t ring_size)
{
    emit_load(code, BPF_DW, PREVIOUS, R1, 1 * sizeof(uint64_t));
    emit_load(code, BPF_DW, NEXT, R1, 2 * sizeof(uint64_t));
    uint32_t is_foreign = emit_filter(code, offsets);
    emit_call(code, BPF_FUNC_ktime_get_ns);
    emit_copy(code, NOW, R0);
    uint32_t has_no_ring = emit_find_ring(code, map_fd);
    uint32_t is_full = emit_reserve(code, page_size, ring_size);
    emit_find_record(code, ring_size);
    emit_switch(code, offsets, page_size);
    emit_add(code, R1, RECORD_SIZE);
    emit_publish(code);
    land(code, is_foreign);
    land(code, has_no_ring);
    land(code, is_full);
    emit(code, BPF_ALU64 | BPF_MOV | BPF_K, R0, 0, 0, 0);
    emit(code, BPF_JMP | BPF_EXIT, 0, 0, 0, 0);
}

/* ---- opening ---- */

static int call_bpf(int command, union bpf_attr *attr)
{
    long result = syscall(SYS_bpf, command, attr, sizeof(*attr));
    return result < 0 ? -errno : (int)result;
}

static int create_map(uint32_t rings, size_t size)
{
    union bpf_attr attr = {.map_type = BPF_MAP_TYPE_ARRAY,
                           .key_size = sizeof(uint32_t),
                           .value_size = (uint32_t)size,
                           .max_entries = rings,
                           .map_flags = BPF_F_MMAPABLE};
    return call_bpf(BPF_MAP_CREATE, &attr);
}

/* Returns the descriptor of the running program. */
static int start_program(const struct code *code, uint32_t tracepoint)
{
    union bpf_attr load = {.prog_type = BPF_PROG_TYPE_TRACING,
                           .expected_attach_type = BPF_TRACE_RAW_TP,
                           .attach_btf_id = tracepoint,
                           .insns = (uintptr_t)code->instructions,
                           .insn_cnt = code->length,
                           .license = (uintptr_t) "Dual MIT/GPL",
                           .prog_name = "prof_switches"};
    int program_fd = call_bpf(BPF_PROG_LOAD, &load);
    if (program_fd < 0)
        return program_fd;
    union bpf_attr start = {.raw_tracepoint.prog_fd = (uint32_t)program_fd};
    int link_fd = call_bpf(BPF_RAW_TRACEPOINT_OPEN, &start);
    close(program_fd);
    return link_fd;
}

static int map_ring(struct sched_program *program, int map_fd, uint32_t cpu, size_t page_size, size_t ring_size)
{
    size_t size = page_size + ring_size;
    void *page = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, map_fd, (off_t)(cpu * size));
    if (page == MAP_FAILED)
        return -errno;
    struct sched_ring ring = {cpu, {.page = page, .data = (unsigned char *)page + page_size, .size = ring_size}};
    if (array_push(&program->rings, ring))
        return 0;
    perf_ring_unmap(&ring.ring);
    return -ENOMEM;
}

static size_t choose_ring_size(size_t cpus)
{
    size_t size = RING_SIZE;
    while (size > RING_MIN && size * cpus > RINGS_SIZE)
        size /= 2;
    return size;
}

static int open_on_cpus(struct sched_program *program, const struct cpu_list *cpus, size_t ring_size)
{
    size_t page_size = (size_t)sysconf(_SC_PAGESIZE);
    uint32_t rings = 0;
    struct offsets offsets;
    struct code code = {0};
    for (size_t i = 0; i < cpus->length; i++)
        rings = cpus->data[i] < rings ? rings : cpus->data[i] + 1;
    int result = read_offsets(&offsets), map_fd = result ? result : create_map(rings, page_size + ring_size);
    if (map_fd < 0)
        return map_fd;
    for (size_t i = 0; i < cpus->length && !result; i++)
        result = map_ring(program, map_fd, cpus->data[i], page_size, ring_size);
    if (!result) {
        write_program(&code, &offsets, map_fd, page_size, ring_size);
        program->link_fd = start_program(&code, offsets.tracepoint);
        result = program->link_fd < 0 ? program->link_fd : 0;
    }
    close(map_fd);
    return result;
}

int sched_program_open(struct sched_program *program, size_t ring_size)
{
    struct cpu_list online = {0};
    *program = SCHED_PROGRAM_NONE;
    int code = cpu_list_read_online(&online, NULL);
    if (!code)
        code = open_on_cpus(program, &online, ring_size ? ring_size : choose_ring_size(online.length));
    array_free(&online);
    if (code)
        sched_program_close(program);
    return code;
}

void sched_program_stop(struct sched_program *program)
{
    if (program->link_fd >= 0)
        close(program->link_fd);
    program->link_fd = -1;
}

void sched_program_close(struct sched_program *program)
{
    sched_program_stop(program);
    for (size_t i = 0; i < program->rings.length; i++)
        perf_ring_unmap(&program->rings.data[i].ring);
    array_free(&program->rings);
}
