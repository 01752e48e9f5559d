/*
 * The headline and the findings of profiles whose times are known.
 */
#include "support/wait_profile.h"

#include "tree/findings.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

/* What a thread does next. Rows of one thread follow one another. */
struct row {
    const char *thread; /* "NAME" of process 100, or "NAME:PID" */
    const char *stack;  /* "LIBRARY!FUNCTION;LIBRARY!FUNCTION@FILE:LINE"; for a wait, its last frame is the object */
    int ms;
    int reason;        /* 0: it runs */
    const char *waker; /* of the wait */
    const char *ends;  /* stack of the waker */
};

static uint32_t add_library(struct profile *profile, const char *name)
{
    uint32_t text = strings_add_z(&profile->strings, name);
    for (uint32_t i = 0; i < profile->resources.length; i++)
        if (profile->resources.data[i].name == text)
            return i;
    const struct resource resource = {.name = text, .host = PROFILE_NONE, .type = 1};
    assert_true(array_push(&profile->resources, resource));
    return (uint32_t)profile->resources.length - 1;
}

static void set_place(struct profile *profile, uint32_t stack, const char *library, char *place)
{
    uint32_t frame = profile->stacks.frame[stack], func = profile->frames.func[frame];
    char *colon = place ? strchr(place, ':') : NULL;
    profile->funcs.resource[func] = add_library(profile, library);
    if (!colon)
        return;
    *colon = '\0';
    profile->frames.line[frame] = (uint32_t)atoi(colon + 1);
    const struct source source = {.filename = strings_add_z(&profile->strings, place)};
    assert_true(array_push(&profile->sources, source));
    profile->funcs.source[func] = (uint32_t)profile->sources.length - 1;
}

static uint32_t add_stack(struct profile *profile, const char *names, int reason)
{
    char text[256], *rest = text, *frame;
    uint32_t stack = PROFILE_NONE;
    snprintf(text, sizeof(text), "%s", names);
    while ((frame = strsep(&rest, ";"))) {
        char *name = strchr(frame, '!'), *place = strchr(frame, '@');
        if (name)
            *name++ = '\0';
        if (place)
            *place++ = '\0';
        stack = wait_profile_call(profile, stack, name ? name : frame, name ? -1 : reason);
        if (name)
            set_place(profile, stack, frame, place);
    }
    return stack;
}

static void add_row(struct profile *profile, const struct row *row, bool is_new, int *time)
{
    struct thread *thread = &profile->threads.data[profile->threads.length - 1];
    if (is_new) {
        char name[64], *colon;
        snprintf(name, sizeof(name), "%s", row->thread);
        if ((colon = strchr(name, ':')))
            *colon = '\0';
        thread = wait_profile_thread(profile, name, *time = 0);
        if (colon)
            thread->pid = strings_add_z(&profile->strings, colon + 1);
        assert_true(samples_give_waker(&thread->samples));
    }
    uint32_t stack = add_stack(profile, row->stack, row->reason);
    if (row->reason)
        wait_profile_wait(thread, stack, *time, *time + row->ms, 0);
    if (row->waker)
        thread->samples.waker[thread->samples.length - 1] = strings_add_z(&profile->strings, row->waker);
    if (row->ends)
        thread->samples.waker_stack[thread->samples.length - 1] = add_stack(profile, row->ends, 0);
    for (int i = 1; i <= row->ms && !row->reason; i++)
        wait_profile_run(thread, stack, *time + i, 1);
    *time += row->ms;
}

/* Of the profile of check(). */
static const char *lost; /* its number of lost samples */
static bool is_comparison;

/* Compares the headline and each finding of 100 ms, one a line. */
static void check(const struct row *rows, const char *wanted)
{
    struct profile profile;
    struct error err;
    struct findings findings = {0};
    uint32_t threads[8], count = 0;
    int time = 0;
    wait_profile_make(&profile);
    profile.categories.data[WAIT_IDLE].subcategories.data[REASON_LOCK] = strings_add_z(&profile.strings, "Mutex");
    profile.categories.data[WAIT_IDLE].subcategories.data[REASON_PAGE] = strings_add_z(&profile.strings, "Idle thread");
    profile.meta.arguments = strings_add_z(&profile.strings, "./prog 1");
    profile.meta.logical_cpus = 4;
    if (is_comparison)
        profile.meta.comparison = (struct profile_comparison){.runs = {1, 1}, .scale = 1, .scaled_by = PROFILE_NONE};
    if (lost) {
        struct extra_section *section = array_push_zero(&profile.meta.extra);
        const struct extra_entry entry = {.label = strings_add_z(&profile.strings, "Samples lost"),
                                          .value = strings_add_z(&profile.strings, lost)};
        assert_true(section && array_push(&section->entries, entry));
    }
    for (const struct row *row = rows; row->thread; row++) {
        bool is_new = row == rows || strcmp(row->thread, row[-1].thread) != 0;
        if (is_new)
            threads[count++] = (uint32_t)profile.threads.length;
        add_row(&profile, row, is_new, &time);
    }
    struct engine *engine = engine_new(&profile, &err);
    assert_non_null(engine);
    const struct tree_query query = {
        .threads = threads, .thread_count = count, .range = {0, 100}, .search = "", .weight = WEIGH_CPU_TIME};
    assert_int_equal(engine_set_query(engine, &query, &err), 0);
    assert_int_equal(findings_find_all(&findings, engine, &err), 0);
    char text[2048] = "";
    size_t used = (size_t)snprintf(text, sizeof(text), "%s", findings.headline.length ? findings.headline.data : "");
    for (size_t i = 0; i < findings.list.length; i++)
        used += (size_t)snprintf(text + used, sizeof(text) - used, "\n%s", findings.list.data[i].sentence.data);
    assert_string_equal(text, wanted);
    findings_destroy(&findings);
    engine_free(engine);
}

#define CHECK(wanted, ...) check((const struct row[]){__VA_ARGS__, {0}}, wanted)

#define IN_PROGRAM "On CPU 0.100 s of 0.100 s (100%), mostly in prog (100% of CPU time).\n"
#define ALL_HOT    "hot takes 100% of CPU time."
#define TEN_BYTES  "0123456789"
#define LONGEST                                                                                                        \
    TEN_BYTES TEN_BYTES TEN_BYTES TEN_BYTES TEN_BYTES TEN_BYTES TEN_BYTES TEN_BYTES TEN_BYTES TEN_BYTES TEN_BYTES      \
        TEN_BYTES

static void test_a_function_has_its_line(void **state)
{
    (void)state;
    CHECK(IN_PROGRAM "hot takes 65% of CPU time, 60% in a.c:12.", {"a", "prog!main;prog!hot(int)@a.c:12", 60},
          {"a", "prog!main;prog!hot(int)@a.c:13", 5}, {"a", "prog!main;prog!other@b.c:1", 35});
    CHECK(IN_PROGRAM "hot takes 27% of CPU time.", {"a", "prog!hot@a.c:1", 9}, {"a", "prog!hot@a.c:2", 9},
          {"a", "prog!hot@a.c:3", 9}, {"a", "prog!b", 24}, {"a", "prog!c", 24}, {"a", "prog!d", 25});
    CHECK("On CPU 20.0 ms of 0.100 s (20%), mostly sleeps (80% of its time).\n"
          "Thread a sleeps 80% of its time in main.\n" ALL_HOT,
          {"a", "prog!main;prog!hot", 20}, {"a", "prog!main;sleep", 80, REASON_SLEEP});
    CHECK("On CPU 19.0 ms of 0.100 s (19%), mostly sleeps (81% of its time).\n" /* too few samples */
          "Thread a sleeps 81% of its time in main.",
          {"a", "prog!main;prog!hot", 19}, {"a", "prog!main;sleep", 81, REASON_SLEEP});
}

static void test_a_function_of_the_c_library_has_its_caller(void **state)
{
    (void)state;
    CHECK("On CPU 0.100 s of 0.100 s (100%), mostly in libc.so.6 (54% of CPU time).\n"
          "memcpy (libc.so.6) takes 54% of CPU time, mostly for parse.\n"
          "Line a.c:7 in work takes 46% of CPU time.",
          {"a", "prog!main;prog!parse;libc.so.6!memcpy", 40}, {"a", "prog!main;prog!b;libc.so.6!memcpy", 14},
          {"a", "prog!main;prog!work@a.c:7", 46});
    CHECK("On CPU 0.100 s of 0.100 s (100%), mostly in prog (60% of CPU time).\n"
          "memcpy (libc.so.6) takes 40% of CPU time.",
          {"a", "prog!main;prog!b;libc.so.6!memcpy", 20}, {"a", "prog!main;prog!c;libc.so.6!memcpy", 20},
          {"a", "prog!main;prog!work@a.c:7", 14}, {"a", "prog!main;prog!work@a.c:8", 14}, {"a", "prog!main", 32});
    CHECK("On CPU 0.100 s of 0.100 s (100%), mostly in libz.so.1 (60% of CPU time).\n"
          "inflate (libz.so.1) takes 60% of CPU time.",
          {"a", "prog!main;prog!parse;libz.so.1!inflate", 60}, {"a", "prog!main;prog!parse", 40});
}

static void test_long_names_are_cut(void **state)
{
    (void)state;
    CHECK(IN_PROGRAM LONGEST " takes 100% of CPU time.", {"a", "prog!" LONGEST "0", 100});
    CHECK("On CPU 0.100 s of 0.100 s (100%), mostly in libc.so.6 (100% of CPU time).\n"
          "memcpy (libc.so.6) takes 50% of CPU time, mostly for " LONGEST ".\n"
          "Allocating and freeing memory takes 50% of CPU time, mostly for " LONGEST ".",
          {"a", "prog!main;prog!" LONGEST "0;libc.so.6!memcpy", 50},
          {"a", "prog!main;prog!" LONGEST "0;libc.so.6!free", 50});
}

static void test_memory_and_the_kernel_are_costs(void **state)
{
    (void)state;
    CHECK("On CPU 0.100 s of 0.100 s (100%), mostly in prog (84% of CPU time).\n"
          "work takes 70% of CPU time.\n"
          "Allocating and freeing memory takes 16% of CPU time, mostly for build.",
          {"a", "prog!main;prog!build;libc.so.6!malloc;libc.so.6!_int_malloc", 16}, {"a", "prog!main;prog!build", 14},
          {"a", "prog!main;prog!work", 70});
    CHECK("On CPU 0.100 s of 0.100 s (100%), mostly in prog (86% of CPU time).\n"
          "work takes 70% of CPU time.",
          {"a", "prog!main;prog!build;libc.so.6!malloc", 14}, {"a", "prog!main;prog!build", 16},
          {"a", "prog!main;prog!work", 70});
    CHECK("On CPU 0.100 s of 0.100 s (100%), mostly in prog (70% of CPU time).\n"
          "work takes 70% of CPU time.\n"
          "Allocating and freeing memory takes 30% of CPU time.",
          {"a", "prog!main;prog!b;libc.so.6!malloc", 10}, {"a", "prog!main;prog!c;libc.so.6!free", 10},
          {"a", "prog!main;prog!d;libstdc++.so.6!operator new(unsigned long)", 10}, {"a", "prog!main;prog!work", 70});
    CHECK("On CPU 0.100 s of 0.100 s (100%), mostly in [kernel.kallsyms] (75% of CPU time).\n"
          "System calls take 45% of CPU time, mostly for copy.\n"
          "Page faults take 30% of CPU time, mostly for fill.\n"
          "work takes 25% of CPU time.",
          {"a", "prog!main;prog!fill;[kernel.kallsyms]!asm_exc_page_fault;[kernel.kallsyms]!clear_page", 30},
          {"a", "prog!main;prog!copy;libc.so.6!read;[kernel.kallsyms]!do_syscall_64;[kernel.kallsyms]!vfs_read", 45},
          {"a", "prog!main;prog!work", 25});
    CHECK(IN_PROGRAM "do_syscall_64 takes 70% of CPU time.", {"a", "prog!main;prog!do_page_fault", 30},
          {"a", "prog!main;prog!do_syscall_64", 70});
}

static void test_functions_without_symbols_have_their_libraries(void **state)
{
    (void)state;
    CHECK("On CPU 0.100 s of 0.100 s (100%).\n"
          "main takes 50% of CPU time.\n"
          "50% of self time is in functions without symbols: libx.so and liby.so.",
          {"a", "prog!main;libx.so!0x1234", 30}, {"a", "prog!main;liby.so!0x12", 20}, {"a", "prog!main", 50});
    CHECK("On CPU 0.100 s of 0.100 s (100%).\n"
          "70% of self time is in functions without symbols: libx.so, liby.so, libz.so and others.\n"
          "main takes 30% of CPU time.",
          {"a", "prog!main;libx.so!0x1234", 30}, {"a", "prog!main;liby.so!0x12", 20},
          {"a", "prog!main;libz.so!0x14", 10}, {"a", "prog!main;libw.so!0x15", 5}, {"a", "prog!main;libw.so!0x16", 5},
          {"a", "prog!main", 30});
}

static void test_a_headline_names_the_lock_of_most_waits(void **state)
{
    (void)state;
    CHECK("On CPU 20.0 ms of 0.100 s (20%), mostly waits for mutex cache (80% of its time).\n"
          "Thread a waits 75% of its time for mutex cache in get.\n" ALL_HOT,
          {"a", "prog!main;prog!hot", 20}, {"a", "prog!main;prog!get;mutex cache", 75, REASON_LOCK},
          {"a", "prog!main;prog!get;mutex b", 5, REASON_LOCK});
    CHECK("On CPU 20.0 ms of 0.100 s (20%), mostly waits for a mutex (80% of its time).\n"
          "Thread a waits 45% of its time for mutex cache in get.\n"
          "Thread a waits 35% of its time for mutex b in get.\n" ALL_HOT,
          {"a", "prog!main;prog!hot", 20}, {"a", "prog!main;prog!get;mutex cache", 45, REASON_LOCK},
          {"a", "prog!main;prog!get;mutex b", 35, REASON_LOCK});
    CHECK("On CPU 20.0 ms of 0.100 s (20%).\n" /* no reason has half of the time */
          "Thread a waits 45% of its time for file x in get.\n"
          "Thread a sleeps 35% of its time in nap.\n" ALL_HOT,
          {"a", "prog!main;prog!hot", 20}, {"a", "prog!main;prog!get;file x", 45, REASON_DISK},
          {"a", "prog!main;prog!nap;sleep", 35, REASON_SLEEP});
}

static void test_waits_and_cpu_time_are_in_the_order_of_their_weight(void **state)
{
    (void)state;
    CHECK("On CPU 75.0 ms of 0.100 s (75%), mostly in prog (100% of CPU time).\n" ALL_HOT,
          {"a", "prog!main;prog!hot", 75}, {"a", "prog!main;sleep", 25, REASON_SLEEP});
    CHECK("On CPU 20.0 ms of 0.100 s (20%), mostly sleeps (60% of its time).\n"
          "Thread a sleeps 60% of its time in main.\n" ALL_HOT "\n"
          "Threads are ready to run without a CPU for 20% of their time (20.0 ms), and use 0.2 of 4 CPUs.",
          {"a", "prog!main;prog!hot", 20}, {"a", "prog!main;runnable", 20, REASON_RUNNABLE},
          {"a", "prog!main;sleep", 60, REASON_SLEEP});
    CHECK("On CPU 0.120 s in 0.100 s (1.2 of 4 CPUs), mostly in prog (100% of CPU time).\n"
          "Of 0.100 s, 80.0 ms CPU time of b in hold while a waits for mutex cache, 20.0 ms in smaller parts.\n"
          "hold takes 83% of CPU time.",
          {"a", "prog!main;prog!hot", 10}, {"a", "prog!main;prog!get;mutex cache", 80, REASON_LOCK, "b (104)"},
          {"a", "prog!main;prog!hot", 10}, {"b", "prog!main;prog!hold", 100});
}

static void test_a_run_with_little_cpu_time_has_waits_for_work(void **state)
{
    (void)state;
    CHECK("On CPU 20.0 ms of 0.100 s (20%).\n"
          "2 of 3 threads wait 100% of their time for pipe x in get.\n"
          "Thread a sleeps 80% of its time in main.\n" ALL_HOT,
          {"a", "prog!main;prog!hot", 20}, {"a", "prog!main;sleep", 80, REASON_SLEEP},
          {"b", "prog!main;prog!get(int);pipe x", 100, REASON_PIPE},
          {"c", "prog!main;prog!get(int);pipe x", 100, REASON_PIPE});
    CHECK("On CPU 40.0 ms of 0.100 s (40%).\n" ALL_HOT "\n"
          "One thread, a (103), has 100% of the CPU time; 2 others wait, mostly for pipe x in get.\n"
          "Thread a sleeps 60% of its time in main.",
          {"a", "prog!main;prog!hot", 40}, {"a", "prog!main;sleep", 60, REASON_SLEEP},
          {"b", "prog!main;prog!get(int);pipe x", 100, REASON_PIPE},
          {"c", "prog!main;prog!get(int);pipe x", 100, REASON_PIPE});
    CHECK("On CPU 20.0 ms of 0.100 s (20%).\n" ALL_HOT "\n"
          "One thread, a (103), has 100% of the CPU time; 2 others wait, mostly for pipe x in get.\n"
          "Threads are ready to run without a CPU for 27% of their time (80.0 ms), and use 0.2 of 4 CPUs.",
          {"a", "prog!main;prog!hot", 20}, {"a", "prog!main;runnable", 80, REASON_RUNNABLE},
          {"b", "prog!main;prog!get(int);pipe x", 100, REASON_PIPE},
          {"c", "prog!main;prog!get(int);pipe x", 100, REASON_PIPE});
}

static void test_the_holder_of_a_lock_is_named_instead_of_the_critical_path(void **state)
{
    (void)state;
    CHECK("On CPU 31.0 ms of 0.100 s (31%).\n"
          "Thread a waits 80% of its time for mutex cache in get. Its holder, thread b, mostly sleeps in hold.\n"
          "Thread b sleeps 89% of its time in hold.\n"
          "hot takes 65% of CPU time.",
          {"a", "prog!main;prog!hot", 10},
          {"a", "prog!main;prog!get(int);mutex cache", 80, REASON_LOCK, "b (104)", "prog!main;prog!hold(int)"},
          {"a", "prog!main;prog!hot", 10}, {"b", "prog!main;prog!hold(int);sleep", 89, REASON_SLEEP},
          {"b", "prog!main;prog!hold(int)", 11});
}

static void test_a_critical_path_that_stays_on_another_thread_is_a_finding(void **state)
{
    (void)state;
    CHECK("On CPU 0.130 s in 0.100 s (1.3 of 4 CPUs), mostly in prog (100% of CPU time).\n"
          "hold takes 77% of CPU time.\n"
          "Of 0.100 s, 80.0 ms CPU time of b in hold, 20.0 ms in smaller parts.\n"
          "Thread a waits 70% of its time for pipe x in put.",
          {"a", "prog!main;prog!put;pipe x", 35, REASON_PIPE, "b (104)"}, {"a", "prog!main;prog!hot", 15},
          {"a", "prog!main;prog!put;pipe x", 25, REASON_PIPE, "b (104)"}, {"a", "prog!main;prog!hot", 5},
          {"a", "prog!main;prog!put;pipe x", 10, REASON_PIPE, "b (104)"}, {"a", "prog!main;prog!hot", 10},
          {"b", "prog!main;prog!hold", 100});
    CHECK("On CPU 70.0 ms of 0.100 s (70%).\n"
          "hold takes 57% of CPU time.\n"
          "Of 0.100 s, 60.0 ms runnable, 20.0 ms CPU time of b in hold, 20.0 ms in smaller parts.\n"
          "Threads are ready to run without a CPU for 30% of their time (60.0 ms), and use 0.7 of 4 CPUs.\n"
          "Thread a waits 70% of its time for pipe x in put.",
          {"a", "prog!main;prog!put;pipe x", 35, REASON_PIPE, "b (104)"}, {"a", "prog!main;prog!hot", 15},
          {"a", "prog!main;prog!put;pipe x", 25, REASON_PIPE, "b (104)"}, {"a", "prog!main;prog!hot", 5},
          {"a", "prog!main;prog!put;pipe x", 10, REASON_PIPE, "b (104)"}, {"a", "prog!main;prog!hot", 10},
          {"b", "prog!main;prog!hold;runnable", 60, REASON_RUNNABLE}, {"b", "prog!main;prog!hold", 40});
}

static void test_a_go_program_that_waits_has_other_profiles(void **state)
{
    (void)state;
    CHECK(
        "On CPU 49.0 ms of 0.100 s (49%), mostly in prog (100% of CPU time).\n"
        "Goroutines that wait are on no thread: Go's block and mutex profiles show their waits (go tool pprof).\n" ALL_HOT,
        {"a", "prog!main.main;prog!hot", 49},
        {"a", "prog!runtime.mstart;prog!runtime.futex;idle thread", 51, REASON_PAGE},
        {"b", "prog!runtime.mstart;prog!runtime.futex;idle thread", 100, REASON_PAGE});
    CHECK("On CPU 51.0 ms of 0.100 s (51%), mostly in prog (100% of CPU time).\n" ALL_HOT,
          {"a", "prog!main.main;prog!hot", 51},
          {"a", "prog!runtime.mstart;prog!runtime.futex;idle thread", 49, REASON_PAGE},
          {"b", "prog!runtime.mstart;prog!runtime.futex;idle thread", 100, REASON_PAGE});
    CHECK("On CPU 20.0 ms of 0.100 s (20%), mostly in prog (100% of CPU time).\n" ALL_HOT, /* tokio has such threads */
          {"a", "prog!main;prog!hot", 20}, {"a", "prog!main;prog!tokio::park;idle thread", 80, REASON_PAGE});
}

static void test_a_wait_for_a_child_names_the_busiest_process(void **state)
{
    (void)state;
    CHECK("On CPU 0.100 s of 0.100 s (100%).\n"
          "Thread a waits 80% of its time for child processes in run."
          " Process b (200) has the most CPU time of the others, 50.0 ms.\n"
          "first (cc) takes 50% of CPU time.",
          {"a", "prog!main;prog!hot", 20}, {"a", "prog!main;prog!run;child", 80, REASON_CHILD},
          {"b:200", "cc!first", 50}, {"c:300", "cc!second", 30});
}

static void test_the_first_thread_that_waits_for_the_network_is_not_idle(void **state)
{
    (void)state;
    CHECK("On CPU 0.120 s in 0.100 s (1.2 of 4 CPUs), mostly in prog (100% of CPU time).\n" ALL_HOT "\n"
          "Thread a waits 80% of its time for socket x in get.",
          {"a", "prog!main;prog!hot", 20}, {"a", "prog!main;prog!get;socket x", 80, REASON_NETWORK},
          {"b", "prog!main;prog!hot", 100});
    CHECK("On CPU 0.120 s in 0.100 s (1.2 of 4 CPUs), mostly in prog (100% of CPU time).\n" ALL_HOT,
          {"b", "prog!main;prog!hot", 100}, {"a", "prog!main;prog!hot", 20},
          {"a", "prog!main;prog!get;socket x", 80, REASON_NETWORK});
}

static void test_the_use_of_cpus_is_a_finding(void **state)
{
    (void)state;
    CHECK("On CPU 0.150 s in 0.100 s (1.5 of 4 CPUs), mostly in prog (100% of CPU time).\n" ALL_HOT "\n"
          "Threads are ready to run without a CPU for 25% of their time (50.0 ms), and use 1.5 of 4 CPUs.",
          {"a", "prog!main;prog!hot", 80}, {"a", "prog!main;runnable", 20, REASON_RUNNABLE},
          {"b", "prog!main;prog!hot", 70}, {"b", "prog!main;runnable", 30, REASON_RUNNABLE});
    CHECK("On CPU 0.170 s in 0.100 s (1.7 of 4 CPUs), mostly in prog (100% of CPU time).\n" ALL_HOT,
          {"a", "prog!main;prog!hot", 85}, {"a", "prog!main;runnable", 15, REASON_RUNNABLE},
          {"b", "prog!main;prog!hot", 85}, {"b", "prog!main;runnable", 15, REASON_RUNNABLE});
    CHECK("On CPU 98.0 ms of 0.100 s (98%).\n"
          "hot takes 92% of CPU time.\n"
          "One thread, a (103), has 92% of the CPU time; 2 others wait, mostly for pipe in main.",
          {"a", "prog!main;prog!hot", 90}, {"a", "prog!main;sleep", 10, REASON_SLEEP}, {"b", "prog!main;prog!x", 4},
          {"b", "prog!main;pipe", 96, REASON_PIPE}, {"c", "prog!main;prog!x", 4},
          {"c", "prog!main;pipe", 96, REASON_PIPE});
    CHECK("On CPU 98.0 ms of 0.100 s (98%).\n" /* one other waits */
          "hot takes 92% of CPU time.",
          {"a", "prog!main;prog!hot", 90}, {"a", "prog!main;sleep", 10, REASON_SLEEP}, {"b:200", "prog!main;prog!x", 4},
          {"b:200", "prog!main;pipe", 96, REASON_PIPE}, {"c", "prog!main;prog!x", 4},
          {"c", "prog!main;pipe", 96, REASON_PIPE});
}

static void test_lost_samples_are_a_finding(void **state)
{
    (void)state;
    lost = "32";
    CHECK(IN_PROGRAM ALL_HOT "\n20.0% of the samples were lost.", {"a", "prog!main;prog!hot", 100});
    lost = "1";
    CHECK(IN_PROGRAM ALL_HOT, {"a", "prog!main;prog!hot", 100});
    lost = NULL;
}

static void test_a_comparison_has_no_findings(void **state)
{
    (void)state;
    is_comparison = true;
    CHECK("", {"a", "prog!main;prog!hot", 100});
    is_comparison = false;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_function_has_its_line),
        cmocka_unit_test(test_a_function_of_the_c_library_has_its_caller),
        cmocka_unit_test(test_long_names_are_cut),
        cmocka_unit_test(test_memory_and_the_kernel_are_costs),
        cmocka_unit_test(test_functions_without_symbols_have_their_libraries),
        cmocka_unit_test(test_a_headline_names_the_lock_of_most_waits),
        cmocka_unit_test(test_waits_and_cpu_time_are_in_the_order_of_their_weight),
        cmocka_unit_test(test_a_run_with_little_cpu_time_has_waits_for_work),
        cmocka_unit_test(test_the_holder_of_a_lock_is_named_instead_of_the_critical_path),
        cmocka_unit_test(test_a_critical_path_that_stays_on_another_thread_is_a_finding),
        cmocka_unit_test(test_a_go_program_that_waits_has_other_profiles),
        cmocka_unit_test(test_a_wait_for_a_child_names_the_busiest_process),
        cmocka_unit_test(test_the_first_thread_that_waits_for_the_network_is_not_idle),
        cmocka_unit_test(test_the_use_of_cpus_is_a_finding),
        cmocka_unit_test(test_lost_samples_are_a_finding),
        cmocka_unit_test(test_a_comparison_has_no_findings),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
