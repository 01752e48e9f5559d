/* Fork, exec, mapping, rename and exit records determine the processes and threads of the spool. */
#include "process/tracker.h"

#include "os/file_io.h"
#include "base/strings.h"
#include "perf_bytes.h"
#include "process/attach.h"
#include "process/proc_maps.h"
#include "spool/spool.h"
#include "support/directory.h"
#include "support/flat_records.h"

#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

size_t __sanitizer_get_current_allocated_bytes(void); /* of the address sanitizer, whose header not every gcc has */

static char path[64];

struct recording {
    struct spool_writer *spool;
    struct library_table *libraries;
    struct tracker *tracker;
};

static int make_directory(void **unused)
{
    if (make_empty_directory(unused) != 0)
        return -1;
    snprintf(path, sizeof(path), "%s/spool", directory);
    return 0;
}

static void start(struct recording *recording)
{
    assert_int_equal(spool_writer_new(&recording->spool, path, NULL), 0);
    recording->libraries = library_table_new(recording->spool);
    recording->tracker = tracker_new(recording->spool, recording->libraries);
    assert_non_null(recording->tracker);
}

static void feed(struct recording *recording, const struct record_bytes *made)
{
    struct perf_record record;
    assert_int_equal(perf_record_parse(&test_layout, made->bytes, made->size, &record), 0);
    assert_int_equal(tracker_handle_record(recording->tracker, &record, NULL), 0);
}

static void feed_exec(struct recording *recording, uint32_t pid, const char *name, uint64_t time)
{
    struct record_bytes made;
    make_comm(&made, pid, pid, name, 1, time);
    feed(recording, &made);
}

static void feed_task(struct recording *recording, uint32_t type, uint32_t pid, uint32_t parent_pid, uint32_t tid,
                      uint32_t parent_tid, uint64_t time)
{
    struct record_bytes made;
    make_task(&made, type, pid, parent_pid, tid, parent_tid, time);
    feed(recording, &made);
}

/* One line per event, as far as its kind has fields. */
static void describe(const struct spool_event *event, char *line, size_t size)
{
    switch (event->kind) {
    case SPOOL_PROCESS:
        snprintf(line, size, "process %u pid %u %s %d name %s\n", event->number, event->pid,
                 event->exec ? "exec of" : "child of", (int)event->parent, event->name);
        break;
    case SPOOL_THREAD:
        snprintf(line, size, "thread %u tid %u in %u name %s\n", event->number, event->tid, event->process,
                 event->name);
        break;
    case SPOOL_THREAD_END:
        snprintf(line, size, "end %u\n", event->number);
        break;
    case SPOOL_NAME:
        snprintf(line, size, "rename %u %s\n", event->number, event->name);
        break;
    case SPOOL_MAP:
        snprintf(line, size, "map %u %llx-%llx lib %d\n", event->number, (unsigned long long)event->start,
                 (unsigned long long)event->end, (int)event->lib_number);
        break;
    case SPOOL_LIB:
        snprintf(line, size, "lib %u %s\n", event->number, event->lib.path);
        break;
    case SPOOL_LOST:
        snprintf(line, size, "lost %llu\n", (unsigned long long)event->count);
        break;
    case SPOOL_COMMAND:
        snprintf(line, size, "command %u %s\n", event->number, event->value);
        break;
    default:
        snprintf(line, size, "info\n");
    }
}

/* Ends the recording; `text` gets what is in its spool. */
static void finish_recording(struct recording *recording, char *text, size_t size)
{
    tracker_free(recording->tracker);
    library_table_free(recording->libraries);
    assert_int_equal(spool_writer_close(recording->spool, NULL), 0);
    struct spool_reader *reader;
    assert_int_equal(spool_reader_open(&reader, path, NULL), 0);
    struct spool_event event;
    struct sample sample;
    size_t used = 0;
    text[0] = '\0';
    while (spool_reader_next(reader, &event, &sample, NULL) == SPOOL_ITEM_EVENT && used < size) {
        describe(&event, text + used, size - used);
        used += strlen(text + used);
    }
    spool_reader_close(reader);
    unlink(path);
}

static void assert_spool(struct recording *recording, const char *expected)
{
    char text[8192];
    finish_recording(recording, text, sizeof(text));
    assert_string_equal(text, expected);
}

static void test_fork_and_exec_make_processes(void **unused)
{
    (void)unused;
    struct recording recording;
    start(&recording);
    feed_exec(&recording, 100, "make", 1);
    feed_task(&recording, PERF_RECORD_FORK, 101, 100, 101, 100, 2);
    feed_exec(&recording, 101, "cc", 3);
    feed_task(&recording, PERF_RECORD_EXIT, 101, 100, 101, 100, 4);
    assert_spool(&recording, "process 0 pid 100 child of -1 name make\n"
                             "thread 0 tid 100 in 0 name make\n"
                             "process 1 pid 101 child of 0 name make\n"
                             "thread 1 tid 101 in 1 name make\n"
                             "end 1\n"
                             "process 2 pid 101 exec of 1 name cc\n"
                             "thread 2 tid 101 in 2 name cc\n"
                             "end 2\n");
}

static void test_threads_take_the_name_of_their_maker_and_their_own(void **unused)
{
    (void)unused;
    struct recording recording;
    struct record_bytes made;
    start(&recording);
    feed_exec(&recording, 100, "server", 1);
    feed_task(&recording, PERF_RECORD_FORK, 100, 100, 105, 100, 2);
    make_comm(&made, 100, 105, "worker", 0, 3);
    feed(&recording, &made);
    feed(&recording, &made); /* the same name again is nothing new */
    assert_spool(&recording, "process 0 pid 100 child of -1 name server\n"
                             "thread 0 tid 100 in 0 name server\n"
                             "thread 1 tid 105 in 0 name server\n"
                             "rename 1 worker\n");
}

/* A process lives until its last thread ends, whichever that is. */
static void test_process_outlives_its_first_thread(void **unused)
{
    (void)unused;
    struct recording recording;
    start(&recording);
    feed_exec(&recording, 100, "server", 1);
    feed_task(&recording, PERF_RECORD_FORK, 100, 100, 105, 100, 2);
    feed_task(&recording, PERF_RECORD_EXIT, 100, 1, 100, 1, 3);
    feed_task(&recording, PERF_RECORD_FORK, 100, 100, 106, 105, 4);
    feed_task(&recording, PERF_RECORD_EXIT, 100, 1, 105, 1, 5);
    feed_task(&recording, PERF_RECORD_EXIT, 100, 1, 106, 1, 6);
    feed_task(&recording, PERF_RECORD_FORK, 100, 100, 107, 1, 7); /* after its end it is another one */
    assert_spool(&recording, "process 0 pid 100 child of -1 name server\n"
                             "thread 0 tid 100 in 0 name server\n"
                             "thread 1 tid 105 in 0 name server\n"
                             "end 0\n"
                             "thread 2 tid 106 in 0 name server\n"
                             "end 1\n"
                             "end 2\n"
                             "process 1 pid 100 child of -1 name \n"
                             "thread 3 tid 107 in 1 name \n");
}

/* exec by a thread that is not the first: it takes over the number of the process, and its time on the CPU goes on. */
static void test_exec_by_another_thread_keeps_its_time(void **unused)
{
    (void)unused;
    struct recording recording;
    struct tracked_thread *thread;
    struct tracked_process *process;
    start(&recording);
    feed_exec(&recording, 100, "launcher", 1);
    feed_task(&recording, PERF_RECORD_FORK, 100, 100, 105, 100, 2);
    assert_int_equal(tracker_find_thread_and_process(recording.tracker, 100, 105, 3, &thread, &process, NULL), 0);
    thread->run.ran = 5000;
    feed_task(&recording, PERF_RECORD_EXIT, 100, 1, 100, 1, 4);
    feed_exec(&recording, 100, "program", 5);
    assert_int_equal(tracker_find_thread_and_process(recording.tracker, 100, 100, 6, &thread, &process, NULL), 0);
    assert_int_equal(process->number, 1);
    assert_int_equal(thread->run.ran, 5000);
    assert_spool(&recording, "process 0 pid 100 child of -1 name launcher\n"
                             "thread 0 tid 100 in 0 name launcher\n"
                             "thread 1 tid 105 in 0 name launcher\n"
                             "end 0\n"
                             "end 1\n"
                             "process 1 pid 100 exec of 0 name program\n"
                             "thread 2 tid 100 in 1 name program\n");
}

static void test_reused_numbers_are_new_processes(void **unused)
{
    (void)unused;
    struct recording recording;
    start(&recording);
    feed_exec(&recording, 100, "sh", 1);
    feed_task(&recording, PERF_RECORD_FORK, 101, 100, 101, 100, 2);
    /* its exit was lost */
    feed_task(&recording, PERF_RECORD_FORK, 101, 100, 101, 100, 9);
    assert_spool(&recording, "process 0 pid 100 child of -1 name sh\n"
                             "thread 0 tid 100 in 0 name sh\n"
                             "process 1 pid 101 child of 0 name sh\n"
                             "thread 1 tid 101 in 1 name sh\n"
                             "end 1\n"
                             "process 2 pid 101 child of 0 name sh\n"
                             "thread 2 tid 101 in 2 name sh\n");
}

static void test_libraries_are_noted_once_and_mapped_by_each(void **unused)
{
    (void)unused;
    struct recording recording;
    struct record_bytes made;
    struct tracked_thread *thread;
    struct tracked_process *process;
    start(&recording);
    feed_exec(&recording, 4000001, "a", 1);
    make_mmap(&made, 4000001, 0x400000, 0x1000, "/no/such/library.so", PROT_EXEC, 2);
    feed(&recording, &made);
    make_mmap(&made, 4000001, 0x500000, 0x1000, "//anon", PROT_EXEC, 3);
    feed(&recording, &made);
    make_mmap(&made, 4000001, 0x600000, 0x1000, "/no/such/data", PROT_READ, 4);
    feed(&recording, &made);
    feed_task(&recording, PERF_RECORD_FORK, 4000002, 4000001, 4000002, 4000001, 5);
    make_mmap(&made, 4000002, 0x700000, 0x1000, "/no/such/library.so", PROT_EXEC, 6);
    feed(&recording, &made);
    assert_int_equal(tracker_find_thread_and_process(recording.tracker, 4000002, 4000002, 7, &thread, &process, NULL),
                     0);
    assert_non_null(address_space_find(&process->space, 0x400800));
    assert_non_null(address_space_find(&process->space, 0x700800));
    assert_null(address_space_find(&process->space, 0x600800));
    assert_spool(&recording, "process 0 pid 4000001 child of -1 name a\n"
                             "thread 0 tid 4000001 in 0 name a\n"
                             "lib 0 /no/such/library.so\n"
                             "map 0 400000-401000 lib 0\n"
                             "map 0 500000-501000 lib -1\n"
                             "process 1 pid 4000002 child of 0 name a\n"
                             "thread 1 tid 4000002 in 1 name a\n"
                             "map 1 700000-701000 lib 0\n");
}

/* We are a process whose records nobody saw. */
static void test_sample_of_an_unknown_process_brings_its_mappings(void **unused)
{
    (void)unused;
    struct recording recording;
    struct tracked_thread *thread;
    struct tracked_process *process;
    uint32_t pid = (uint32_t)getpid();
    start(&recording);
    assert_int_equal(tracker_find_thread_and_process(recording.tracker, pid, pid, 5, &thread, &process, NULL), 0);
    assert_int_equal(process->pid, pid);
    uint64_t here = (uint64_t)(uintptr_t)test_sample_of_an_unknown_process_brings_its_mappings;
    const struct mapping *mapping = address_space_find(&process->space, here);
    assert_non_null(mapping);
    assert_non_null(mapping->module);
    char text[65536];
    finish_recording(&recording, text, sizeof(text));
    assert_non_null(strstr(text, "libc.so.6"));
    assert_non_null(strstr(text, "[vdso]"));
}

static bool knows_own_code(struct recording *recording, uint32_t pid)
{
    struct tracked_thread *thread;
    struct tracked_process *process;
    uint64_t here = (uint64_t)(uintptr_t)knows_own_code;
    assert_int_equal(tracker_find_thread_and_process(recording->tracker, pid, pid, 5, &thread, &process, NULL), 0);
    return address_space_find(&process->space, here) != NULL;
}

/* Of the many processes of a system few run. */
static void test_mappings_of_a_noted_process_are_read_with_its_first_sample(void **unused)
{
    (void)unused;
    struct recording recording;
    uint32_t pid = (uint32_t)getpid();
    char text[65536];
    for (int is_sampled = 0; is_sampled < 2; is_sampled++) {
        start(&recording);
        assert_int_equal(tracker_add_running_process_lazily(recording.tracker, pid, "self", 1, NULL), 0);
        assert_int_equal(tracker_add_running_thread(recording.tracker, pid, pid, "self", 1, NULL), 0);
        assert_true(!is_sampled || knows_own_code(&recording, pid));
        finish_recording(&recording, text, sizeof(text));
        assert_int_equal(strstr(text, "libc.so.6") != NULL, is_sampled);
    }
}

static void test_child_of_a_noted_process_has_its_mappings(void **unused)
{
    (void)unused;
    struct recording recording;
    uint32_t pid = (uint32_t)getpid();
    char text[65536];
    start(&recording);
    assert_int_equal(tracker_add_running_process_lazily(recording.tracker, pid, "self", 1, NULL), 0);
    feed_task(&recording, PERF_RECORD_FORK, 4000001, pid, 4000001, pid, 2);
    assert_true(knows_own_code(&recording, 4000001));
    finish_recording(&recording, text, sizeof(text));
}

static void test_mappings_of_another_program_are_not_those_of_a_noted_process(void **unused)
{
    (void)unused;
    struct recording recording;
    char text[1024];
    int go[2];
    assert_int_equal(pipe(go), 0);
    pid_t child = fork();
    if (!child) { /* another program once we say so */
        (void)!read(go[0], text, 1);
        execlp("sleep", "sleep", "60", NULL);
        _exit(1);
    }
    start(&recording);
    assert_int_equal(tracker_add_running_process_lazily(recording.tracker, (uint32_t)child, "self", 1, NULL), 0);
    uint64_t before = attach_identify_program(child);
    assert_int_equal(write(go[1], "", 1), 1);
    while (attach_identify_program(child) == before)
        usleep(1000);
    assert_false(knows_own_code(&recording, (uint32_t)child));
    finish_recording(&recording, text, sizeof(text));
    assert_null(strstr(text, "libc"));
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
    close(go[0]);
    close(go[1]);
}

/* Field of /proc/self/stat (proc_pid_stat(5)). */
static uint64_t stat_field(const char *text, int number)
{
    const char *at = strrchr(text, ')');
    for (int field = 2; field < number; field++)
        at = strchr(at + 1, ' ');
    return strtoull(at, NULL, 10);
}

/* What the kernel knows of our memory, as prctl(PR_SET_MM_MAP) wants it. */
static struct prctl_mm_map own_memory(void)
{
    char text[2048];
    assert_true(file_read_text("/proc/self/stat", text, sizeof(text)));
    return (struct prctl_mm_map){.start_code = stat_field(text, 26),
                                 .end_code = stat_field(text, 27),
                                 .start_stack = stat_field(text, 28),
                                 .start_data = stat_field(text, 45),
                                 .end_data = stat_field(text, 46),
                                 .start_brk = stat_field(text, 47),
                                 .brk = (uintptr_t)sbrk(0),
                                 .arg_start = stat_field(text, 48),
                                 .arg_end = stat_field(text, 49),
                                 .env_start = stat_field(text, 50),
                                 .env_end = stat_field(text, 51),
                                 .exe_fd = UINT32_MAX};
}

/* A process without arguments, as in the middle of exec, until `go` has a byte. */
static void be_in_exec(int ready, int go)
{
    struct prctl_mm_map before = own_memory(), without = before;
    without.arg_end = without.arg_start;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    prctl(PR_SET_NAME, "execs");
    char failed = prctl(PR_SET_MM, PR_SET_MM_MAP, &without, sizeof(without), 0) != 0;
    (void)!write(ready, &failed, 1);
    (void)!read(go, &failed, 1);
    prctl(PR_SET_MM, PR_SET_MM_MAP, &before, sizeof(before), 0);
    (void)!write(ready, &failed, 1);
    pause();
    _exit(0);
}

static void test_command_line_is_read_when_the_exec_is_done(void **unused)
{
    (void)unused;
    struct recording recording;
    struct record_bytes made;
    static const char wanted[] = "command 0 ";
    char text[4096], byte;
    int ready[2], go[2];
    assert_int_equal(pipe(ready), 0);
    assert_int_equal(pipe(go), 0);
    pid_t child = fork();
    if (!child)
        be_in_exec(ready[1], go[0]);
    assert_int_equal(read(ready[0], &byte, 1), 1);
    if (byte) { /* a kernel without CONFIG_CHECKPOINT_RESTORE */
        kill(child, SIGKILL);
        waitpid(child, NULL, 0);
        skip();
    }
    start(&recording);
    feed_exec(&recording, (uint32_t)child, "execs", 1);
    make_mmap(&made, (uint32_t)child, 0x10000, 0x2000, "/bin/execs", 5, 2);
    feed(&recording, &made);
    assert_int_equal(write(go[1], "", 1), 1);
    assert_int_equal(read(ready[0], &byte, 1), 1);
    feed(&recording, &made);
    feed(&recording, &made);
    finish_recording(&recording, text, sizeof(text));
    const char *command = strstr(text, wanted);
    assert_non_null(command);
    assert_null(strstr(command + 1, wanted));
    assert_non_null(strstr(command, "test_record_tracker\n"));
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
    for (int i = 0; i < 2; i++) {
        close(ready[i]);
        close(go[i]);
    }
}

/* Events of a CPU sample a thread after the record of its end. */
static void test_samples_after_the_end_of_a_thread_are_its_own(void **unused)
{
    (void)unused;
    struct recording recording;
    struct tracked_thread *thread;
    struct tracked_process *process;
    const uint64_t ms = 1000000;
    start(&recording);
    tracker_expect_samples_after_ends(recording.tracker);
    feed_exec(&recording, 4000001, "short", 1);
    feed_task(&recording, PERF_RECORD_EXIT, 4000001, 1, 4000001, 1, 2);
    assert_int_equal(tracker_find_thread_and_process(recording.tracker, 4000001, 4000001, 3, &thread, &process, NULL),
                     0);
    assert_int_equal(thread->number, 0);
    feed_task(&recording, PERF_RECORD_FORK, 4000001, 1, 4000001, 1, 4); /* the number is used again at once */
    feed_exec(&recording, 4000002, "later", 1000 * ms);
    feed_task(&recording, PERF_RECORD_EXIT, 4000001, 1, 4000001, 1, 1001 * ms);
    feed_exec(&recording, 4000003, "latest", 2000 * ms); /* a busy machine may run the end that late */
    assert_int_equal(
        tracker_find_thread_and_process(recording.tracker, 4000001, 4000001, 2000 * ms, &thread, &process, NULL), 0);
    assert_int_equal(thread->number, 1);
    feed_exec(&recording, 4000004, "last", 2100 * ms);
    assert_spool(&recording, "process 0 pid 4000001 child of -1 name short\n"
                             "thread 0 tid 4000001 in 0 name short\n"
                             "end 0\n"
                             "process 1 pid 4000001 child of -1 name \n"
                             "thread 1 tid 4000001 in 1 name \n"
                             "process 2 pid 4000002 child of -1 name later\n"
                             "thread 2 tid 4000002 in 2 name later\n"
                             "process 3 pid 4000003 child of -1 name latest\n"
                             "thread 3 tid 4000003 in 3 name latest\n"
                             "end 1\n"
                             "process 4 pid 4000004 child of -1 name last\n"
                             "thread 4 tid 4000004 in 4 name last\n");
}

static int count_end(void *count, struct tracked_process *process, struct error *err)
{
    (void)process, (void)err;
    ++*(int *)count;
    return 0;
}

static void test_a_process_ends_with_its_last_thread_although_others_outlive_their_records(void **unused)
{
    (void)unused;
    struct recording recording;
    int ends = 0;
    const struct tracker_observer observer = {.context = &ends, .ends = count_end};
    char text[256];
    start(&recording);
    tracker_expect_samples_after_ends(recording.tracker);
    tracker_set_observer(recording.tracker, &observer);
    feed_exec(&recording, 4000001, "pair", 1);
    feed_task(&recording, PERF_RECORD_FORK, 4000001, 4000001, 4000002, 4000001, 2);
    feed_task(&recording, PERF_RECORD_EXIT, 4000001, 4000001, 4000002, 4000001, 3);
    assert_int_equal(ends, 0);
    feed_task(&recording, PERF_RECORD_EXIT, 4000001, 1, 4000001, 1, 4);
    assert_int_equal(ends, 1);
    finish_recording(&recording, text, sizeof(text));
}

/* Returns whether the tracker learned of a mapping from a stack with this leaf. */
static bool check_leaf(struct recording *recording, struct tracked_process *process, uint64_t pc, uint64_t time)
{
    const struct tracked_stack stack = {.pcs = &pc, .count = 1};
    bool changed;
    assert_int_equal(tracker_check_stack(recording->tracker, process, &stack, time, &changed, NULL), 0);
    return changed;
}

static bool refresh(struct recording *recording, struct tracked_process *process, uint64_t time)
{
    return check_leaf(recording, process, 0x1000, time);
}

static void test_mappings_are_read_again_after_losses(void **unused)
{
    (void)unused;
    struct recording recording;
    struct record_bytes made;
    struct tracked_thread *thread;
    struct tracked_process *process;
    uint32_t pid = (uint32_t)getpid();
    start(&recording);
    feed_exec(&recording, pid, "self", 1);
    assert_int_equal(tracker_find_thread_and_process(recording.tracker, pid, pid, 2, &thread, &process, NULL), 0);
    assert_false(refresh(&recording, process, 3));
    make_lost(&made, 17, 4);
    feed(&recording, &made);
    assert_true(refresh(&recording, process, 5));
    assert_false(refresh(&recording, process, 6));
    uint64_t here = (uint64_t)(uintptr_t)test_mappings_are_read_again_after_losses;
    assert_non_null(address_space_find(&process->space, here));
    char text[65536];
    finish_recording(&recording, text, sizeof(text));
    assert_non_null(strstr(text, "lost 17\n"));
}

/* A program maps memory in ever new places, and no record reports that the old ones are gone. */
static void test_mappings_of_a_process_are_bounded(void **unused)
{
    (void)unused;
    enum { RECORDS = 200000, MOST = 65536, PAGE = 4096 };
    struct recording recording;
    struct record_bytes made;
    struct tracked_thread *thread;
    struct tracked_process *process;
    uint32_t pid = (uint32_t)getpid();
    start(&recording);
    assert_int_equal(tracker_find_thread_and_process(recording.tracker, pid, pid, 1, &thread, &process, NULL), 0);
    for (uint64_t i = 0; i < RECORDS; i++) {
        make_mmap(&made, pid, 0x10000 + (RECORDS - i) * 2 * PAGE, PAGE, "//anon", PROT_EXEC, 2 + i * 1000000);
        feed(&recording, &made);
        assert_true(process->space.count <= MOST);
    }
    uint64_t here = (uint64_t)(uintptr_t)test_mappings_of_a_process_are_bounded;
    const uint64_t later = UINT64_C(1000) * 1000 * 1000 * 1000;
    assert_null(address_space_find(&process->space, here));
    assert_true(check_leaf(&recording, process, here, later));
    assert_non_null(address_space_find(&process->space, here)->module);
    char text[256];
    finish_recording(&recording, text, sizeof(text));
}

static void count_excess(void *context, struct tracked_process *process)
{
    (void)process;
    ++*(unsigned *)context;
}

/* A process maps memory as fast as it can: the spool has the first mappings, and those that its stacks pass through. */
static void test_process_that_maps_too_often_is_asked_for_mappings(void **unused)
{
    (void)unused;
    enum { RECORDS = 200000, MOST = 65536, PAGE = 4096, CHILD = 4000001 };
    struct recording recording;
    struct record_bytes made;
    struct tracked_thread *thread;
    struct tracked_process *process;
    uint32_t pid = (uint32_t)getpid();
    unsigned excesses = 0;
    start(&recording);
    tracker_set_observer(recording.tracker,
                         &(struct tracker_observer){.context = &excesses, .maps_too_often = count_excess});
    assert_int_equal(tracker_find_thread_and_process(recording.tracker, pid, pid, 1, &thread, &process, NULL), 0);
    for (uint64_t i = 0; i < RECORDS; i++) {
        assert_true(!excesses || i > MOST / 2);
        make_mmap(&made, pid, 0x10000 + i % 100 * 2 * PAGE, PAGE, "//anon", PROT_EXEC, 2 + i);
        feed(&recording, &made);
    }
    assert_true(excesses);
    uint64_t here = (uint64_t)(uintptr_t)test_process_that_maps_too_often_is_asked_for_mappings;
    struct mapping wrong = {.start = here & ~UINT64_C(4095), .end = here + 1, .lib = MAPPING_NO_LIB};
    assert_true(address_space_map(&process->space, &wrong));
    assert_true(check_leaf(&recording, process, here, RECORDS + 10));
    assert_non_null(address_space_find(&process->space, here)->module);
    feed_task(&recording, PERF_RECORD_FORK, CHILD, pid, CHILD, pid, RECORDS + 20);
    assert_int_equal(
        tracker_find_thread_and_process(recording.tracker, CHILD, CHILD, RECORDS + 21, &thread, &process, NULL), 0);
    assert_true(process->exceeds_mappings); /* it has the stale mappings of its parent */
    make_mmap(&made, CHILD, 0x100000000, PAGE, "//anon", PROT_EXEC, RECORDS + 22);
    feed(&recording, &made);
    assert_null(address_space_find(&process->space, 0x100000000));
    static char text[MOST * 128];
    finish_recording(&recording, text, sizeof(text));
    size_t maps = 0;
    for (const char *at = text; (at = strstr(at, "map 0 ")); at++)
        maps++;
    assert_in_range(maps, MOST / 2, MOST + 2);
}

static void test_short_processes_leave_nothing(void **unused)
{
    (void)unused;
    struct recording recording;
    start(&recording);
    feed_exec(&recording, 100, "sh", 1);
    size_t before = 0;
    for (uint32_t i = 0; i < 20000; i++) {
        if (i == 10000)
            before = __sanitizer_get_current_allocated_bytes();
        uint32_t pid = 1000 + i % 30000;
        feed_task(&recording, PERF_RECORD_FORK, pid, 100, pid, 100, 2 + i);
        feed_exec(&recording, pid, "true", 2 + i);
        feed_task(&recording, PERF_RECORD_EXIT, pid, 100, pid, 100, 2 + i);
    }
    assert_true(__sanitizer_get_current_allocated_bytes() < before + 100000);
    char text[256];
    finish_recording(&recording, text, sizeof(text));
}

static void test_number_of_a_thread_whose_end_was_lost_is_used_again(void **unused)
{
    (void)unused;
    struct recording recording;
    start(&recording);
    feed_exec(&recording, 100, "first", 1);
    feed_task(&recording, PERF_RECORD_FORK, 100, 100, 101, 100, 2);
    feed_exec(&recording, 101, "second", 3); /* and 101 is a process */
    feed_task(&recording, PERF_RECORD_EXIT, 101, 100, 101, 100, 4);
    assert_spool(&recording, "process 0 pid 100 child of -1 name first\n"
                             "thread 0 tid 100 in 0 name first\n"
                             "thread 1 tid 101 in 0 name first\n"
                             "process 1 pid 101 child of -1 name second\n"
                             "end 1\n"
                             "thread 2 tid 101 in 1 name second\n"
                             "end 2\n");
}

static double cpu_seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

/* CPU seconds for 500 processes that come, become another program and go; the least of a few tries. */
static double time_of_execs(struct recording *recording)
{
    double least = 1e9;
    for (int round = 0; round < 10; round++) {
        double before = cpu_seconds();
        for (uint32_t pid = 50000; pid < 50500; pid++) {
            feed_task(recording, PERF_RECORD_FORK, pid, 100, pid, 100, 10);
            feed_exec(recording, pid, "true", 11);
            feed_task(recording, PERF_RECORD_EXIT, pid, 100, pid, 100, 12);
        }
        double took = cpu_seconds() - before;
        least = took < least ? took : least;
    }
    return least;
}

static void test_exec_costs_the_same_beside_ten_thousand_threads(void **unused)
{
    (void)unused;
    struct recording recording;
    start(&recording);
    feed_exec(&recording, 100, "server", 1);
    double alone = time_of_execs(&recording);
    for (uint32_t tid = 101; tid <= 10100; tid++)
        feed_task(&recording, PERF_RECORD_FORK, 100, 100, tid, 100, 2);
    double among_threads = time_of_execs(&recording);
    char text[256];
    finish_recording(&recording, text, sizeof(text));
    assert_true(among_threads < 3 * alone);
}

/* ---- the parts ---- */

static void test_process_whose_name_has_two_lines_still_runs(void **unused)
{
    (void)unused;
    struct recording recording;
    char before[16], text[1024];
    start(&recording);
    prctl(PR_GET_NAME, before);
    prctl(PR_SET_NAME, "two\nlines");
    feed_exec(&recording, (uint32_t)getpid(), "two", 1);
    assert_int_equal(tracker_list_survivors(recording.tracker, text, sizeof(text)), 1);
    prctl(PR_SET_NAME, before);
    finish_recording(&recording, text, sizeof(text));
}

static void test_maps_lines(void **unused)
{
    (void)unused;
    struct perf_mapping mapping;
    char line[] = "7f0000001000-7f0000003000 r-xp 00002000 fe:01 1234   /usr/lib/a name.so (deleted)\n";
    assert_true(proc_maps_parse(line, &mapping));
    assert_int_equal(mapping.start, 0x7f0000001000);
    assert_int_equal(mapping.length, 0x2000);
    assert_int_equal(mapping.file_offset, 0x2000);
    assert_int_equal(mapping.device_major, 0xfe);
    assert_int_equal(mapping.inode, 1234);
    assert_true(mapping.executable);
    assert_string_equal(mapping.path, "/usr/lib/a name.so");
    char anonymous[] = "7f0000001000-7f0000003000 rw-p 00000000 00:00 0 \n";
    assert_true(proc_maps_parse(anonymous, &mapping));
    assert_false(mapping.executable);
    assert_string_equal(mapping.path, "");
    char wrong[] = "VmRSS: 12 kB\n";
    assert_false(proc_maps_parse(wrong, &mapping));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_fork_and_exec_make_processes),
        cmocka_unit_test(test_threads_take_the_name_of_their_maker_and_their_own),
        cmocka_unit_test(test_process_outlives_its_first_thread),
        cmocka_unit_test(test_exec_by_another_thread_keeps_its_time),
        cmocka_unit_test(test_reused_numbers_are_new_processes),
        cmocka_unit_test(test_libraries_are_noted_once_and_mapped_by_each),
        cmocka_unit_test(test_sample_of_an_unknown_process_brings_its_mappings),
        cmocka_unit_test(test_mappings_of_a_noted_process_are_read_with_its_first_sample),
        cmocka_unit_test(test_child_of_a_noted_process_has_its_mappings),
        cmocka_unit_test(test_mappings_of_another_program_are_not_those_of_a_noted_process),
        cmocka_unit_test(test_command_line_is_read_when_the_exec_is_done),
        cmocka_unit_test(test_samples_after_the_end_of_a_thread_are_its_own),
        cmocka_unit_test(test_a_process_ends_with_its_last_thread_although_others_outlive_their_records),
        cmocka_unit_test(test_mappings_are_read_again_after_losses),
        cmocka_unit_test(test_mappings_of_a_process_are_bounded),
        cmocka_unit_test(test_process_that_maps_too_often_is_asked_for_mappings),
        cmocka_unit_test(test_short_processes_leave_nothing),
        cmocka_unit_test(test_number_of_a_thread_whose_end_was_lost_is_used_again),
        cmocka_unit_test(test_exec_costs_the_same_beside_ten_thousand_threads),
        cmocka_unit_test(test_process_whose_name_has_two_lines_still_runs),
        cmocka_unit_test(test_maps_lines),
    };
    return cmocka_run_group_tests(tests, make_directory, remove_directory);
}
