/*
 * Runs a command under the sampling timer alone: prof's events (perf_events.c), without stacks, registers and rings.
 * What a recorder costs its target beyond that is the recorder's doing; a timer that interrupts a thousand times a
 * second has its price by itself. For tests/bench/bench_slowdown.
 *
 * usage: timer_only RATE COMMAND [ARGUMENTS]
 */
#include <errno.h>
#include <linux/perf_event.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

static int open_timer(uint64_t rate, int cpu, int hardware)
{
    struct perf_event_attr attr = {
        .type = hardware ? PERF_TYPE_HARDWARE : PERF_TYPE_SOFTWARE,
        .size = sizeof(attr),
        .config = hardware ? PERF_COUNT_HW_CPU_CYCLES : PERF_COUNT_SW_CPU_CLOCK,
        .sample_freq = rate,
        .freq = 1,
        .sample_type = PERF_SAMPLE_IP,
        .disabled = 1,
        .enable_on_exec = 1,
        .inherit = 1,
        .exclude_hv = 1,
    };
    return (int)syscall(SYS_perf_event_open, &attr, 0, cpu, -1, 0);
}

int main(int argc, char **argv)
{
    if (argc < 3) {
        fprintf(stderr, "usage: timer_only RATE COMMAND [ARGUMENTS]\n");
        return 2;
    }
    uint64_t rate = strtoull(argv[1], NULL, 10);
    long cpus = sysconf(_SC_NPROCESSORS_CONF);
    int opened = 0;
    for (int cpu = 0; cpu < cpus; cpu++)
        opened += open_timer(rate, cpu, 1) >= 0 || open_timer(rate, cpu, 0) >= 0;
    if (!opened) {
        fprintf(stderr, "no perf event opens: %s\n", strerror(errno));
        return 2;
    }
    execvp(argv[2], argv + 2);
    fprintf(stderr, "%s: %s\n", argv[2], strerror(errno));
    return 127;
}
