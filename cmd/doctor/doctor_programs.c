/*
 * Libraries that prof loads when it needs them, programs that it starts, servers of debug files.
 */
#include "cmd/doctor/doctor.h"

#include "cmd/browser.h"

#include "os/late_library.h"
#include "push/http_client.h"
#include "serve/http_library.h"

#include <capstone/capstone.h>
#include <unistd.h>

#define TEXT(number)      #number
#define CAPSTONE(version) "libcapstone.so." TEXT(version)
#define APT_NAME(version) "libcapstone" TEXT(version)

static bool is_loadable(const char *library)
{
    return late_library_load(library, NULL, 0, NULL);
}

static bool is_in_path(const char *program)
{
    const char *path = getenv("PATH");
    char file[4096];
    for (const char *at = path ? path : ""; *at;) {
        size_t length = strcspn(at, ":");
        snprintf(file, sizeof(file), "%.*s/%s", (int)length, at, program);
        if (length && access(file, X_OK) == 0)
            return true;
        at += length + (at[length] == ':');
    }
    return false;
}

static void examine_libraries(struct findings *findings)
{
    static const struct package_names http = {"libmicrohttpd12", "libmicrohttpd", "libmicrohttpd", "libmicrohttpd12"};
    static const struct package_names capstone = {APT_NAME(CS_API_MAJOR), "capstone", "capstone", "libcapstone"};
    bool serves = http_library_load(NULL) == 0, disassembles = is_loadable(CAPSTONE(CS_API_MAJOR));
    finding_add(findings, serves ? FINDING_OK : FINDING_FAILED, "microhttpd", "page",
                serves ? "libmicrohttpd is installed: prof can show profiles in the browser"
                       : "libmicrohttpd.so.12 is not installed: prof records, but cannot show profiles in the browser");
    if (!serves)
        finding_install(findings, &http);
    finding_add(findings, disassembles ? FINDING_OK : FINDING_LESS, "capstone", "machine code",
                disassembles ? CAPSTONE(CS_API_MAJOR) " is installed"
                             : CAPSTONE(CS_API_MAJOR) " is not installed: prof shows no machine code");
    if (!disassembles)
        finding_install(findings, &capstone);
}

static void examine_tools(struct findings *findings)
{
    static const struct package_names binutils = {"binutils", "binutils", "binutils", "binutils"};
    static const struct package_names opener = {"xdg-utils", "xdg-utils", "xdg-utils", "xdg-utils"};
    bool has_objdump = is_in_path("objdump"), has_opener = is_in_path("xdg-open"), has_desktop = browser_has_desktop();
    finding_add(findings, has_objdump ? FINDING_OK : FINDING_LESS, "objdump", "objdump",
                has_objdump ? "is installed, for x86 instructions that capstone does not know"
                            : "is not installed: prof shows new x86 instructions as bytes");
    if (!has_objdump)
        finding_install(findings, &binutils);
    finding_add(findings, has_opener || !has_desktop ? FINDING_OK : FINDING_LESS, "browser", "browser",
                !has_desktop ? "no desktop session: prof prints the address, and opens no browser"
                : has_opener ? "xdg-open opens it"
                             : "xdg-open is not installed: prof prints the address, and opens no browser");
    if (!has_opener && has_desktop)
        finding_install(findings, &opener);
}

static void examine_libcurl(struct findings *findings)
{
    static const struct package_names names = {"libcurl4", "libcurl", "curl", "libcurl4"};
    bool is_there = http_client_is_possible();
    finding_add(findings, is_there ? FINDING_OK : FINDING_LESS, "curl", "pushing",
                is_there ? "libcurl is installed: prof can send profiles to servers"
                         : "libcurl.so.4 is not installed: prof cannot send profiles to servers");
    if (!is_there)
        finding_install(findings, &names);
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
        finding_install(findings, &names);
    else if (!is_set)
        finding_fix(findings, "export DEBUGINFOD_URLS=https://debuginfod.elfutils.org/");
}

void doctor_examine_programs(struct findings *findings)
{
    examine_libraries(findings);
    examine_tools(findings);
    examine_debuginfod(findings);
    examine_libcurl(findings);
}
