/* Frames of libc and of runtimes, which reports of waits leave out. */
#include "tree/runtime_frames.h"

#include "profile/intern.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

/* `names`: "function" of the program or "function@library", root first; NULL ends them. */
static uint32_t count_in(const char *const *names)
{
    struct profile profile;
    struct interner interner;
    uint32_t path[16];
    size_t length = 0;
    profile_init(&profile);
    interner_init(&interner, &profile);
    for (; names[length]; length++) {
        const char *at = strchr(names[length], '@');
        size_t size = at ? (size_t)(at - names[length]) : strlen(names[length]);
        uint32_t library = strings_add_z(&profile.strings, at ? at + 1 : "program");
        struct func_row func = {.name = strings_add(&profile.strings, names[length], size),
                                .resource = intern_library_resource(&interner, library),
                                .source = PROFILE_NONE};
        path[length] = intern_func(&interner, &func);
    }
    uint32_t count = count_runtime_frames(&profile, path, length);
    interner_destroy(&interner);
    profile_destroy(&profile);
    return count;
}

#define COUNT_IN(...) count_in((const char *const[]){__VA_ARGS__, NULL})

static void test_innermost_frames_of_libc_are_counted(void **unused)
{
    (void)unused;
    assert_int_equal(COUNT_IN("start_thread@libc.so.6", "work", "pthread_mutex_lock@libc.so.6", "wait@libc-2.31.so"),
                     2);
    assert_int_equal(COUNT_IN("main", "work"), 0);
    assert_int_equal(COUNT_IN("main", "work", "zip@libcrypto.so.3"), 0);
    assert_int_equal(COUNT_IN("main", "__timedwait@ld-musl-x86_64.so.1"), 1);
}

static void test_frames_of_runtimes_in_the_program_are_counted(void **unused)
{
    (void)unused;
    assert_int_equal(COUNT_IN("work()", "void std::this_thread::sleep_for<long>(std::chrono::duration<long>)"), 1);
    assert_int_equal(
        COUNT_IN("app::main", "<std::sys::sync::mutex::futex::Mutex>::lock_contended", "syscall@libc.so.6"), 2);
    assert_int_equal(COUNT_IN("app::main", "lock_api::mutex::Mutex<R,T>::lock", "<parking_lot::raw_mutex::RawMutex>"),
                     2);
    assert_int_equal(COUNT_IN("main.main", "sync.(*Mutex).Lock", "runtime.futex"), 2);
    assert_int_equal(COUNT_IN("PortalRun", "pg_sleep", "WaitLatch", "WaitEventSetWait"), 2);
    assert_int_equal(COUNT_IN("XLogFlush", "LWLockAcquireOrWait", "PGSemaphoreLock"), 2);
    assert_int_equal(COUNT_IN("XactLockTableWait", "LockAcquireExtended", "ProcSleep", "WaitLatch"), 3);
    assert_int_equal(COUNT_IN("main", "lookup(int, std::string const&)"), 0);
    assert_int_equal(COUNT_IN("void Locks.load()", "void java.lang.Thread.sleep(long)", "JVM_Sleep@libjvm.so"), 2);
    assert_int_equal(COUNT_IN("void Locks.load()", "Interpreter", "monitorenter_nofpu Runtime1 stub"), 2);
    assert_int_equal(COUNT_IN("main", "std_sleep"), 0);
}

static void test_a_path_without_frames_of_the_program_stays_whole(void **unused)
{
    (void)unused;
    assert_int_equal(COUNT_IN("runtime.mstart", "runtime.futex"), 0);
    assert_int_equal(count_in((const char *const[]){NULL}), 0);
}

static void test_frames_of_an_interpreter_are_counted_if_it_runs_a_program(void **unused)
{
    (void)unused;
    assert_int_equal(
        COUNT_IN("main@python3.11", "consume@Python", "lock_acquire@libpython3.11.so.1.0", "sem_wait@libc.so.6"), 2);
    assert_int_equal(COUNT_IN("JavaCalls::call()@libjvm.so", "StubRoutines (1)", "Interpreter", "JVM_Sleep@libjvm.so",
                              "futex@libc.so.6"),
                     1);
    assert_int_equal(COUNT_IN("VMThread::run()@libjvm.so", "Monitor::wait(long)@libjvm.so", "futex@libc.so.6"), 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_innermost_frames_of_libc_are_counted),
        cmocka_unit_test(test_frames_of_runtimes_in_the_program_are_counted),
        cmocka_unit_test(test_a_path_without_frames_of_the_program_stays_whole),
        cmocka_unit_test(test_frames_of_an_interpreter_are_counted_if_it_runs_a_program),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
