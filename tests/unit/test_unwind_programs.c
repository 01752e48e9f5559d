/*
 * The walker on real programs, against libunwind: every sampled stack, frame by frame.
 *
 * libunwind guesses where it has no CFI (it tries the frame pointer, and goes on past ld.so's _start), so only stacks
 * that our walker made from CFI alone are held against it. Where the two differ on fewer than one in 500 of these, it
 * is libunwind that misses a popped register below sp (see libunwind_walk.h).
 */
#include "../support/libunwind_walk.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

struct program {
    const char *name; /* of the test */
    const char *const *argv;
    double least_complete; /* share of stacks that must reach their thread's start */
};

enum { FRAMES_MAX = 2048, LIBRARIES_MAX = 1024, SAMPLES_MAX = 1500 };

struct comparison {
    struct libunwind library;
    struct capture capture;
    struct libunwind_file files[LIBRARIES_MAX];
    const struct address_space *last_space;
    size_t samples, complete, without_cfi, compared, equal, fewer, reported;
};

static void report(struct comparison *c, const struct address_space *space, const char *who, const uint64_t *pcs,
                   size_t from, size_t count)
{
    print_message("  %s:", who);
    for (size_t i = from; i < count && i < from + 4; i++) {
        const struct mapping *mapping = address_space_find(space, pcs[i]);
        print_message(" %s+%#lx", mapping && mapping->module ? c->capture.modules.data[mapping->lib].path : "?",
                      mapping ? pcs[i] - mapping->start + mapping->rva : pcs[i]);
    }
    print_message("\n");
}

static void compare_sample(void *context, struct address_space *space, const struct capture_event *sample)
{
    struct comparison *c = context;
    static uint64_t ours[FRAMES_MAX], theirs[FRAMES_MAX];
    struct unwind_stack stack = {
        .sp = sample->regs.r[UNWIND_REG_SP], .bytes = sample->stack, .size = sample->stack_size};
    struct unwind_result result = unwind_walk(space, &sample->regs, &stack, ours, FRAMES_MAX);
    c->samples++;
    c->complete += result.end == UNWIND_COMPLETE;
    c->without_cfi += result.used_no_cfi;
    if (result.end != UNWIND_COMPLETE && result.end != UNWIND_STACK_SHORT && c->reported++ < 5) {
        print_message("cut after %zu frames, reason %d\n", result.frames, result.end);
        report(c, space, "ends in", ours, result.frames > 4 ? result.frames - 4 : 0, result.frames);
    }
    if (c->capture.modules.length > LIBRARIES_MAX || result.used_no_cfi || result.end != UNWIND_COMPLETE)
        return;
    if (space != c->last_space)
        c->library.flush_cache(c->library.space, 0, 0);
    c->last_space = space;
    struct libunwind_sample s = {&c->library, &c->capture, c->files, space, sample};
    size_t count = libunwind_walk(&s, theirs, FRAMES_MAX), common = count < result.frames ? count : result.frames;
    c->compared++;
    size_t same = 0;
    while (same < common && ours[same] == theirs[same])
        same++;
    if (same == count && count == result.frames)
        c->equal++;
    else if (c->reported++ < 5) {
        print_message("differ at frame %zu of %zu (libunwind: %zu)\n", same, result.frames, count);
        report(c, space, "ours", ours, same ? same - 1 : 0, result.frames);
        report(c, space, "libunwind", theirs, same ? same - 1 : 0, count);
    }
}

static void test_program(void **state)
{
    const struct program *program = *state;
    static struct comparison c;
    memset(&c, 0, sizeof(c));
    if (!libunwind_open(&c.library)) {
        print_message("skipped: libunwind is not installed\n");
        skip();
    }
    int code = capture_run(&c.capture, program->argv, 1000, SAMPLES_MAX);
    if (code != 0 || c.capture.samples == 0) {
        capture_free(&c.capture);
        libunwind_close(&c.library);
        print_message("skipped: %s\n", code == -ENOENT ? "no such program" : "perf_event is not permitted");
        skip();
    }
    capture_replay(&c.capture, compare_sample, &c);
    print_message("%zu stacks, %.2f %% complete, %zu by frame pointer; of %zu by CFI %.2f %% as libunwind\n", c.samples,
                  100.0 * (double)c.complete / (double)c.samples, c.without_cfi, c.compared,
                  c.compared ? 100.0 * (double)c.equal / (double)c.compared : 0);
    capture_free(&c.capture);
    libunwind_close(&c.library);
    assert_true((double)c.complete + 2 >= program->least_complete * (double)c.samples); /* gdb gives some 70 samples */
    assert_true(c.compared - c.equal <= 2 + c.compared / 500);
}

#define ARGV(...) ((const char *[]){__VA_ARGS__, NULL})

int main(void)
{
    static const char cpp[] = "printf '#include <map>\\n#include <regex>\\n#include <string>\\n"
                              "std::map<std::string, std::regex> m; int main() { return m.count(\"a\"); }' | "
                              "exec clang++ -O1 -c -o /dev/null -x c++ -";
    static const char python[] = "import json\nfor j in range(400):\n"
                                 "    sorted(range(200), key=lambda i: sum(map(abs, range(i % 50))))\n"
                                 "    json.loads(json.dumps([{'a': i, 'b': str(i)} for i in range(300)]))\n";
    static const char javascript[] =
        "function f(n) { return n < 2 ? n : f(n - 1) + f(n - 2) } let s = f(32);"
        "for (let i = 0; i < 100; i++) s += JSON.stringify([...Array(2000).keys()].map(x => "
        "({ x, y: String(x) }))).length; console.log(s)";
    struct program programs[] = {
        {"test_stacks_of_gdb", ARGV("gdb", "-nx", "-batch", "-ex", "info functions main", "/usr/bin/gdb"), 0.99},
        {"test_stacks_of_python", ARGV("python3", "-c", python), 0.99},
        {"test_stacks_of_clang", ARGV("sh", "-c", cpp), 0.90}, /* its stacks are deeper than perf copies */
        {"test_stacks_of_node", ARGV("node", "-e", javascript), 0.98},
        {"test_stacks_of_xz", ARGV("sh", "-c", "head -c 3000000 /usr/bin/gdb | exec xz -6 -c"), 0.999},
        {"test_stacks_of_awk", ARGV("awk", "BEGIN { for (i = 0; i < 3000000; i++) s += i % 7; print s }"), 0.99},
    };
    enum { PROGRAMS = sizeof(programs) / sizeof(programs[0]) };
    static struct CMUnitTest tests[PROGRAMS];
    for (size_t i = 0; i < PROGRAMS; i++)
        tests[i] = (struct CMUnitTest){programs[i].name, test_program, NULL, NULL, &programs[i]};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
