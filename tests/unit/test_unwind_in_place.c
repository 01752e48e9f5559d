/*
 * The walker on the stopped threads of real programs, against libunwind in the live process: every thread, even
 * sleeping ones, frame by frame. Each difference must be of a kind named here, and is counted; any other one fails.
 *
 * The programs are stopped some twenty times while they work.
 */
#include "../support/libunwind_in_place.h"

#include "base/array.h"
#include "process/proc_maps.h"
#include "unwind/address_space.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

enum { FRAMES_MAX = 2048, STOPS = 20, PAUSE_MS = 15, STACK_SIZE = 64 * 1024 };

enum kind {
    SAME,
    PAST_START,   /* libunwind goes on past the start of the thread: ld.so's _start, Go's and JIT compilers' starts */
    STOPS_NO_CFI, /* libunwind ends in code without CFI, where we read the code, or follow a chain that the runtime
                     keeps */
    STOPS_ERROR,  /* libunwind ends with an error in code with CFI */
    GUESS,        /* the callee has no CFI, and libunwind has guessed another caller by its frame pointer */
    OUT_OF_CODE,  /* the caller that libunwind names is outside of all code */
    SKIPS_CALLER, /* the same in a program without .eh_frame (Go), where a leaf has no frame pointer of its own */
    WE_ARE_SHORT, /* our walk says that it did not reach the start of the thread, and agrees until there */
    UNEXPLAINED,
    KINDS
};

static const char *const kind_names[KINDS] = {
    "the same",
    "libunwind goes on past the start",
    "libunwind stops in code without CFI",
    "libunwind fails",
    "libunwind guesses without CFI",
    "libunwind leaves the code",
    "libunwind skips the caller of a leaf",
    "ours is truncated",
    "unexplained",
};

struct library {
    char *path;
    struct unwind_module *module;
};

struct scene {
    pid_t pid;
    ARRAY(struct library) libraries;
    struct address_space space;
    uint64_t maps_sum; /* to see whether they have changed */
    struct libunwind_in_place libunwind;
    unsigned char *stack; /* STACK_SIZE */
    bool has_no_eh_frame; /* libunwind does not read the .debug_frame of a Go program */
    size_t walks, by_kind[KINDS], complete;
};

/* ---- mappings ---- */

static struct unwind_module *module_of(struct scene *scene, const struct perf_mapping *mapping)
{
    for (size_t i = 0; i < scene->libraries.length; i++)
        if (!strcmp(scene->libraries.data[i].path, mapping->path))
            return scene->libraries.data[i].module;
    struct library library = {.path = strdup(mapping->path)};
    if (!strcmp(mapping->path, "[vdso]")) {
        size_t size;
        const unsigned char *image = proc_maps_find_own_vdso(&size);
        unwind_module_open_memory(&library.module, image, size, "[vdso]", NULL);
    } else if (mapping->path[0] == '/') {
        int fd = open(mapping->path, O_RDONLY | O_CLOEXEC);
        if (fd >= 0) {
            unwind_module_open(&library.module, fd, mapping->path, NULL);
            close(fd);
        }
    }
    array_push(&scene->libraries, library);
    return library.module;
}

static int use_mapping(void *context, const struct perf_mapping *mapping)
{
    struct scene *scene = context;
    if (!mapping->executable)
        return 0;
    struct unwind_module *module = module_of(scene, mapping);
    uint64_t vaddr = module ? unwind_module_find_vaddr(module, mapping->file_offset) : UINT64_MAX;
    struct mapping map = {.start = mapping->start,
                          .end = mapping->start + mapping->length,
                          .rva = vaddr == UINT64_MAX ? mapping->file_offset : vaddr - unwind_module_get_base(module),
                          .lib = mapping->path[0] == '/' || module ? 0 : MAPPING_NO_LIB,
                          .module = module};
    scene->space.is_java |= strstr(mapping->path, "libjvm.so") != NULL;
    return address_space_map(&scene->space, &map) ? 0 : -ENOMEM;
}

static int add_to_sum(void *context, const struct perf_mapping *mapping)
{
    uint64_t *sum = context;
    if (mapping->executable)
        *sum = *sum * 31 + mapping->start + mapping->length * 7;
    return 0;
}

static void read_mappings(struct scene *scene)
{
    uint64_t sum = 0;
    proc_maps_read((uint32_t)scene->pid, add_to_sum, &sum);
    if (sum == scene->maps_sum)
        return;
    scene->maps_sum = sum;
    bool is_java = scene->space.is_java;
    address_space_destroy(&scene->space);
    scene->space = (struct address_space){.is_java = is_java};
    proc_maps_read((uint32_t)scene->pid, use_mapping, scene);
    scene->libunwind.flush_cache(scene->libunwind.space, 0, 0);
}

/* ---- one thread ---- */

static bool read_memory(void *context, uint64_t address, void *out, size_t size)
{
    const struct scene *scene = context;
    struct iovec local = {out, size}, remote = {(void *)(uintptr_t)address, size};
    return process_vm_readv(scene->pid, &local, 1, &remote, 1, 0) == (ssize_t)size;
}

static struct unwind_result walk_ours(struct scene *scene, pid_t tid, uint64_t *pcs)
{
    struct user_regs_struct r;
    ptrace(PTRACE_GETREGS, tid, NULL, &r);
    struct unwind_regs regs = {{r.rax, r.rdx, r.rcx, r.rbx, r.rsi, r.rdi, r.rbp, r.rsp, r.r8, r.r9, r.r10, r.r11, r.r12,
                                r.r13, r.r14, r.r15, r.rip}};
    struct iovec local = {scene->stack, STACK_SIZE}, remote = {(void *)(uintptr_t)r.rsp, STACK_SIZE};
    ssize_t size = process_vm_readv(scene->pid, &local, 1, &remote, 1, 0);
    struct unwind_stack stack = {.sp = r.rsp,
                                 .bytes = scene->stack,
                                 .size = size > 0 ? (size_t)size : 0,
                                 .read_above = read_memory,
                                 .read_off_copied_stack = read_memory,
                                 .read_code = read_memory,
                                 .context = scene};
    return unwind_walk(&scene->space, &regs, &stack, pcs, FRAMES_MAX);
}

static bool has_cfi(const struct scene *scene, uint64_t pc)
{
    const struct mapping *mapping = address_space_find(&scene->space, pc);
    uint64_t start, size;
    return mapping && mapping->module &&
           unwind_module_find_function(mapping->module,
                                       pc - mapping->start + mapping->rva + unwind_module_get_base(mapping->module),
                                       &start, &size);
}

static enum kind compare(const struct scene *scene, const struct unwind_result *result, const uint64_t *ours,
                         const uint64_t *theirs, size_t count, size_t same, int error)
{
    bool complete = result->end == UNWIND_COMPLETE;
    if (same == result->frames && same == count)
        return complete ? SAME : WE_ARE_SHORT;
    if (same == result->frames)
        return complete ? PAST_START : WE_ARE_SHORT;
    if (scene->has_no_eh_frame && same == 1 && same + 1 < result->frames && same < count &&
        theirs[same] == ours[same + 1])
        return SKIPS_CALLER;
    if (same && (scene->has_no_eh_frame || !has_cfi(scene, ours[same - 1])))
        return same == count ? STOPS_NO_CFI : GUESS;
    if (same == count)
        return error < 0 ? STOPS_ERROR : UNEXPLAINED;
    return address_space_find(&scene->space, theirs[same]) ? UNEXPLAINED : OUT_OF_CODE;
}

static void report(const struct scene *scene, const char *who, const uint64_t *pcs, size_t from, size_t count)
{
    print_message("  %s:", who);
    for (size_t i = from; i < count && i < from + 4; i++) {
        const struct mapping *mapping = address_space_find(&scene->space, pcs[i]);
        print_message(" %#lx (%s+%#lx)", pcs[i], mapping && mapping->module ? "file" : "no file",
                      mapping ? pcs[i] - mapping->start + mapping->rva : 0);
    }
    print_message("\n");
}

static void compare_thread(struct scene *scene, pid_t tid)
{
    static uint64_t ours[FRAMES_MAX], theirs[FRAMES_MAX];
    int error;
    struct unwind_result result = walk_ours(scene, tid, ours);
    size_t count = libunwind_in_place_walk(&scene->libunwind, tid, theirs, FRAMES_MAX, &error), same = 0;
    while (same < count && same < result.frames && ours[same] == theirs[same])
        same++;
    enum kind kind = compare(scene, &result, ours, theirs, count, same, error);
    scene->walks++;
    scene->complete += result.end == UNWIND_COMPLETE;
    scene->by_kind[kind]++;
    if (kind == UNEXPLAINED) {
        print_message("differ at frame %zu of %zu, end %s (libunwind: %zu, %d)\n", same, result.frames,
                      unwind_ends[result.end].key, count, error);
        report(scene, "ours", ours, same ? same - 1 : 0, result.frames);
        report(scene, "libunwind", theirs, same ? same - 1 : 0, count);
    }
}

/* ---- all threads ---- */

/* Moves those that have stopped to the front, and returns how many. Of a process that ends meanwhile, the first thread
 * does so only after the others were waited for, so none is waited for alone. */
static size_t wait_for_stops(pid_t *tids, size_t count)
{
    enum { TRIES = 2000 };
    const struct timespec instant = {.tv_nsec = 500000};
    size_t stopped = 0, left = count;
    for (int i = 0; i < TRIES && stopped < left; i++) {
        for (size_t j = stopped; j < left;) {
            int status = 0;
            pid_t tid = tids[j];
            if (waitpid(tid, &status, __WALL | WNOHANG) == 0) {
                j++;
            } else if (WIFSTOPPED(status)) {
                tids[j++] = tids[stopped];
                tids[stopped++] = tid;
            } else {
                tids[j] = tids[--left];
            }
        }
        nanosleep(&instant, NULL);
    }
    return stopped;
}

/* False if the program has ended. */
static bool compare_all_threads(struct scene *scene)
{
    ARRAY(pid_t) tids = {0};
    char path[64];
    snprintf(path, sizeof(path), "/proc/%d/task", (int)scene->pid);
    DIR *directory = opendir(path);
    for (const struct dirent *entry; directory && (entry = readdir(directory));) {
        pid_t tid = (pid_t)atoi(entry->d_name);
        if (tid && ptrace(PTRACE_SEIZE, tid, NULL, NULL) == 0)
            array_push(&tids, tid);
    }
    if (directory)
        closedir(directory);
    for (size_t i = 0; i < tids.length; i++)
        ptrace(PTRACE_INTERRUPT, tids.data[i], NULL, NULL);
    size_t stopped = wait_for_stops(tids.data, tids.length);
    if (stopped)
        read_mappings(scene);
    for (size_t i = 0; i < stopped; i++)
        compare_thread(scene, tids.data[i]);
    for (size_t i = 0; i < stopped; i++)
        ptrace(PTRACE_DETACH, tids.data[i], NULL, NULL);
    array_free(&tids);
    return stopped > 0;
}

struct program {
    const char *name; /* of the test */
    const char *const *argv;
    bool has_no_eh_frame;
};

static pid_t start(const char *const *argv)
{
    pid_t pid = fork();
    if (pid == 0) {
        int null = open("/dev/null", O_RDWR);
        for (int fd = 0; fd < 3; fd++)
            dup2(null, fd);
        execvp(argv[0], (char *const *)argv);
        _exit(127);
    }
    return pid;
}

static bool is_installed(const char *program)
{
    char command[128];
    snprintf(command, sizeof(command), "command -v %s >/dev/null", program);
    return system(command) == 0;
}

static void scene_destroy(struct scene *scene)
{
    for (size_t i = 0; i < scene->libraries.length; i++) {
        free(scene->libraries.data[i].path);
        unwind_module_unref(scene->libraries.data[i].module);
    }
    array_free(&scene->libraries);
    address_space_destroy(&scene->space);
    libunwind_in_place_close(&scene->libunwind);
    free(scene->stack);
}

/* Threads that are traced still have to be waited for before their process. */
static void reap_all(void)
{
    enum { TRIES = 5000 };
    const struct timespec instant = {.tv_nsec = 1000000};
    for (int i = 0; i < TRIES; i++) {
        pid_t pid = waitpid(-1, NULL, __WALL | WNOHANG);
        if (pid < 0)
            return;
        if (pid == 0)
            nanosleep(&instant, NULL);
    }
}

static void test_program(void **state)
{
    const struct program *program = *state;
    const struct timespec pause = {.tv_nsec = PAUSE_MS * 1000000};
    struct scene scene = {0};
    if (!is_installed(program->argv[0])) {
        print_message("skipped: no such program\n");
        skip();
    }
    if (!libunwind_in_place_open(&scene.libunwind)) {
        print_message("skipped: libunwind is not installed\n");
        skip();
    }
    scene.has_no_eh_frame = program->has_no_eh_frame;
    scene.stack = malloc(STACK_SIZE);
    scene.pid = start(program->argv);
    nanosleep(&pause, NULL);
    bool runs = true;
    for (int i = 0; i < STOPS && runs; i++) {
        nanosleep(&pause, NULL);
        runs = compare_all_threads(&scene);
    }
    kill(scene.pid, SIGKILL);
    reap_all();
    print_message("%zu stacks, %zu complete", scene.walks, scene.complete);
    for (int i = 0; i < KINDS; i++)
        if (scene.by_kind[i])
            print_message("; %s: %zu", kind_names[i], scene.by_kind[i]);
    print_message("\n");
    size_t walks = scene.walks, complete = scene.complete, unexplained = scene.by_kind[UNEXPLAINED];
    scene_destroy(&scene);
    assert_true(walks >= 3);
    assert_int_equal(unexplained, 0);
    assert_true(complete * 100 >= walks * 95);
}

static void write_file(char *path, size_t size, const char *directory, const char *name, const char *text)
{
    snprintf(path, size, "%s/%s", directory, name);
    FILE *file = fopen(path, "we");
    if (file) {
        fputs(text, file);
        fclose(file);
    }
}

#define ARGV(...) ((const char *[]){__VA_ARGS__, NULL})

int main(void)
{
    static const char python[] = "import json, threading, time\n"
                                 "def work():\n"
                                 "  while True:\n"
                                 "    json.loads(json.dumps([{'a': i, 'b': str(i)} for i in range(300)]))\n"
                                 "    sorted(range(200), key=lambda i: sum(map(abs, range(i % 50))))\n"
                                 "for f in (work, work, lambda: time.sleep(100)): threading.Thread(target=f).start()\n";
    static const char javascript[] =
        "function f(n) { return n < 2 ? n : f(n - 1) + f(n - 2) } let s = 0;"
        "for (;;) s += f(20) + JSON.stringify([...Array(2000).keys()].map(x => ({ x, y: String(x) }))).length";
    static const char java[] =
        "import java.util.*; public class Busy { static long f(int n) { return n < 2 ? n : f(n - 1) + f(n - 2); }"
        "public static void main(String[] a) { for (int i = 0; i < 2; i++) new Thread(() -> { for (;;) { f(25);"
        "Map<Integer, String> m = new TreeMap<>(); for (int j = 0; j < 9999; j++) m.put(j, \"\" + j); } }).start(); } "
        "}";
    static const char cpp[] = "#include <map>\n#include <regex>\n#include <string>\n"
                              "std::map<std::string, std::regex> m; int main() { return m.count(\"a\"); }\n";
    char directory[] = "/tmp/prof-test-XXXXXX", java_file[64], cpp_file[64];
    static char gosums[1024];
    if (!mkdtemp(directory))
        return 1;
    write_file(java_file, sizeof(java_file), directory, "Busy.java", java);
    write_file(cpp_file, sizeof(cpp_file), directory, "busy.cpp", cpp);
    const char *targets = getenv("TARGETS");
    snprintf(gosums, sizeof(gosums), "%s/gobusy", targets ? targets : "build/targets");
    struct program programs[] = {
        {"test_threads_of_gdb", ARGV("gdb", "-nx", "-batch", "-ex", "info functions main", "/usr/bin/gdb")},
        {"test_threads_of_python", ARGV("python3", "-c", python)},
        {"test_threads_of_node", ARGV("node", "-e", javascript)},
        {"test_threads_of_java", ARGV("java", java_file)},
        {"test_threads_of_go", ARGV(gosums, "5"), true},
        {"test_threads_of_clang", ARGV("clang++", "-O2", "-fintegrated-cc1", "-S", "-o", "/dev/null", cpp_file)},
        {"test_threads_of_xz", ARGV("xz", "-T2", "--block-size=1MiB", "-9e", "-c", "/usr/bin/gdb")},
        {"test_threads_of_awk", ARGV("awk", "BEGIN { for (;;) { s += i++ % 7; a[i % 100] = sprintf(\"%d\", s) } }")},
        {"test_threads_of_sqlite",
         ARGV("sqlite3",
              ":memory:", "with recursive n(i) as (select 1 union all select i + 1 from n) select sum(i * 2) from n")},
        {"test_threads_of_sort", ARGV("sort", "--parallel=2", "-R", "/usr/bin/gdb", "/usr/bin/perl", "/usr/bin/bash")},
        {"test_threads_of_bash", ARGV("bash", "-c", "while :; do x=$((x + 1)); y[$((x % 100))]=$x; done")},
        {"test_threads_of_perl",
         ARGV("perl", "-e", "for (;;) { $h{$i++ % 999} .= 'x' x 3; $s = join ',', sort keys %h }")},
    };
    enum { PROGRAMS = sizeof(programs) / sizeof(programs[0]) };
    static struct CMUnitTest tests[PROGRAMS];
    for (size_t i = 0; i < PROGRAMS; i++)
        tests[i] = (struct CMUnitTest){programs[i].name, test_program, NULL, NULL, &programs[i]};
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    unlink(java_file);
    unlink(cpp_file);
    rmdir(directory);
    return failed;
}
