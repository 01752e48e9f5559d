/*
 * A record is a perf sample followed by the fields of its tracepoint ("raw"). tracefs has their offsets, in
 * events/signal/signal_deliver/format; the first field is the number of the tracepoint (common_type).
 */
#include "sample/signals.h"

#include "os/file_io.h"
#include "os/file_proc.h"
#include "sample/cpu_list.h"
#include "sample/tracefs.h"
#include "sample/tracepoint.h"

#include <linux/perf_event.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <unistd.h>

enum { RING_SIZE = 32 * 1024 }; /* some 300 signals */

/* ---- offsets of fields ---- */

static int read_layout(const char *name, struct signal_layout *layout, struct error *err)
{
    char format[TRACEFS_FORMAT];
    int code = tracefs_read_format("signal", name, &layout->id, format, err);
    if (code)
        return code;
    if (!tracefs_find_field(format, " sig;", &layout->number) || !tracefs_find_field(format, " code;", &layout->code))
        return error_set(err, ENOENT, "cannot read the fields of the tracepoint %s in tracefs", name);
    tracefs_find_field(format, " pid;", &layout->target);
    return 0;
}

/* ---- events ---- */

static int open_event(const struct signals *signals, uint64_t tracepoint, uint32_t cpu)
{
    return tracepoint_open(tracepoint, cpu, signals->have_ids, RING_SIZE, 0);
}

static void close_cpu(struct signal_cpu *cpu)
{
    perf_ring_unmap(&cpu->ring);
    for (size_t i = 0; i < 2; i++)
        if (cpu->fds[i] >= 0)
            close(cpu->fds[i]);
}

static int open_cpu(struct signals *signals, uint32_t number, struct error *err)
{
    struct signal_cpu cpu = {.fds = {open_event(signals, signals->deliver.id, number), -1}};
    if (cpu.fds[0] < 0)
        return error_set(err, -cpu.fds[0], "the kernel refuses the tracepoint of signals: %s", strerror(-cpu.fds[0]));
    int code = perf_ring_map(&cpu.ring, cpu.fds[0], RING_SIZE, err);
    if (!code && signals->has_sent) {
        cpu.fds[1] = open_event(signals, signals->generate.id, number);
        if (cpu.fds[1] < 0 || ioctl(cpu.fds[1], PERF_EVENT_IOC_SET_OUTPUT, cpu.fds[0]))
            code = error_set(err, errno, "the kernel refuses the tracepoint of sent signals");
    }
    if (!code && !array_push(&signals->cpus, cpu))
        code = error_no_memory(err);
    if (code)
        close_cpu(&cpu);
    return code;
}

int signals_open(struct signals *signals, bool have_ids, struct error *err)
{
    struct cpu_list online = {0};
    /* fields have pids in the outermost namespace, records have pids in prof's namespace */
    *signals = (struct signals){.have_ids = have_ids, .has_sent = !proc_is_in_pid_namespace()};
    int code = read_layout("signal_deliver", &signals->deliver, err);
    if (!code && signals->has_sent)
        code = read_layout("signal_generate", &signals->generate, err);
    if (!code)
        code = cpu_list_read_online(&online, err);
    for (size_t i = 0; !code && i < online.length; i++)
        code = open_cpu(signals, online.data[i], err);
    array_free(&online);
    if (code)
        signals_close(signals);
    return code;
}

void signals_stop(struct signals *signals)
{
    for (size_t i = 0; i < signals->cpus.length; i++)
        for (size_t k = 0; k < 2; k++)
            if (signals->cpus.data[i].fds[k] >= 0)
                ioctl(signals->cpus.data[i].fds[k], PERF_EVENT_IOC_DISABLE, 0);
}

void signals_close(struct signals *signals)
{
    for (size_t i = 0; i < signals->cpus.length; i++)
        close_cpu(&signals->cpus.data[i]);
    array_free(&signals->cpus);
}

/* ---- records ---- */

bool signals_parse(const struct signals *signals, const void *bytes, size_t size, struct signal_delivery *delivery)
{
    struct tracepoint_record record;
    bool failed = false;
    if (!tracepoint_parse(&record, bytes, size, signals->have_ids))
        return false;
    *delivery = (struct signal_delivery){.pid = record.pid, .tid = record.tid, .time = record.time};
    uint32_t tracepoint = tracepoint_read_u32(&record, 0, &failed) & UINT16_MAX;
    bool is_delivery = tracepoint == signals->deliver.id;
    if (failed || (!is_delivery && (tracepoint != signals->generate.id || !signals->has_sent)))
        return false;
    const struct signal_layout *layout = is_delivery ? &signals->deliver : &signals->generate;
    int code = (int)tracepoint_read_u32(&record, layout->code, &failed);
    delivery->number = tracepoint_read_u32(&record, layout->number, &failed);
    delivery->has_sender = code == SI_USER || code == SI_TKILL || code == SI_QUEUE;
    if (is_delivery)
        return !failed && delivery->number != SIGKILL;
    delivery->is_sent = true;
    delivery->sender = delivery->has_sender ? delivery->pid : 0;
    delivery->tid = tracepoint_read_u32(&record, layout->target, &failed);
    delivery->pid = 0;
    return !failed;
}
