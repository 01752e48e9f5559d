#include "perf_data/perf_data_reason.h"

enum { ADDRESSES_MAX = 1 << 16 };

/* Function names, without leading underscores and suffixes of the compiler; a name that ends in "_" is a prefix. Kernel
 * functions below which threads wait: the first match from the leaf gives the reason. */
static const struct {
    const char *name;
    enum wait_reason reason;
} functions[] = {
    {"futex_", REASON_LOCK},
    {"do_futex", REASON_LOCK},
    {"flock_lock_inode_wait", REASON_LOCK},
    {"posix_lock_inode_wait", REASON_LOCK},
    {"fcntl_setlk", REASON_LOCK},
    {"do_semtimedop", REASON_LOCK},
    {"rwsem_down_", REASON_LOCK},
    {"mutex_lock", REASON_LOCK},
    {"mutex_lock_", REASON_LOCK},
    {"do_nanosleep", REASON_SLEEP},
    {"hrtimer_nanosleep", REASON_SLEEP},
    {"do_sigtimedwait", REASON_SLEEP},
    {"sigsuspend", REASON_SLEEP},
    {"x64_sys_pause", REASON_SLEEP},
    {"ep_poll", REASON_NETWORK},
    {"do_epoll_wait", REASON_NETWORK},
    {"do_poll", REASON_NETWORK},
    {"do_sys_poll", REASON_NETWORK},
    {"do_select", REASON_NETWORK},
    {"sk_wait_data", REASON_NETWORK},
    {"skb_wait_for_more_packets", REASON_NETWORK},
    {"sock_", REASON_NETWORK},
    {"unix_", REASON_NETWORK},
    {"inet_", REASON_NETWORK},
    {"tcp_", REASON_NETWORK},
    {"udp_", REASON_NETWORK},
    {"pipe_", REASON_PIPE},
    {"anon_pipe_", REASON_PIPE},
    {"wait_for_partner", REASON_PIPE},
    {"n_tty_", REASON_PIPE},
    {"tty_", REASON_PIPE},
    {"eventfd_", REASON_PIPE},
    {"do_msgrcv", REASON_PIPE},
    {"do_msgsnd", REASON_PIPE},
    {"wq_sleep", REASON_PIPE},
    {"do_wait", REASON_CHILD},
    {"kernel_wait4", REASON_CHILD},
    {"kernel_waitid", REASON_CHILD},
    {"wait_for_vfork_done", REASON_CHILD},
    {"io_schedule", REASON_DISK},
    {"io_schedule_", REASON_DISK},
    {"folio_wait_", REASON_DISK},
    {"wait_on_page_", REASON_DISK},
    {"wait_on_buffer", REASON_DISK},
    {"io_cqring_wait", REASON_DISK},
    {"vfs_fsync_", REASON_DISK},
    {"exc_page_fault", REASON_PAGE_FAULT},
    {"asm_exc_page_fault", REASON_PAGE_FAULT},
};

static bool matches_name(const char *name, const char *wanted)
{
    size_t length = strlen(wanted);
    return !strncmp(name, wanted, length) && (wanted[length - 1] == '_' || !name[length] || name[length] == '.');
}

enum wait_reason perf_data_find_reason_of_function(const char *name)
{
    name += strspn(name, "_");
    for (size_t i = 0; i < sizeof(functions) / sizeof(*functions); i++)
        if (matches_name(name, functions[i].name))
            return functions[i].reason;
    return REASON_UNKNOWN;
}

void perf_data_reasons_destroy(struct perf_data_reasons *reasons)
{
    kallsyms_destroy(&reasons->kernel);
    hash_destroy(&reasons->by_address);
}

static enum wait_reason find_reason(struct perf_data_reasons *reasons, uint64_t address)
{
    uint32_t known = hash_get(&reasons->by_address, address);
    if (known != HASH_MISSING)
        return (enum wait_reason)known;
    const struct kernel_symbol *symbol = kallsyms_find_anywhere(&reasons->kernel, address);
    enum wait_reason reason = symbol && reasons->kernel.text
                                  ? perf_data_find_reason_of_function(reasons->kernel.text + symbol->name)
                                  : REASON_UNKNOWN;
    if (reasons->by_address.length < ADDRESSES_MAX)
        hash_set(&reasons->by_address, address, reason); /* after a failure, the next call searches again */
    return reason;
}

/* The reason of a wait inside a page fault is the page fault, not the disk or the lock inside it. */
enum wait_reason perf_data_find_reason(struct perf_data_reasons *reasons, const uint64_t *frames, size_t count)
{
    struct error err;
    enum wait_reason found = REASON_UNKNOWN;
    if (!reasons->is_read) {
        reasons->is_read = true;
        if (kallsyms_load(&reasons->kernel, "/proc/kallsyms", "/proc/modules", &err))
            reasons->kernel = (struct kallsyms){0};
    }
    for (size_t i = 0; i < count; i++) {
        enum wait_reason reason = find_reason(reasons, frames[i]);
        if (reason == REASON_PAGE_FAULT)
            return reason;
        found = found == REASON_UNKNOWN ? reason : found;
    }
    return found;
}
