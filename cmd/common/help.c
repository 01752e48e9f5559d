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
    "  -P, --port PORT           serve on PORT; PORT+: the first free port from it on (3000+); 0: any free port\n"     \
    "      --new-address         use a new address this time, not the usual one of this profile\n"                     \
    "      --no-cache            ignore the cache of names, ~/.cache/prof\n"                                           \
    "      --symbol-dir DIR      look for debug files there first; can be given several times\n"                       \
    "      --debuginfod URL      fetch missing debug files and sources from that server (DEBUGINFOD_URLS)\n"           \
    "      --source-map OLD=NEW  look for source files of the folder OLD in NEW; can be given several times\n"         \
    "      --ui hosted|DIR       open the profile in the Firefox Profiler, or in the front-end in DIR\n"

/* The transforms of cmd/report/report_transforms.c. */
#define TRANSFORMS_HELP                                                                                                \
    "\n"                                                                                                               \
    "Transforms, applied in the order given, before the search; each can be given several times:\n"                    \
    "\n"                                                                                                               \
    "      --merge-function FUNCTION            remove its frames; callers get their time\n"                           \
    "      --merge-matching TERMS               the same for all functions that match one of the TERMS\n"              \
    "      --focus-function FUNCTION            only samples with it, from the function down\n"                        \
    "      --focus-self FUNCTION                only samples whose leaf is it\n"                                       \
    "      --drop-function FUNCTION             drop samples with it\n"                                                \
    "      --collapse-function FUNCTION         count its callees as self time\n"                                      \
    "      --collapse-recursion FUNCTION        merge its frames and all between them\n"                               \
    "      --collapse-direct-recursion FUNCTION merge direct recursive calls into one frame\n"                         \
    "      --collapse-library LIBRARY           merge all its functions into one\n"                                    \
    "      --frames KIND                        remove frames of other kinds: user, kernel, native, jit or js\n"       \
    "      --focus-library LIBRARY              remove frames of other libraries\n"                                    \
    "      --drop-library LIBRARY               drop samples whose leaf is in it\n"                                    \
    "      --merge-library LIBRARY              remove its frames; callers get their time\n"                           \
    "      --focus-category CATEGORY            remove frames of other categories\n"                                   \
    "      --drop-category CATEGORY             drop samples whose leaf is in it\n"                                    \
    "      --merge-category CATEGORY            remove its frames; callers get their time\n"                           \
    "      --focus-subtree NAME;NAME            only what is below this path from the root (inverted: leaf)\n"         \
    "      --merge-call-node NAME;NAME          remove the frame at the end of this path\n"                            \
    "      --inside-markers TERMS               only samples inside a marker that matches TERMS\n"

/* The options of cmd/push/push_options.h. */
#define PUSH_HELP                                                                                                      \
    "      --label KEY=VALUE     an attribute of the resource, such as service.name=shop; can be given several "       \
    "times\n"                                                                                                          \
    "      --header HEADER       'Name: value', or @FILE with such lines, for credentials; can be given several "      \
    "times\n"                                                                                                          \
    "      --timeout TIME        of one request (10s)\n"                                                               \
    "      --retry-for TIME      try again for so long while the server is down or busy (60s)\n"                       \
    "      --queue DIR           where profiles wait (~/.local/state/prof/push)\n"                                     \
    "      --queue-size SIZE     the most that waits: beyond it the oldest is dropped (64M)\n"

/* The formats of lib/export/exporters.c. */
#define EXPORT_FORMATS_HELP                                                                                            \
    "                           html          a page that needs nothing else, for any browser (.html)\n"               \
    "                           profile       a profile for prof and the Firefox Profiler (.json.gz, .json)\n"         \
    "                           pprof         for 'go tool pprof' (.pb.gz)\n"                                          \
    "                           collapsed     a line for each stack, for flamegraph.pl (.collapsed, .folded)\n"        \
    "                           speedscope    for speedscope.app (.speedscope.json)\n"                                 \
    "                           perf-script   text as 'perf script' prints it (.perf)\n"                               \
    "                           chrome-trace  for Chrome's developer tools and Perfetto (.trace.json)\n"               \
    "                           jslb          a profile for prof, samply and the Firefox Profiler (.jslb)\n"           \
    "                           svg           the flame graph, for a browser (.svg)\n"                                 \
    "                           otlp          OpenTelemetry profiles, v1development (.otlp)\n"                         \
    "                           csv           a table: the call tree, or one of the options below (.csv)\n"

/* Which samples of a comparison count, and what. */
#define COMPARED_SAMPLES_HELP                                                                                          \
    "      --on-cpu               count CPU time, the default of recordings with waits (--weight cpu-time)\n"          \
    "      --off-cpu              count the time in which threads waited (--weight off-cpu-time)\n"                    \
    "      --both                 count both, all the time that threads were there (--weight time)\n"                  \
    "      --weight WEIGHT        what a sample counts, as in 'prof report'\n"                                         \
    "  -t, --thread NAME          only threads with this tid or name, of both sides; several times: them all\n"        \
    "      --search TERMS         only stacks that match all of the terms, separated by commas\n"                      \
    "      --range FROM,TO        only samples from FROM to TO of each run, in seconds after its start (or 200ms)\n"

/* The options of cmd/report/comparing.h. */
#define COMPARING_HELP                                                                                                 \
    "      --by WHAT              make that the same on both sides: none (the default), samples, cpu-time, "           \
    "wall-time\n"                                                                                                      \
    "                             or function:NAME\n"                                                                  \
    "      --forgive WHAT         take functions for the same that differ in templates (their arguments, <...>), in\n" \
    "                             suffixes (.isra.0, .constprop.1, .part.2, .cold, .llvm.123), or in both\n"           \
    "                             (templates,suffixes)\n"                                                              \
    "      --base-range FROM,TO   the base is only this range of its file, in seconds after the start (or 200ms)\n"    \
    "      --new-range FROM,TO    the same for the new side\n"                                                         \
    "      --base-thread NAME     the base is only the threads with this tid, index or name; several times: them "     \
    "all\n"                                                                                                            \
    "      --new-thread NAME      the same for the new side\n"

static const char record_help[] =
    "usage: prof record [OPTIONS] [--] COMMAND [ARGUMENT...]\n"
    "       prof record [OPTIONS] -p PID[,PID...]\n"
    "       prof record [OPTIONS] -a [[--] COMMAND [ARGUMENT...]]\n"
    "       prof record [OPTIONS] --recover SPOOL\n"
    "\n"
    "Runs COMMAND and samples it, its threads and its children until it ends. Saves the profile; at a terminal, also\n"
    "serves it on this machine and prints the address. Ctrl+C goes to COMMAND too; a second Ctrl+C stops the\n"
    "recording at once. Either way the profile is saved. With -p, records processes that run already, until they\n"
    "end or Ctrl+C, which does not end them. With -a, records all processes of the system, until COMMAND ends or\n"
    "Ctrl+C.\n"
    "\n"
    "  -o, --output FILE         save there (profile.json.gz; a name without .gz is saved uncompressed;\n"
    "                            -: the standard output, and COMMAND's goes to the standard error)\n"
    "  -p, --pid PID             record this process, its threads and its children to come; several times: them all\n"
    "  -a, --all                 record all processes (as root, or where kernel.perf_event_paranoid is 0 or below)\n"
    "      --cgroup PATH         the same, but only the processes in that cgroup and the ones below it\n"
    "      --no-inherit          only COMMAND or the processes of -p, not the children that they start\n"
    "      --follow-daemons      record until the children have ended, too, that COMMAND leaves in the background\n"
    "      --thread NAME         only threads with that name, or pattern ('worker-*'); several times: them all\n"
    "      --cpu LIST            only what runs on these CPUs (0-3,8)\n"
    "  -r, --rate HZ             samples per second of CPU time, for each thread (1000)\n"
    "  -e, --event EVENT[,...]   sample also these events, beside CPU time: page-faults, sched:sched_switch,\n"
    "                            uprobe:PATH:FUNCTION ... ('prof events' lists them); several times: them all\n"
    "      --no-cpu-samples      sample only the events of -e; CPU time is counted, and not sampled\n"
    "      --period N            one sample for N events of -e (tracepoints and probes 1, others as often as CPU "
    "time)\n"
    "  -d, --duration SECONDS    stop recording after that time, and end COMMAND; with -p, the process goes on\n"
    "      --off-cpu yes|no      record also where threads wait, and for what (yes; with -a: no)\n"
    "      --python yes|no       read the frames of Python code (yes)\n"
    "      --wakers              note who ends each wait, where the kernel allows it\n"
    "      --counters LIST       what is counted beside the samples: cpu, memory, faults, io, switches, threads, "
    "system,\n"
    "                            power, with commas between; or all, or none (all)\n"
    "      --env NAME            save the value of this environment variable in the profile; several times: them all\n"
    "      --no-host             do not save the name of this machine, nor the working folder\n"
    "      --sampler SAMPLER     perf: perf events; ptrace: stop the threads to sample them; auto: perf events where\n"
    "                            they are permitted, else ptrace (auto)\n"
    "      --paused              start paused, until 'prof ctl resume' or SIGUSR2\n"
    "      --delay SECONDS       start paused for that time; -d counts from its end\n"
    "      --iterations N        run COMMAND N times, one after the other, into one profile; stop if one fails\n"
    "      --last TIME|SIZE      keep only the newest 30s, 5min or 64M (a flight recorder); 'prof ctl snapshot' or\n"
    "                            SIGUSR1 saves a profile of them at any time\n"
    "      --max-size SIZE       stop recording when it has that size (500M); COMMAND goes on\n"
    "      --live                open the page at once, and have it follow the recording\n"
    "      --push URL            at the end, send the profile to a server that takes OpenTelemetry profiles; 'env': "
    "to\n"
    "                            that of OTEL_EXPORTER_OTLP_ENDPOINT\n"
    "      --every TIME          with --push: send what was recorded so often (60s), while it records\n" PUSH_HELP
    "  -s, --save-only           do not serve; exit with the exit status of COMMAND; with -p, with 0\n"
    "  -q, --quiet               say nothing but failures, and the address of the page\n"
    "  -v, --verbose             at the end, say all that the profile says about the quality of its data\n" SERVING_HELP
    "      --recover SPOOL       save the profile of a spool file that a killed prof left behind\n";

static const char load_help[] =
    "usage: prof load [OPTIONS] FILE\n"
    "       prof load [OPTIONS] BASE NEW\n"
    "       prof load [OPTIONS] BASE... -- NEW...\n"
    "\n"
    "Serves a saved profile on this machine and prints the address, until Ctrl+C. Reads what prof, samply and the\n"
    "Firefox Profiler save (processed format, from version 1 on), plain or gzip. Shows a profile without names, as\n"
    "samply saves it, with the names that this machine knows. FILE may also be the spool file of a recording that\n"
    "was not saved, because its prof was killed, or that still runs; or the perf.data file of perf record. Opens the\n"
    "text of perf script, pprof, collapsed stacks, speedscope, V8, Chrome trace and Gecko files, too.\n"
    "With two files, or those of two sides around '--', shows their comparison: see 'prof help diff'.\n"
    "\n" COMPARING_HELP SERVING_HELP;

static const char symbolicate_help[] =
    "usage: prof symbolicate [OPTIONS] FILE\n"
    "\n"
    "Looks up the addresses of a saved profile in the programs, libraries and debug files of this machine, and\n"
    "saves the profile with the names, lines and inlined calls that it finds; other addresses stay as they are.\n"
    "Lists the libraries that have addresses without a name, and says why. With the spool file of a recording that\n"
    "was not saved, or the perf.data file of perf record, saves its profile; that needs -o.\n"
    "\n"
    "  -o, --output FILE     save there (otherwise FILE is replaced; a name without .gz is saved uncompressed)\n"
    "      --check           save nothing; list the addresses on which prof's reader of DWARF and libdw disagree\n"
    "      --no-cache        ignore the cache of names, ~/.cache/prof\n"
    "      --symbol-dir DIR  look for debug files there first; can be given several times\n"
    "      --debuginfod URL  fetch missing debug files from that server (DEBUGINFOD_URLS)\n";

static const char report_help[] =
    "usage: prof report [OPTIONS] FILE\n"
    "\n"
    "Prints a saved profile in the terminal: a header, the busiest threads, and the call tree with the numbers of\n"
    "the page. The tree is indented only where it branches. FILE '-' is the standard input. FILE may also be the\n"
    "spool file of a recording that was not saved, because its prof was killed, or that still runs; or the\n"
    "perf.data file of perf record.\n"
    "\n"
    "      --inverted         callers below callees: where the time was spent, and who called it\n"
    "      --functions        a list of functions instead of a tree, by self time\n"
    "      --libraries        the same for libraries\n"
    "      --categories       the same for categories\n"
    "      --threads          all processes and threads, with their CPU time\n"
    "      --butterfly NAME   callers and callees of a function; lib:NAME or category:NAME for all of one\n"
    "      --hot-lines        the source lines of all files with the most self time\n"
    "      --lines FILE       the lines of a source file with their time; FILE is a path or the last parts of one\n"
    "      --annotate NAME    the machine code of a function with the time of each instruction, and its source lines\n"
    "      --markers          the markers by their start; --search then looks for one of its terms in their name,\n"
    "                         category, type or fields; name:term or field:term looks in that alone\n"
    "      --counters         what was counted: CPU time, memory, page faults, bytes read and written, switches\n"
    "      --waits[=BY]       what the threads waited for; BY is object (the default), reason, stack, thread\n"
    "                         or waker\n"
    "      --on-cpu           count CPU time, the default of recordings with waits (--weight cpu-time)\n"
    "      --off-cpu          count the time in which threads waited (--weight off-cpu-time)\n"
    "      --both             count both, all the time that threads were there (--weight time)\n"
    "      --weight WEIGHT    what a sample counts: samples, time, cpu-time, off-cpu-time, on-cpu or off-cpu;\n"
    "                         of files with allocations also bytes, see prof-report(1); the name of an event\n"
    "                         that was recorded with -e: how often it happened\n"
    "  -t, --thread NAME      only threads with this tid, index or name (a part of the name if none has all of it);\n"
    "                         can be given several times\n"
    "      --search TERMS     only stacks that match all of the terms, separated by commas, by the name of a\n"
    "                         function, file or library; -term excludes, \"term\" is the whole name, /term/ a\n"
    "                         regular expression, lib:term and file:term match only libraries and files\n"
    "      --range FROM,TO    only samples from FROM to TO, in seconds after the start (or 200ms); either is\n"
    "                         optional\n"
    "      --depth LEVELS     no deeper than that (inverted: 8)\n"
    "      --min-percent P    no branches below that percentage of the total (0.5)\n"
    "      --limit ROWS       at most so many rows, 0 for all (400, functions 60)\n"
    "      --json             all rows as JSON, for scripts\n"
    "  -v, --verbose          all that the profile says about the recording and the quality of its data\n"
    "      --color[=WHEN]     colors: auto (on a terminal), always or never\n"
    "      --no-pager         do not start a pager (PROF_PAGER, PAGER or less)\n"
    "      --symbol-dir DIR   with --annotate: look for code and debug info there first; can be given several times\n"
    "      --debuginfod URL   with --annotate: fetch missing debug files and sources from that "
    "server\n" TRANSFORMS_HELP;

static const char diff_help[] =
    "usage: prof diff [OPTIONS] BASE NEW\n"
    "       prof diff [OPTIONS] BASE... -- NEW...\n"
    "       prof diff [OPTIONS] --base-range FROM,TO --new-range FROM,TO FILE\n"
    "       prof diff [OPTIONS] --base-thread NAME --new-thread NAME FILE\n"
    "\n"
    "Compares two profiles, function by function: what each side counts, and the change, the largest first. Functions\n"
    "are the same by name, library and file. Several files of one side, and the runs of 'prof record --iterations',\n"
    "count as their mean. 'prof load BASE NEW' shows the same in the page.\n"
    "\n" COMPARING_HELP "      --self                 list functions by the change of their self time (the default)\n"
    "      --total                list them by the change of their total time\n"
    "      --tree                 the call tree instead of a list\n"
    "      --inverted             the same with callers below callees\n"
    "      --hot-lines            the source lines of all files by the change of their self time\n"
    "      --lines FILE           the lines of a source file; FILE is a path or the last parts of one\n"
    "      --libraries            a list of libraries\n"
    "      --categories           a list of categories\n"
    "      --butterfly NAME       callers and callees of a function; lib:NAME or category:NAME for all of one\n"
    "      --functions            a list of functions (the default)\n" COMPARED_SAMPLES_HELP
    "      --depth LEVELS         no deeper than that (inverted: 8)\n"
    "      --min-percent P        nothing with a change below that percentage of the base's total (0.5)\n"
    "      --limit ROWS           at most so many rows, 0 for all (400, functions 60)\n"
    "      --json                 all rows as JSON, for scripts\n"
    "      --color[=WHEN]         colors: auto (on a terminal), always or never\n"
    "      --no-pager             do not start a pager (PROF_PAGER, PAGER or less)\n"
    "      --symbol-dir DIR       look for debug files of unsaved recordings there first\n"
    "      --debuginfod URL       fetch missing debug files from that server\n" TRANSFORMS_HELP;

static const char check_help[] =
    "usage: prof check [OPTIONS] --fail-if LIMIT BASE NEW\n"
    "       prof check [OPTIONS] --fail-if LIMIT BASE... -- NEW...\n"
    "\n"
    "Compares two profiles, as 'prof diff' does, and exits with 3 if a limit is exceeded (with 1 after a failure, with "
    "2\n"
    "after wrong usage). A change within noise exceeds no limit; the result is 'cannot tell'. Record several runs of\n"
    "both sides (prof record --iterations 10) to make noise small.\n"
    "\n"
    "      --fail-if LIMIT        fail if this is so; can be given several times:\n"
    "                             total > +3%                 all functions together take 3% more than before\n"
    "                             self(parse*) > 20%          those functions have a share of more than 20%\n"
    "                             total(render) > +20ms       the function and what it calls take 20 ms more\n"
    "                             total(render) > 500ms       they take more than 500 ms\n"
    "      --strict               exit with 4 if a limit is neither kept nor exceeded for certain\n"
    "      --markdown             print the result for a pull request\n"
    "      --json                 print the result for scripts\n"
    "      --junit FILE           write JUnit's XML there, too, with a test for each limit\n" COMPARING_HELP
        COMPARED_SAMPLES_HELP "      --symbol-dir DIR       look for debug files of unsaved recordings there first\n"
    "      --debuginfod URL       fetch missing debug files from that server\n" TRANSFORMS_HELP;

static const char export_help[] =
    "usage: prof export [OPTIONS] FILE\n"
    "\n"
    "Writes a saved profile in the format of another tool, with the samples that the options leave, as 'prof report'\n"
    "counts them. FILE '-' is the standard input. prof-export(1) describes the formats.\n"
    "\n"
    "      --format FORMAT    the format; needed only if the name of the output does not say it:\n" EXPORT_FORMATS_HELP
    "  -o, --output OUT       write there (-: the standard output, the default); a name that ends in .gz is packed\n"
    "      --view QUERY       with html: the view that it opens with, the part of the page's address after '?'\n"
    "      --sanitize[=PARTS] leave out homes, names, urls, arguments and sources (all, or those given with commas), "
    "and say\n"
    "                         what was left out\n"
    "      --keep-names LIBS  the same, and names of functions in other libraries than these\n"
    "      --dry-run          with --sanitize: only say what stays and what is left out, with texts before and after\n"
    "      --inverted         callers below callees, in the formats that have a tree\n"
    "      --functions        with csv: the functions instead of the call tree\n"
    "      --libraries        with csv: the libraries\n"
    "      --categories       with csv: the categories\n"
    "      --hot-lines        with csv: the source lines with the most self time\n"
    "      --markers          with csv: the markers\n"
    "      --threads          with csv: the threads, with their CPU time\n"
    "      --counters         with csv: what was counted\n"
    "      --waits[=BY]       with csv: what the threads waited for; BY as in the report\n"
    "      --on-cpu           count CPU time, the default of recordings with waits (--weight cpu-time)\n"
    "      --off-cpu          count the time in which threads waited (--weight off-cpu-time)\n"
    "      --both             count both, all the time that threads were there (--weight time)\n"
    "      --weight WEIGHT    what a sample counts; formats that hold several weights then have only that one\n"
    "  -t, --thread NAME      only threads with this tid, index or name; can be given several times\n"
    "      --search TERMS     only stacks that match all of the terms, separated by commas\n"
    "      --range FROM,TO    only samples from FROM to TO, in seconds after the start (or 200ms)\n"
    "      --symbol-dir DIR   with the spool file of a recording: look for debug files there first\n"
    "      --debuginfod URL   with the spool file of a recording: fetch missing debug files from that "
    "server\n" TRANSFORMS_HELP;

static const char push_help[] =
    "usage: prof push [OPTIONS] FILE [URL]\n"
    "       prof push [OPTIONS] --queued [URL]\n"
    "\n"
    "Sends a saved profile to a server that takes OpenTelemetry profiles over HTTP (OTLP, v1development), such as an\n"
    "OpenTelemetry Collector. URL is its address, http://HOST:4318; without it OTEL_EXPORTER_OTLP_ENDPOINT counts.\n"
    "What cannot be sent waits in a queue, and the next push to the same address sends it.\n"
    "\n"
    "      --queued              send no file, only what waits for URL\n" PUSH_HELP
    "      --symbol-dir DIR      with the spool file of a recording: look for debug files there first\n"
    "      --debuginfod URL      with the spool file of a recording: fetch missing debug files from that server\n"
    "  -q, --quiet               print only what goes wrong\n";

static const char ctl_help[] =
    "usage: prof ctl pause|resume|snapshot|stop [--all|PID]\n"
    "       prof ctl mark TEXT [--all|PID]\n"
    "       prof ctl list\n"
    "\n"
    "Asks a recording that runs to pause, to go on, to put a marker with TEXT at this moment, to save a profile of\n"
    "what it has so far (profile-1.json.gz, beside its output), or to end. PID is that of 'prof record' or of what\n"
    "it records; it is not needed if only one recording of this user runs.\n"
    "\n"
    "      --all   all recordings of this user\n";

static const char events_help[] =
    "usage: prof events [--json] [PATTERN|PROGRAM]\n"
    "\n"
    "Lists the events that 'prof record -e' can sample here for this user. Tries each, and says of those that it "
    "cannot\n"
    "have why, and which setting would allow them. With PATTERN ('sched:*', or a part of a name), lists the events "
    "that\n"
    "match, the kernel's tracepoints by name. With PROGRAM (a path, or a name as a shell finds it), lists the static\n"
    "probes (USDT) of that program or library.\n"
    "\n"
    "      --json   as JSON: events, tracepoints and probes, each with whether it is available, or the reason\n";

static const char doctor_help[] =
    "usage: prof doctor [--json] [PROGRAM]\n"
    "\n"
    "Tries what can be recorded here by this user, and says it in a line each; where something is missing, with the\n"
    "command that changes it. With PROGRAM, also what names, lines and stacks its profile will have. Exits with 0 if\n"
    "prof can record, else with 1.\n"
    "\n"
    "      --json   the same for scripts\n";

static const char help_help[] = "usage: prof help [COMMAND]\n"
                                "\n"
                                "Lists the commands, or shows the help of one.\n";

static const struct {
    const char *command, *text;
} topics[] = {
    {"record", record_help}, {"load", load_help},     {"report", report_help}, {"diff", diff_help},
    {"check", check_help},   {"export", export_help}, {"push", push_help},     {"symbolicate", symbolicate_help},
    {"ctl", ctl_help},       {"events", events_help}, {"doctor", doctor_help}, {"help", help_help},
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
         "Records what a program spends its time on, and shows it in the browser.\n");
    for (const struct command *command = commands; command < commands_end; command++)
        ui_print("  prof %-11s %s\n", command->name, command->summary);
    puts("\n"
         "  prof record ./program arguments   profile it\n"
         "  prof load profile.json.gz         look at it again\n"
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
        return ui_usage("help", "it takes one command, not %d", argc - 1);
    return command_find(argv[1]) ? help_print(argv[1]) : command_unknown(argv[1]);
}
