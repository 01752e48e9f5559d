/*
 * `prof help`: lists the commands, or shows the options of one. The manual pages in man/ say more.
 */
#include "cmd/common/commands.h"
#include "cmd/common/ui.h"

#include "base/typing_distance.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The options of cmd/serving.h. */
#define SERVING_HELP                                                                                                   \
    "  -n, --no-open             do not open a browser\n"                                                              \
    "  -P, --port PORT           serve on PORT; PORT+: the first free port at or above PORT (3000+); 0: any free "     \
    "port\n"                                                                                                           \
    "      --new-address         use a new address for this run only\n"                                                \
    "      --no-cache            neither read nor write the symbol cache, ~/.cache/prof\n"                             \
    "      --symbol-dir DIR      search DIR for debug files first; can be given several times\n"                       \
    "      --debuginfod URL      download missing debug files and sources from URL (DEBUGINFOD_URLS)\n"                \
    "      --source-map OLD=NEW  map the source directory OLD to NEW; can be given several times\n"                    \
    "      --ui hosted|DIR       open the profile in the Firefox Profiler, or in the front end in DIR\n"

/* The transforms of cmd/report/report_transforms.c. */
#define TRANSFORMS_HELP                                                                                                \
    "\n"                                                                                                               \
    "Transforms, applied in the order given, before the search; each can be given several times:\n"                    \
    "\n"                                                                                                               \
    "      --merge-function FUNCTION            remove its frames; callers get their time\n"                           \
    "      --merge-matching TERMS               remove the frames of all functions that match one of the TERMS\n"      \
    "      --focus-function FUNCTION            only samples with FUNCTION; stacks start there\n"                      \
    "      --focus-self FUNCTION                only samples with FUNCTION as the leaf\n"                              \
    "      --drop-function FUNCTION             drop samples with FUNCTION\n"                                          \
    "      --collapse-function FUNCTION         count its callees as self time\n"                                      \
    "      --collapse-recursion FUNCTION        merge its frames and all frames between them\n"                        \
    "      --collapse-direct-recursion FUNCTION merge direct recursive calls into one frame\n"                         \
    "      --collapse-library LIBRARY           merge adjacent frames of LIBRARY into one\n"                           \
    "      --frames KIND                        remove frames of other kinds: user, kernel, native, jit or js\n"       \
    "      --focus-library LIBRARY              remove frames of other libraries\n"                                    \
    "      --drop-library LIBRARY               drop samples with a leaf in LIBRARY\n"                                 \
    "      --merge-library LIBRARY              remove its frames; callers get their time\n"                           \
    "      --focus-category CATEGORY            remove frames of other categories\n"                                   \
    "      --drop-category CATEGORY             drop samples with a leaf in CATEGORY\n"                                \
    "      --merge-category CATEGORY            remove its frames; callers get their time\n"                           \
    "      --focus-subtree NAME;NAME            only the subtree at this path from the root (inverted: leaf)\n"        \
    "      --merge-call-node NAME;NAME          remove the frame at the end of this path\n"                            \
    "      --inside-markers TERMS               only samples inside a marker that matches TERMS\n"

/* The options of cmd/push/push_options.h. */
#define PUSH_HELP                                                                                                      \
    "      --label KEY=VALUE     an attribute of the resource, such as service.name=shop; can be given several "       \
    "times\n"                                                                                                          \
    "      --header HEADER       'Name: value', or @FILE with such lines, for credentials; can be given several "      \
    "times\n"                                                                                                          \
    "      --timeout TIME        time limit of one request (10s)\n"                                                    \
    "      --retry-for TIME      retry for TIME while the server is down or busy (60s)\n"                              \
    "      --queue DIR           directory of queued profiles (~/.local/state/prof/push)\n"                            \
    "      --queue-size SIZE     size limit of the queue; prof drops the oldest profiles (64M)\n"

/* The formats of lib/export/exporters.c. */
#define EXPORT_FORMATS_HELP                                                                                            \
    "                           html          a self-contained page for any browser (.html)\n"                         \
    "                           profile       a profile for prof and the Firefox Profiler (.json.gz, .json)\n"         \
    "                           pprof         for 'go tool pprof' (.pb.gz)\n"                                          \
    "                           collapsed     one line per stack, for flamegraph.pl (.collapsed, .folded)\n"           \
    "                           speedscope    for speedscope.app (.speedscope.json)\n"                                 \
    "                           perf-script   the text format of 'perf script' (.perf)\n"                              \
    "                           chrome-trace  for Chrome's developer tools and Perfetto (.trace.json)\n"               \
    "                           jslb          a profile for prof, samply and the Firefox Profiler (.jslb)\n"           \
    "                           svg           the flame graph, for a browser (.svg)\n"                                 \
    "                           otlp          OpenTelemetry profiles, v1development (.otlp)\n"                         \
    "                           csv           a table: the call tree, or the table of an option below (.csv)\n"

/* Which samples of a comparison count, and what. */
#define COMPARED_SAMPLES_HELP                                                                                          \
    "      --on-cpu               count CPU time, the default for recordings with waits (--weight cpu-time)\n"         \
    "      --off-cpu              count off-CPU time (--weight off-cpu-time)\n"                                        \
    "      --both                 count both, the lifetime of threads (--weight time)\n"                               \
    "      --weight WEIGHT        weight of a sample, as in 'prof report'\n"                                           \
    "  -t, --thread NAME          only threads with this tid or name, on both sides; can be given several times\n"     \
    "      --search TERMS         only stacks that match all terms, separated by commas\n"                             \
    "      --range FROM,TO        only samples from FROM to TO of each run, in seconds after its start (or 200ms)\n"

/* The options of cmd/report/comparing.h. */
#define COMPARING_HELP                                                                                                 \
    "      --by WHAT              scale the new side by none (the default), samples, cpu-time, wall-time\n"            \
    "                             or function:NAME\n"                                                                  \
    "      --forgive WHAT         ignore differences of function names in templates (their arguments, <...>), in\n"    \
    "                             suffixes (.isra.0, .constprop.1, .part.2, .cold, .llvm.123), or in both\n"           \
    "                             (templates,suffixes)\n"                                                              \
    "      --base-range FROM,TO   limit the base to this range, in seconds after the start (or 200ms)\n"               \
    "      --new-range FROM,TO    limit the new side to this range\n"                                                  \
    "      --base-thread NAME     limit the base to threads with this tid, index or name; can be given several "       \
    "times\n"                                                                                                          \
    "      --new-thread NAME      limit the new side to these threads\n"

static const char record_help[] =
    "usage: prof record [OPTIONS] [--] COMMAND [ARGUMENT...]\n"
    "       prof record [OPTIONS] -p PID[,PID...]\n"
    "       prof record [OPTIONS] -a [[--] COMMAND [ARGUMENT...]]\n"
    "       prof record [OPTIONS] --recover SPOOL\n"
    "\n"
    "Runs COMMAND and samples it, its threads and its child processes until COMMAND ends. Saves the profile; at a\n"
    "terminal, also serves it on this machine and prints the address. Ctrl+C goes to COMMAND, too; a second Ctrl+C\n"
    "stops the recording at once. In both cases prof saves the profile. With -p, records running processes until\n"
    "they end or Ctrl+C, and leaves them running. With -a, records all processes of the system until COMMAND ends\n"
    "or Ctrl+C.\n"
    "\n"
    "  -o, --output FILE         save the profile to FILE (profile.json.gz), compressed if the name ends in .gz;\n"
    "                            -: to the standard output, and redirect COMMAND's to the standard error\n"
    "  -p, --pid PID             record this process, its threads and its later children; can be given several times\n"
    "  -a, --all                 record all processes (as root, or if kernel.perf_event_paranoid is 0 or below)\n"
    "      --cgroup PATH         record the processes in this cgroup and its descendants\n"
    "      --no-inherit          record only COMMAND or the processes of -p, without child processes\n"
    "      --follow-daemons      record until background children of COMMAND have ended, too\n"
    "      --thread NAME         only threads with this name or pattern ('worker-*'); can be given several times\n"
    "      --cpu LIST            sample only these CPUs (0-3,8)\n"
    "  -r, --rate HZ             samples per second of CPU time, for each thread (1000)\n"
    "  -e, --event EVENT[,...]   also sample these events: page-faults, sched:sched_switch,\n"
    "                            uprobe:PATH:FUNCTION ... ('prof events' lists them); can be given several times\n"
    "      --no-cpu-samples      sample only the events of -e; count CPU time without samples\n"
    "      --period N            one sample per N events of -e (tracepoints and probes: 1; others: the rate of -r)\n"
    "  -d, --duration SECONDS    stop recording after this time, and end COMMAND; processes of -p continue\n"
    "      --off-cpu yes|no      also record waits and their reasons (yes; with -a: no)\n"
    "      --python yes|no       read the frames of Python code (yes)\n"
    "      --wakers              also record the waker of each wait, if the kernel permits it\n"
    "      --counters LIST       counters to read: cpu, memory, faults, io, switches, threads, system, power,\n"
    "                            separated by commas; or all, or none (all)\n"
    "      --env NAME            save the value of this environment variable in the profile; can be given several "
    "times\n"
    "      --no-host             do not save the name of this machine or the working directory\n"
    "      --sampler SAMPLER     perf: perf events; ptrace: stop the threads to sample them; auto: perf events if\n"
    "                            the kernel permits them, else ptrace (auto)\n"
    "      --paused              start paused, until 'prof ctl resume' or SIGUSR2\n"
    "      --delay SECONDS       start paused for this time; -d counts from its end\n"
    "      --iterations N        run COMMAND N times in sequence, into one profile; stop at the first failure\n"
    "      --last TIME|SIZE      flight recorder: keep only the newest 30s, 5min or 64M; 'prof ctl snapshot' or\n"
    "                            SIGUSR1 saves a profile of them at any time\n"
    "      --max-size SIZE       stop recording at this size (500M); COMMAND continues\n"
    "      --live                open the page at once; it follows the recording\n"
    "      --push URL            at the end, send the profile to a server for OpenTelemetry profiles; 'env': the\n"
    "                            address in OTEL_EXPORTER_OTLP_ENDPOINT\n"
    "      --every TIME          with --push: send the newest samples every TIME (60s) during the recording\n" PUSH_HELP
    "  -s, --save-only           do not serve; exit with the exit status of COMMAND (with -p: 0)\n"
    "  -q, --quiet               print only errors and the address of the page\n"
    "  -v, --verbose             at the end, print all metadata about the quality of the data\n" SERVING_HELP
    "      --recover SPOOL       save the profile of the spool file of a killed prof\n";

static const char load_help[] =
    "usage: prof load [OPTIONS] FILE\n"
    "       prof load [OPTIONS] BASE NEW\n"
    "       prof load [OPTIONS] BASE... -- NEW...\n"
    "\n"
    "Serves a saved profile on this machine and prints the address, until Ctrl+C. Reads profiles of prof, samply and\n"
    "the Firefox Profiler (processed format, since version 1), plain or gzip. Symbolizes profiles without symbols,\n"
    "such as those of samply, with the files on this machine. FILE may also be the spool file of a running or killed\n"
    "prof, or the perf.data file of perf record. Also opens the text of perf script, pprof, collapsed stacks,\n"
    "speedscope, V8, Chrome trace and Gecko files.\n"
    "With two files, or two groups of files around '--', shows their comparison: see 'prof help diff'.\n"
    "\n" COMPARING_HELP SERVING_HELP;

static const char symbolicate_help[] =
    "usage: prof symbolicate [OPTIONS] FILE\n"
    "\n"
    "Symbolizes a saved profile with the programs, libraries and debug files of this machine, and saves it with\n"
    "functions, lines and inlined calls; other addresses stay unchanged. Lists the libraries that have addresses\n"
    "without a symbol, and the reason. With the spool file of an unsaved recording, or the perf.data file of perf\n"
    "record, saves its profile; this needs -o.\n"
    "\n"
    "  -o, --output FILE     save to FILE instead of replacing the input; compressed if the name ends in .gz\n"
    "      --check           save nothing; list the addresses for which prof's DWARF reader and libdw disagree\n"
    "      --no-cache        neither read nor write the symbol cache, ~/.cache/prof\n"
    "      --symbol-dir DIR  search DIR for debug files first; can be given several times\n"
    "      --debuginfod URL  download missing debug files from URL (DEBUGINFOD_URLS)\n";

static const char report_help[] =
    "usage: prof report [OPTIONS] FILE\n"
    "\n"
    "Prints a saved profile in the terminal: a header, the busiest threads, and the call tree with the numbers of\n"
    "the page. The tree indents a line only at a branch. FILE '-' is the standard input. FILE may also be the spool\n"
    "file of a running or killed prof, or the perf.data file of perf record.\n"
    "\n"
    "      --inverted         the inverted tree: functions with self time, and their callers below\n"
    "      --functions        a list of functions instead of a tree, by self time\n"
    "      --libraries        a list of libraries, by self time\n"
    "      --categories       a list of categories, by self time\n"
    "      --threads          all processes and threads, with their CPU time\n"
    "      --butterfly NAME   callers and callees of a function, or of lib:NAME or category:NAME\n"
    "      --hot-lines        the source lines of all files with the most self time\n"
    "      --lines FILE       the lines of a source file with their time; FILE is a path or its last parts\n"
    "      --annotate NAME    the machine code of a function with the time of each instruction, and its source lines\n"
    "      --markers          the markers in the order of their start; --search then searches their name,\n"
    "                         category, type and fields; name:term or field:term searches one field\n"
    "      --counters         the counters: CPU time, memory, page faults, bytes read and written, switches\n"
    "      --waits[=BY]       the waits of threads, grouped by object (the default), reason, stack, thread\n"
    "                         or waker\n"
    "      --on-cpu           count CPU time, the default for recordings with waits (--weight cpu-time)\n"
    "      --off-cpu          count off-CPU time (--weight off-cpu-time)\n"
    "      --both             count both, the lifetime of threads (--weight time)\n"
    "      --weight WEIGHT    weight of a sample: samples, time, cpu-time, off-cpu-time, on-cpu or off-cpu;\n"
    "                         for files with allocations also bytes, see prof-report(1); the name of a recorded\n"
    "                         event: its count\n"
    "  -t, --thread NAME      only threads with this tid, index or name (or a part of the name if none is equal);\n"
    "                         can be given several times\n"
    "      --search TERMS     only stacks that match all terms, separated by commas, in the name of a\n"
    "                         function, file or library; -term excludes, \"term\" is the whole name, /term/ a\n"
    "                         regular expression, lib:term and file:term match only libraries and files\n"
    "      --range FROM,TO    only samples from FROM to TO, in seconds after the start (or 200ms); either is\n"
    "                         optional\n"
    "      --depth LEVELS     at most LEVELS levels (inverted: 8)\n"
    "      --min-percent P    hide branches below this percentage of the total (0.5)\n"
    "      --limit ROWS       at most ROWS rows, 0 for all (400, functions 60)\n"
    "      --json             all rows as JSON, for scripts\n"
    "  -v, --verbose          all metadata about the recording and the quality of the data\n"
    "      --color[=WHEN]     colors: auto (on a terminal), always or never\n"
    "      --no-pager         do not start a pager (PROF_PAGER, PAGER or less)\n"
    "      --symbol-dir DIR   with --annotate: search DIR for code and debug info first; can be given several times\n"
    "      --debuginfod URL   with --annotate: download missing debug files and sources from URL\n" TRANSFORMS_HELP;

static const char diff_help[] =
    "usage: prof diff [OPTIONS] BASE NEW\n"
    "       prof diff [OPTIONS] BASE... -- NEW...\n"
    "       prof diff [OPTIONS] --base-range FROM,TO --new-range FROM,TO FILE\n"
    "       prof diff [OPTIONS] --base-thread NAME --new-thread NAME FILE\n"
    "\n"
    "Prints the functions of two profiles with the change from BASE to NEW, the largest first. Matches functions by\n"
    "name, library and file. Several files of one side, and the runs of 'prof record --iterations', count as their\n"
    "mean. 'prof load BASE NEW' shows the same comparison in the page.\n"
    "\n" COMPARING_HELP "      --self                 list functions by the change of their self time (the default)\n"
    "      --total                list functions by the change of their total time\n"
    "      --tree                 the call tree instead of a list\n"
    "      --inverted             the inverted tree, with callers below callees\n"
    "      --hot-lines            the source lines of all files by the change of their self time\n"
    "      --lines FILE           the lines of a source file; FILE is a path or its last parts\n"
    "      --libraries            a list of libraries\n"
    "      --categories           a list of categories\n"
    "      --butterfly NAME       callers and callees of a function, or of lib:NAME or category:NAME\n"
    "      --functions            a list of functions (the default)\n" COMPARED_SAMPLES_HELP
    "      --depth LEVELS         at most LEVELS levels (inverted: 8)\n"
    "      --min-percent P        hide changes below this percentage of the base's total (0.5)\n"
    "      --limit ROWS           at most ROWS rows, 0 for all (400, functions 60)\n"
    "      --json                 all rows as JSON, for scripts\n"
    "      --color[=WHEN]         colors: auto (on a terminal), always or never\n"
    "      --no-pager             do not start a pager (PROF_PAGER, PAGER or less)\n"
    "      --symbol-dir DIR       with a spool file: search DIR for debug files first\n"
    "      --debuginfod URL       download missing debug files from URL\n" TRANSFORMS_HELP;

static const char check_help[] =
    "usage: prof check [OPTIONS] --fail-if LIMIT BASE NEW\n"
    "       prof check [OPTIONS] --fail-if LIMIT BASE... -- NEW...\n"
    "\n"
    "Compares two profiles like 'prof diff', and exits with 3 if a limit is exceeded (with 1 after a failure, with 2\n"
    "after wrong usage). A change within noise exceeds no limit; the result is then 'cannot tell'. To reduce noise,\n"
    "record several runs of both sides (prof record --iterations 10).\n"
    "\n"
    "      --fail-if LIMIT        fail if LIMIT holds; can be given several times:\n"
    "                             total > +3%                 all functions together take 3% more than the base\n"
    "                             self(parse*) > 20%          these functions take more than 20% of the total\n"
    "                             total(render) > +20ms       the function and its callees take 20 ms more\n"
    "                             total(render) > 500ms       the function and its callees take more than 500 ms\n"
    "      --strict               exit with 4 if the result of a limit is 'cannot tell'\n"
    "      --markdown             print the result for a pull request\n"
    "      --json                 print the result for scripts\n"
    "      --junit FILE           also write JUnit XML to FILE, with one test per limit\n" COMPARING_HELP
        COMPARED_SAMPLES_HELP "      --symbol-dir DIR       with a spool file: search DIR for debug files first\n"
    "      --debuginfod URL       download missing debug files from URL\n" TRANSFORMS_HELP;

static const char export_help[] =
    "usage: prof export [OPTIONS] FILE\n"
    "\n"
    "Writes a saved profile in the format of another tool, with the selected samples. FILE '-' is the standard\n"
    "input. prof-export(1) describes the formats.\n"
    "\n"
    "      --format FORMAT    the format (by default from the extension of OUT):\n" EXPORT_FORMATS_HELP
    "  -o, --output OUT       write to OUT (-: the standard output, the default); compressed if the name ends in .gz\n"
    "      --view QUERY       with html: the initial view, the part of the page's address after '?'\n"
    "      --sanitize[=PARTS] remove homes, names, urls, arguments and sources (or only PARTS, separated by\n"
    "                         commas), and print the removed data\n"
    "      --keep-names LIBS  --sanitize, and remove the names of functions in other libraries\n"
    "      --dry-run          with --sanitize: only print the remaining and the removed data, with examples\n"
    "      --inverted         callers below callees, in the formats that have a tree\n"
    "      --functions        with csv: the functions instead of the call tree\n"
    "      --libraries        with csv: the libraries\n"
    "      --categories       with csv: the categories\n"
    "      --hot-lines        with csv: the source lines with the most self time\n"
    "      --markers          with csv: the markers\n"
    "      --threads          with csv: the threads, with their CPU time\n"
    "      --counters         with csv: the counters\n"
    "      --waits[=BY]       with csv: the waits of threads; BY as in the report\n"
    "      --on-cpu           count CPU time, the default for recordings with waits (--weight cpu-time)\n"
    "      --off-cpu          count off-CPU time (--weight off-cpu-time)\n"
    "      --both             count both, the lifetime of threads (--weight time)\n"
    "      --weight WEIGHT    weight of a sample; formats with several weights then have only this one\n"
    "  -t, --thread NAME      only threads with this tid, index or name; can be given several times\n"
    "      --search TERMS     only stacks that match all terms, separated by commas\n"
    "      --range FROM,TO    only samples from FROM to TO, in seconds after the start (or 200ms)\n"
    "      --symbol-dir DIR   with the spool file of a recording: search DIR for debug files first\n"
    "      --debuginfod URL   with the spool file of a recording: download missing debug files from "
    "URL\n" TRANSFORMS_HELP;

static const char push_help[] =
    "usage: prof push [OPTIONS] FILE [URL]\n"
    "       prof push [OPTIONS] --queued [URL]\n"
    "\n"
    "Sends a saved profile to a server that takes OpenTelemetry profiles over HTTP (OTLP, v1development), such as an\n"
    "OpenTelemetry Collector. URL is its address, http://HOST:4318; without it OTEL_EXPORTER_OTLP_ENDPOINT counts.\n"
    "Profiles that prof cannot send wait in a queue, and the next push to the same address sends them.\n"
    "\n"
    "      --queued              send no file, only the queue for URL\n" PUSH_HELP
    "      --symbol-dir DIR      with the spool file of a recording: search DIR for debug files first\n"
    "      --debuginfod URL      with the spool file of a recording: download missing debug files from URL\n"
    "  -q, --quiet               print only failures\n";

static const char ctl_help[] =
    "usage: prof ctl pause|resume|snapshot|stop [--all|PID]\n"
    "       prof ctl mark TEXT [--all|PID]\n"
    "       prof ctl list\n"
    "\n"
    "Makes a running recording pause, resume, add a marker with TEXT, save a profile of the recording so far\n"
    "(profile-1.json.gz, beside its output), or stop. PID is the process ID of 'prof record' or of its target; a\n"
    "single recording of this user needs no PID.\n"
    "\n"
    "      --all   control all recordings of this user\n";

static const char events_help[] =
    "usage: prof events [--json] [PATTERN|PROGRAM]\n"
    "\n"
    "Lists the events that 'prof record -e' can sample on this machine for this user. Opens each event; for\n"
    "unavailable events, prints the reason and the setting that permits them. With PATTERN ('sched:*', or a part of a\n"
    "name), lists the matching events, and tracepoints by name. With PROGRAM (a path or a command name), lists the\n"
    "static probes (USDT) of that program or library.\n"
    "\n"
    "      --json   print JSON: events, tracepoints and probes, with their availability or the reason\n";

static const char dump_help[] =
    "usage: prof dump FILE\n"
    "       prof dump --format\n"
    "\n"
    "Prints each record of a recording as a line of JSON: samples, waits, counters, processes, threads, libraries,\n"
    "marks. FILE is the spool file that prof record writes beside its output while it runs, and leaves there if it is\n"
    "killed. Exits with status 1 if a part of FILE is damaged; the other records are printed.\n"
    "\n"
    "      --format   print the documentation of the records, in Markdown\n";

static const char doctor_help[] =
    "usage: prof doctor [--json] [PROGRAM]\n"
    "\n"
    "Tests which recordings work on this machine for this user, and prints one line per feature, with the command\n"
    "that enables a missing feature. With PROGRAM, also prints which symbols, lines and stacks its profile will have.\n"
    "Exits with 0 if prof can record, else with 1.\n"
    "\n"
    "      --json   print JSON, for scripts\n";

static const char help_help[] = "usage: prof help [COMMAND]\n"
                                "\n"
                                "Lists the commands, or shows the help of one.\n";

static const struct {
    const char *command, *text;
} topics[] = {
    {"record", record_help}, {"load", load_help},     {"report", report_help}, {"diff", diff_help},
    {"check", check_help},   {"export", export_help}, {"push", push_help},     {"symbolicate", symbolicate_help},
    {"ctl", ctl_help},       {"events", events_help}, {"dump", dump_help},     {"doctor", doctor_help},
    {"help", help_help},
};

static const char *text_of(const char *command)
{
    for (size_t i = 0; i < sizeof(topics) / sizeof(*topics); i++)
        if (!strcmp(topics[i].command, command))
            return topics[i].text;
    return "";
}

int help_print(const char *command)
{
    ui_print("%s", text_of(command));
    return EXIT_SUCCESS;
}

/* What users of perf type, where the distance of the words does not help. */
static const struct {
    const char *typed, *meant;
} perf_options[] = {{"-F", "--rate"}, {"--freq", "--rate"}, {"--all-cpus", "--all"}, {"--tid", "--thread"}};

bool help_similar_option(const char *command, const char *typed, char meant[HELP_OPTION_SIZE])
{
    const char *text = text_of(command);
    size_t least = 3; /* with more than two typos it counts as another word */
    meant[0] = '\0';
    for (size_t i = 0; i < sizeof(perf_options) / sizeof(*perf_options); i++)
        if (!strcmp(typed, perf_options[i].typed) && strstr(text, perf_options[i].meant))
            return snprintf(meant, HELP_OPTION_SIZE, "%s", perf_options[i].meant) > 0;
    for (const char *at = text; (at = strstr(at, " --")) != NULL;) {
        char option[HELP_OPTION_SIZE];
        size_t length = strspn(++at, "-abcdefghijklmnopqrstuvwxyz");
        if (length >= sizeof(option))
            continue;
        snprintf(option, sizeof(option), "%.*s", (int)length, at);
        bool is_beginning = strlen(typed) > 3 && !strncmp(option, typed, strlen(typed));
        size_t distance = is_beginning ? 0 : typing_distance(typed, option);
        if (distance >= least || distance + 2 >= length)
            continue;
        least = distance;
        memcpy(meant, option, sizeof(option));
    }
    return meant[0];
}

static void print_overview(void)
{
    puts("usage: prof COMMAND [OPTIONS] [ARGUMENTS]\n"
         "\n"
         "Sampling profiler: records programs and shows their profiles in the browser.\n");
    for (const struct command *command = commands; command < commands_end; command++)
        ui_print("  prof %-11s %s\n", command->name, command->summary);
    puts("\n"
         "  prof record ./program arguments   profile it\n"
         "  prof load profile.json.gz         show the profile again\n"
         "\n"
         "'prof help COMMAND' shows the options of a command, 'prof --version' the version, 'prof --licenses' the "
         "licenses.");
}

int cmd_help(int argc, char **argv)
{
    if (argc < 2) {
        print_overview();
        return EXIT_SUCCESS;
    }
    if (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h"))
        return help_print("help");
    if (argv[1][0] == '-')
        return ui_usage("help", "there is no option %s", argv[1]);
    if (argc > 2)
        return ui_usage("help", "give one command, not %d", argc - 1);
    return command_find(argv[1]) ? help_print(argv[1]) : command_unknown(argv[1]);
}
