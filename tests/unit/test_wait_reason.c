/* The reasons of waiting threads from /proc. */
#include "process/wait_reason.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <fcntl.h>
#include <linux/futex.h>
#include <linux/io_uring.h>
#include <mqueue.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/file.h>
#include <sys/prctl.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static void test_lines_are_read(void **unused)
{
    (void)unused;
    int64_t number;
    uint64_t arguments[6], sp, pc;
    assert_true(wait_state_parse("202 0x7f10 0x80 0x2 0x0 0x0 0x0 0x7ffd00001000 0x7f0000001234", &number, arguments,
                                 &sp, &pc));
    assert_int_equal(number, 202);
    assert_true(arguments[0] == 0x7f10 && sp == 0x7ffd00001000 && pc == 0x7f0000001234);
    assert_true(wait_state_parse("-1 0x7ffd00001000 0x7f0000001234", &number, arguments, &sp, &pc));
    assert_int_equal(number, -1);
    assert_true(sp == 0x7ffd00001000 && pc == 0x7f0000001234);
    static const char *const bad[] = {"", "running", "running\n", "1", "-1", "-1 0x10", "202 0x1 0x2 0x3"};
    for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++)
        assert_false(wait_state_parse(bad[i], &number, arguments, &sp, &pc));
}

/* ---- processes that wait ---- */

static int read_state_after(pid_t pid, struct waiting_call *last, struct wait_state *state)
{
    int code = wait_state_read((uint32_t)pid, (uint32_t)pid, last, state);
    if (code > 0)
        wait_state_describe((uint32_t)pid, (uint32_t)pid, state);
    return code;
}

static int read_state(pid_t pid, struct wait_state *state)
{
    return read_state_after(pid, &(struct waiting_call){0}, state);
}

/* What a process in `wait` waits for, once it does. */
static struct wait_state state_of(void (*wait)(int fd), int fd, enum wait_reason reason)
{
    struct wait_state state = {0};
    pid_t pid = fork();
    if (pid == 0) {
        wait(fd);
        _exit(0);
    }
    for (int i = 0; i < 5000; i++) {
        if (read_state(pid, &state) == 1 && state.reason == reason)
            break;
        usleep(1000);
    }
    kill(pid, SIGKILL);
    waitpid(pid, NULL, 0);
    assert_int_equal(state.reason, reason);
    assert_true(state.sp && state.pc);
    assert_true(state.cpu < (uint32_t)sysconf(_SC_NPROCESSORS_CONF));
    return state;
}

static void wait_in_read(int fd)
{
    char byte;
    (void)!read(fd, &byte, 1);
}

static void wait_in_poll(int fd)
{
    struct pollfd polled = {.fd = fd, .events = POLLIN};
    poll(&polled, 1, -1);
}

/* Waits for a descriptor and the descriptors of a pipe. */
static void wait_in_poll_of_several(int fd)
{
    int pipes[2];
    assert_int_equal(pipe(pipes), 0);
    struct pollfd polled[] = {{.fd = -1}, {.fd = pipes[0], .events = POLLIN}, {.fd = fd, .events = POLLIN}};
    poll(polled, 3, -1);
}

static void wait_in_select(int fd)
{
    fd_set set;
    FD_ZERO(&set);
    FD_SET(fd, &set);
    select(fd + 1, &set, NULL, NULL, NULL);
}

static void wait_in_select_of_nothing(int fd)
{
    (void)fd;
    select(0, NULL, NULL, NULL, NULL);
}

static void wait_in_epoll(int fd)
{
    struct epoll_event event = {.events = EPOLLIN};
    int epoll_fd = epoll_create1(EPOLL_CLOEXEC);
    epoll_ctl(epoll_fd, EPOLL_CTL_ADD, fd, &event);
    epoll_wait(epoll_fd, &event, 1, -1);
}

static void wait_in_sleep(int fd)
{
    (void)fd;
    sleep(100);
}

static void wait_in_tee(int fd)
{
    int pipes[2];
    assert_int_equal(pipe(pipes), 0);
    tee(fd, pipes[1], 1, 0);
}

static void wait_in_pause(int fd)
{
    (void)fd;
    pause();
}

static void wait_in_poll_of_nothing(int fd)
{
    (void)fd;
    poll(NULL, 0, -1);
}

static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static void wait_for_a_condition(int fd)
{
    (void)fd;
    pthread_mutex_lock(&mutex);
    pthread_cond_wait(&condition, &mutex);
}

static void wait_for_a_child(int fd)
{
    (void)fd;
    pid_t child = fork();
    if (child == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        pause();
        _exit(0);
    }
    waitpid(child, NULL, 0);
}

static void test_a_pipe_with_a_name_is_no_disk(void **unused)
{
    (void)unused;
    char path[] = "/tmp/prof-fifo-XXXXXX";
    assert_non_null(mkdtemp(path));
    char fifo[64];
    snprintf(fifo, sizeof(fifo), "%s/fifo", path);
    assert_int_equal(mkfifo(fifo, 0600), 0);
    int fd = open(fifo, O_RDWR);
    assert_true(fd >= 0);
    assert_non_null(strstr(state_of(wait_in_read, fd, REASON_PIPE).object, "/fifo"));
    close(fd);
    unlink(fifo);
    rmdir(path);
}

static void wait_in_poll_until_a_time(int fd)
{
    struct pollfd polled = {.fd = fd, .events = POLLIN};
    poll(&polled, 1, 100000);
}

static void wait_in_futex_until_a_time(int fd)
{
    static uint32_t word;
    const struct timespec limit = {.tv_sec = 100};
    (void)fd;
    syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, 0, &limit, NULL, 0);
}

static void wait_for_state(pid_t pid, struct waiting_call *last, bool is_stopped, struct wait_state *state)
{
    for (int i = 0; i < 5000; i++, usleep(1000))
        if (read_state_after(pid, last, state) == 1 && (state->reason == REASON_STOPPED) == is_stopped)
            return;
    fail();
}

/* After a stop, the kernel continues these waits in another system call. */
static void test_a_stop_interrupts_a_wait_and_is_a_wait_of_its_own(void **unused)
{
    (void)unused;
    void (*const waits[])(int) = {wait_in_sleep, wait_in_poll_until_a_time, wait_in_futex_until_a_time};
    int pipes[2];
    assert_int_equal(pipe(pipes), 0);
    for (size_t i = 0; i < sizeof(waits) / sizeof(*waits); i++) {
        struct wait_state before = {0}, stopped, after;
        struct waiting_call last = {0}, none = {0};
        pid_t pid = fork();
        if (pid == 0) {
            waits[i](pipes[0]);
            _exit(0);
        }
        do
            usleep(1000);
        while (read_state_after(pid, &none, &before) != 1 || before.number < 0);
        kill(pid, SIGSTOP);
        wait_for_state(pid, &last, true, &stopped);
        kill(pid, SIGCONT);
        wait_for_state(pid, &last, false, &after);
        while (read_state(pid, &stopped) != 1)
            usleep(1000); /* it may still run on its way into the next call */
        kill(pid, SIGKILL);
        waitpid(pid, NULL, 0);
        assert_int_equal(after.reason, before.reason);
        assert_string_equal(after.object, before.object);
        assert_int_equal(stopped.reason, REASON_UNKNOWN); /* without the call before the stop */
    }
    close(pipes[0]);
    close(pipes[1]);
}

static void wait_for_a_message(int queue)
{
    char message[64];
    (void)!syscall(SYS_mq_timedreceive, queue, message, sizeof(message), NULL, NULL);
}

static void test_a_message_queue_has_its_name(void **unused)
{
    (void)unused;
    char name[32];
    struct mq_attr attributes = {.mq_maxmsg = 1, .mq_msgsize = 64};
    snprintf(name, sizeof(name), "prof-%d", (int)getpid());
    int queue = (int)syscall(SYS_mq_open, name, O_RDWR | O_CREAT | O_CLOEXEC, 0600, &attributes);
    if (queue < 0)
        skip(); /* the kernel lacks message queues, or permits no more */
    struct wait_state state = state_of(wait_for_a_message, queue, REASON_PIPE);
    syscall(SYS_mq_unlink, name);
    close(queue);
    assert_ptr_equal(strstr(state.object, "message queue /prof-"), state.object);
}

static void wait_for_a_ring(int ring)
{
    syscall(SYS_io_uring_enter, ring, 0, 1, IORING_ENTER_GETEVENTS, NULL, 0);
}

static void test_io_uring_is_a_reason_of_its_own(void **unused)
{
    (void)unused;
    struct io_uring_params params = {0};
    int ring = (int)syscall(SYS_io_uring_setup, 1, &params);
    if (ring < 0)
        skip(); /* the kernel lacks io_uring, or permits it only to others */
    assert_string_equal(state_of(wait_for_a_ring, ring, REASON_IO_URING).object, "io_uring");
    close(ring);
}

static void test_each_wait_has_its_reason_and_object(void **unused)
{
    (void)unused;
    int pipes[2], sockets[2];
    char wanted[64];
    assert_int_equal(pipe(pipes), 0);
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, sockets), 0);
    assert_non_null(strstr(state_of(wait_in_read, pipes[0], REASON_PIPE).object, "read pipe:["));
    assert_non_null(strstr(state_of(wait_in_tee, pipes[0], REASON_PIPE).object, "splice pipe:["));
    assert_non_null(strstr(state_of(wait_in_read, sockets[0], REASON_NETWORK).object, "read socket:["));
    assert_non_null(strstr(state_of(wait_in_poll, sockets[0], REASON_NETWORK).object, "poll socket:["));
    assert_non_null(strstr(state_of(wait_in_poll, pipes[0], REASON_PIPE).object, "poll pipe:["));
    assert_string_equal(state_of(wait_in_poll_of_several, pipes[0], REASON_PIPE).object, "poll");
    assert_string_equal(state_of(wait_in_poll_of_several, sockets[0], REASON_NETWORK).object, "poll");
    assert_non_null(strstr(state_of(wait_in_select, pipes[0], REASON_PIPE).object, "poll pipe:["));
    assert_string_equal(state_of(wait_in_select_of_nothing, 0, REASON_SLEEP).object, "sleep");
    assert_string_equal(state_of(wait_in_epoll, pipes[0], REASON_NETWORK).object, "epoll");
    assert_string_equal(state_of(wait_in_sleep, 0, REASON_SLEEP).object, "sleep");
    assert_string_equal(state_of(wait_in_pause, 0, REASON_SLEEP).object, "signal");
    assert_string_equal(state_of(wait_in_poll_of_nothing, 0, REASON_SLEEP).object, "sleep");
    struct wait_state locked = state_of(wait_for_a_condition, 0, REASON_LOCK);
    uintptr_t address = strtoull(locked.object + strlen("lock "), NULL, 16);
    assert_true(address >= (uintptr_t)&condition && address < (uintptr_t)(&condition + 1));
    snprintf(wanted, sizeof(wanted), "lock 0x%jx", (uintmax_t)address);
    assert_string_equal(locked.object, wanted);
    assert_string_equal(state_of(wait_for_a_child, 0, REASON_CHILD).object, "child");
    for (int i = 0; i < 2; i++) {
        close(pipes[i]);
        close(sockets[i]);
    }
}

static void wait_for_vfork(int fd)
{
    (void)fd;
    pid_t parent = getpid(), child = vfork();
    if (child == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        if (getppid() == parent) /* the parent may have been killed before */
            pause();
        _exit(0);
    }
}

static void test_a_parent_in_vfork_waits_for_its_child(void **unused)
{
    (void)unused;
    assert_string_equal(state_of(wait_for_vfork, 0, REASON_CHILD).object, "vfork child");
}

static void *sleep_in_thread(void *unused)
{
    prctl(PR_SET_NAME, "joined");
    sleep(100);
    return unused;
}

static void wait_for_a_thread(int fd)
{
    pthread_t thread;
    (void)fd;
    pthread_create(&thread, NULL, sleep_in_thread, NULL);
    usleep(10000);
    pthread_join(thread, NULL);
}

static void test_a_thread_to_join_has_its_name(void **unused)
{
    (void)unused;
    struct wait_state state = state_of(wait_for_a_thread, 0, REASON_LOCK);
    assert_ptr_equal(strstr(state.object, "thread joined ("), state.object);
}

/* A file in the memory of /dev/shm is no device. */
static void test_a_file_lock_is_a_lock_of_that_file(void **unused)
{
    (void)unused;
    char paths[][32] = {"/tmp/prof-lock-XXXXXX", "/dev/shm/prof-lock-XXXXXX"};
    for (size_t i = 0; i < sizeof(paths) / sizeof(*paths); i++) {
        char wanted[128];
        struct wait_state state = {0};
        int fd = mkstemp(paths[i]);
        assert_true(fd >= 0 && flock(fd, LOCK_EX) == 0);
        pid_t pid = fork();
        if (pid == 0) {
            int own = open(paths[i], O_RDWR);
            _exit(flock(own, LOCK_EX));
        }
        for (int look = 0; look < 5000 && state.reason != REASON_LOCK; look++) {
            read_state(pid, &state);
            usleep(1000);
        }
        kill(pid, SIGKILL);
        waitpid(pid, NULL, 0);
        close(fd);
        unlink(paths[i]);
        assert_int_equal(state.reason, REASON_LOCK);
        snprintf(wanted, sizeof(wanted), "disk: lock %s", paths[i]);
        assert_string_equal(state.object, wanted);
    }
}

static void test_calls_that_change_the_memory_map_wait_for_its_lock(void **unused)
{
    (void)unused;
    static const int64_t numbers[] = {SYS_mmap, SYS_munmap, SYS_mremap, SYS_mprotect, SYS_madvise, SYS_brk};
    for (size_t i = 0; i < sizeof(numbers) / sizeof(*numbers); i++) {
        struct wait_state state = {0};
        wait_state_describe_call(numbers[i], (const uint64_t[WAIT_ARGUMENTS]){0}, &state);
        assert_int_equal(state.reason, REASON_LOCK);
        assert_string_equal(state.object, "memory map");
    }
}

static void test_a_stopped_process_is_not_in_a_page_fault(void **unused)
{
    (void)unused;
    struct wait_state state = {0};
    pid_t pid = fork();
    if (pid == 0)
        for (;;)
            ;
    usleep(10000);
    kill(pid, SIGSTOP);
    waitpid(pid, NULL, WUNTRACED);
    int code = read_state(pid, &state);
    kill(pid, SIGKILL);
    waitpid(pid, NULL, 0);
    assert_int_equal(code, 1);
    assert_int_equal(state.reason, REASON_STOPPED);
    assert_string_equal(state.object, "stopped");
}

static void test_who_runs_or_is_gone_does_not_wait(void **unused)
{
    (void)unused;
    struct wait_state state;
    pid_t pid = fork();
    if (pid == 0)
        for (;;)
            ;
    int code = 1;
    for (int i = 0; i < 5000 && code; i++, usleep(1000)) /* it may wait for its memory at first */
        code = read_state(pid, &state);
    kill(pid, SIGKILL);
    waitpid(pid, NULL, 0);
    assert_int_equal(code, 0);
    assert_int_equal(read_state(4194304, &state), 0);
}

static void test_a_thread_of_the_kernel_is_in_no_system_call(void **unused)
{
    (void)unused;
    enum { KTHREADD = 2 };
    struct wait_state state;
    if (read_state(KTHREADD, &state) != 1)
        skip(); /* this user may not look, or it is another process's number here */
    assert_int_equal(state.reason, REASON_UNKNOWN);
    assert_true(!state.sp && !state.pc);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_lines_are_read),
        cmocka_unit_test(test_a_stop_interrupts_a_wait_and_is_a_wait_of_its_own),
        cmocka_unit_test(test_a_message_queue_has_its_name),
        cmocka_unit_test(test_io_uring_is_a_reason_of_its_own),
        cmocka_unit_test(test_each_wait_has_its_reason_and_object),
        cmocka_unit_test(test_a_pipe_with_a_name_is_no_disk),
        cmocka_unit_test(test_a_parent_in_vfork_waits_for_its_child),
        cmocka_unit_test(test_a_thread_to_join_has_its_name),
        cmocka_unit_test(test_a_file_lock_is_a_lock_of_that_file),
        cmocka_unit_test(test_calls_that_change_the_memory_map_wait_for_its_lock),
        cmocka_unit_test(test_a_stopped_process_is_not_in_a_page_fault),
        cmocka_unit_test(test_a_thread_of_the_kernel_is_in_no_system_call),
        cmocka_unit_test(test_who_runs_or_is_gone_does_not_wait),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
