#include "sample/perf_filter.h"

#include "os/file_proc.h"

int perf_filter_explain_refusal(int code, struct error *err)
{
    if ((code != -EPERM && code != -EACCES && code != -ENOSYS) || !proc_has_seccomp_filter())
        return 0;
    return error_set(err, -code, "a seccomp filter refuses perf_event_open (%s)%s", strerror(-code),
                     proc_is_in_container() ? "; 'docker run " CONTAINER_OPTIONS " ...' permits it"
                                            : ", as in container runtimes and sandboxes; start prof outside of it");
}
