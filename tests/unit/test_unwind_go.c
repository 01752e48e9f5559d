/*
 * Go programs: threads are stopped with ptrace wherever they happen to be, and walked with the rest of their stacks
 * read from the living process. Every stack must end in a function where the Go runtime starts one; when the runtime
 * works on its system stack, that means finding the way back to the goroutine's. And a function without a frame of its
 * own must not hide its caller, also where only the program's own table describes it.
 */
#include "base/array.h"
#include "unwind/address_space.h"
#include "arch/arch.h"
#include "process/proc_maps.h"
#include "unwind/unwind.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

/* Allocates so much that the garbage collector is always at work, which runs on system stacks. Meanwhile leaf() works
 * without a frame. */
static const char program_text[] = "package main\n"
                                   "type node struct{ l, r *node }\n"
                                   "func build(d int) *node {\n"
                                   "	if d == 0 { return &node{} }\n"
                                   "	return &node{build(d - 1), build(d - 1)}\n"
                                   "}\n"
                                   "//go:noinline\n"
                                   "func leaf(n uint64) (x uint64) {\n"
                                   "	for i := uint64(0); i < n; i++ { x = x*6364136223846793005 + i }\n"
                                   "	return\n"
                                   "}\n"
                                   "//go:noinline\n"
                                   "func caller(n uint64) uint64 { return leaf(n) + 1 }\n"
                                   "var kept *node\n"
                                   "var sum uint64\n"
                                   "func main() {\n"
                                   "	go func() { for { sum += caller(100000) } }()\n"
                                   "	for { kept = build(16) }\n"
                                   "}\n";

struct symbol {
    uint64_t address;
    char name[96];
};

struct go_program {
    char directory[32];
    char path[48];
    pid_t pid;
    struct address_space space;
    struct unwind_module *module; /* while it is mapped */
    ARRAY(struct symbol) symbols;
    size_t walks, complete, crossed, strange, leaves, hidden_callers;
};

static bool run(const char *format, const char *directory)
{
    char command[512];
    snprintf(command, sizeof(command), format, directory, directory);
    return system(command) == 0;
}

static bool compile(struct go_program *program)
{
    strcpy(program->directory, "/tmp/prof-go-XXXXXX");
    assert_non_null(mkdtemp(program->directory));
    snprintf(program->path, sizeof(program->path), "%s/plain", program->directory);
    char source[64];
    snprintf(source, sizeof(source), "%s/main.go", program->directory);
    FILE *file = fopen(source, "w");
    fputs(program_text, file);
    fclose(file);
    return run("cd %s && GO111MODULE=off GOFLAGS= go build -o plain main.go 2>/dev/null && nm -n plain >symbols && "
               "strip -o %s/stripped plain",
               program->directory);
}

static void read_symbols(struct go_program *program)
{
    char path[64], line[4096];
    snprintf(path, sizeof(path), "%s/symbols", program->directory);
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    while (fgets(line, sizeof(line), file)) {
        struct symbol symbol;
        char kind;
        if (sscanf(line, "%" SCNx64 " %c %95s", &symbol.address, &kind, symbol.name) == 3 &&
            (kind == 't' || kind == 'T'))
            assert_true(array_push(&program->symbols, symbol));
    }
    fclose(file);
}

static const char *symbol_at(const struct go_program *program, uint64_t pc)
{
    const char *name = "?";
    for (size_t i = 0; i < program->symbols.length && program->symbols.data[i].address <= pc; i++)
        name = program->symbols.data[i].name;
    return name;
}

static bool is_function(const char *name, const char *function)
{
    size_t length = strlen(function);
    return strncmp(name, function, length) == 0 && (name[length] == '\0' || strcmp(name + length, ".abi0") == 0);
}

/* Of goroutines, of threads, and where the scheduler begins anew on a thread's system stack. */
static bool starts_a_stack(const char *name)
{
    static const char *const starts[] = {"runtime.goexit", "runtime.mstart",    "runtime.rt0_go",
                                         "runtime.mcall",  "runtime.morestack", "_rt0_amd64_linux"};
    for (size_t i = 0; i < sizeof(starts) / sizeof(starts[0]); i++)
        if (is_function(name, starts[i]))
            return true;
    return false;
}

/* Whether a complete stack ends in a start, or right after the system call that made the thread, and has gone past none
 * on the way. The leaf may be in mcall or morestack before they leave the goroutine. */
static bool is_root_right(const struct go_program *program, const uint64_t *pcs, size_t frames)
{
    const char *root = symbol_at(program, pcs[frames - 1]);
    bool right = starts_a_stack(root) || (frames == 1 && is_function(root, "runtime.clone"));
    for (size_t i = 1; i + 1 < frames; i++)
        right &= !starts_a_stack(symbol_at(program, pcs[i]));
    return right;
}

static void print_stack(const struct go_program *program, const uint64_t *pcs, const struct unwind_result *result)
{
    print_message("%s stack:", result->end == UNWIND_COMPLETE ? "strange" : "cut");
    for (size_t i = 0; i < result->frames; i++)
        print_message(" %s", symbol_at(program, pcs[i]));
    print_message(" (end %d)\n", (int)result->end);
}

static bool read_memory(void *context, uint64_t address, void *out, size_t size)
{
    struct go_program *program = context;
    struct iovec local = {out, size}, remote = {(void *)(uintptr_t)address, size};
    return process_vm_readv(program->pid, &local, 1, &remote, 1, 0) == (ssize_t)size;
}

/* Maps the program, which is the only file, and the vDSO. */
static int map_module(void *context, const struct perf_mapping *found)
{
    struct go_program *program = context;
    struct mapping mapping = {.start = found->start, .end = found->start + found->length, .lib = MAPPING_NO_LIB};
    struct error err;
    if (!found->executable)
        return 0;
    struct unwind_module *vdso = NULL;
    if (strcmp(found->path, "[vdso]") == 0) {
        unsigned char image[16384];
        if (found->length <= sizeof(image) && read_memory(program, found->start, image, found->length))
            unwind_module_open_memory(&vdso, image, found->length, found->path, &err);
    }
    mapping.module = found->path[0] == '/' ? program->module : vdso;
    if (mapping.module)
        mapping.rva =
            unwind_module_find_vaddr(mapping.module, found->file_offset) - unwind_module_get_base(mapping.module);
    assert_true(address_space_map(&program->space, &mapping));
    unwind_module_unref(vdso);
    return 0;
}

static void map_program(struct go_program *program)
{
    char path[64];
    struct error err;
    snprintf(path, sizeof(path), "/proc/%d/exe", program->pid);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    assert_int_equal(unwind_module_open(&program->module, fd, path, &err), 0);
    close(fd);
    assert_int_equal(proc_maps_read((uint32_t)program->pid, map_module, program), 0);
    unwind_module_unref(program->module);
}

static void walk_thread(struct go_program *program, pid_t tid)
{
    enum { FRAMES_MAX = 256, COPY = 4096 };
    struct user_regs_struct r;
    uint64_t pcs[FRAMES_MAX];
    unsigned char bytes[COPY];
    if (ptrace(PTRACE_GETREGS, tid, NULL, &r) != 0)
        return;
    size_t size = COPY - r.rsp % COPY;
    if (!read_memory(program, r.rsp, bytes, size))
        return;
    struct unwind_regs regs = {{r.rax, r.rdx, r.rcx, r.rbx, r.rsi, r.rdi, r.rbp, r.rsp, r.r8, r.r9, r.r10, r.r11, r.r12,
                                r.r13, r.r14, r.r15, r.rip}};
    struct unwind_stack stack = {.sp = r.rsp,
                                 .bytes = bytes,
                                 .size = size,
                                 .read_above = read_memory,
                                 .read_off_copied_stack = read_memory,
                                 .context = program};
    struct unwind_result result = unwind_walk(&program->space, &regs, &stack, pcs, FRAMES_MAX);
    program->walks++;
    bool complete = result.end == UNWIND_COMPLETE, right = complete && is_root_right(program, pcs, result.frames);
    program->complete += complete;
    program->strange += complete && !right;
    if (!right)
        print_stack(program, pcs, &result);
    if (is_function(symbol_at(program, pcs[0]), "main.leaf")) {
        program->leaves++;
        program->hidden_callers += result.frames < 2 || !is_function(symbol_at(program, pcs[1]), "main.caller");
    }
    if (!complete)
        return;
    bool on_system_stack = false;
    for (size_t i = 0; i < result.frames; i++)
        on_system_stack |= is_function(symbol_at(program, pcs[i]), "runtime.systemstack");
    program->crossed += on_system_stack && is_function(symbol_at(program, pcs[result.frames - 1]), "runtime.goexit");
}

static bool is_running(pid_t pid, pid_t tid)
{
    char path[64], text[512] = "";
    snprintf(path, sizeof(path), "/proc/%d/task/%d/stat", pid, tid);
    FILE *file = fopen(path, "r");
    if (!file)
        return false;
    size_t size = fread(text, 1, sizeof(text) - 1, file);
    fclose(file);
    const char *end = size ? strrchr(text, ')') : NULL;
    return end && end[1] == ' ' && end[2] == 'R';
}

/* False if ptrace is not permitted. */
static bool walk_running_threads(struct go_program *program)
{
    char path[64];
    snprintf(path, sizeof(path), "/proc/%d/task", program->pid);
    DIR *tasks = opendir(path);
    assert_non_null(tasks);
    bool permitted = true;
    for (struct dirent *entry; permitted && (entry = readdir(tasks));) {
        pid_t tid = atoi(entry->d_name);
        int status;
        if (tid <= 0 || !is_running(program->pid, tid))
            continue;
        bool seized = ptrace(PTRACE_SEIZE, tid, NULL, NULL) == 0;
        permitted = seized || errno == ESRCH; /* or it has ended */
        if (seized && ptrace(PTRACE_INTERRUPT, tid, NULL, NULL) == 0 && waitpid(tid, &status, __WALL) == tid &&
            WIFSTOPPED(status)) {
            int signal_number = WSTOPSIG(status) == SIGTRAP ? 0 : WSTOPSIG(status);
            if (!signal_number)
                walk_thread(program, tid);
            ptrace(PTRACE_DETACH, tid, NULL, (void *)(intptr_t)signal_number);
        }
    }
    closedir(tasks);
    return permitted;
}

static bool is_executed(const struct go_program *program)
{
    char link[64], path[256];
    snprintf(link, sizeof(link), "/proc/%d/exe", program->pid);
    ssize_t size = readlink(link, path, sizeof(path) - 1);
    path[size > 0 ? size : 0] = '\0';
    return strcmp(path, program->path) == 0;
}

static long ticks_used(pid_t pid)
{
    char path[64], text[512] = "";
    long ticks = 0;
    snprintf(path, sizeof(path), "/proc/%d/stat", pid);
    FILE *file = fopen(path, "r");
    if (file && fgets(text, sizeof(text), file)) /* 14: user time */
        sscanf(strrchr(text, ')') + 1, "%*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %ld", &ticks);
    if (file)
        fclose(file);
    return ticks;
}

/* Until the program has worked for a tenth of a second. */
static void wait_for_work(const struct go_program *program)
{
    enum { WORK_TICKS = 10 };
    for (unsigned tries = 0; tries < 6000; tries++) {
        if (is_executed(program) && ticks_used(program->pid) >= WORK_TICKS)
            return;
        usleep(10000);
    }
    fail_msg("%s does not start", program->path);
}

static void test_stacks_end_where_the_runtime_starts_one(void **state)
{
    const char *file_name = *state;
    struct go_program program = {0};
    bool compiled = compile(&program), permitted = compiled;
    if (compiled) {
        read_symbols(&program);
        snprintf(program.path, sizeof(program.path), "%s/%s", program.directory, file_name);
        program.pid = fork();
        if (program.pid == 0) {
            execl(program.path, program.path, (char *)NULL);
            _exit(127);
        }
        wait_for_work(&program);
        map_program(&program);
        for (unsigned round = 0; permitted && round < 20000 && program.walks < 600; round++) {
            usleep(1000);
            permitted = walk_running_threads(&program);
        }
        kill(program.pid, SIGKILL);
        waitpid(program.pid, NULL, 0);
    }
    address_space_destroy(&program.space);
    array_free(&program.symbols);
    assert_true(run("chmod -R u+w %s && rm -rf %s", program.directory));
    if (!permitted) {
        print_message("skipped: %s\n", compiled ? "ptrace is not permitted" : "there is no Go");
        skip();
    }
    print_message("%zu stacks, %zu complete, %zu from a system stack to its goroutine, %zu in a leaf, %zu without its "
                  "caller\n",
                  program.walks, program.complete, program.crossed, program.leaves, program.hidden_callers);
    assert_true(program.walks >= 100);
    /* What cannot be complete: a thread stopped in the few instructions between a switch of stacks and the frame
     * pointer that belongs to it (gogo, systemstack) and, stripped, in a function that has not made its frame yet, when
     * mcall has cleared the frame pointer. Less than one in a thousand, however loaded the machine: the thread stands
     * still. */
    assert_true(program.complete * 100 >= program.walks * 99);
    assert_true(program.crossed > 0);
    assert_int_equal(program.strange, 0);
    assert_true(program.leaves > 10);
    assert_int_equal(program.hidden_callers, 0);
}

/* The code of the runtime differs from release to release, and one is installed. */
static void test_starts_in_each_release_of_go_are_known(void **state)
{
    static const struct {
        const char *function, *bytes; /* from the instruction that switches to the system stack */
        uint8_t size, switches, call_ends;
    } codes[] = {
#define CODE(text) .bytes = (text), .size = sizeof(text) - 1
        {"mcall of 1.19", CODE("\x49\x8b\x66\x38\x50\x4c\x8b\x22\x41\xff\xd4\x58\xe9\x97\x27\x00\x00"), 4, 11},
        {"mcall of 1.24", CODE("\x49\x8b\x66\x38\x50\x4c\x8b\x22\x41\xff\xd4\x90\x58\xe9\x8b\x43\x00\x00"), 4, 11},
        {"mcall of 1.26",
         CODE("\x49\x8b\x66\x38\x48\xc7\xc5\x00\x00\x00\x00\x50\x4c\x8b\x22\x41\xff\xd4\x90\x58\xe9\x84\x3c\x00\x00"),
         4, 18},
        {"morestack of 1.19", CODE("\x48\x8b\x63\x38\xe8\xd5\x27\x00\x00\xe8\x50\x01\x00\x00\xc3"), 4, 9},
        {"morestack of 1.24", CODE("\x48\x8b\x63\x38\x48\x8b\x6b\x68\xe8\xa6\x43\x00\x00\xe8\xa1\x1b\x00\x00\xc3"), 4,
         13},
        {"morestack of 1.26",
         CODE("\x48\x8b\x63\x38\x48\xc7\xc5\x00\x00\x00\x00\xe8\xa3\x3c\x00\x00\xe8\xde\x17\x00\x00\xc3"), 4, 16},
        {"mstart of 1.24", CODE("\xcc\xe8\xdb\x44\x00\x00\xc3\xcc"), 1, 6},
        {"mstart of 1.26", CODE("\xcc\x48\xc7\xc5\x00\x00\x00\x00\xe8\xd4\x3d\x00\x00\xc3\xcc"), 1, 13},
#undef CODE
    };
    (void)state;
    for (size_t i = 0; i < sizeof(codes) / sizeof(codes[0]); i++) {
        unsigned char before[ARCH_CODE_BEFORE + ARCH_CODE_AFTER] = {0}, switched[sizeof(before)] = {0};
        unsigned char returned[sizeof(before)] = {0};
        memcpy(before + ARCH_CODE_BEFORE, codes[i].bytes, codes[i].size);
        memcpy(switched + ARCH_CODE_BEFORE - codes[i].switches, codes[i].bytes, codes[i].size);
        memcpy(returned + ARCH_CODE_BEFORE - codes[i].call_ends, codes[i].bytes, codes[i].size);
        print_message("%s\n", codes[i].function);
        assert_false(arch_code_starts_go_stack(before, false));
        assert_true(arch_code_starts_go_stack(switched, false));
        assert_true(arch_code_starts_go_stack(returned, true));
    }
    unsigned char goexit[ARCH_CODE_BEFORE + ARCH_CODE_AFTER] = {0};
    memcpy(goexit + ARCH_CODE_BEFORE - 1, "\x90\xe8\xda\x22\x00\x00\x90", 7);
    assert_true(arch_code_starts_go_stack(goexit, true));
    assert_false(arch_code_starts_go_stack(goexit, false));
    /* systemstack goes back to the goroutine: mov gobuf.sp,%rsp; mov %rdi,%rdx; mov (%rdi),%rdi; call *%rdi */
    unsigned char systemstack[ARCH_CODE_BEFORE + ARCH_CODE_AFTER] = {0};
    memcpy(systemstack + ARCH_CODE_BEFORE - 12, "\x48\x8b\x62\x38\x48\x89\xfa\x48\x8b\x3f\xff\xd7", 12);
    assert_false(arch_code_starts_go_stack(systemstack, true));
}

int main(void)
{
    static char plain[] = "plain", stripped[] = "stripped";
    const struct CMUnitTest tests[] = {
        {"test_stacks_of_go_end_where_the_runtime_starts_one", test_stacks_end_where_the_runtime_starts_one, NULL, NULL,
         plain},
        {"test_stacks_of_stripped_go_end_where_the_runtime_starts_one", test_stacks_end_where_the_runtime_starts_one,
         NULL, NULL, stripped},
        cmocka_unit_test(test_starts_in_each_release_of_go_are_known),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
