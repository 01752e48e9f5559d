#include "tree/runtime_frames.h"

#include "base/starts_with.h"
#include "tree/stack_view.h"

static bool is_runtime_library(const char *name)
{
    static const char *const starts[] = {"libc.so",  "libc-2",  "libc.musl-", "libpthread", "ld-linux",  "ld-musl-",
                                         "ld-2",     "ld64.so", "libstdc++",  "libc++.so",  "libc++abi", "libgcc_s.so",
                                         "librt.so", "librt-2", "[vdso]",     NULL};
    return starts_with_any(name, starts);
}

/* Programs contain the code of templates of C++, and of Rust's and Go's libraries, and PostgreSQL its own locks. JIT
 * code of Java has the names of the JVM's stubs and of methods of Java's library. */
static bool is_runtime_function(const char *name)
{
    static const char *const starts[] = {
        "std::", "core::", "<std::", "<core::", "<alloc::", "alloc::", "__gnu_cxx::", "__gthread_", "parking_lot",
        "lock_api::", "<parking_lot", "<lock_api::", "runtime.", "sync.", "syscall.", "internal/poll.",
        "internal/runtime",
        /* PostgreSQL */
        "WaitEventSetWait", "WaitLatch", "ProcSleep", "LWLockAcquire", "LockAcquire", "PGSemaphoreLock", NULL};
    static const char *const after_result[] = {"std::", "java.", "jdk.", "Runtime1 stub", NULL};
    const char *result = strchr(name, ' '); /* "void std::__invoke<...>(...)" */
    return starts_with_any(name, starts) || strcmp(name, "Interpreter") == 0 || starts_with(name, "StubRoutines") ||
           (result && starts_with_any(result + 1, after_result) && strcspn(name, "(<") > (size_t)(result - name));
}

bool is_runtime_frame(const struct profile *profile, uint32_t func)
{
    const struct func_names names = get_func_names(profile, func);
    return is_runtime_library(profile_text(profile, names.lib)) ||
           is_runtime_function(profile_text(profile, names.name));
}

bool is_interpreter_frame(const struct profile *profile, uint32_t func)
{
    static const char *const starts[] = {"libpython", "python", "libjvm.so", "libruby", NULL};
    return starts_with_any(profile_text(profile, get_func_names(profile, func).lib), starts);
}

bool is_entry_frame(const struct profile *profile, uint32_t func)
{
    return is_runtime_frame(profile, func) || is_interpreter_frame(profile, func) ||
           strcmp(profile_text(profile, get_func_names(profile, func).name), "_start") == 0;
}

uint32_t count_runtime_frames(const struct profile *profile, const uint32_t *path, size_t length)
{
    size_t runtime = 0, count;
    while (runtime < length && is_runtime_frame(profile, path[length - 1 - runtime]))
        runtime++;
    for (count = runtime; count < length; count++)
        if (!is_runtime_frame(profile, path[length - 1 - count]) &&
            !is_interpreter_frame(profile, path[length - 1 - count]))
            return (uint32_t)count;
    return runtime < length ? (uint32_t)runtime : 0;
}
