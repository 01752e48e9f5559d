/*
 * `prof doctor [PROGRAM]`: prints which recordings work here for this user, and the command that enables more.
 *
 * The command opens perf events and maps rings instead of only reading settings, because settings, capabilities,
 * limits, seccomp filters and security modules decide together.
 */
#include "cmd/doctor/doctor.h"

#include "cmd/common/commands.h"
#include "cmd/common/ui.h"

#include "base/json_write.h"

#include <stdarg.h>
#include <unistd.h>

/* ---- findings ---- */

struct finding *finding_add(struct findings *findings, enum finding_state state, const char *id, const char *label,
                            const char *format, ...)
{
    static struct finding nowhere; /* receives the finding if memory ran out; no code reads this finding */
    struct finding *finding = array_push_zero(&findings->items);
    if (!finding) {
        findings->out_of_memory = true;
        return &nowhere;
    }
    va_list args;
    va_start(args, format);
    vsnprintf(finding->text, sizeof(finding->text), format, args);
    va_end(args);
    finding->state = state;
    finding->id = id;
    finding->label = label;
    return finding;
}

void finding_set_fix(struct findings *findings, const char *format, ...)
{
    if (!findings->items.length)
        return;
    struct finding *finding = &findings->items.data[findings->items.length - 1];
    va_list args;
    va_start(args, format);
    vsnprintf(finding->fix, sizeof(finding->fix), format, args);
    va_end(args);
}

static bool is_installed(const char *program)
{
    char path[64];
    snprintf(path, sizeof(path), "/usr/bin/%s", program);
    return access(path, X_OK) == 0;
}

void finding_set_package(struct findings *findings, const struct package_names *names)
{
    const char *sudo = geteuid() ? "sudo " : "";
    if (names->apt && is_installed("apt-get"))
        finding_set_fix(findings, "%sapt-get install %s", sudo, names->apt);
    else if (names->dnf && is_installed("dnf"))
        finding_set_fix(findings, "%sdnf install %s", sudo, names->dnf);
    else if (names->pacman && is_installed("pacman"))
        finding_set_fix(findings, "%spacman -S %s", sudo, names->pacman);
    else if (names->zypper && is_installed("zypper"))
        finding_set_fix(findings, "%szypper install %s", sudo, names->zypper);
}

/* ---- printing ---- */

static const char *const state_names[] = {[FINDING_OK] = "ok", [FINDING_LESS] = "less", [FINDING_FAILED] = "failed"};

static void print_findings(const struct findings *findings)
{
    enum { LABEL_WIDTH = 18 };
    static const char *const signs[] = {[FINDING_OK] = "ok", [FINDING_LESS] = "-", [FINDING_FAILED] = "NO"};
    for (size_t i = 0; i < findings->items.length; i++) {
        const struct finding *finding = &findings->items.data[i];
        ui_print("%-3s %-*s %s\n", signs[finding->state], LABEL_WIDTH, finding->label, finding->text);
        if (finding->fix[0])
            ui_print("%*s     $ %s\n", LABEL_WIDTH, "", finding->fix);
    }
    ui_print("%s\n", findings->can_record ? "\nprof can record here." : "\nprof cannot record here.");
}

static void write_findings(struct json_writer *json, const void *context)
{
    const struct findings *findings = context;
    json_member_bool(json, "records", findings->can_record);
    json_member_open(json, "findings", '[');
    for (size_t i = 0; i < findings->items.length; i++) {
        const struct finding *finding = &findings->items.data[i];
        json_open(json, '{');
        json_member_text(json, "id", finding->id);
        json_member_text(json, "state", state_names[finding->state]);
        json_member_text(json, "label", finding->label);
        json_member_text(json, "text", finding->text);
        json_member_text(json, "fix", finding->fix[0] ? finding->fix : NULL);
        json_close(json, '}');
    }
    json_close(json, ']');
}

/* ---- the command ---- */

static int add_findings(const char *program, bool as_json)
{
    struct findings findings = {0};
    findings.can_record = doctor_examine_recording(&findings);
    doctor_examine_programs(&findings);
    if (program)
        doctor_examine_target(&findings, program);
    int status = EXIT_SUCCESS;
    if (findings.out_of_memory)
        status = ui_fail("out of memory");
    else if (as_json)
        status = ui_print_json(write_findings, &findings);
    else
        print_findings(&findings);
    array_free(&findings.items);
    return findings.can_record ? status : EXIT_FAILURE;
}

struct options {
    bool json;
};

static const struct option_row option_rows[] = {
    {"json", 0, NULL, "print JSON, for scripts", OPTION_FLAG(struct options, json)},
    {.name = NULL},
};

static const char usage[] =
    "usage: prof doctor [--json] [PROGRAM]\n"
    "\n"
    "Tests which recordings work on this machine for this user, and prints one line per feature.\n"
    "If a feature is missing, prints the command that enables it.\n"
    "With PROGRAM, also prints which symbols, lines and stacks its profile will have.\n"
    "Exits with 0 if prof can record, else with 1.\n";

const struct option_table doctor_table = {
    .command = "doctor",
    .usage = usage,
    .groups = (const struct option_group[]){{.rows = option_rows}, {.rows = NULL}},
    .words = WORDS_PROGRAMS,
};

int cmd_doctor(int argc, char **argv)
{
    struct options options = {.json = false};
    int status;
    if (!options_parse(&doctor_table, &options, argc, argv, &status))
        return status;
    if (argc - optind > 1)
        return ui_usage("doctor", "give one program, not %d", argc - optind);
    return add_findings(argv[optind], options.json);
}
