/*
 * The folder of a cgroup, by the names that users know: as systemd-cgls and /proc/PID/cgroup have it
 * ("/system.slice/nginx.service"), with or without the first slash, or its path in the file system.
 *
 * Threads: any; nothing is shared.
 */
#pragma once

#include "base/error.h"

/* Opens the folder for perf_events_add_all(). Returns its descriptor; -ENOENT if there is no such cgroup, -ENODEV if no
 * hierarchy of cgroups is mounted that perf events know, with a sentence. */
int cgroup_open(const char *name, struct error *err);
