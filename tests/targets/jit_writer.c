/*
 * A compiler in small: makes loops at run time, says in a jitdump file what it put where and when, and uses
 * the same addresses again for other functions. It knows its own truth: prints "NAME CPU-milliseconds" for each; the
 * two loops of "lines", in lines 10 and 20 of loops.jit, share its time one to three.
 *
 *     usage: jit_writer DIRECTORY MILLISECONDS [monotonic|realtime|order|unmapped] [frames|no-frames]
 *
 * order: times are of a clock of its own. unmapped: the dump is not mapped, so that nothing tells where it is.
 *
 * $JIT_WRITER_USER: becomes this user first. $JIT_WRITER_RUNS: a shell command that it runs before its code, with its
 * process ID in $JIT_WRITER.
 *
 * frames, no-frames, on x86-64: makes one function instead, which keeps no frame pointer and calls callee(); the dump
 * says how to unwind it, or does not. Half of the time is in each of the two.
 */
#define _GNU_SOURCE
#include <elf.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#ifdef __aarch64__
/* stp x29,x30,[sp,#-16]!; mov x29,sp; 1: subs x0,x0,#1; b.ne 1b; 2: subs x1,x1,#1; b.ne 2b; ldp x29,x30,[sp],#16; ret
 */
static const unsigned char loops[] = {0xfd, 0x7b, 0xbf, 0xa9, 0xfd, 0x03, 0x00, 0x91, 0x00, 0x04, 0x00,
                                      0xf1, 0xe1, 0xff, 0xff, 0x54, 0x21, 0x04, 0x00, 0xf1, 0xe1, 0xff,
                                      0xff, 0x54, 0xfd, 0x7b, 0xc1, 0xa8, 0xc0, 0x03, 0x5f, 0xd6};
enum { FIRST_LOOP = 8, SECOND_LOOP = 16, END = 24, MACHINE = EM_AARCH64, PLACE = 4096 };
#else
/* push %rbp; mov %rsp,%rbp; 1: dec %rdi; jnz 1b; 2: dec %rsi; jnz 2b; pop %rbp; ret */
static const unsigned char loops[] = {0x55, 0x48, 0x89, 0xe5, 0x48, 0xff, 0xcf, 0x75,
                                      0xfb, 0x48, 0xff, 0xce, 0x75, 0xfb, 0x5d, 0xc3};
enum { FIRST_LOOP = 4, SECOND_LOOP = 9, END = 14, MACHINE = EM_X86_64, PLACE = 4096 };
#endif

enum { NAMES = 5 };
static const char *const names[NAMES] = {"first", "second", "mover", "settler", "lines"};
static double milliseconds[NAMES];
static FILE *dump;
static const char *clock_name = "monotonic";
static uint64_t code_index;

static uint64_t now(clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static uint64_t dump_time(void)
{
    static uint64_t tick;
    if (strcmp(clock_name, "order") == 0)
        return tick += 3;
    return now(strcmp(clock_name, "realtime") == 0 ? CLOCK_REALTIME : CLOCK_MONOTONIC);
}

static void put(uint64_t value, int bytes)
{
    fwrite(&value, (size_t)bytes, 1, dump);
}

static void put_head(uint32_t kind, size_t body)
{
    put(kind, 4);
    put(16 + body, 4);
    put(dump_time(), 8);
}

static void note_code(uint64_t address, const char *name, const unsigned char *code, size_t size)
{
    put_head(0, 40 + strlen(name) + 1 + size);
    put((uint32_t)getpid(), 4);
    put((uint32_t)gettid(), 4);
    put(address, 8);
    put(address, 8);
    put(size, 8);
    put(++code_index, 8);
    fwrite(name, strlen(name) + 1, 1, dump);
    fwrite(code, size, 1, dump);
}

static void note_load(uint64_t address, const char *name)
{
    note_code(address, name, loops, sizeof(loops));
}

static void note_move(uint64_t from, uint64_t to)
{
    put_head(1, 48);
    put((uint32_t)getpid(), 4);
    put((uint32_t)gettid(), 4);
    put(to, 8);
    put(from, 8);
    put(to, 8);
    put(sizeof(loops), 8);
    put(code_index, 8);
}

static void note_lines(uint64_t address)
{
    static const struct {
        int offset, line;
        const char *file;
    } lines[] = {{0, 9, "loops.jit"}, {FIRST_LOOP, 10, "\xff"}, {SECOND_LOOP, 20, "\xff"}, {END, 30, "\xff"}};
    size_t size = 16;
    for (size_t i = 0; i < 4; i++)
        size += 16 + strlen(lines[i].file) + 1;
    put_head(2, size);
    put(address, 8);
    put(4, 8);
    for (size_t i = 0; i < 4; i++) {
        put(address + (uint64_t)lines[i].offset, 8);
        put((uint64_t)lines[i].line, 4);
        put(1, 4);
        fwrite(lines[i].file, strlen(lines[i].file) + 1, 1, dump);
    }
}

static void start_dump(const char *directory)
{
    char path[4096];
    snprintf(path, sizeof(path), "%s/jit-%d.dump", directory, (int)getpid());
    int fd = open(path, O_RDWR | O_CREAT | O_TRUNC, 0600);
    if (fd < 0 || !(dump = fdopen(fd, "w"))) {
        perror(path);
        exit(1);
    }
    fwrite("DTiJ", 4, 1, dump);
    put(1, 4);
    put(40, 4);
    put(MACHINE, 4);
    put(0, 4);
    put((uint32_t)getpid(), 4);
    put(dump_time(), 8);
    put(strcmp(clock_name, "order") == 0, 8);
    fflush(dump);
    if (strcmp(clock_name, "unmapped") != 0)
        mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0);
}

/* Runs the code for `ms` of CPU time; the second loop gets `share` times the rounds of the first. */
static void run(unsigned char *code, int name, double ms, uint64_t share)
{
    enum { ROUNDS = 20000 };
    void (*function)(uint64_t, uint64_t);
    memcpy(&function, &code, sizeof(function));
    __builtin___clear_cache((char *)code, (char *)code + sizeof(loops));
    uint64_t start = now(CLOCK_THREAD_CPUTIME_ID), end = start + (uint64_t)(ms * 1e6), at;
    do
        function(ROUNDS, ROUNDS * share);
    while ((at = now(CLOCK_THREAD_CPUTIME_ID)) < end);
    milliseconds[name] += (double)(at - start) / 1e6;
}

/* ---- code without a frame pointer ---- */

/* push %rbp; sub $0x20,%rsp; mov %rdi,%rbp; 1: dec %rbp; jnz 1b; mov %rsi,%rbp; mov %rsi,%rdi; call *%rdx;
 * add $0x20,%rsp; pop %rbp; ret */
static const unsigned char frameless[] = {0x55, 0x48, 0x83, 0xec, 0x20, 0x48, 0x89, 0xfd, 0x48,
                                          0xff, 0xcd, 0x75, 0xfb, 0x48, 0x89, 0xf5, 0x48, 0x89,
                                          0xf7, 0xff, 0xd2, 0x48, 0x83, 0xc4, 0x20, 0x5d, 0xc3};

/* Its call frame information, as if it stood 32 bytes behind the beginning of the code. */
static const unsigned char eh_frame[56] = {
    /* CIE: "zR", code in bytes, slots of -8, return address 16; addresses are pcrel sdata4; CFA = rsp + 8 */
    0x14, 0, 0, 0, 0, 0, 0, 0, 1, 'z', 'R', 0, 1, 0x78, 16, 1, 0x1b, 0x0c, 7, 8, 0x90, 1, 0, 0,
    /* FDE: 27 bytes of code from -64 on */
    0x1c, 0, 0, 0, 0x1c, 0, 0, 0, 0xc0, 0xff, 0xff, 0xff, 27, 0, 0, 0, 0, 0x41, 0x0e, 16, 0x86,
    2,              /* after 1 byte: CFA = rsp + 16, rbp is at CFA - 16 */
    0x44, 0x0e, 48, /* after 4 more: rsp + 48 */
    0x54, 0x0e, 16, /* after 20 more: rsp + 16 */
    0x41, 0x0e, 8,  /* after 1 more: rsp + 8 */
    0};
/* The table of it: pcrel sdata4 to .eh_frame, one entry, of distances from here. */
static const unsigned char eh_frame_hdr[20] = {1, 0x1b, 3,    0x3b, 0xc4, 0xff, 0xff, 0xff, 1,    0,
                                               0, 0,    0xa8, 0xff, 0xff, 0xff, 0xe0, 0xff, 0xff, 0xff};

static void note_frames(void)
{
    put_head(4, 24 + sizeof(eh_frame) + sizeof(eh_frame_hdr));
    put(sizeof(eh_frame) + sizeof(eh_frame_hdr), 8);
    put(sizeof(eh_frame_hdr), 8);
    put(0, 8); /* none of it is mapped */
    fwrite(eh_frame, sizeof(eh_frame), 1, dump);
    fwrite(eh_frame_hdr, sizeof(eh_frame_hdr), 1, dump);
}

__attribute__((noinline)) static void callee(uint64_t rounds)
{
    do
        __asm__ volatile("" : "+r"(rounds));
    while (--rounds);
}

static void run_frameless(unsigned char *code, double ms, int with_frames)
{
    enum { ROUNDS = 20000 };
    void (*function)(uint64_t, uint64_t, void (*)(uint64_t));
    memcpy(code, frameless, sizeof(frameless));
    if (with_frames)
        note_frames();
    note_code((uint64_t)(uintptr_t)code, "frameless", frameless, sizeof(frameless));
    fflush(dump);
    memcpy(&function, &code, sizeof(function));
    uint64_t end = now(CLOCK_THREAD_CPUTIME_ID) + (uint64_t)(ms * 1e6);
    for (unsigned i = 0; now(CLOCK_THREAD_CPUTIME_ID) < end; i++) {
        function(ROUNDS, ROUNDS, callee);
        if (i % 256 == 0) { /* as compilers do that write more of it, and never leave it writable */
            mprotect(code, PLACE, PROT_READ | PROT_WRITE);
            mprotect(code, PLACE, PROT_READ | PROT_EXEC);
        }
    }
}

/* As the environment says. */
static void prepare(void)
{
    const char *user = getenv("JIT_WRITER_USER"), *command = getenv("JIT_WRITER_RUNS");
    char pid[16];
    if (user && setuid((uid_t)atoi(user)) != 0)
        exit(3);
    snprintf(pid, sizeof(pid), "%d", (int)getpid());
    setenv("JIT_WRITER", pid, 1);
    if (command && system(command) != 0)
        exit(3);
}

int main(int argc, char **argv)
{
    if (argc < 3)
        return 2;
    prepare();
    double ms = strtod(argv[2], NULL);
    if (argc > 3)
        clock_name = argv[3];
    start_dump(argv[1]);
    unsigned char *code = mmap(NULL, 4 * PLACE, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (code == MAP_FAILED) {
        perror("mmap");
        return 1;
    }
    if (argc > 4) {
        run_frameless(code, ms, strcmp(argv[4], "frames") == 0);
        return 0;
    }
    unsigned char *places[4] = {code, code + PLACE, code + 2 * PLACE, code + 3 * PLACE};

    enum { TURNS = 20 };
    for (int turn = 0; turn < TURNS; turn++) /* the same address, by turns; the second is run three times as long */
        for (int name = 0; name < 2; name++) {
            memcpy(places[0], loops, sizeof(loops));
            note_load((uint64_t)(uintptr_t)places[0], names[name]);
            run(places[0], name, ms * (name ? 3 : 1) / 4 / TURNS, 1);
        }

    memcpy(places[1], loops, sizeof(loops));
    note_load((uint64_t)(uintptr_t)places[1], "mover");
    run(places[1], 2, ms / 4, 1);
    memcpy(places[2], loops, sizeof(loops));
    memset(places[1], 0xcc, sizeof(loops));
    note_move((uint64_t)(uintptr_t)places[1], (uint64_t)(uintptr_t)places[2]);
    run(places[2], 2, ms / 4, 1);
    memcpy(places[1], loops, sizeof(loops));
    note_load((uint64_t)(uintptr_t)places[1], "settler");
    run(places[1], 3, ms / 4, 1);

    memcpy(places[3], loops, sizeof(loops));
    note_lines((uint64_t)(uintptr_t)places[3]);
    note_load((uint64_t)(uintptr_t)places[3], "lines");
    run(places[3], 4, ms / 4, 3);
    put_head(3, 0);
    fclose(dump);
    for (int i = 0; i < NAMES; i++)
        printf("%s %.3f\n", names[i], milliseconds[i]);
    return 0;
}
