/*
 * The tree of processes: on a build whose critical path and serial part are known, and on contradictory profiles.
 */
#include "support/wait_profile.h"
#include "tree/findings.h"
#include "tree/process_tree.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <math.h>

enum { MANY = 20000 };

struct scene {
    struct profile profile;
    struct wait_stacks stacks;
    struct process_tree tree;
};

static void begin(struct scene *scene)
{
    *scene = (struct scene){0};
    scene->stacks = wait_profile_make(&scene->profile);
    while (scene->profile.threads.length)
        thread_destroy(&scene->profile.threads.data[--scene->profile.threads.length]);
    scene->profile.meta.logical_cpus = 2;
}

static void end(struct scene *scene)
{
    process_tree_destroy(&scene->tree);
    profile_destroy(&scene->profile);
}

static void make_tree(struct scene *scene)
{
    struct error err;
    process_tree_destroy(&scene->tree);
    assert_int_equal(process_tree_make(&scene->tree, &scene->profile, (struct time_range){0, 100}, &err), 0);
}

/* Adds a marker to a thread without one, or with one. */
static void add_marker(struct scene *scene, struct thread *thread, const char *name, const char *payload, double start,
                       double end)
{
    enum { MOST = 2 };
    struct marker_table *markers = &thread->markers;
    size_t row = markers->length++;
    assert_true(row < MOST);
    if (row == 0) {
        markers->name = calloc(MOST, sizeof(*markers->name));
        markers->start = calloc(MOST, sizeof(*markers->start));
        markers->end = calloc(MOST, sizeof(*markers->end));
        markers->phase = calloc(MOST, sizeof(*markers->phase));
        markers->category = calloc(MOST, sizeof(*markers->category));
        markers->data = calloc(MOST, sizeof(*markers->data));
    }
    markers->name[row] = strings_add_z(&scene->profile.strings, name);
    markers->start[row] = start;
    markers->end[row] = end;
    markers->phase[row] = isnan(end) ? 0 : 1;
    markers->data[row] = strings_add_z(&scene->profile.strings, payload);
}

/* Adds a process with one thread, without rows. */
static struct thread *add_process(struct scene *scene, unsigned pid, unsigned parent, double start, double end,
                                  const char *command)
{
    char text[256];
    struct thread *thread = wait_profile_thread(&scene->profile, "main", start);
    snprintf(text, sizeof(text), "%u.1", pid);
    thread->pid = strings_add_z(&scene->profile.strings, text);
    thread->end = end;
    snprintf(text, sizeof(text), "{\"type\":\"Process\",\"process\":\"%.*s\",\"pid\":\"%u\",\"parent\":\"%u\"%s}",
             (int)strcspn(command, " "), command, pid, parent, pid == 2 ? ",\"end\":\"exit status 1\"" : "");
    add_marker(scene, thread, "Process", text, start, end);
    snprintf(text, sizeof(text), "{\"type\":\"Exec\",\"command\":\"%s\",\"pid\":\"%u\"}", command, pid);
    add_marker(scene, thread, "Exec", text, start, NAN);
    return thread;
}

static void run(struct thread *thread, uint32_t stack)
{
    for (double time = thread->start + 1; time <= thread->end; time++)
        wait_profile_run(thread, stack, time, 1);
}

static void assert_process(const struct scene *scene, uint32_t row, const char *pid, const char *argument,
                           uint32_t parent, uint32_t descendants, double cpu, double tree_cpu, double on_path)
{
    const struct process *process = &scene->tree.processes.data[row];
    assert_string_equal(process->pid, pid);
    assert_string_equal(process->argument, argument);
    assert_int_equal(process->parent, parent);
    assert_int_equal(process->descendants, descendants);
    assert_true(fabs(process->cpu - cpu) < 0.01);
    assert_true(fabs(process->tree_cpu - tree_cpu) < 0.01);
    assert_true(fabs(process->on_path - on_path) < 0.01);
    assert_int_equal(process->thread_count, 1);
    assert_int_equal(process->first_thread, row); /* each process has one thread */
}

/* Returns the number of findings about a serial part; no finding is about waits for children. Destroys the scene. */
static int count_serial_parts(struct scene *scene)
{
    struct error err;
    struct findings findings = {0};
    struct engine *engine = engine_new(&scene->profile, &err);
    assert_non_null(engine);
    uint32_t threads[8];
    struct tree_query query = {.threads = threads, .range = whole_time, .search = "", .weight = WEIGH_CPU_TIME};
    for (; query.thread_count < engine_get_profile(engine)->threads.length; query.thread_count++)
        threads[query.thread_count] = (uint32_t)query.thread_count;
    assert_int_equal(engine_set_query(engine, &query, &err), 0);
    assert_int_equal(findings_find_all(&findings, engine, &err), 0);
    int count = 0;
    for (size_t i = 0; i < findings.list.length; i++) {
        assert_int_not_equal(findings.list.data[i].kind, FINDING_WAIT);
        count += findings.list.data[i].kind == FINDING_SERIAL_PART;
    }
    findings_destroy(&findings);
    engine_free(engine);
    process_tree_destroy(&scene->tree);
    return count;
}

/* make -j2 with two slots: cc a and cc b begin together, cc huge follows b, and ld waits for a and huge. */
static void test_build(void **state)
{
    (void)state;
    struct scene scene;
    begin(&scene);
    const uint32_t work = scene.stacks.work;
    const uint32_t wait = wait_profile_call(&scene.profile, scene.stacks.main, "child", REASON_CHILD);
    wait_profile_wait(add_process(&scene, 1, 999, 0, 100, "make -j2"), wait, 0.5, 100, 0.5);
    run(add_process(&scene, 2, 1, 0, 40, "cc -c src/a.c"), work);
    run(add_process(&scene, 3, 1, 0, 30, "cc -c src/b.c"), work);
    wait_profile_wait(add_process(&scene, 4, 1, 30, 80, "cc -c src/huge.c"), wait, 30, 80, 0);
    run(add_process(&scene, 5, 4, 32, 78, "cc1 src/huge.c"), work);
    run(add_process(&scene, 6, 1, 80, 100, "ld x"), work);
    make_tree(&scene);
    assert_int_equal(scene.tree.processes.length, 6);
    assert_process(&scene, 0, "1", "", PROFILE_NONE, 5, 0.5, 136.5, 0);
    assert_process(&scene, 1, "2", "a.c", 0, 0, 40, 40, 0);
    assert_process(&scene, 2, "3", "b.c", 0, 0, 30, 30, 30);
    assert_process(&scene, 3, "4", "huge.c", 0, 1, 0, 46, 4);
    assert_process(&scene, 4, "5", "", 3, 0, 46, 46, 46);
    assert_process(&scene, 5, "6", "", 0, 0, 20, 20, 20);
    assert_string_equal(scene.tree.processes.data[1].exit, "exit status 1");
    assert_string_equal(scene.tree.processes.data[4].command, "cc1 src/huge.c");
    assert_int_equal(scene.tree.processes.data[4].depth, 2);
    assert_int_equal(scene.tree.path.length, 5); /* b, huge, cc1, huge, ld */
    assert_int_equal(scene.tree.path.data[2].process, 4);
    assert_true(scene.tree.path.data[2].from == 32 && scene.tree.path.data[2].to == 78);
    assert_true(fabs(scene.tree.parallel - 38) < 0.2); /* a and b, then a and cc1 */
    assert_true(fabs(scene.tree.idle - 2) < 0.2);
    assert_true(fabs(scene.tree.serial.from - 40) < 0.2 && fabs(scene.tree.serial.to - 100) < 0.2);
    assert_int_equal(scene.tree.serial.process, 4);
    struct text_buffer text = {0};
    struct error err;
    assert_int_equal(process_tree_append_sentence(&text, &scene.tree, &scene.profile, &err), 0);
    assert_true(text_append(&text, "", 1));
    assert_string_equal(
        text.data, "At most one process at a time runs for the last 60.0 ms of 0.100 s, mostly cc1 (1.0 of 2 CPUs).");
    array_free(&text);
    assert_int_equal(count_serial_parts(&scene), 1);
}

static void test_program_and_the_shell_that_starts_it_are_no_build(void **state)
{
    (void)state;
    struct scene scene;
    begin(&scene);
    const uint32_t wait = wait_profile_call(&scene.profile, scene.stacks.main, "child", REASON_CHILD);
    wait_profile_wait(add_process(&scene, 1, 999, 0, 100, "sh script"), wait, 0.5, 100, 0.5);
    wait_profile_wait(add_process(&scene, 2, 1, 0, 10, "sh helper"), wait, 0.5, 10, 0.5);
    run(add_process(&scene, 3, 1, 10, 100, "program"), scene.stacks.work);
    make_tree(&scene);
    assert_true(scene.tree.serial.to > scene.tree.serial.from);
    assert_int_equal(count_serial_parts(&scene), 0);
}

/* Other programs on the machine have the second CPU. */
static void test_process_that_is_ready_to_run_is_parallel(void **state)
{
    (void)state;
    struct scene scene;
    begin(&scene);
    run(add_process(&scene, 1, 999, 0, 100, "first"), scene.stacks.work);
    wait_profile_wait(add_process(&scene, 2, 999, 0, 100, "second"), scene.stacks.lookup_runnable, 0, 100, 0);
    make_tree(&scene);
    assert_true(fabs(scene.tree.parallel - 100) < 0.2);
    end(&scene);
}

static void test_child_that_ends_while_its_parent_runs_is_not_on_the_path(void **state)
{
    (void)state;
    struct scene scene;
    begin(&scene);
    run(add_process(&scene, 1, 999, 0, 100, "sh script"), scene.stacks.work);
    run(add_process(&scene, 2, 1, 0, 50, "daemon"), scene.stacks.work);
    make_tree(&scene);
    assert_int_equal(scene.tree.path.length, 1);
    assert_process(&scene, 0, "1", "", PROFILE_NONE, 1, 100, 150, 100);
    end(&scene);
}

static void test_processes_without_markers_are_roots(void **state)
{
    (void)state;
    struct scene scene;
    begin(&scene);
    wait_profile_thread(&scene.profile, "main", 0)->process_start = NAN;
    wait_profile_thread(&scene.profile, "worker", 0);
    make_tree(&scene);
    assert_int_equal(scene.tree.processes.length, 1);
    assert_string_equal(scene.tree.processes.data[0].name, "server");
    assert_int_equal(scene.tree.processes.data[0].thread_count, 2);
    end(&scene);
}

/* The parent of a process is one that lived when the process started, although its number was used again. */
static void test_number_of_a_parent_that_is_used_again(void **state)
{
    (void)state;
    struct scene scene;
    begin(&scene);
    add_process(&scene, 1, 999, 0, 40, "first");
    add_process(&scene, 2, 1, 20, 100, "child");
    add_process(&scene, 1, 999, 60, 100, "second");
    add_process(&scene, 3, 1, 80, 100, "child");
    make_tree(&scene);
    assert_string_equal(scene.tree.processes.data[1].pid, "2");
    assert_int_equal(scene.tree.processes.data[1].parent, 0);
    assert_string_equal(scene.tree.processes.data[3].pid, "3");
    assert_int_equal(scene.tree.processes.data[3].parent, 2);
    end(&scene);
}

static void test_arguments_that_name_no_file(void **state)
{
    (void)state;
    struct scene scene;
    begin(&scene);
    add_process(&scene, 1, 999, 0, 40, "compile -trimpath '/b1=>' -buildid GQqPtYzyBUN6PC1QJMMY -p internal/a");
    add_process(&scene, 2, 999, 20, 100, "compile -trimpath '/b2=>' -buildid HQqPtYzyBUN6PC1QJMMY -p internal/b");
    make_tree(&scene);
    assert_string_equal(scene.tree.processes.data[0].argument, "a");
    assert_string_equal(scene.tree.processes.data[1].argument, "b");
    end(&scene);
}

static void test_circles_and_a_long_chain(void **state)
{
    (void)state;
    struct scene scene;
    begin(&scene);
    add_process(&scene, 1, 2, 0, 100, "circle");
    add_process(&scene, 2, 1, 0, 100, "circle");
    add_process(&scene, 3, 3, 0, 100, "own parent");
    for (unsigned i = 4; i < MANY; i++)
        add_process(&scene, i, i - 1, 0, 100, "chain");
    make_tree(&scene);
    assert_int_equal(scene.tree.processes.length, MANY - 1);
    for (uint32_t i = 0; i < scene.tree.processes.length; i++)
        assert_true(scene.tree.processes.data[i].parent == PROFILE_NONE || scene.tree.processes.data[i].parent < i);
    assert_int_equal(scene.tree.processes.data[MANY - 2].depth, MANY - 4);
    end(&scene);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_build),
        cmocka_unit_test(test_program_and_the_shell_that_starts_it_are_no_build),
        cmocka_unit_test(test_process_that_is_ready_to_run_is_parallel),
        cmocka_unit_test(test_child_that_ends_while_its_parent_runs_is_not_on_the_path),
        cmocka_unit_test(test_processes_without_markers_are_roots),
        cmocka_unit_test(test_number_of_a_parent_that_is_used_again),
        cmocka_unit_test(test_arguments_that_name_no_file),
        cmocka_unit_test(test_circles_and_a_long_chain),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
