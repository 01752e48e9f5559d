/*
 * Marks for the prof profiler: a program reports its phases, and the profile shows them on the timeline of the samples.
 * A program needs only this header (C11 or C++11, gcc or clang, Linux), and no library.
 *
 *     prof_mark("cache flushed");                       a moment
 *     prof_mark_begin("frame"); ... prof_mark_end("frame");   an interval of this thread; intervals may nest
 *     { PROF_INTERVAL("decode"); ... }                  an interval to the end of the block
 *     prof_counter("queue length", n);                  a value over time
 *
 * Each function has a variant with a text: prof_mark_text("request", url). A name is a literal, or a string that never
 * changes or moves: prof records its address, and its text once. A text may change; prof records its first 1,000 bytes.
 * Names and texts are UTF-8.
 *
 * Outside a recording, a mark is one load and one branch. prof record COMMAND sets the environment variable PROF_MARKS
 * to a private directory; the first mark of a process creates a file of 2 MiB there, which the process maps and shares
 * with prof. A mark writes 32 bytes and its text to the file, without a system call. prof reads the file at least 25
 * times a second. If the file is full, a mark is dropped and counted: a program never waits for prof. Marks before a
 * crash are recorded. A forked process and an executed program have files of their own. Any thread and any signal
 * handler may mark.
 *
 * Times are those of CLOCK_MONOTONIC, in ns; prof-marks(3) shows how to compare log lines with a profile.
 *
 * With PROF_NO_MARKS defined, all functions compile to nothing.
 *
 * Copyright (c) 2026 The prof authors, SPDX-License-Identifier: MIT
 */
#ifndef PROF_MARKS_H
#define PROF_MARKS_H

#include <stdint.h>

/*
 * The file of a process: this head on a page of its own, and a ring of PROF_MARKS_ROOM bytes of records. Counts of
 * bytes never wrap around. A record is a sequence of words (8 bytes) at a multiple of 8:
 *
 *     0   bits 0-31: number of words written before this record, modulo 2^32; 32-39: enum prof_mark_kind;
 *         40-47: length in words; 48-63: bytes of text. The program writes this word last, to complete the record.
 *     1   time, ns of CLOCK_MONOTONIC
 *     2   address of the name
 *     3   tid
 *     4   PROF_MARK_IS_SPAN: the time of the end; PROF_MARK_IS_COUNTER: a double
 *     ... the text, without a NUL
 */
struct prof_marks_head {
    uint64_t magic;              /* PROF_MARKS_MAGIC, written last */
    uint64_t pid, pid_namespace; /* pid in the namespace of the process; inode of this namespace */
    uint64_t room;               /* PROF_MARKS_ROOM */
    uint64_t unused1[4];
    uint64_t written; /* bytes reserved for records by the process */
    uint64_t dropped; /* marks dropped because the ring was full */
    uint64_t unused2[6];
    uint64_t read; /* bytes that prof has read, and the process may overwrite */
    uint64_t unused3[7];
};

enum prof_mark_kind {
    PROF_MARK_IS_NAME = 1, /* the text of a name, before the first mark with this name */
    PROF_MARK_IS_INSTANT,
    PROF_MARK_IS_BEGIN,
    PROF_MARK_IS_END,
    PROF_MARK_IS_SPAN,
    PROF_MARK_IS_COUNTER
};

#define PROF_MARKS_MAGIC    UINT64_C(0x316b72616d666f70) /* "pofmark1" */
#define PROF_MARKS_PAGE     4096
#define PROF_MARKS_ROOM     (UINT64_C(2) << 20)
#define PROF_MARKS_TEXT_MAX 1000
#define PROF_MARKS_NAME     "prof-marks-" /* prefix of the file name; the pid follows */

#ifndef PROF_MARKS_LAYOUT_ONLY

#ifdef PROF_NO_MARKS

#define PROF_INTERVAL(name)            ((void)0)
#define PROF_INTERVAL_TEXT(name, text) ((void)0)
static inline int prof_marks_are_recorded(void)
{
    return 0;
}
static inline uint64_t prof_marks_now(void)
{
    return 0;
}
static inline void prof_mark(const char *name)
{
    (void)name;
}
static inline void prof_mark_text(const char *name, const char *text)
{
    (void)name, (void)text;
}
static inline void prof_mark_begin(const char *name)
{
    (void)name;
}
static inline void prof_mark_begin_text(const char *name, const char *text)
{
    (void)name, (void)text;
}
static inline void prof_mark_end(const char *name)
{
    (void)name;
}
static inline void prof_mark_span(const char *name, const char *text, uint64_t start_ns, uint64_t end_ns)
{
    (void)name, (void)text, (void)start_ns, (void)end_ns;
}
static inline void prof_counter(const char *name, double value)
{
    (void)name, (void)value;
}

#else

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Values of Linux's <sys/mman.h>, which a strict -std=c11 hides. */
#define PROF_MARKS_ANONYMOUS    0x20
#define PROF_MARKS_DONT_FORK    10
#define PROF_MARKS_WIPE_ON_FORK 18
#define PROF_MARKS_CLOEXEC      02000000
#define PROF_MARKS_MONOTONIC    1
#define PROF_MARKS_NAMES        2048

/* The state of a process. fork() zeroes the state of the child. */
struct prof_marks_state {
    struct prof_marks_head *head;
    uint64_t id;                      /* differs from the id of the parent process */
    uint64_t names[PROF_MARKS_NAMES]; /* hash table of the addresses of names whose text is in the file */
};

/* The thread ID, cached in each thread. */
struct prof_marks_thread {
    uint64_t id; /* prof_marks_state.id when `tid` was cached */
    uint64_t tid;
};
__attribute__((
    weak)) int prof_marks_off_; /* 1: prof does not record the process, or 0 (prof records it, or this is unknown) */
__attribute__((weak)) struct prof_marks_state *prof_marks_state_;
__attribute__((weak)) __thread struct prof_marks_thread prof_marks_thread_;

#if defined(__STRICT_ANSI__) && !defined(__cplusplus) /* with -std=c11, the system's headers lack these declarations   \
                                                       */
extern int clock_gettime(int clock, struct timespec *time);
extern long syscall(long number, ...);
extern int madvise(void *start, size_t size, int advice);
extern int posix_fallocate(int fd, off_t offset, off_t size);
#endif

/* ns of CLOCK_MONOTONIC. */
static inline uint64_t prof_marks_now(void)
{
    struct timespec now;
    clock_gettime(PROF_MARKS_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * UINT64_C(1000000000) + (uint64_t)now.tv_nsec;
}

/* Creates and maps a new file in the directory; NULL on failure. */
static struct prof_marks_head *prof_marks_map_(const char *directory, char *path, size_t path_size)
{
    struct rlimit limit;
    struct stat info;
    const off_t size = (off_t)(PROF_MARKS_PAGE + PROF_MARKS_ROOM);
    int fd = -1, try_;
    if (getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur < (rlim_t)size)
        return NULL;
    for (try_ = 0; fd < 0 && try_ < 100; try_++) {
        int length = snprintf(path, path_size, "%s/" PROF_MARKS_NAME "%d.%d", directory, (int)getpid(), try_);
        if (length < 0 || (size_t)length >= path_size)
            return NULL;
        fd = open(path, O_RDWR | O_CREAT | O_EXCL | PROF_MARKS_CLOEXEC, 0600);
        if (fd < 0 && errno != EEXIST)
            return NULL;
    }
    if (fd < 0)
        return NULL;
    /* allocate all memory now: if memory ran out later, writing a mark would end the program */
    void *memory = MAP_FAILED;
    if (posix_fallocate(fd, 0, size) == 0)
        memory = mmap(NULL, (size_t)size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    close(fd);
    if (memory != MAP_FAILED && madvise(memory, (size_t)size, PROF_MARKS_DONT_FORK)) {
        munmap(memory, (size_t)size);
        memory = MAP_FAILED;
    }
    if (memory == MAP_FAILED) {
        unlink(path);
        return NULL;
    }
    struct prof_marks_head *head = (struct prof_marks_head *)memory;
    head->pid = (uint64_t)getpid();
    head->pid_namespace = stat("/proc/self/ns/pid", &info) == 0 ? (uint64_t)info.st_ino : 0;
    head->room = PROF_MARKS_ROOM;
    return head;
}

static struct prof_marks_state *prof_marks_find_state_(void)
{
    struct prof_marks_state *state = __atomic_load_n(&prof_marks_state_, __ATOMIC_ACQUIRE), *none = NULL;
    if (state)
        return state;
    void *memory = mmap(NULL, sizeof(*state), PROT_READ | PROT_WRITE, MAP_PRIVATE | PROF_MARKS_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED)
        return NULL;
    if (madvise(memory, sizeof(*state), PROF_MARKS_WIPE_ON_FORK) == 0 &&
        __atomic_compare_exchange_n(&prof_marks_state_, &none, (struct prof_marks_state *)memory, 0, __ATOMIC_ACQ_REL,
                                    __ATOMIC_ACQUIRE))
        return (struct prof_marks_state *)memory;
    munmap(memory, sizeof(*state));
    return none;
}

/* Handles the first mark of a process: creates its file if prof records the process. Returns the state, or NULL. */
static __attribute__((noinline, cold, unused)) struct prof_marks_state *prof_marks_start_(void)
{
    char path[1024];
    const int saved = errno;
    const char *directory = getenv("PROF_MARKS");
    struct prof_marks_state *state = NULL;
    struct prof_marks_head *head = NULL, *none = NULL;
    /* a set-user-ID program must not write files at its caller's request */
    if (directory && directory[0] == '/' && !getauxval(AT_SECURE))
        state = prof_marks_find_state_();
    if (state)
        head = prof_marks_map_(directory, path, sizeof(path));
    if (head) {
        __atomic_store_n(&state->id, (uint64_t)getpid() << 32 | 1, __ATOMIC_RELAXED);
        if (__atomic_compare_exchange_n(&state->head, &none, head, 0, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)) {
            __atomic_store_n(&head->magic, PROF_MARKS_MAGIC, __ATOMIC_RELEASE);
        } else { /* another thread was first */
            unlink(path);
            munmap(head, PROF_MARKS_PAGE + PROF_MARKS_ROOM);
        }
    } else {
        state = NULL;
        __atomic_store_n(&prof_marks_off_, 1, __ATOMIC_RELAXED);
    }
    errno = saved;
    return state;
}

/* Appends a record; returns 0 if the ring is full. A record may wrap around the end of the ring between two words. */
static inline int prof_marks_append_(struct prof_marks_head *head, unsigned kind, uint64_t time, const char *name,
                                     uint64_t tid, int has_value, uint64_t value, const char *text)
{
    uint64_t *words = (uint64_t *)((char *)head + PROF_MARKS_PAGE);
    const uint64_t mask = PROF_MARKS_ROOM / 8 - 1;
    uint64_t length = 0, i;
    if (text) {
        const char *end = (const char *)memchr(text, 0, PROF_MARKS_TEXT_MAX);
        length = end ? (uint64_t)(end - text) : PROF_MARKS_TEXT_MAX;
    }
    const uint64_t first = has_value ? 5 : 4, count = first + (length + 7) / 8;
    uint64_t at = __atomic_load_n(&head->written, __ATOMIC_RELAXED);
    do {
        if (__builtin_expect(at + 8 * count - __atomic_load_n(&head->read, __ATOMIC_ACQUIRE) > PROF_MARKS_ROOM, 0)) {
            __atomic_fetch_add(&head->dropped, kind != PROF_MARK_IS_NAME, __ATOMIC_RELAXED);
            return 0;
        }
    } while (!__atomic_compare_exchange_n(&head->written, &at, at + 8 * count, 1, __ATOMIC_RELAXED, __ATOMIC_RELAXED));
    at /= 8;
    words[(at + 1) & mask] = time;
    words[(at + 2) & mask] = (uint64_t)(uintptr_t)name;
    words[(at + 3) & mask] = tid;
    if (has_value)
        words[(at + 4) & mask] = value;
    for (i = 0; i < length; i += 8) {
        uint64_t word = 0;
        memcpy(&word, text + i, length - i < 8 ? length - i : 8);
        words[(at + first + i / 8) & mask] = word;
    }
    __atomic_store_n(&words[at & mask], (at & UINT32_MAX) | (uint64_t)kind << 32 | count << 40 | length << 48,
                     __ATOMIC_RELEASE);
    return 1;
}

/* Records a mark; `time` 0: now. */
static __attribute__((noinline, unused)) void prof_marks_write_(unsigned kind, const char *name, const char *text,
                                                                uint64_t time, uint64_t value)
{
    struct prof_marks_state *state = __atomic_load_n(&prof_marks_state_, __ATOMIC_ACQUIRE);
    struct prof_marks_head *head = state ? __atomic_load_n(&state->head, __ATOMIC_ACQUIRE) : NULL;
    if (__builtin_expect(!head, 0)) {
        state = prof_marks_start_();
        if (!state)
            return;
        head = __atomic_load_n(&state->head, __ATOMIC_ACQUIRE);
    }
    if (!time)
        time = prof_marks_now();
    struct prof_marks_thread *thread = &prof_marks_thread_;
    const uint64_t id = __atomic_load_n(&state->id, __ATOMIC_RELAXED);
    if (__builtin_expect(thread->id != id, 0)) {
        thread->tid = (uint64_t)syscall(SYS_gettid);
        thread->id = id;
    }
    const uint64_t address = (uint64_t)(uintptr_t)name;
    uint64_t *known = &state->names[(address * UINT64_C(0x9e3779b97f4a7c15)) >> 53];
    if (__builtin_expect(__atomic_load_n(known, __ATOMIC_ACQUIRE) != address, 0)) {
        if (prof_marks_append_(head, PROF_MARK_IS_NAME, time, name, thread->tid, 0, 0, name))
            __atomic_store_n(known, address, __ATOMIC_RELEASE);
    }
    prof_marks_append_(head, kind, time, name, thread->tid, kind >= PROF_MARK_IS_SPAN, value, text);
}

/* Returns whether prof records marks, as far as known. Lets a program skip costly computations for a mark. */
static inline int prof_marks_are_recorded(void)
{
    if (__builtin_expect(__atomic_load_n(&prof_marks_off_, __ATOMIC_RELAXED), 1))
        return 0;
    struct prof_marks_state *state = __atomic_load_n(&prof_marks_state_, __ATOMIC_ACQUIRE);
    return (state && __atomic_load_n(&state->head, __ATOMIC_ACQUIRE)) || prof_marks_start_() != NULL;
}

/* Marks a moment. In all functions, `text` may be NULL. */
static inline void prof_mark_text(const char *name, const char *text)
{
    if (__builtin_expect(!__atomic_load_n(&prof_marks_off_, __ATOMIC_RELAXED), 0))
        prof_marks_write_(PROF_MARK_IS_INSTANT, name, text, 0, 0);
}

static inline void prof_mark(const char *name)
{
    prof_mark_text(name, NULL);
}

/* Begins an interval of this thread. Intervals may nest; an end closes the last open one of its name. */
static inline void prof_mark_begin_text(const char *name, const char *text)
{
    if (__builtin_expect(!__atomic_load_n(&prof_marks_off_, __ATOMIC_RELAXED), 0))
        prof_marks_write_(PROF_MARK_IS_BEGIN, name, text, 0, 0);
}

static inline void prof_mark_begin(const char *name)
{
    prof_mark_begin_text(name, NULL);
}

static inline void prof_mark_end(const char *name)
{
    if (__builtin_expect(!__atomic_load_n(&prof_marks_off_, __ATOMIC_RELAXED), 0))
        prof_marks_write_(PROF_MARK_IS_END, name, NULL, 0, 0);
}

/* Records a finished interval, which may have begun in another thread. Times are those of prof_marks_now(). */
static inline void prof_mark_span(const char *name, const char *text, uint64_t start_ns, uint64_t end_ns)
{
    if (__builtin_expect(!__atomic_load_n(&prof_marks_off_, __ATOMIC_RELAXED), 0))
        prof_marks_write_(PROF_MARK_IS_SPAN, name, text, start_ns, end_ns);
}

/* Sets the value of a counter, which lasts until its next value. A process has one counter for each name. */
static inline void prof_counter(const char *name, double value)
{
    if (__builtin_expect(!__atomic_load_n(&prof_marks_off_, __ATOMIC_RELAXED), 0)) {
        uint64_t bits;
        memcpy(&bits, &value, sizeof(bits));
        prof_marks_write_(PROF_MARK_IS_COUNTER, name, NULL, 0, bits);
    }
}

#ifdef __cplusplus
}

namespace prof
{
/* An interval from here to the end of the block. */
class interval
{
  public:
    explicit interval(const char *name, const char *text = nullptr) : name_(name)
    {
        prof_mark_begin_text(name, text);
    }
    ~interval()
    {
        prof_mark_end(name_);
    }
    interval(const interval &) = delete;
    interval &operator=(const interval &) = delete;

  private:
    const char *name_;
};
} /* namespace prof */

#define PROF_MARKS_JOIN_(a, b)         a##b
#define PROF_MARKS_CONCAT_(a, b)       PROF_MARKS_JOIN_(a, b)
#define PROF_INTERVAL_TEXT(name, text) ::prof::interval PROF_MARKS_CONCAT_(prof_interval_, __LINE__)((name), (text))

#else

static inline void prof_marks_leave_(const char **name)
{
    prof_mark_end(*name);
}

static inline const char *prof_marks_enter_(const char *name, const char *text)
{
    prof_mark_begin_text(name, text);
    return name;
}

/* An interval from here to the end of the block. */
#define PROF_MARKS_JOIN_(a, b)   a##b
#define PROF_MARKS_CONCAT_(a, b) PROF_MARKS_JOIN_(a, b)
#define PROF_INTERVAL_TEXT(name, text)                                                                                 \
    __attribute__((cleanup(prof_marks_leave_), unused)) const char *PROF_MARKS_CONCAT_(prof_interval_, __LINE__) =     \
        prof_marks_enter_((name), (text))

#endif

#define PROF_INTERVAL(name) PROF_INTERVAL_TEXT(name, NULL)

#endif /* PROF_NO_MARKS */
#endif /* PROF_MARKS_LAYOUT_ONLY */
#endif
