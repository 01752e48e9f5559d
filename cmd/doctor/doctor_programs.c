/*
 * Libraries that prof loads when it needs them, programs that it starts, servers of debug files.
 */
#include "cmd/doctor/doctor.h"

#include "cmd/browser.h"
#include "cmd/common/build_name.h"

#include "os/late_library.h"
#include "process/program_file.h"
#include "push/http_client.h"
#include "serve/http_library.h"

#include <capstone/capstone.h>

#define TEXT(number)      #number
#define CAPSTONE(version) "libcapstone.so." TEXT(version)
#define APT_NAME(version) "libcapstone" TEXT(version)

static bool is_loadable(const char *library)
{
    return late_library_load(library, NULL, 0, NULL);
}

static bool is_in_path(const char *program)
{
    char path[PATH_MAX];
    return program_file_find(program, path) == 0;
}

/* A library or a program that prof uses. */
struct need {
    bool is_there;
    enum finding_state without; /* the state if it is missing */
    const char *id, *label, *with_text, *without_text;
    struct package_names packages;
};

static void examine_needs(struct findings *findings)
{
    bool has_desktop = browser_has_desktop();
    const struct need needs[] = {
        {http_library_load(NULL) == 0,
         FINDING_FAILED,
         "microhttpd",
         "page",
         "libmicrohttpd is available: prof can show profiles in the browser",
         "libmicrohttpd.so.12 is not installed: prof records, but cannot show profiles in the browser",
         {"libmicrohttpd12", "libmicrohttpd", "libmicrohttpd", "libmicrohttpd12"}},
        {is_loadable(CAPSTONE(CS_API_MAJOR)),
         FINDING_LESS,
         "capstone",
         "machine code",
         CAPSTONE(CS_API_MAJOR) " is available",
         CAPSTONE(CS_API_MAJOR) " is not installed: prof shows no machine code",
         {APT_NAME(CS_API_MAJOR), "capstone", "capstone", "libcapstone"}},
        {is_in_path("objdump"),
         FINDING_LESS,
         "objdump",
         "objdump",
         "is installed, for x86 instructions that capstone does not know",
         "is not installed: prof shows new x86 instructions as bytes",
         {"binutils", "binutils", "binutils", "binutils"}},
        {!has_desktop || is_in_path("xdg-open"),
         FINDING_LESS,
         "browser",
         "browser",
         has_desktop ? "xdg-open opens it" : "no desktop session: prof prints the address, and opens no browser",
         "xdg-open is not installed: prof prints the address, and opens no browser",
         {"xdg-utils", "xdg-utils", "xdg-utils", "xdg-utils"}},
        {http_client_is_possible(),
         FINDING_LESS,
         "curl",
         "pushing",
         "libcurl is available: prof can send profiles to servers",
         "libcurl.so.4 is not installed: prof cannot send profiles to servers",
         {"libcurl4", "libcurl", "curl", "libcurl4"}},
    };
    for (size_t i = 0; i < sizeof(needs) / sizeof(*needs); i++) {
        const struct need *need = &needs[i];
        finding_add(findings, need->is_there ? FINDING_OK : need->without, need->id, need->label, "%s",
                    need->is_there ? need->with_text : need->without_text);
        if (!need->is_there)
            finding_set_package(findings, &need->packages);
    }
}

static void examine_debuginfod(struct findings *findings)
{
    static const struct package_names names = {"libdebuginfod1", "elfutils-debuginfod-client", "debuginfod",
                                               "libdebuginfod1"};
    const char *urls = getenv("DEBUGINFOD_URLS");
    bool is_set = urls && *urls, is_there = is_loadable("libdebuginfod.so.1");
    finding_add(findings, is_there && is_set ? FINDING_OK : FINDING_LESS, "debuginfod", "debug servers",
                !is_there ? "libdebuginfod.so.1 is not installed: prof cannot download missing debug files"
                : is_set  ? "DEBUGINFOD_URLS is %.200s"
                          : "DEBUGINFOD_URLS is not set: prof asks no server for missing debug files",
                urls ? urls : "");
    if (!is_there)
        finding_set_package(findings, &names);
    else if (!is_set)
        finding_set_fix(findings, "export DEBUGINFOD_URLS=https://debuginfod.elfutils.org/");
}

void doctor_examine_programs(struct findings *findings)
{
    finding_add(findings, FINDING_OK, "build", "prof", "%s", build_name);
    examine_needs(findings);
    examine_debuginfod(findings);
}
