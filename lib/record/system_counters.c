#include "record/system_counters.h"

#include "base/array.h"
#include "base/search.h"
#include "os/clock.h"
#include "os/file_io.h"
#include "spool/counter_kinds.h"

#include <dirent.h>
#include <fcntl.h>
#include <unistd.h>

enum { STAT_SIZE = 64 * 1024, NAMES_SIZE = 512, NAME_SIZE = 48 };

/* One energy counter of a part of the machine. */
struct energy {
    char name[NAME_SIZE], zone[NAME_SIZE]; /* "package-0", "intel-rapl:0" */
    int fd;
    uint64_t most; /* µJ: largest value, after which the counter wraps to 0 */
    uint64_t last, sum;
};

struct system_counters {
    int stat_fd; /* -1: not requested */
    char *text;  /* STAT_SIZE */
    ARRAY(struct energy) energies;
    char names[NAMES_SIZE];
    ARRAY(uint64_t) busy;
    ARRAY(uint64_t) used;
    uint64_t last; /* ns, or 0 (never) */
    bool is_base;
};

/* ---- energy ---- */

static bool read_number(int fd, uint64_t *number)
{
    char text[32], *end;
    ssize_t length = pread(fd, text, sizeof(text) - 1, 0);
    if (length <= 0)
        return false;
    text[length] = '\0';
    *number = strtoull(text, &end, 10);
    return end != text;
}

DEFINE_COMPARE(compare_zones, struct energy, strcmp(a->zone, b->zone))

static bool add_energy(struct system_counters *counters, const char *directory, const char *zone)
{
    struct energy energy = {.fd = -1};
    char path[512], most[32];
    snprintf(energy.zone, sizeof(energy.zone), "%s", zone);
    snprintf(path, sizeof(path), "%s/%s/name", directory, zone);
    if (!file_read_text(path, energy.name, sizeof(energy.name)))
        return true;
    for (char *at = energy.name; *at; at++) /* commas separate names */
        *at = *at == ',' ? ' ' : *at;
    snprintf(path, sizeof(path), "%s/%s/max_energy_range_uj", directory, zone);
    energy.most = file_read_text(path, most, sizeof(most)) ? strtoull(most, NULL, 10) : 0;
    snprintf(path, sizeof(path), "%s/%s/energy_uj", directory, zone);
    energy.fd = open(path, O_RDONLY | O_CLOEXEC);
    if (energy.fd < 0)
        return true;
    if (read_number(energy.fd, &energy.last) && array_push(&counters->energies, energy))
        return true;
    close(energy.fd);
    return false;
}

/* Skips the zones of other drivers, which count the same energy. */
static bool open_energies(struct system_counters *counters, const char *directory)
{
    static const char driver[] = "intel-rapl:"; /* AMD CPUs also use this name */
    DIR *zones = opendir(directory);
    bool ok = true;
    for (const struct dirent *zone; zones && ok && (zone = readdir(zones));)
        if (strncmp(zone->d_name, driver, sizeof(driver) - 1) == 0)
            ok = add_energy(counters, directory, zone->d_name);
    if (zones)
        closedir(zones);
    array_sort(&counters->energies, compare_zones);
    size_t used = 0;
    for (size_t i = 0; i < counters->energies.length && used < sizeof(counters->names); i++)
        used += (size_t)snprintf(counters->names + used, sizeof(counters->names) - used, "%s%s", i ? "," : "",
                                 counters->energies.data[i].name);
    return ok;
}

static int write_energies(struct system_counters *counters, struct spool_writer *spool, uint64_t now, bool is_base,
                          struct error *err)
{
    counters->used.length = 0;
    for (size_t i = 0; i < counters->energies.length; i++) {
        struct energy *energy = &counters->energies.data[i];
        uint64_t value;
        if (read_number(energy->fd, &value)) {
            energy->sum += value >= energy->last ? value - energy->last : energy->most - energy->last + value;
            energy->last = value;
        }
        if (!array_push(&counters->used, energy->sum))
            return error_no_memory(err);
    }
    const struct spool_counters reading = {.of = COUNTERS_OF_POWER,
                                           .time_ns = now,
                                           .is_base = is_base,
                                           .values = {counters->used.data, counters->used.length}};
    return reading.values.count ? spool_write_counters(spool, &reading, err) : 0;
}

/* ---- CPUs ---- */

/* "cpu3 USER NICE SYSTEM IDLE IOWAIT IRQ SOFTIRQ STEAL GUEST ...", in ticks; the time of guests is in USER. */
static bool parse_cpu(const char *line, unsigned long *cpu, uint64_t *busy)
{
    enum { IDLE = 3, IO_WAIT = 4, FIELDS = 7 };
    char *at;
    if (strncmp(line, "cpu", 3) != 0 || line[3] < '0' || line[3] > '9')
        return false;
    *cpu = strtoul(line + 3, &at, 10);
    *busy = 0;
    for (int i = 0; i < FIELDS; i++) {
        uint64_t ticks = strtoull(at, &at, 10);
        if (i != IDLE && i != IO_WAIT)
            *busy += ticks * (SECOND / (uint64_t)sysconf(_SC_CLK_TCK));
    }
    return *cpu < CHUNK_MAX_FRAMES;
}

/* Offline CPUs keep their last values. */
static int write_cpus(struct system_counters *counters, struct spool_writer *spool, uint64_t now, bool is_base,
                      struct error *err)
{
    ssize_t length = pread(counters->stat_fd, counters->text, STAT_SIZE - 1, 0);
    counters->text[length > 0 ? length : 0] = '\0';
    for (const char *line = counters->text; line && *line; line = strchr(line, '\n'), line += line != NULL) {
        unsigned long cpu;
        uint64_t busy;
        if (!parse_cpu(line, &cpu, &busy))
            continue;
        while (counters->busy.length <= cpu)
            if (!array_push(&counters->busy, 0))
                return error_no_memory(err);
        counters->busy.data[cpu] = busy;
    }
    const struct spool_counters reading = {.of = COUNTERS_OF_CPUS,
                                           .time_ns = now,
                                           .is_base = is_base,
                                           .values = {counters->busy.data, counters->busy.length}};
    return reading.values.count ? spool_write_counters(spool, &reading, err) : 0;
}

/* ---- all ---- */

int system_counters_read(struct system_counters *counters, struct spool_writer *spool, uint64_t now, uint64_t interval,
                         bool is_base, struct error *err)
{
    if (counters->last && now < counters->last + interval)
        return 0;
    is_base |= counters->is_base || !counters->last;
    counters->last = now;
    counters->is_base = false;
    int code = counters->stat_fd >= 0 ? write_cpus(counters, spool, now, is_base, err) : 0;
    return code ? code : write_energies(counters, spool, now, is_base, err);
}

void system_counters_resume(struct system_counters *counters)
{
    counters->is_base = true;
}

const char *system_counters_list_power_names(const struct system_counters *counters)
{
    return counters->names;
}

int system_counters_new(struct system_counters **out, bool cpus, bool power, const char *power_directory,
                        struct error *err)
{
    struct system_counters *counters = *out = calloc(1, sizeof(*counters));
    bool ok = counters != NULL;
    if (ok) {
        counters->stat_fd = cpus ? open("/proc/stat", O_RDONLY | O_CLOEXEC) : -1;
        counters->text = malloc(STAT_SIZE);
        ok = counters->text && (!power || open_energies(counters, power_directory));
    }
    if (ok && (counters->stat_fd >= 0 || counters->energies.length))
        return 0;
    system_counters_free(counters);
    *out = NULL;
    return ok ? 0 : error_no_memory(err);
}

void system_counters_free(struct system_counters *counters)
{
    if (!counters)
        return;
    if (counters->stat_fd >= 0)
        close(counters->stat_fd);
    for (size_t i = 0; i < counters->energies.length; i++)
        close(counters->energies.data[i].fd);
    array_free(&counters->energies);
    array_free(&counters->busy);
    array_free(&counters->used);
    free(counters->text);
    free(counters);
}
