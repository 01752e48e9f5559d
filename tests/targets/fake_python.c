/*
 * A program that seems to hold CPython, and whose structs are wrong in the way that its argument says. What reads them
 * must end, and find no frames. build: -rdynamic
 *
 * usage: fake_python KIND SECONDS (of CPU time)
 *
 * KINDS: "new": a version that nobody knows. "cycle": lists of interpreters and threads that never end, without this
 * thread. "frames": a thread whose frames lead back to themselves. "far": pointers that lead nowhere. "garbage": random
 * words, written anew all the time.
 */
#define _GNU_SOURCE
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { WORDS = 4096 };

/* Offsets in words, of CPython 3.11: see python_layout.c. */
enum { INTERPRETERS = 5, THREADS = 2, NEXT_THREAD = 1, INTERPRETER = 2, CFRAME = 7, NATIVE_ID = 20 };

uint64_t _PyRuntime[WORDS];
unsigned long Py_Version = 0x030b00f0;
uint64_t PyCode_Type[64];

static uint64_t interpreter[WORDS], thread[WORDS], frames[WORDS], code[WORDS];

static uint64_t address_of(const uint64_t *words)
{
    return (uint64_t)(uintptr_t)words;
}

static void link_all(uint64_t native_id)
{
    _PyRuntime[INTERPRETERS] = address_of(interpreter);
    interpreter[0] = address_of(interpreter);
    interpreter[THREADS] = address_of(thread);
    thread[NEXT_THREAD] = address_of(thread);
    thread[INTERPRETER] = address_of(interpreter);
    thread[NATIVE_ID] = native_id;
    thread[CFRAME] = address_of(frames);
}

/* A _PyCFrame that is its own caller's, with a frame that is its own caller. */
static void make_frames(void)
{
    frames[1] = address_of(frames + 64);
    frames[2] = address_of(frames + 8);
    frames[9] = address_of(frames + 128);
    frames[10] = address_of(frames);
    frames[64 + 4] = frames[128 + 4] = address_of(code);
    frames[64 + 6] = address_of(frames + 64);
    frames[128 + 6] = address_of(frames + 128);
    code[1] = address_of(PyCode_Type);
    code[2] = UINT64_MAX;
    code[14] = code[16] = code[17] = address_of(code + 512);
    code[512 + 2] = UINT64_MAX / 2;
    code[512 + 4] = UINT64_MAX;
}

static uint64_t next_random(uint64_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state;
}

/* Numbers, and addresses of these words. */
static void write_garbage(uint64_t *state)
{
    uint64_t *const tables[] = {interpreter, thread, frames, code};
    for (size_t i = 0; i < 512; i++) {
        uint64_t *table = tables[next_random(state) % 4];
        uint64_t value = next_random(state);
        table[value % 1024] = value & 1024 ? value : address_of(tables[value >> 20 & 3] + (value >> 30) % 1024);
    }
    thread[NATIVE_ID] = (uint64_t)syscall(SYS_gettid);
}

int main(int argc, char **argv)
{
    const char *kind = argc > 1 ? argv[1] : "garbage";
    clock_t end = (clock_t)((argc > 2 ? atof(argv[2]) : 1) * CLOCKS_PER_SEC);
    uint64_t state = 88172645463325252U;
    if (strcmp(kind, "new") == 0)
        Py_Version = 0x0d0100f0;
    link_all(strcmp(kind, "cycle") == 0 ? 1 : (uint64_t)syscall(SYS_gettid));
    if (strcmp(kind, "frames") == 0)
        make_frames();
    if (strcmp(kind, "far") == 0)
        thread[CFRAME] = 0x7ffffff00000;
    while (clock() < end)
        for (int i = 0; i < 100; i++)
            if (strcmp(kind, "garbage") == 0)
                write_garbage(&state);
    return 0;
}
