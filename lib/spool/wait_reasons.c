#include "spool/wait_reasons.h"

const char *const wait_reason_names[WAIT_REASONS] = {
    [REASON_UNKNOWN] = "Other",         [REASON_LOCK] = "Lock",
    [REASON_SLEEP] = "Sleep",           [REASON_DISK] = "Disk",
    [REASON_NETWORK] = "Network",       [REASON_PIPE] = "Pipe",
    [REASON_PAGE_FAULT] = "Page fault", [REASON_CHILD] = "Child",
    [REASON_RUNNABLE] = "Runnable",     [REASON_UNSEEN] = "Not seen",
    [REASON_STOPPED] = "Stopped",       [REASON_IO_URING] = "io_uring",
};
