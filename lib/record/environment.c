#include "record/environment.h"

#include "base/array.h"
#include "os/file_io.h"
#include "os/file_proc.h"
#include "base/hash.h"
#include "os/target_memory.h"
#include "spool/info.h"
#include "sample/cpu_list.h"

#include <sched.h>
#include <sys/utsname.h>
#include <unistd.h>

#define CPUS "/sys/devices/system/cpu"

struct writing {
    struct spool_writer *spool;
    struct error *err;
    int code; /* error code of the first failure */
};

/* Writes a value under a name, unless the value is unknown (""). */
static void write_value(struct writing *writing, const char *name, const char *value)
{
    if (!writing->code && value[0])
        writing->code = info_write(writing->spool, name, value, writing->err);
}

static void write_number(struct writing *writing, const char *name, uint64_t value)
{
    if (!writing->code && value)
        writing->code = info_write_number(writing->spool, name, value, writing->err);
}

/* ---- the system ---- */

/* Reads the value of the first line "key : value" of a file, without quotes; false and "" if the file has no such
 * line. */
static bool read_value(const char *path, const char *key, char *out, size_t size)
{
    FILE *file = fopen(path, "re");
    char line[4096]; /* fits the flags of a CPU */
    bool found = false;
    out[0] = '\0';
    while (file && !found && fgets(line, sizeof(line), file)) {
        char *separator = strpbrk(line, ":=");
        if (!separator || strncmp(line, key, strlen(key)) != 0)
            continue;
        const char *value = separator + 1 + strspn(separator + 1, " \t\"");
        snprintf(out, size, "%.*s", (int)strcspn(value, "\"\n"), value);
        found = true;
    }
    if (file)
        fclose(file);
    return found;
}

static void write_system(struct writing *writing, bool no_machine_name)
{
    struct utsname system;
    char release[256] = "Linux", text[1024];
    if (uname(&system))
        return;
    read_value("/etc/os-release", "PRETTY_NAME", release, sizeof(release));
    snprintf(text, sizeof(text), "%s (%s %s)", release[0] ? release : "Linux", system.sysname, system.release);
    write_value(writing, INFO_SYSTEM, text);
    write_value(writing, INFO_MACHINE, system.machine);
    snprintf(text, sizeof(text), "%s %s %s", system.sysname, system.release, system.version);
    write_value(writing, INFO_KERNEL, text);
    if (!no_machine_name)
        write_value(writing, INFO_HOST, system.nodename);
}

/* ---- CPUs ---- */

/* Reads a number from sysfs. Returns -1 if the file does not exist. */
static long parse_cpu_number(uint32_t cpu, const char *what)
{
    char path[128], text[32];
    snprintf(path, sizeof(path), CPUS "/cpu%" PRIu32 "/%s", cpu, what);
    return file_read_text(path, text, sizeof(text)) ? strtol(text, NULL, 10) : -1;
}

/* Counts the distinct (package, core) pairs in sysfs. Returns 0 without sysfs. */
static uint64_t count_cores(const struct cpu_list *cpus)
{
    struct hash cores = {0};
    bool ok = true;
    for (size_t i = 0; i < cpus->length && ok; i++) {
        long package = parse_cpu_number(cpus->data[i], "topology/physical_package_id");
        long core = parse_cpu_number(cpus->data[i], "topology/core_id");
        if (package >= 0 && core >= 0)
            ok = hash_set(&cores, (uint64_t)package << 32 | (uint32_t)core, 1);
    }
    uint64_t count = ok ? cores.length : 0;
    hash_destroy(&cores);
    return count;
}

static void append_text(char *text, size_t size, const char *joint, const char *piece)
{
    size_t used = strlen(text);
    if (piece[0])
        snprintf(text + used, size - used, "%s%s", used ? joint : "", piece);
}

/* Returns the step through a long list of CPUs: each file takes 20 us to read, and the command waits for the
 * recorder. */
static size_t choose_step(const struct cpu_list *cpus)
{
    enum { MOST_CPUS_READ = 16 };
    return 1 + cpus->length / (MOST_CPUS_READ + 1);
}

/* Reads the governor of all CPUs, "several governors", or "" if the kernel does not control the frequency. */
static void read_governor(const struct cpu_list *cpus, char *text, size_t size)
{
    char path[128], governor[64];
    text[0] = '\0';
    for (size_t i = 0; i < cpus->length; i += choose_step(cpus)) {
        snprintf(path, sizeof(path), CPUS "/cpu%" PRIu32 "/cpufreq/scaling_governor", cpus->data[i]);
        if (!file_read_text(path, governor, sizeof(governor)))
            continue;
        if (text[0] && strcmp(text, governor) != 0) {
            snprintf(text, size, "several governors");
            return;
        }
        snprintf(text, size, "%s", governor);
    }
}

/* Linux: Documentation/admin-guide/pm/{cpufreq,intel_pstate}.rst. */
static const char *read_turbo_state(void)
{
    char text[16];
    if (file_read_text(CPUS "/intel_pstate/no_turbo", text, sizeof(text)))
        return text[0] == '0' ? "turbo on" : "turbo off";
    if (file_read_text(CPUS "/cpufreq/boost", text, sizeof(text)))
        return text[0] == '0' ? "turbo off" : "turbo on";
    return "";
}

/* Writes the CPU frequencies, such as "performance, 0.80 to 3.50 GHz, turbo on, driver intel_pstate", or "" in most
 * virtual machines. */
static void write_frequency(struct writing *writing, const struct cpu_list *cpus)
{
    char text[256], piece[96];
    long least = -1, most = -1;
    read_governor(cpus, text, sizeof(text));
    for (size_t i = 0; i < cpus->length; i += choose_step(cpus)) {
        long low = parse_cpu_number(cpus->data[i], "cpufreq/cpuinfo_min_freq"); /* kHz */
        long high = parse_cpu_number(cpus->data[i], "cpufreq/cpuinfo_max_freq");
        least = low > 0 && (least < 0 || low < least) ? low : least;
        most = high > most ? high : most;
    }
    if (least > 0 && most > 0) {
        snprintf(piece, sizeof(piece), "%.2f to %.2f GHz", (double)least / 1e6, (double)most / 1e6);
        append_text(text, sizeof(text), ", ", piece);
    }
    append_text(text, sizeof(text), ", ", read_turbo_state());
    if (text[0] && file_read_text(CPUS "/cpu0/cpufreq/scaling_driver", piece, sizeof(piece) - 8)) {
        append_text(text, sizeof(text), ", ", "driver ");
        append_text(text, sizeof(text), "", piece);
    }
    write_value(writing, INFO_FREQUENCY, text);
}

/* Writes the CPUs that prof may use ("0-3") unless prof may use all, and the CPU limit of the cgroup ("2.5 CPUs"). */
static void write_allowed_cpus(struct writing *writing, size_t online)
{
    char list[512] = "", cgroup[PATH_MAX], path[PATH_MAX + 64], quota[64], text[640] = "";
    cpu_set_t set;
    if (sched_getaffinity(0, sizeof(set), &set) == 0 && (size_t)CPU_COUNT(&set) < online)
        read_value("/proc/self/status", "Cpus_allowed_list", list, sizeof(list));
    append_text(text, sizeof(text), "", list);
    FILE *own = fopen("/proc/self/cgroup", "re");
    uint64_t used, period;
    if (own && fgets(cgroup, sizeof(cgroup), own) && strncmp(cgroup, "0::/", 4) == 0) {
        snprintf(path, sizeof(path), "/sys/fs/cgroup%.*s/cpu.max", (int)strcspn(cgroup + 3, "\n"), cgroup + 3);
        if (file_read_text(path, quota, sizeof(quota)) && sscanf(quota, "%" SCNu64 " %" SCNu64, &used, &period) == 2 &&
            period) {
            snprintf(list, sizeof(list), "time of %.4g CPUs", (double)used / (double)period);
            append_text(text, sizeof(text), ", ", list);
        }
    }
    if (own)
        fclose(own);
    write_value(writing, INFO_CPUS_ALLOWED, text);
}

static void write_cpus(struct writing *writing)
{
    struct cpu_list cpus = {0}, nodes = {0};
    char text[1024];
    long configured = sysconf(_SC_NPROCESSORS_CONF), pages = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGESIZE);
    if (read_value("/proc/cpuinfo", "model name", text, sizeof(text)))
        write_value(writing, INFO_CPU_NAME, text);
    write_number(writing, INFO_CPUS, configured > 0 ? (uint64_t)configured : 0);
    if (pages > 0 && page > 0)
        write_number(writing, INFO_MEMORY, (uint64_t)pages * (uint64_t)page);
    if (cpu_list_read_online(&cpus, NULL) == 0) {
        write_number(writing, INFO_CORES, count_cores(&cpus));
        write_frequency(writing, &cpus);
        write_allowed_cpus(writing, cpus.length);
    }
    if (file_read_text("/sys/devices/system/node/online", text, sizeof(text)) &&
        cpu_list_parse(text, &nodes, NULL) == 0)
        write_number(writing, INFO_NUMA_NODES, nodes.length);
    array_free(&cpus);
    array_free(&nodes);
}

/* ---- hypervisor and container ---- */

/* Writes the hypervisor: an x86 CPU flag reports one, and the firmware names its vendor. */
static void write_hypervisor(struct writing *writing)
{
    char flags[4096], vendor[128], product[128], text[320] = "";
    bool is_virtual = read_value("/proc/cpuinfo", "flags", flags, sizeof(flags)) && strstr(flags, " hypervisor");
    if (!is_virtual && file_read_text("/sys/hypervisor/type", vendor, sizeof(vendor)))
        snprintf(text, sizeof(text), "%s", vendor);
    if (is_virtual) {
        file_read_text("/sys/class/dmi/id/sys_vendor", vendor, sizeof(vendor));
        file_read_text("/sys/class/dmi/id/product_name", product, sizeof(product));
        append_text(text, sizeof(text), " ", vendor);
        append_text(text, sizeof(text), " ", product);
        if (!text[0])
            snprintf(text, sizeof(text), "yes");
    }
    write_value(writing, INFO_HYPERVISOR, text);
}

/* Detects a container by its files in the root directory and its cgroup names. */
static void write_container(struct writing *writing)
{
    static const struct {
        const char *word, *name;
    } known[] = {{"kubepods", "Kubernetes"}, {"docker", "Docker"}, {"libpod", "Podman"}, {"lxc", "LXC"}};
    char text[4096], kind[64];
    const char *name = access("/run/.containerenv", F_OK) == 0 ? "Podman"
                       : access("/.dockerenv", F_OK) == 0      ? "Docker"
                                                               : "";
    if (file_read_text("/proc/self/cgroup", text, sizeof(text)))
        for (size_t i = 0; i < sizeof(known) / sizeof(*known) && !name[0]; i++)
            if (strstr(text, known[i].word))
                name = known[i].name;
    if (!name[0] && file_read_text("/run/systemd/container", kind, sizeof(kind)))
        name = kind;
    write_value(writing, INFO_CONTAINER, name);
}

/* ---- the process ---- */

static void write_directory(struct writing *writing, pid_t pid)
{
    char path[64], directory[PATH_MAX];
    snprintf(path, sizeof(path), "/proc/%" PRIu32 "/cwd", proc_find_living_thread((uint32_t)pid));
    ssize_t length = pid ? readlink(path, directory, sizeof(directory) - 1) : -1;
    if (length >= 0)
        directory[length] = '\0';
    else if (pid || !getcwd(directory, sizeof(directory)))
        return;
    write_value(writing, INFO_DIRECTORY, directory);
}

/* Finds a variable in the environment with which a process was started, or NULL if not set. */
static const char *find_variable(const char *environment, size_t size, const char *name)
{
    size_t length = strlen(name);
    for (const char *at = environment; at < environment + size; at += strlen(at) + 1)
        if (strncmp(at, name, length) == 0 && at[length] == '=')
            return at + length + 1;
    return NULL;
}

/* Reads /proc/PID/environ, and adds a NUL. NULL if memory ran out. */
static char *read_environment(pid_t pid, size_t *size)
{
    enum { MOST = 4 << 20 };
    const struct target_thread thread = {(uint32_t)pid, proc_find_living_thread((uint32_t)pid)};
    char *text = malloc(MOST + 1);
    if (!text)
        return NULL;
    *size = target_memory_read_file(thread, "environ", text, MOST);
    text[*size] = '\0';
    return text;
}

static void write_variables(struct writing *writing, const struct environment_options *options, pid_t pid)
{
    size_t size = 0;
    char *environment = pid && options->variable_count ? read_environment(pid, &size) : NULL;
    for (size_t i = 0; i < options->variable_count; i++) {
        const char *name = options->variables[i];
        const char *value = pid ? find_variable(environment, size, name) : getenv(name);
        char label[256];
        snprintf(label, sizeof(label), INFO_VARIABLE "%.200s", name);
        write_value(writing, label, value ? value : "(not set)");
    }
    free(environment);
}

int write_environment(struct spool_writer *spool, const struct environment_options *options, pid_t pid,
                      struct error *err)
{
    struct writing writing = {.spool = spool, .err = err};
    write_system(&writing, options->no_machine_name);
    write_cpus(&writing);
    write_hypervisor(&writing);
    write_container(&writing);
    if (!options->no_machine_name)
        write_directory(&writing, pid);
    write_variables(&writing, options, pid);
    if (!writing.code && options->arguments && options->arguments[0])
        writing.code = info_write_words(spool, INFO_OPTIONS, options->arguments, err);
    return writing.code;
}
