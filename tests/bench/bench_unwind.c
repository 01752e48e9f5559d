/*
 * Times unwinding per frame: captures real stacks, then unwinds them with prof's walker and with libunwind in the same
 * process, and prints medians of nine passes. "cold" is the first pass over all samples with modules freshly opened
 * (without cached CFI and pcs), "warm" a later one.
 */
#include "../support/libunwind_walk.h"
#include "../support/timing.h"

enum { FRAMES_MAX = 4096, LIBRARIES_MAX = 4096, PASSES = 9, SAMPLES_MAX = 3000 };

struct pass {
    struct libunwind *library; /* NULL: our walker */
    struct capture *capture;
    struct libunwind_file *files;
    const struct address_space *last_space;
    double seconds;
    size_t frames, samples, complete;
};

static void walk_sample(void *context, struct address_space *space, const struct capture_event *sample)
{
    static uint64_t pcs[FRAMES_MAX];
    struct pass *pass = context;
    double start = capture_seconds();
    if (pass->library) {
        if (pass->last_space != space)
            pass->library->flush_cache(pass->library->space, 0, 0);
        pass->last_space = space;
        struct libunwind_sample s = {pass->library, pass->capture, pass->files, space, sample};
        pass->frames += libunwind_walk(&s, pcs, FRAMES_MAX);
    } else {
        struct unwind_stack stack = {
            .sp = sample->regs.r[UNWIND_REG_SP], .bytes = sample->stack, .size = sample->stack_size};
        struct unwind_result result = unwind_walk(space, &sample->regs, &stack, pcs, FRAMES_MAX);
        pass->frames += result.frames;
        pass->complete += result.end == UNWIND_COMPLETE;
    }
    pass->samples++;
    pass->seconds += capture_seconds() - start;
}

/* As walk_sample(), but each sample is walked once more first, so that rules and stack are in the caches. */
static void walk_sample_warm(void *context, struct address_space *space, const struct capture_event *sample)
{
    static uint64_t pcs[FRAMES_MAX];
    struct unwind_stack stack = {
        .sp = sample->regs.r[UNWIND_REG_SP], .bytes = sample->stack, .size = sample->stack_size};
    unwind_walk(space, &sample->regs, &stack, pcs, FRAMES_MAX);
    walk_sample(context, space, sample);
}

static double median_ns(struct pass *pass, capture_visit *visit, bool reopen)
{
    double ns[PASSES];
    for (int i = 0; i < PASSES; i++) {
        pass->seconds = 0;
        pass->frames = pass->samples = pass->complete = 0;
        if (reopen) {
            for (size_t m = 0; m < pass->capture->modules.length; m++) {
                unwind_module_unref(pass->capture->modules.data[m].module);
                free(pass->capture->modules.data[m].path);
            }
            pass->capture->modules.length = 0;
        }
        capture_replay(pass->capture, visit, pass);
        ns[i] = pass->frames ? pass->seconds * 1e9 / (double)pass->frames : 0;
    }
    return median(ns, PASSES);
}

static void measure(const char *name, const char *const argv[])
{
    struct capture capture;
    static struct libunwind_file files[LIBRARIES_MAX];
    memset(files, 0, sizeof(files));
    struct libunwind library;
    int code = capture_run(&capture, argv, 1000, SAMPLES_MAX);
    if (code != 0 || capture.samples < 20) {
        printf("%-10s skipped: %s\n", name, code ? strerror(-code) : "too few samples");
        capture_free(&capture);
        return;
    }
    struct pass own = {.capture = &capture};
    double cold = median_ns(&own, walk_sample, true), first = median_ns(&own, walk_sample, false);
    double warm = median_ns(&own, walk_sample_warm, false);
    printf("%-10s %6zu stacks, %5.1f frames, %5.1f %% complete: %6.1f ns a frame cold, %6.1f with modules read, %6.1f "
           "warm",
           name, own.samples, (double)own.frames / (double)own.samples,
           100.0 * (double)own.complete / (double)own.samples, cold, first, warm);
    if (libunwind_open(&library)) {
        struct pass other = {.library = &library, .capture = &capture, .files = files};
        double theirs = median_ns(&other, walk_sample, false);
        printf("; libunwind %6.1f, %.0f times as long\n", theirs, theirs / first);
        libunwind_close(&library);
    } else {
        printf("; libunwind is not installed\n");
    }
    capture_free(&capture);
}

#define ARGV(...) ((const char *[]){__VA_ARGS__, NULL})

int main(int argc, char **argv)
{
    if (argc > 1) {
        measure(argv[1], (const char *const *)argv + 1);
        return 0;
    }
    measure("gdb", ARGV("gdb", "-nx", "-batch", "-ex", "info functions main", "/usr/bin/gdb"));
    measure("python3", ARGV("python3", "-c",
                            "for j in range(1500): sorted(range(200), key=lambda i: sum(map(abs, range(i % 50))))"));
    measure("clang", ARGV("sh", "-c",
                          "printf '#include <map>\\n#include <regex>\\n#include <string>\\n"
                          "std::map<std::string, std::regex> m; int main() { return m.count(\"a\"); }' | "
                          "exec clang++ -O2 -c -o /dev/null -x c++ -"));
    measure("node", ARGV("node", "-e",
                         "function f(n) { return n < 2 ? n : f(n - 1) + f(n - 2) } let s = f(37);"
                         "for (let i = 0; i < 300; i++) s += JSON.stringify([...Array(2000).keys()]).length"));
    measure("xz", ARGV("sh", "-c", "head -c 6000000 /usr/bin/gdb | exec xz -6 -c"));
    return 0;
}
