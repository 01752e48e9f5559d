#include "assemble/hints.h"

#include "assemble/replay_events.h"
#include "base/path.h"
#include "spool/info.h"

#include <stdarg.h>

static void add_hint(struct hints *hints, const char *format, ...) __attribute__((format(printf, 2, 3)));

static void add_hint(struct hints *hints, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(hints->text[hints->count++], HINT_SIZE, format, args);
    va_end(args);
}

/* ---- samples ---- */

#define MS UINT64_C(1000000)

enum {
    FEW_SAMPLES = 50,
    RATE_MOST = 20000,          /* Hz: limit of the suggested rate; higher rates mostly add cost */
    MUCH_MS = 20,               /* ms of CPU time */
    LONG_MS = 200,              /* ms of waiting */
    LEAST_COVERED_PERCENT = 80, /* percentage of the CPU time */
    LEAST_BUSY_PERCENT = 10     /* percentage of the time; a program below this limit mostly waits */
};

/* Writes the end of a sentence about a low rate: the advice to sample at a higher rate. */
static const char *advise_higher_rate(uint64_t interval, char *text, size_t size)
{
    uint64_t rate = 10 * UINT64_C(1000000000) / interval;
    if (rate > 10 * RATE_MOST / 2)
        return "; run the program longer or more often";
    snprintf(text, size, "; '-r %" PRIu64 "' takes more samples", rate > RATE_MOST ? (uint64_t)RATE_MOST : rate);
    return text;
}

/* Explains CPU time without samples, except lost samples and threads that ptrace cannot stop, which have separate
 * sentences. */
static void explain_unsampled_time(struct hints *hints, const struct replay *replay, uint64_t used)
{
    const char *event = replay_get_info(replay, INFO_EVENT);
    uint64_t missing = used - replay->cpu_time.covered;
    char rate[64];
    if (replay->cpu_time.covered >= used / 100 * LEAST_COVERED_PERCENT || used <= MUCH_MS * MS ||
        replay->samples.lost * replay->infos.interval > missing / 2)
        return;
    if (replay->cpu_time.unseen <= missing / 2)
        add_hint(hints, "threads that ended before their next sample used %.0f %% of the CPU time%s",
                 100 * (double)missing / (double)used, advise_higher_rate(replay->infos.interval, rate, sizeof(rate)));
    else if (!event || strcmp(event, "ptrace") != 0)
        add_hint(
            hints,
            "the kernel spent %.0f %% of the CPU time in context switches and thread exits, where prof takes no samples",
            100 * (double)replay->cpu_time.unseen / (double)used);
}

static void explain_samples(struct hints *hints, const struct replay *replay)
{
    uint64_t interval = replay->infos.interval;
    uint64_t used = replay_get_info_number(replay, INFO_CPU_TIME, 0),
             of_target = replay_get_info_number(replay, INFO_TARGET_CPU, 0);
    uint64_t survivors = replay_get_info_number(replay, INFO_SURVIVORS, 0);
    uint64_t wall = replay_get_wall_time(replay);
    bool is_few = replay->samples.count < FEW_SAMPLES;
    char rate[64];
    if (!interval || !wall || replay->spool.keeps_last ||
        replay_has_only_events(replay)) /* a recovered recording has no known end */
        return;
    if (used < replay->cpu_time.covered)
        used = replay->cpu_time.covered;
    double used_ms = (double)used / (double)MS, seconds = (double)wall / 1e9;
    uint64_t left_out = replay_get_info_number(replay, INFO_EXCLUDED_SAMPLES, 0);
    const char *filters = replay_get_info(replay, INFO_FILTERS);
    if (!left_out && of_target > used + MUCH_MS * MS && used < of_target / 2)
        add_hint(
            hints,
            "a program that this user may not sample used %.2f of %.2f s of CPU time, because it is setuid or not readable; record it as root",
            (double)(of_target - used) / 1e9, (double)of_target / 1e9);
    else if (is_few && (survivors || (!left_out && replay->cpu_time.unseen > used / 2 && used > MUCH_MS * MS)))
        return; /* another hint lists the survivors, and the recorder has explained the unseen CPU time */
    else if (is_few && left_out)
        add_hint(hints, "%.150s stored %llu samples, and discarded %llu samples of other threads%s",
                 filters ? filters : "the thread filter", (unsigned long long)replay->samples.count,
                 (unsigned long long)left_out,
                 replay->samples.count
                     ? ""
                     : "; 'ps -L -o comm -p PID' lists the names of threads, which have at most 15 bytes");
    else if (is_few && wall > LONG_MS * MS && used < wall / 100 * LEAST_BUSY_PERCENT)
        add_hint(hints, "in %.2f s the program used %.1f ms of CPU time and waited for the rest; %s", seconds, used_ms,
                 replay->samples.waits ? "'prof report --waits' and the page's Waits tab show the reasons"
                                       : "prof samples only running threads");
    else if (is_few)
        add_hint(hints, "the program used only %.1f ms of CPU time, and prof takes one sample per %.4g ms%s", used_ms,
                 (double)interval / (double)MS, advise_higher_rate(interval, rate, sizeof(rate)));
    else
        explain_unsampled_time(hints, replay, used);
}

/* Adds a hint about processes that outlive the recording. */
static void list_survivors(struct hints *hints, const struct replay *replay)
{
    uint64_t count = replay_get_info_number(replay, INFO_SURVIVORS, 0);
    const char *names = replay_get_info(replay, INFO_SURVIVOR_NAMES);
    if (!count)
        return;
    if (replay_get_info_number(replay, INFO_FOLLOWED, 0))
        add_hint(hints, "%s %s", names ? names : "",
                 count == 1 ? "continues after the recording" : "continue after the recording");
    else
        add_hint(hints, "%s %s after the recording; '--follow-daemons' records until %s ended, too", names ? names : "",
                 count == 1 ? "continues" : "continue", count == 1 ? "it has" : "they have");
}

/* ---- names of JIT code ---- */

#define NODE_VARIABLE   "set NODE_OPTIONS='--perf-basic-prof --interpreted-frames-native-stack' in the environment"
#define PYTHON_VARIABLE "set PYTHONPERFSUPPORT=1 in the environment (Python 3.12 and later)"

/* Advice for virtual machines, by the start of their file name. The command enables symbols of JIT code. The
 * environment variable has the same effect if another program starts the machine ("npm test"). NULL: none. */
static const struct {
    const char *file, *command, *variable;
} compilers[] = {
    {"node", "run 'node --perf-basic-prof --interpreted-frames-native-stack'", NODE_VARIABLE},
    {"libnode", "run 'node --perf-basic-prof --interpreted-frames-native-stack'", NODE_VARIABLE},
    {"libjvm.", "run 'java -XX:+UnlockDiagnosticVMOptions -XX:+DumpPerfMapAtExit' (Java 17 and later)",
     "set JAVA_TOOL_OPTIONS='-XX:+UnlockDiagnosticVMOptions -XX:+DumpPerfMapAtExit' (Java 17 and later)"},
    {"luajit", "run 'luajit -lperfmap' with the module in 'man prof-record' (LuaJIT)", NULL},
    {"libluajit", "load the module in 'man prof-record' (LuaJIT)", NULL},
    {"python3", "run 'python3 -X perf' (Python 3.12 and later)", PYTHON_VARIABLE},
    {"libpython3", "run 'python3 -X perf' (Python 3.12 and later)", PYTHON_VARIABLE},
    {"beam.", "run 'erl +JPperf true', and also '+JPperf fp' with Erlang 26 or later",
     "set ERL_FLAGS='+JPperf true', and also '+JPperf fp' with Erlang 26 or later"},
    {"libcoreclr.", "set DOTNET_PerfMapEnabled=1 in the environment", NULL},
    {"ruby", "run 'ruby --yjit --yjit-perf' (Ruby 3.3 and later)",
     "set RUBYOPT='--yjit --yjit-perf' (Ruby 3.3 and later)"},
    {"wasmtime", "run 'wasmtime --profile=jitdump'", NULL},
    {"libwasmtime.", "set the profiling strategy of Wasmtime's Config to jitdump", NULL},
    {"_libwasmtime.", "set wasmtime.Config.profiler to 'jitdump'", NULL},
    {"mono-sgen", "run 'mono --jitmap'", "set MONO_ENV_OPTIONS=--jitmap"},
    {"opcache.", "run 'php -d opcache.jit_debug=0x20', which writes a jitdump file", NULL},
    {"deno", "run 'deno run --v8-flags=--perf-basic-prof,--interpreted-frames-native-stack'", NULL},
    {"libjulia", "set ENABLE_JITPROFILING=1 in the environment, for a Julia built with this support", NULL},
};

/* Returns the advice for the virtual machine in this file, or NULL. `product` is the name of the recorded program. */
static const char *advise_machine(const char *file, const char *product)
{
    for (size_t i = 0; i < sizeof(compilers) / sizeof(*compilers); i++) {
        if (strncmp(file, compilers[i].file, strlen(compilers[i].file)) != 0)
            continue;
        bool is_started_by_other = product && strncmp(product, file, strcspn(file, ".0123456789")) != 0;
        return is_started_by_other && compilers[i].variable ? compilers[i].variable : compilers[i].command;
    }
    return NULL;
}

static const char *find_advice(const struct replay *replay)
{
    const char *advice = NULL;
    for (size_t i = 0; i < replay->libs.items.length && !advice; i++)
        if (replay->libs.items.data[i].path)
            advice = advise_machine(path_get_base_name(replay->libs.items.data[i].path),
                                    replay_get_info(replay, INFO_PRODUCT));
    return advice;
}

/* Returns the minor version of "python3.13": 13, or 0 if the name has no version. */
static long parse_python_version(const char *program)
{
    return strncmp(program, "python3.", 8) == 0 ? strtol(program + 8, NULL, 10) : 0;
}

static long find_mapped_python_version(const struct replay *replay)
{
    long version = 0;
    for (size_t i = 0; i < replay->libs.items.length && !version; i++)
        if (replay->libs.items.data[i].path)
            version = parse_python_version(path_get_base_name(replay->libs.items.data[i].path));
    return version;
}

static void explain_jit_code(struct hints *hints, const struct replay *replay,
                             const struct symbolization *symbolization)
{
    enum { FIFTIETH = 50, FIRST_PYTHON_WITH_NAMES = 12 };
    const char *product = replay_get_info(replay, INFO_PRODUCT);
    if (symbolization->jit_unnamed_samples && symbolization->jit_unnamed_samples >= replay->samples.count / FIFTIETH) {
        const char *advice = find_advice(replay);
        add_hint(hints, "JIT code has no symbols; %s",
                 advice ? advice : "'man prof-record' describes how a JIT compiler writes them");
    } else if (product && strncmp(product, "python3", 7) == 0 && !symbolization->jit_addresses &&
               !replay->python_functions.length && replay->samples.count &&
               find_mapped_python_version(replay) >= FIRST_PYTHON_WITH_NAMES) {
        add_hint(hints, "the profile has no functions of Python code; 'python3 -X perf' adds them");
    }
}

/* ---- CPU limits ---- */

static void explain_cpu_limit(struct hints *hints, const struct replay *replay)
{
    enum { MANY = 20 }; /* a twentieth */
    uint64_t periods = replay_get_info_number(replay, INFO_LIMIT_PERIODS, 0);
    uint64_t throttled = replay_get_info_number(replay, INFO_LIMIT_THROTTLED, 0);
    if (periods && throttled > periods / MANY)
        add_hint(hints,
                 "the CPU limit of the program's cgroup stopped threads in %" PRIu64 " of %" PRIu64
                 " periods (%.0f %%); this time is a part of the runnable time",
                 throttled, periods, 100 * (double)throttled / (double)periods);
}

/* ---- Python ---- */

static void explain_python(struct hints *hints, const struct replay *replay)
{
    enum { MANY = 20 }; /* a twentieth */
    uint64_t samples = replay_get_info_number(replay, INFO_PYTHON_SAMPLES, 0);
    uint64_t late = replay_get_info_number(replay, INFO_PYTHON_LATE, 0);
    if (samples >= FEW_SAMPLES && late > samples / MANY)
        add_hint(
            hints,
            "%.0f %% of the samples in Python lack their Python frames: the threads continued before prof read the frames; --sampler ptrace records nearly all frames, and root more than other users ('man prof-record', Python)",
            100 * (double)late / (double)samples);
}

/* ---- perf.data ---- */

static void explain_call_graphs(struct hints *hints, const struct replay *replay)
{
    if (replay_get_info_number(replay, INFO_NO_CALL_GRAPHS, 0) && replay->samples.count)
        add_hint(
            hints,
            "perf recorded no call graphs, so each stack is one function: 'perf record -g' or 'perf record --call-graph dwarf' records them");
}

void hints_find(struct hints *hints, const struct replay *replay, const struct symbolization *symbolization)
{
    hints->count = 0;
    explain_samples(hints, replay);
    list_survivors(hints, replay);
    explain_jit_code(hints, replay, symbolization);
    explain_python(hints, replay);
    explain_cpu_limit(hints, replay);
    explain_call_graphs(hints, replay);
}
