#include "assemble/wait_kinds.h"

#include "base/starts_with.h"
#include "spool/wait_reasons.h"

enum lock_kind {
    KIND_NONE,
    KIND_INSIDE, /* a function between the system call and the function that names the kind */
    KIND_LOCK,   /* a lock of a program's own kind */
    KIND_MUTEX,
    KIND_CONDITION,
    KIND_RWLOCK,
    KIND_SEMAPHORE,
    KIND_BARRIER,
    KIND_ONCE,
    KIND_JOIN,
    KIND_ATOMIC,
    KIND_FUTURE,
    KIND_PARK,
    KIND_LATCH,
    /* kinds whose words are the whole name of the object */
    KIND_SLEEP,
    KIND_IDLE, /* a thread of a runtime without work */
    KIND_GIL,
    LOCK_KINDS
};

/* The subcategory, and the first words of the object. */
static const struct {
    const char *subcategory, *object;
} kinds[LOCK_KINDS] = {
    [KIND_LOCK] = {"Lock", "lock"},
    [KIND_MUTEX] = {"Mutex", "mutex"},
    [KIND_CONDITION] = {"Condition variable", "condition variable"},
    [KIND_RWLOCK] = {"Read-write lock", "read-write lock"},
    [KIND_SEMAPHORE] = {"Semaphore", "semaphore"},
    [KIND_BARRIER] = {"Barrier", "barrier"},
    [KIND_ONCE] = {"Once", "once"},
    [KIND_JOIN] = {"Join", "thread"},
    [KIND_ATOMIC] = {"Atomic wait", "atomic"},
    [KIND_FUTURE] = {"Future", "future"},
    [KIND_PARK] = {"Park", "park"},
    [KIND_LATCH] = {"Latch", "latch"},
    [KIND_SLEEP] = {"Sleep", "sleep"},
    [KIND_IDLE] = {"Idle thread", "idle thread"},
    [KIND_GIL] = {"Mutex", "GIL"},
};

/* `*` stands for any text. Functions of C have no leading underscores here (strip_underscores()). */
struct kind_pattern {
    const char *name;
    enum lock_kind kind;
};

/* The first function of a stack that matches names the kind. */
static const struct kind_pattern inner_patterns[] = {
    /* glibc, musl */
    {"syscall*", KIND_INSIDE},
    {"internal_syscall*", KIND_INSIDE},
    {"futex_*", KIND_INSIDE},
    {"do_futex_wait*", KIND_INSIDE},
    {"timedwait*", KIND_INSIDE},
    {"wait", KIND_INSIDE},
    {"memset", KIND_INSIDE}, /* the symbol before musl's system calls, which have none */
    {"gthread*", KIND_INSIDE},
    {"condvar_*", KIND_INSIDE},
    {"pthread_cond_*", KIND_CONDITION}, /* a signal waits until the threads of earlier signals are awake */
    {"cnd_*wait", KIND_CONDITION},
    {"lll_*lock*", KIND_MUTEX},
    {"pthread_mutex_*lock*", KIND_MUTEX},
    {"mtx_*lock", KIND_MUTEX},
    {"malloc", KIND_MUTEX}, /* the lock of an arena */
    {"calloc", KIND_MUTEX},
    {"realloc", KIND_MUTEX},
    {"free", KIND_MUTEX},
    {"pthread_rwlock_*", KIND_RWLOCK},
    {"new_sem_*wait*", KIND_SEMAPHORE},
    {"sem_*wait*", KIND_SEMAPHORE},
    {"pthread_barrier_wait*", KIND_BARRIER},
    {"pthread_once*", KIND_ONCE},
    {"call_once", KIND_ONCE},
    {"cxa_guard_acquire", KIND_ONCE},
    {"pthread_join*", KIND_JOIN},
    {"pthread_*join*", KIND_JOIN},
    {"thrd_join", KIND_JOIN},
    /* libstdc++ */
    {"std::__atomic_futex_unsigned*", KIND_FUTURE},
    {"*std::__atomic_wait*", KIND_ATOMIC},
    {"*std::__atomic_impl::wait*", KIND_ATOMIC},
    {"*std::__detail::__*wait*", KIND_ATOMIC},
    {"*std::__platform_wait*", KIND_ATOMIC},
    {"std::atomic*::wait*", KIND_ATOMIC},
    /* Rust */
    {"std::sys::*futex_wait*", KIND_INSIDE},
    {"std::sys::*mutex*", KIND_MUTEX},
    {"std::sys::*condvar*", KIND_CONDITION},
    {"std::sys::*rwlock*", KIND_RWLOCK},
    {"std::sys::*once*", KIND_ONCE},
    {"std::sys*park*", KIND_PARK},
    {"std::thread::park*", KIND_PARK},
    {"std::thread::thread::Thread>::park*", KIND_PARK},
    /* the runtime of Go */
    {"runtime.futex*", KIND_INSIDE},
    {"runtime.semasleep*", KIND_INSIDE},
    {"runtime.lock*", KIND_MUTEX},
    {"runtime.note*sleep*", KIND_PARK},
    /* GNU OpenMP */
    {"gomp_*barrier_wait*", KIND_BARRIER},
    /* PostgreSQL, whose processes wait for their latch and for sockets in one system call */
    {"epoll_*wait*", KIND_INSIDE},
    {"WaitEventSetWait*", KIND_INSIDE},
    {"WaitLatch", KIND_LATCH},
};

/* Functions that build other locks from the locks above. A pattern counts only if all functions below it in the stack
 * match a pattern. */
static const struct kind_pattern outer_patterns[] = {
    {"std::latch::*", KIND_BARRIER},
    {"std::__*barrier*", KIND_BARRIER},
    {"std::barrier*", KIND_BARRIER},
    {"std::counting_semaphore*", KIND_SEMAPHORE},
    {"std::__*semaphore*", KIND_SEMAPHORE},
    {"std::call_once*", KIND_ONCE},
    {"std::thread::join*", KIND_JOIN},
    {"std::sys::*park*", KIND_PARK},
    {"parking_lot_core::*", KIND_INSIDE},
    {"parking_lot::raw_mutex*", KIND_MUTEX},
    {"parking_lot::*condvar*", KIND_CONDITION},
    {"parking_lot::raw_rwlock*", KIND_RWLOCK},
    {"parking_lot::once*", KIND_ONCE},
    {"std::sync::*", KIND_INSIDE},
    {"std::thread::local::*", KIND_INSIDE},
    {"crossbeam_channel::*", KIND_INSIDE},
    {"parking_lot::*", KIND_INSIDE},
    {"lock_api::*", KIND_INSIDE},
    {"tokio::loom::*", KIND_INSIDE},
    {"tokio::runtime::park::*", KIND_PARK},
    {"tokio::runtime::scheduler::*park*", KIND_IDLE},
    {"tokio::runtime::blocking::pool::*", KIND_IDLE},
    {"rayon_core::sleep::*", KIND_IDLE},
    /* the runtime of Go */
    {"runtime.mPark*", KIND_INSIDE},
    {"runtime.stopm*", KIND_IDLE},
    {"runtime.templateThread*", KIND_IDLE},
    {"runtime.sysmon*", KIND_IDLE},
    /* CPython */
    {"PyCOND_*", KIND_INSIDE},
    {"take_gil*", KIND_GIL},
    {"PyEval_RestoreThread*", KIND_GIL},
    {"PyEval_Acquire*", KIND_GIL},
    {"PyThread_acquire_lock*", KIND_MUTEX},
    {"acquire_timed*", KIND_INSIDE},
    {"lock_PyThread_acquire_lock*", KIND_INSIDE},
    {"method_vectorcall*", KIND_INSIDE},
    {"PyObject_Vectorcall*", KIND_INSIDE},
    {"Condition.wait", KIND_CONDITION},
    {"Thread._wait_for_tstate_lock", KIND_JOIN},
    /* PostgreSQL, whose semaphores and latches belong to processes */
    {"ConditionVariable*Sleep", KIND_CONDITION},
    {"ProcSleep", KIND_LOCK},
    {"LockAcquire*", KIND_LOCK},
    {"pg_sleep", KIND_SLEEP},
    {"PGSemaphoreLock", KIND_INSIDE},
    {"LWLockAcquire*", KIND_RWLOCK},
    {"LWLockWaitForVar", KIND_RWLOCK},
    /* the JVM */
    {"*PlatformEvent::park*", KIND_INSIDE},
    {"*PlatformMonitor::wait*", KIND_INSIDE},
    {"JVM_WaitForReferencePendingList", KIND_IDLE},
    {"JavaThread::sleep*", KIND_SLEEP},
    {"JVM_Sleep*", KIND_SLEEP},
    {"ObjectMonitor::EnterI*", KIND_MUTEX},
    {"ObjectMonitor::enter*", KIND_MUTEX},
    {"ObjectMonitor::ReenterI*", KIND_MUTEX},
    {"ObjectMonitor::wait*", KIND_CONDITION},
    {"ObjectSynchronizer::*", KIND_INSIDE},
    {"*Runtime*::monitor*enter*", KIND_INSIDE},
    {"* Runtime1 stub", KIND_INSIDE},
    {"JVM_MonitorWait*", KIND_INSIDE},
    {"Parker::park*", KIND_PARK},
    {"Unsafe_Park", KIND_PARK},
    {"Interpreter", KIND_INSIDE},
    {"StubRoutines*", KIND_INSIDE},
    {"*misc.Unsafe.park*", KIND_PARK},
    {"*LockSupport.park*", KIND_PARK},
    {"*java.lang.Thread.sleep*", KIND_SLEEP},
    {"*java.lang.Object.wait*", KIND_CONDITION},
    {"*Synchronizer.acquire*", KIND_MUTEX},
    {"*Synchronizer$ConditionObject.await*", KIND_CONDITION},
    {"*java.util.concurrent.locks.ReentrantLock*lock*", KIND_MUTEX},
    {"*java.util.concurrent.locks.ReentrantReadWriteLock*", KIND_RWLOCK},
    {"*java.util.concurrent.Semaphore*", KIND_SEMAPHORE},
    {"*java.util.concurrent.CountDownLatch*", KIND_BARRIER},
};

/* Functions of libjvm.so. Other programs use such names for functions of their own. */
static const struct kind_pattern jvm_patterns[] = {
    {"Monitor::wait*", KIND_INSIDE},
    {"PosixSemaphore::wait*", KIND_INSIDE},
    {"CompileQueue::get*", KIND_IDLE},
    {"*Gang*::*", KIND_IDLE},
    {"WorkerThread::*", KIND_IDLE},
    {"VMThread::wait_for_operation*", KIND_IDLE},
    {"ServiceThread::*", KIND_IDLE},
    {"MonitorDeflationThread::*", KIND_IDLE},
    {"NMethodSweeper::sweeper_loop*", KIND_IDLE},
    {"NotificationThread::*", KIND_IDLE},
    {"WatcherThread::*", KIND_IDLE},
    {"G1*Thread::*", KIND_IDLE},
    {"os::signal_wait*", KIND_IDLE},
};

/* Threads of these functions have no work while they sleep or wait for the network. */
static const char *const idle_patterns[] = {"runtime.findRunnable*", "runtime.findrunnable*", "runtime.sysmon*",
                                            "tokio::runtime::scheduler::*park*"};

/* These functions wait for a futex word on the stack of the waiting thread, which does not identify the lock. */
static const char *const private_words[] = {"std::sys*park*",      "std::thread::*park*", "parking_lot_core::*",
                                            "runtime.note*sleep*", "Condition.wait",      "*PlatformEvent::park*",
                                            "Parker::park*",       "PGSemaphoreLock",     "WaitLatch"};

#define COUNT(array) (sizeof(array) / sizeof(*(array)))

enum { MOST_FRAMES = 16 }; /* limit of the frames between a system call and the function that names its wait */

static bool matches(const char *pattern, const char *name)
{
    for (; *pattern; pattern++, name++) {
        if (*pattern == '*') {
            for (; *name; name++)
                if (matches(pattern + 1, name))
                    return true;
            return !pattern[1];
        }
        if (*pattern != *name)
            return false;
    }
    return !*name;
}

static enum lock_kind find_kind(const struct kind_pattern *patterns, size_t count, const char *name)
{
    for (size_t i = 0; i < count; i++)
        if (matches(patterns[i].name, name))
            return patterns[i].kind;
    return KIND_NONE;
}

static bool has_private_word(const char *name)
{
    for (size_t i = 0; i < COUNT(private_words); i++)
        if (matches(private_words[i], name))
            return true;
    return false;
}

/* "___pthread_mutex_lock" and "__GI___pthread_mutex_lock" are aliases of "pthread_mutex_lock". Methods of Rust begin
 * with "<std::sys::". */
static const char *strip_underscores(const char *name)
{
    name += strspn(name, "_<");
    if (starts_with(name, "GI_"))
        name += strlen("GI_");
    return name + strspn(name, "_");
}

/* Returns whether the library does not export the func, so that prof has only its address. */
static bool is_inside(const struct profile *profile, uint32_t func, uint32_t library)
{
    const char *name = profile_text(profile, profile->funcs.name[func]);
    return starts_with(name, "0x") && profile->funcs.resource[func] == library;
}

/* musl is libc.so or ld-musl-x86_64.so.1, or a part of a static program. */
static bool is_musl(const char *name, const char *function)
{
    return starts_with(name, "ld-musl") || strcmp(name, "libc.so") == 0 || starts_with(function, "timedwait");
}

struct lock {
    enum lock_kind kind, word;         /* `word`: kind of the lock of libc that contains the futex word */
    bool is_private, of_musl, signals; /* `signals`: the thread signals a condition variable */
    uint32_t caller;                   /* func that called into the lock; PROFILE_NONE: unknown */
};

/* Follows a stack from the system call outwards, up to the first function that is not part of a lock. */
static struct lock find_lock_in_stack(const struct profile *profile, uint32_t stack)
{
    struct lock lock = {.caller = PROFILE_NONE};
    uint32_t library = stack == PROFILE_NONE
                           ? PROFILE_NONE
                           : profile->funcs.resource[profile->frames.func[profile->stacks.frame[stack]]];
    for (int i = 0; stack != PROFILE_NONE && i < MOST_FRAMES; i++, stack = profile->stacks.prefix[stack]) {
        uint32_t func = profile->frames.func[profile->stacks.frame[stack]];
        const char *name = strip_underscores(profile_text(profile, profile->funcs.name[func]));
        const char *library_name = get_func_library_name(profile, func);
        lock.of_musl |= is_musl(library_name, name);
        enum lock_kind inner = find_kind(inner_patterns, COUNT(inner_patterns), name);
        enum lock_kind outer =
            starts_with(library_name, "libjvm.so") ? find_kind(jvm_patterns, COUNT(jvm_patterns), name) : KIND_NONE;
        outer = outer == KIND_NONE ? find_kind(outer_patterns, COUNT(outer_patterns), name) : outer;
        /* unnamed functions of this library are inside the lock, too */
        library = inner || outer ? profile->funcs.resource[func] : library;
        lock.is_private |= has_private_word(name);
        lock.signals |= starts_with(name, "pthread_cond_signal") || starts_with(name, "pthread_cond_broadcast");
        if (outer > KIND_INSIDE)
            lock.kind = outer;
        else if (inner > KIND_INSIDE && lock.kind == KIND_NONE)
            lock.kind = lock.word = inner;
        else if (inner == KIND_NONE && outer == KIND_NONE && !is_inside(profile, func, library)) {
            lock.caller = func;
            break;
        }
    }
    return lock;
}

/* A condition variable has two futex words, at a multiple of 8 bytes and 4 bytes after it, in all versions of glibc. A
 * read-write lock has two such words, too. Before 2.41, threads that signal wait for two other words, 24 bytes before
 * the words of threads that wait. Returns the address or the offset of the first word of the waiting threads. */
static uint64_t find_first_word(const struct lock *lock, uint64_t word)
{
    enum { WAITERS_AFTER_SIGNALS = 24 };
    bool has_two = lock->word == KIND_CONDITION || lock->word == KIND_RWLOCK;
    uint64_t first = has_two ? word & ~UINT64_C(7) : word;
    return lock->word == KIND_CONDITION && lock->signals ? first + WAITERS_AFTER_SIGNALS : first;
}

/* Returns whether a lock starts where its variable starts, for the offset of the futex word in the variable. Offsets of
 * glibc: 40 in a condition variable, since 2.41 32; 8 in a read-write lock; 4 in a barrier. 4 in a mutex of musl. */
static bool is_at_start(enum lock_kind kind, uint64_t offset)
{
    switch (kind) {
    case KIND_CONDITION:
        return offset == 40 || offset == 32;
    case KIND_RWLOCK:
        return offset == 8;
    case KIND_BARRIER:
    case KIND_MUTEX:
        return offset == 4;
    default:
        return false;
    }
}

/* Finds the offset in "cache+40" or "cache+40 in libx.so"; *rest: the text after it. NULL: the text has none. */
static const char *find_offset(const char *object, uint64_t *offset, char **rest)
{
    const char *plus = strrchr(object, '+');
    if (!plus || plus[1] < '0' || plus[1] > '9')
        return NULL;
    *offset = strtoull(plus + 1, rest, 10);
    return !**rest || starts_with(*rest, " in ") ? plus : NULL;
}

/* `name`: "lock 0x10" or "lock cache+40". */
static void describe_object(const struct profile *profile, const struct lock *lock, const char *name, char *text,
                            size_t size)
{
    char *end;
    const char *object = name + strlen("lock"), *word = kinds[lock->kind].object;
    uint64_t offset = 0, address = strtoull(object, &end, 16);
    const char *plus = find_offset(object, &offset, &end);
    int before = plus ? (int)(plus - object) : 0;
    if (lock->kind >= KIND_SLEEP || (lock->is_private && lock->caller == PROFILE_NONE))
        snprintf(text, size, "%s", word);
    else if (lock->is_private)
        snprintf(text, size, "%s in %s", word, profile_text(profile, profile->funcs.name[lock->caller]));
    else if (starts_with(object, " 0x"))
        snprintf(text, size, "%s 0x%" PRIx64, word, find_first_word(lock, address));
    else if (plus && is_at_start(lock->kind, find_first_word(lock, offset)))
        snprintf(text, size, "%s%.*s%s", word, before, object, end);
    else if (plus)
        snprintf(text, size, "%s%.*s+%" PRIu64 "%s", word, before, object, find_first_word(lock, offset), end);
    else
        snprintf(text, size, "%s%s", word, object);
}

static bool has_reason(const struct profile *profile, uint32_t frame, enum wait_reason wanted)
{
    uint32_t category = profile->frames.category[frame], reason = profile->frames.subcategory[frame];
    if (category >= profile->categories.length)
        return false;
    const struct category *row = &profile->categories.data[category];
    return strcmp(strings_text(&profile->strings, row->name), "Idle") == 0 && reason < row->subcategories.length &&
           strcmp(profile_text(profile, row->subcategories.data[reason]), wait_reason_names[wanted]) == 0;
}

static bool is_idle(const struct profile *profile, uint32_t stack)
{
    for (int i = 0; stack != PROFILE_NONE && i < MOST_FRAMES; i++, stack = profile->stacks.prefix[stack]) {
        uint32_t func = profile->frames.func[profile->stacks.frame[stack]];
        for (size_t at = 0; at < COUNT(idle_patterns); at++)
            if (matches(idle_patterns[at], profile_text(profile, profile->funcs.name[func])))
                return true;
    }
    return false;
}

uint32_t wait_kinds_add_frame(struct interner *interner, uint32_t caller, uint32_t frame)
{
    struct profile *profile = interner->profile;
    char text[512];
    bool is_lock = has_reason(profile, frame, REASON_LOCK), is_network = has_reason(profile, frame, REASON_NETWORK);
    if (!is_lock && !is_network && !has_reason(profile, frame, REASON_SLEEP))
        return frame;
    uint32_t old = profile->frames.func[frame];
    const char *name = profile_text(profile, profile->funcs.name[old]);
    struct lock lock = {.kind = KIND_NONE};
    bool is_thread = is_lock && starts_with(name, "thread ");
    if (is_thread)
        lock.kind = KIND_JOIN;
    else if (is_network ? strcmp(name, "epoll") == 0 : is_lock && starts_with(name, "lock"))
        lock = find_lock_in_stack(profile, caller);
    if (!is_lock && lock.word != KIND_LATCH)
        lock.kind = is_idle(profile, caller) ? KIND_IDLE : KIND_NONE;
    if (lock.kind == KIND_CONDITION && starts_with(name, "lock _PyRuntime"))
        lock.kind = KIND_GIL; /* a stripped Python has no name for take_gil() */
    if (lock.kind <= KIND_INSIDE)
        return frame;
    if (is_thread)
        snprintf(text, sizeof(text), "%s", name);
    else if (lock.of_musl && (lock.kind == KIND_CONDITION || lock.kind == KIND_BARRIER) && starts_with(name, "lock 0x"))
        snprintf(text, sizeof(text), "%s", kinds[lock.kind].object); /* the word is on the stack of a waiting thread */
    else
        describe_object(profile, &lock, name, text, sizeof(text));
    struct func_row func = {.name = strings_add_z(&profile->strings, text),
                            .resource = profile->funcs.resource[old],
                            .source = PROFILE_NONE};
    uint32_t category = profile->frames.category[frame];
    struct frame_row row = make_frame_row(func.name == STRING_NONE ? PROFILE_NONE : intern_func(interner, &func));
    row.category = category;
    row.subcategory = intern_subcategory(interner, category, kinds[lock.kind].subcategory);
    return row.func == PROFILE_NONE || row.subcategory == PROFILE_NONE ? PROFILE_NONE : intern_frame(interner, &row);
}
