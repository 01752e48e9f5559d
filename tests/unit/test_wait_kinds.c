/* The kind of a lock by the functions that wait for it. */
#include "assemble/wait_kinds.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

enum { IDLE = 1 };

/* A profile with one wait; the functions of its stack, innermost first, end with NULL. */
struct wait {
    struct profile profile;
    struct interner interner;
    uint32_t frame;
};

/* `reason`: of a wait; NULL: the frame is no wait. */
static uint32_t add_frame(struct wait *wait, const char *name, const char *library, const char *reason)
{
    struct func_row func = {
        .name = strings_add_z(&wait->profile.strings, name), .resource = PROFILE_NONE, .source = PROFILE_NONE};
    if (library)
        func.resource = intern_library_resource(&wait->interner, strings_add_z(&wait->profile.strings, library));
    struct frame_row frame = make_frame_row(intern_func(&wait->interner, &func));
    frame.category = reason ? IDLE : 0;
    frame.subcategory = reason ? intern_subcategory(&wait->interner, IDLE, reason) : 0;
    return intern_frame(&wait->interner, &frame);
}

static void make_wait(struct wait *wait, const char *object, const char *const *functions, const char *reason)
{
    uint32_t stack = PROFILE_NONE;
    size_t count = 0;
    profile_init(&wait->profile);
    interner_init(&wait->interner, &wait->profile);
    intern_category(&wait->interner, "User", "yellow");
    intern_category(&wait->interner, "Idle", "transparent");
    while (functions[count])
        count++;
    while (count-- > 0) {
        bool is_program = functions[count][0] == '!', is_jvm = functions[count][0] == '@';
        uint32_t frame = add_frame(wait, functions[count] + (is_program || is_jvm),
                                   is_program ? "program"
                                   : is_jvm   ? "libjvm.so"
                                              : "libc.so.6",
                                   NULL);
        stack = intern_stack(&wait->interner, stack, frame);
    }
    wait->frame = wait_kinds_add_frame(&wait->interner, stack, add_frame(wait, object, NULL, reason));
    assert_int_not_equal(wait->frame, PROFILE_NONE);
}

static void destroy_wait(struct wait *wait)
{
    interner_destroy(&wait->interner);
    profile_destroy(&wait->profile);
}

static void check_wait(const char *object, const char *const *functions, const char *reason, const char *kind,
                       const char *named)
{
    struct wait wait;
    make_wait(&wait, object, functions, reason);
    const struct profile *profile = &wait.profile;
    const struct category *idle = &profile->categories.data[IDLE];
    assert_string_equal(profile_text(profile, idle->subcategories.data[profile->frames.subcategory[wait.frame]]), kind);
    assert_string_equal(profile_text(profile, profile->funcs.name[profile->frames.func[wait.frame]]), named);
    destroy_wait(&wait);
}

#define CHECK(object, kind, named, ...)                                                                                \
    check_wait(object, (const char *const[]){__VA_ARGS__, NULL}, "Lock", kind, named)

static void test_functions_of_libc_name_the_kind(void **unused)
{
    (void)unused;
    CHECK("lock 0x10", "Mutex", "mutex 0x10", "futex_wait", "__lll_lock_wait", "___pthread_mutex_lock", "!work");
    CHECK("lock 0x10", "Mutex", "mutex 0x10", "__lll_lock_wait_private", "malloc", "!work");
    CHECK("lock 0x10", "Join", "thread 0x10", "__futex_abstimed_wait_common64", "__pthread_clockjoin_ex", "!main");
    CHECK("lock 0x10", "Semaphore", "semaphore 0x10", "__new_sem_wait_slow64.constprop.0", "!work");
    CHECK("lock 0x10", "Once", "once 0x10", "syscall", "__cxa_guard_acquire", "!instance()");
    CHECK("lock 0x14", "Barrier", "barrier 0x14", "pthread_barrier_wait", "!work");
    CHECK("lock 0x10", "Lock", "lock 0x10", "syscall", "!my_lock");
}

static void test_a_thread_to_join_needs_no_functions(void **unused)
{
    (void)unused;
    CHECK("thread reader (501)", "Join", "thread reader (501)", "0x8abb0", "!0x1234");
    CHECK("thread reader (501)", "Join", "thread reader (501)", NULL);
}

static void test_functions_of_musl_name_the_kind(void **unused)
{
    (void)unused;
    CHECK("lock 0x10", "Mutex", "mutex 0x10", "__timedwait_cp", "__timedwait", "__pthread_mutex_timedlock", "!work");
    CHECK("lock 0x10", "Condition variable", "condition variable", "__timedwait_cp", "__pthread_cond_timedwait");
    CHECK("lock table+4", "Mutex", "mutex table", "__timedwait", "pthread_mutex_timedlock", "!work");
    CHECK("lock 0x10", "Once", "once 0x10", "__wait", "__pthread_once_full", "!work");
    CHECK("lock 0x10", "Semaphore", "semaphore 0x10", "memset", "0x68b90", "sem_timedwait", "!work");
    CHECK("lock 0x10", "Join", "thread 0x10", "__timedwait_cp", "__pthread_timedjoin_np", "!main");
}

static void test_functions_that_libc_does_not_export_are_skipped(void **unused)
{
    (void)unused;
    CHECK("lock 0x28", "Condition variable", "condition variable 0x28", "0x85e50", "pthread_cond_wait", "!work");
    CHECK("lock 0x10", "Lock", "lock 0x10", "syscall", "!0x1234", "pthread_once", "!main");
    CHECK("lock 0x10", "Lock", "lock 0x10", "syscall", "!setup", "pthread_once", "!main");
}

static void test_a_condition_variable_waits_for_its_mutex_as_for_a_mutex(void **unused)
{
    (void)unused;
    CHECK("lock 0x10", "Mutex", "mutex 0x10", "__lll_lock_wait", "___pthread_mutex_cond_lock", "pthread_cond_wait");
    CHECK("lock 0x38", "Condition variable", "condition variable 0x50", "pthread_cond_signal", "!work");
    CHECK("lock pool+60", "Condition variable", "condition variable pool+80", "__condvar_quiesce_and_switch_g1",
          "___pthread_cond_signal", "!work");
    CHECK("lock ready+16", "Condition variable", "condition variable ready", "futex_wait_simple",
          "__condvar_quiesce_and_switch_g1", "pthread_cond_broadcast", "!work");
}

static void test_words_of_a_condition_variable_are_one_object(void **unused)
{
    (void)unused;
    CHECK("lock 0x28", "Condition variable", "condition variable 0x28", "pthread_cond_wait");
    CHECK("lock 0x2c", "Condition variable", "condition variable 0x28", "pthread_cond_wait");
    CHECK("lock 0x2c", "Mutex", "mutex 0x2c", "pthread_mutex_lock");
}

static void test_offsets_of_futex_words_in_variables(void **unused)
{
    (void)unused;
    CHECK("lock ready+40", "Condition variable", "condition variable ready", "pthread_cond_wait");
    CHECK("lock ready+44", "Condition variable", "condition variable ready", "pthread_cond_wait");
    CHECK("lock ready+36", "Condition variable", "condition variable ready", "pthread_cond_wait");
    CHECK("lock pool+84", "Condition variable", "condition variable pool+80", "pthread_cond_wait");
    CHECK("lock pool+84 in libx.so.1", "Condition variable", "condition variable pool+80 in libx.so.1",
          "pthread_cond_wait");
    CHECK("lock ready+44 in libx.so.1", "Condition variable", "condition variable ready in libx.so.1",
          "pthread_cond_wait");
    CHECK("lock table+12", "Read-write lock", "read-write lock table", "pthread_rwlock_wrlock");
    CHECK("lock phase+4", "Barrier", "barrier phase", "pthread_barrier_wait");
    CHECK("lock pool+8", "Mutex", "mutex pool+8", "pthread_mutex_lock");
    CHECK("lock pool+4 in libx.so", "Semaphore", "semaphore pool+4 in libx.so", "sem_wait");
    CHECK("lock operator+(int)::m", "Mutex", "mutex operator+(int)::m", "pthread_mutex_lock");
}

static void test_locks_of_cpp_name_the_kind(void **unused)
{
    (void)unused;
    CHECK("lock 0x10", "Barrier", "barrier 0x10", "syscall",
          "void std::__detail::__platform_wait<int>(int const*, int)",
          "std::__detail::__waiter_pool::_M_do_wait(int const*, int)", "std::latch::wait() const", "!work()");
    CHECK("lock 0x10", "Atomic wait", "atomic 0x10", "syscall",
          "void std::__detail::__platform_wait<int>(int const*, int)", "std::atomic<int>::wait(int, std::memory_order)",
          "!work()");
    CHECK("lock 0x10", "Future", "future 0x10", "syscall",
          "std::__atomic_futex_unsigned_base::_M_futex_wait_until(unsigned int*, unsigned int, bool)");
}

static void test_runtimes_name_the_kind(void **unused)
{
    (void)unused;
    CHECK("lock 0x10", "Mutex", "mutex 0x10", "syscall", "std::sys::pal::unix::futex::futex_wait",
          "<std::sys::sync::mutex::futex::Mutex>::lock_contended", "!work");
    CHECK("lock 0x10", "Mutex", "mutex 0x10", "runtime.futex", "runtime.futexsleep", "runtime.semasleep",
          "runtime.lock2");
    CHECK("lock _PyRuntime+436", "Mutex", "GIL", "pthread_cond_timedwait", "PyCOND_TIMEDWAIT", "take_gil",
          "_PyEval_EvalFrameDefault");
    CHECK("lock _PyRuntime+436", "Mutex", "GIL", "pthread_cond_timedwait", "!0x1234", "!PyEval_RestoreThread");
    CHECK("lock 0x14", "Mutex", "mutex 0x14", "__new_sem_wait_slow64", "PyThread_acquire_lock_timed", "acquire_timed",
          "lock_PyThread_acquire_lock", "PyObject_Vectorcall", "_PyEval_EvalFrameDefault");
    CHECK("lock 0x14", "Barrier", "barrier 0x14", "gomp_team_barrier_wait_end", "!work");
}

static void test_a_lock_with_a_word_for_each_thread_has_the_name_of_its_caller(void **unused)
{
    (void)unused;
    CHECK("lock 0x10", "Mutex", "mutex in work", "syscall", "parking_lot_core::parking_lot::park",
          "parking_lot::raw_mutex::RawMutex::lock_slow", "<parking_lot::raw_mutex::RawMutex as lock_api>::lock",
          "lock_api::mutex::Mutex<R,T>::lock", "!work");
    CHECK("lock 0x10", "Park", "park in send_row", "syscall", "std::sys::pal::unix::futex::futex_wait",
          "<std::sys::sync::thread_parking::futex::Parker>::park", "<std::thread::thread::Thread>::park",
          "<std::sync::mpmc::context::Context>::wait_until", "std::sync::mpmc::context::Context::with::{{closure}}",
          "std::thread::local::LocalKey<T>::try_with", "std::sync::mpmc::array::Channel<T>::send",
          "std::sync::mpsc::SyncSender<T>::send", "!send_row");
    CHECK("lock 0x10", "Park", "park in send_row", "syscall", "std::sys::pal::unix::futex::futex_wait",
          "<std::thread::thread::Thread>::park", "crossbeam_channel::context::Context::wait_until",
          "crossbeam_channel::channel::Sender<T>::send", "!send_row");
    CHECK("lock 0x10", "Park", "park in runtime.stoplockedm", "runtime.futex", "runtime.futexsleep",
          "runtime.notesleep", "runtime.mPark", "!runtime.stoplockedm");
    CHECK("lock 0x10", "Park", "park", "pthread_cond_wait", "Parker::park(bool, long)", "Unsafe_Park");
    CHECK("lock 0x10", "Mutex", "mutex in void Locks.load()", "pthread_cond_wait", "os::PlatformEvent::park()",
          "ObjectMonitor::EnterI(JavaThread*)", "ObjectMonitor::enter(JavaThread*)", "monitorenter_nofpu Runtime1 stub",
          "!void Locks.load()");
    CHECK("lock 0x10", "Condition variable", "condition variable in Queue.get", "__new_sem_wait_slow64",
          "PyThread_acquire_lock_timed", "Condition.wait", "!Queue.get");
}

static void test_locks_of_postgres_have_the_functions_that_take_them(void **unused)
{
    (void)unused;
    CHECK("lock 0x10", "Read-write lock", "read-write lock in XLogFlush", "__new_sem_wait_slow64.constprop.0",
          "!PGSemaphoreLock", "!0x45d8a0", "!LWLockAcquireOrWait", "!XLogFlush");
    CHECK("lock 0x10", "Read-write lock", "read-write lock in WaitXLogInsertionsToFinish", "__new_sem_wait_slow64",
          "!PGSemaphoreLock", "!LWLockWaitForVar", "!WaitXLogInsertionsToFinish");
    static const char *const row[] = {"epoll_wait", "!WaitEventSetWait",    "!WaitLatch",         "!ProcSleep",
                                      "!0x45d8a0",  "!LockAcquireExtended", "!XactLockTableWait", NULL};
    check_wait("epoll", row, "Network", "Lock", "lock in XactLockTableWait");
    static const char *const server[] = {"epoll_wait", "!WaitEventSetWait", "!WaitLatch", "!CheckpointerMain", NULL};
    check_wait("epoll", server, "Network", "Latch", "latch in CheckpointerMain");
    static const char *const condition[] = {
        "epoll_wait", "!WaitEventSetWait", "!WaitLatch", "!ConditionVariableTimedSleep", "!WaitReadBuffers", NULL};
    check_wait("epoll", condition, "Network", "Condition variable", "condition variable in WaitReadBuffers");
    static const char *const sleep[] = {"epoll_wait", "!WaitEventSetWait", "!WaitLatch", "!pg_sleep", NULL};
    check_wait("epoll", sleep, "Network", "Sleep", "sleep");
    static const char *const client[] = {"epoll_wait", "!WaitEventSetWait", "!secure_read", NULL};
    check_wait("epoll", client, "Network", "Network", "epoll");
}

static void test_sleeping_and_idle_threads_of_runtimes_wait_for_no_lock(void **unused)
{
    (void)unused;
    CHECK("lock 0x2c", "Sleep", "sleep", "pthread_cond_timedwait", "os::PlatformEvent::park(long)",
          "JavaThread::sleep(long)", "JVM_Sleep", "!void Locks.load()");
    CHECK("lock runtime.m0+344", "Idle thread", "idle thread", "runtime.futex", "runtime.futexsleep",
          "runtime.notesleep", "runtime.mPark", "runtime.stopm", "!runtime.findRunnable");
    CHECK("lock 0x10", "Idle thread", "idle thread", "!runtime.futex", "!runtime.notetsleep", "!runtime.sysmon");
    static const char *const polls[] = {"!runtime.netpoll", "!runtime.findRunnable", "!runtime.schedule", NULL};
    check_wait("epoll", polls, "Network", "Idle thread", "idle thread");
    check_wait("epoll", polls, "Runnable", "Runnable", "epoll");
    check_wait("epoll", (const char *const[]){"!runtime.netpoll", "!main.serve", NULL}, "Network", "Network", "epoll");
    check_wait("sleep", (const char *const[]){"!runtime.usleep", "!runtime.sysmon", NULL}, "Sleep", "Idle thread",
               "idle thread");
    CHECK("lock 0x10", "Idle thread", "idle thread", "syscall", "parking_lot_core::parking_lot::park",
          "parking_lot::condvar::Condvar::wait", "tokio::loom::std::parking_lot::Condvar::wait",
          "tokio::runtime::scheduler::multi_thread::park::Inner::park_condvar", "!work");
    CHECK("lock 0x10", "Idle thread", "idle thread", "syscall", "std::sys::pal::unix::futex::futex_wait",
          "std::sys::sync::condvar::futex::Condvar::wait", "std::sync::poison::condvar::Condvar::wait",
          "rayon_core::sleep::Sleep::sleep");
    CHECK("lock 0x2c", "Idle thread", "idle thread", "pthread_cond_wait", "@os::PlatformMonitor::wait(long)",
          "@Monitor::wait(long)", "@CompileQueue::get()", "@CompileBroker::compiler_thread_loop()");
    CHECK("lock 0x10", "Condition variable", "condition variable 0x10", "pthread_cond_wait", "!WorkerThread::run()");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_functions_of_libc_name_the_kind),
        cmocka_unit_test(test_a_thread_to_join_needs_no_functions),
        cmocka_unit_test(test_functions_of_musl_name_the_kind),
        cmocka_unit_test(test_functions_that_libc_does_not_export_are_skipped),
        cmocka_unit_test(test_a_condition_variable_waits_for_its_mutex_as_for_a_mutex),
        cmocka_unit_test(test_words_of_a_condition_variable_are_one_object),
        cmocka_unit_test(test_offsets_of_futex_words_in_variables),
        cmocka_unit_test(test_locks_of_cpp_name_the_kind),
        cmocka_unit_test(test_runtimes_name_the_kind),
        cmocka_unit_test(test_a_lock_with_a_word_for_each_thread_has_the_name_of_its_caller),
        cmocka_unit_test(test_locks_of_postgres_have_the_functions_that_take_them),
        cmocka_unit_test(test_sleeping_and_idle_threads_of_runtimes_wait_for_no_lock),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
