/*
 * Real stacks for tests and benchmarks of the walker: runs a program under perf_event, keeps its samples (user
 * registers and up to 64 KiB of stack) and mappings in memory, and plays them back in order of time with the address
 * space as it was.
 *
 *     struct capture capture;
 *     int code = capture_run(&capture, argv, 1000, 2000);   // samples a second, at most so many samples
 *     if (code == -EACCES) skip();
 *     capture_replay(&capture, visit, context);
 *     capture_free(&capture);
 *
 * Header only, so that a test is still one C file.
 */
#pragma once

#include "base/array.h"
#include "unwind/address_space.h"
#include "unwind/unwind.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum capture_kind { CAPTURE_SAMPLE, CAPTURE_MAP, CAPTURE_FORK, CAPTURE_EXEC };

struct capture_event {
    uint64_t time;
    enum capture_kind kind;
    uint32_t pid, tid, parent;
    uint64_t start, end, file_offset; /* CAPTURE_MAP */
    char *path;
    struct unwind_regs regs; /* CAPTURE_SAMPLE */
    unsigned char *stack;
    size_t stack_size;
    size_t order; /* for equal times */
};

struct capture_module {
    char *path;
    struct unwind_module *module;
};

struct capture {
    ARRAY(struct capture_event) events;
    ARRAY(struct capture_module) modules;
    size_t samples, lost;
    size_t max_samples;
};

struct capture_ring {
    int fd;
    struct perf_event_mmap_page *page;
    unsigned char *data;
    uint64_t size;
};

enum { CAPTURE_RING_PAGES = 2048 };

static inline uint64_t capture_u64(const unsigned char *bytes, size_t offset)
{
    uint64_t value;
    memcpy(&value, bytes + offset, sizeof(value));
    return value;
}

static inline uint32_t capture_u32(const unsigned char *bytes, size_t offset)
{
    uint32_t value;
    memcpy(&value, bytes + offset, sizeof(value));
    return value;
}

static inline void capture_take_sample(struct capture *capture, const unsigned char *record)
{
    struct capture_event event = {.kind = CAPTURE_SAMPLE};
    event.pid = capture_u32(record, 8);
    event.tid = capture_u32(record, 12);
    event.time = capture_u64(record, 16);
    uint64_t abi = capture_u64(record, 24);
    if (abi != PERF_SAMPLE_REGS_ABI_64 || capture->samples >= capture->max_samples)
        return;
    for (size_t i = 0; i < SAMPLE_REGISTERS; i++)
        event.regs.r[sample_register_dwarf[i]] = capture_u64(record, 32 + 8 * i);
    size_t at = 32 + 8 * (size_t)SAMPLE_REGISTERS;
    uint64_t size = capture_u64(record, at);
    if (size == 0)
        return;
    uint64_t used = capture_u64(record, at + 8 + size);
    event.stack_size = used < size ? used : size;
    event.stack = malloc(event.stack_size ? event.stack_size : 1);
    memcpy(event.stack, record + at + 8, event.stack_size);
    event.order = capture->events.length;
    capture->samples++;
    (void)array_push(&capture->events, event);
}

static inline void capture_take(struct capture *capture, const unsigned char *record,
                                const struct perf_event_header *header)
{
    struct capture_event event = {.order = capture->events.length};
    event.time = capture_u64(record, header->size - 8u); /* sample_id_all with TID and TIME */
    event.pid = capture_u32(record, 8);
    event.tid = capture_u32(record, 12);
    switch (header->type) {
    case PERF_RECORD_SAMPLE:
        capture_take_sample(capture, record);
        break;
    case PERF_RECORD_MMAP2:
        event.kind = CAPTURE_MAP;
        event.start = capture_u64(record, 16);
        event.end = event.start + capture_u64(record, 24);
        event.file_offset = capture_u64(record, 32);
        if (!(capture_u32(record, 64) & PROT_EXEC))
            break;
        event.path = strdup((const char *)record + 72);
        (void)array_push(&capture->events, event);
        break;
    case PERF_RECORD_FORK:
        event.kind = CAPTURE_FORK;
        event.parent = capture_u32(record, 12);
        event.pid = capture_u32(record, 8);
        if (event.parent != event.pid)
            (void)array_push(&capture->events, event);
        break;
    case PERF_RECORD_COMM:
        event.kind = CAPTURE_EXEC;
        if (header->misc & PERF_RECORD_MISC_COMM_EXEC)
            (void)array_push(&capture->events, event);
        break;
    case PERF_RECORD_LOST:
        capture->lost += capture_u64(record, 16);
        break;
    default:
        break;
    }
}

static inline void capture_drain(struct capture *capture, struct capture_ring *ring)
{
    static unsigned char record[65536];
    uint64_t head = __atomic_load_n(&ring->page->data_head, __ATOMIC_ACQUIRE), tail = ring->page->data_tail;
    while (tail < head) {
        struct perf_event_header header;
        uint64_t at = tail % ring->size, first = ring->size - at;
        memcpy(&header, ring->data + at, sizeof(header)); /* records are aligned to 8, so is the ring's end */
        if (first > header.size)
            first = header.size;
        memcpy(record, ring->data + at, first);
        memcpy(record + first, ring->data, header.size - first);
        capture_take(capture, record, &header);
        tail += header.size;
    }
    __atomic_store_n(&ring->page->data_tail, tail, __ATOMIC_RELEASE);
}

static inline int capture_open_ring(struct capture_ring *ring, pid_t pid, int cpu, unsigned frequency)
{
    struct perf_event_attr attr = {
        .size = sizeof(attr),
        .type = PERF_TYPE_SOFTWARE,
        .config = PERF_COUNT_SW_CPU_CLOCK,
        .freq = 1,
        .sample_freq = frequency,
        .sample_type = PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER,
        .sample_regs_user = SAMPLE_REGISTERS_MASK,
        .sample_stack_user = 65000 & ~7,
        .disabled = 1,
        .enable_on_exec = 1,
        .inherit = 1,
        .exclude_kernel = 1,
        .mmap = 1,
        .mmap2 = 1,
        .comm = 1,
        .comm_exec = 1,
        .task = 1,
        .sample_id_all = 1,
        .watermark = 1,
        .wakeup_watermark = CAPTURE_RING_PAGES * 4096 / 8,
    };
    ring->fd = (int)syscall(SYS_perf_event_open, &attr, pid, cpu, -1, PERF_FLAG_FD_CLOEXEC);
    if (ring->fd < 0)
        return -errno;
    for (size_t pages = CAPTURE_RING_PAGES; pages >= 64; pages /= 2) {
        ring->size = pages * 4096;
        void *map = mmap(NULL, ring->size + 4096, PROT_READ | PROT_WRITE, MAP_SHARED, ring->fd, 0);
        if (map != MAP_FAILED) {
            ring->page = map;
            ring->data = (unsigned char *)map + 4096;
            return 0;
        }
    }
    int code = -errno;
    close(ring->fd);
    return code;
}

static inline void capture_close_ring(struct capture_ring *ring)
{
    munmap(ring->page, ring->size + 4096);
    close(ring->fd);
}

static inline pid_t capture_fork(const char *const argv[], int go)
{
    pid_t pid = fork();
    if (pid == 0) {
        char byte;
        int null = open("/dev/null", O_RDWR);
        dup2(null, 0);
        dup2(null, 1);
        dup2(null, 2);
        if (read(go, &byte, 1) == 1)
            execvp(argv[0], (char *const *)(uintptr_t)argv);
        _exit(127);
    }
    return pid;
}

static inline int capture_compare(const void *a, const void *b)
{
    const struct capture_event *left = a, *right = b;
    if (left->time != right->time)
        return left->time < right->time ? -1 : 1;
    return left->order < right->order ? -1 : left->order > right->order;
}

static inline double capture_seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

/* Runs argv (found by PATH) until it ends, for at most ten seconds or `max_samples`. Returns 0, -ENOENT if there is no
 * such program, or another negative errno value if the kernel refuses (-EACCES, -EPERM: perf is not permitted here). */
static inline int capture_run(struct capture *capture, const char *const argv[], unsigned frequency, size_t max_samples)
{
    *capture = (struct capture){.max_samples = max_samples};
    int go[2];
    if (pipe2(go, O_CLOEXEC) != 0)
        return -errno;
    pid_t pid = capture_fork(argv, go[0]);
    enum { CPUS_MAX = 256 };
    static struct capture_ring rings[CPUS_MAX];
    static struct pollfd polls[CPUS_MAX];
    int cpus = 0, code = 0, online = (int)sysconf(_SC_NPROCESSORS_CONF);
    for (int cpu = 0; cpu < online && cpus < CPUS_MAX; cpu++) {
        code = capture_open_ring(&rings[cpus], pid, cpu, frequency);
        if (code == 0) {
            polls[cpus] = (struct pollfd){.fd = rings[cpus].fd, .events = POLLIN};
            cpus++;
        } else if (code != -ENODEV) {
            break;
        }
    }
    code = cpus > 0 ? 0 : code;
    int status = 0;
    if (code == 0 && write(go[1], "g", 1) == 1) {
        double until = capture_seconds() + 10;
        while (waitpid(pid, &status, WNOHANG) == 0) {
            poll(polls, (nfds_t)cpus, 20);
            for (int i = 0; i < cpus; i++)
                capture_drain(capture, &rings[i]);
            if (capture_seconds() > until || capture->samples >= max_samples) {
                kill(pid, SIGKILL);
                waitpid(pid, &status, 0);
                break;
            }
        }
    } else {
        kill(pid, SIGKILL);
        waitpid(pid, &status, 0);
    }
    close(go[0]);
    close(go[1]);
    for (int i = 0; i < cpus; i++) {
        if (code == 0)
            capture_drain(capture, &rings[i]);
        capture_close_ring(&rings[i]);
    }
    qsort(capture->events.data, capture->events.length, sizeof(*capture->events.data), capture_compare);
    if (code == 0 && WIFEXITED(status) && WEXITSTATUS(status) == 127)
        code = -ENOENT;
    return code;
}

static inline struct unwind_module *capture_module_for(struct capture *capture, const char *path)
{
    for (size_t i = 0; i < capture->modules.length; i++)
        if (strcmp(capture->modules.data[i].path, path) == 0)
            return capture->modules.data[i].module;
    struct unwind_module *module = NULL;
    if (strcmp(path, "[vdso]") == 0) {
        unwind_module_open_memory(&module, (const void *)getauxval(AT_SYSINFO_EHDR), 8192, path, NULL);
    } else if (path[0] == '/' && path[1] != '/') {
        int fd = open(path, O_RDONLY | O_CLOEXEC);
        if (fd >= 0) {
            unwind_module_open(&module, fd, path, NULL);
            close(fd);
        }
    }
    (void)array_push(&capture->modules, (struct capture_module){strdup(path), module});
    return module;
}

struct capture_process {
    uint32_t pid;
    struct address_space space;
};

struct capture_processes {
    ARRAY(struct capture_process) list;
};

static inline struct address_space *capture_space(struct capture_processes *processes, uint32_t pid)
{
    for (size_t i = 0; i < processes->list.length; i++)
        if (processes->list.data[i].pid == pid)
            return &processes->list.data[i].space;
    (void)array_push(&processes->list, (struct capture_process){.pid = pid});
    return &processes->list.data[processes->list.length - 1].space;
}

static inline void capture_map(struct capture *capture, struct address_space *space, const struct capture_event *event)
{
    struct mapping mapping = {.start = event->start, .end = event->end, .lib = MAPPING_NO_LIB};
    struct unwind_module *module = capture_module_for(capture, event->path);
    uint64_t vaddr = module ? unwind_module_find_vaddr(module, event->file_offset) : UINT64_MAX;
    if (vaddr != UINT64_MAX) {
        mapping.module = module;
        mapping.rva = vaddr - unwind_module_get_base(module);
        mapping.lib = 0;
        for (size_t i = 0; i < capture->modules.length; i++)
            if (capture->modules.data[i].module == module)
                mapping.lib = (uint32_t)i;
    }
    (void)address_space_map(space, &mapping);
}

typedef void capture_visit(void *context, struct address_space *space, const struct capture_event *sample);

/* Calls `visit` for each sample, in order of time. */
static inline void capture_replay(struct capture *capture, capture_visit *visit, void *context)
{
    struct capture_processes processes = {0};
    for (size_t i = 0; i < capture->events.length; i++) {
        const struct capture_event *event = &capture->events.data[i];
        struct address_space *space = capture_space(&processes, event->pid);
        switch (event->kind) {
        case CAPTURE_SAMPLE:
            visit(context, space, event);
            break;
        case CAPTURE_MAP:
            capture_map(capture, space, event);
            break;
        case CAPTURE_FORK: {
            struct address_space child = {0};
            (void)address_space_copy(&child, capture_space(&processes, event->parent));
            space = capture_space(&processes, event->pid);
            address_space_destroy(space);
            *space = child;
            break;
        }
        case CAPTURE_EXEC:
            address_space_clear(space);
            break;
        }
    }
    for (size_t i = 0; i < processes.list.length; i++)
        address_space_destroy(&processes.list.data[i].space);
    array_free(&processes.list);
}

static inline void capture_free(struct capture *capture)
{
    for (size_t i = 0; i < capture->events.length; i++) {
        free(capture->events.data[i].path);
        free(capture->events.data[i].stack);
    }
    for (size_t i = 0; i < capture->modules.length; i++) {
        unwind_module_unref(capture->modules.data[i].module);
        free(capture->modules.data[i].path);
    }
    array_free(&capture->events);
    array_free(&capture->modules);
}
