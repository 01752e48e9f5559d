/*
 * Finds the directory of a cgroup by name: as in systemd-cgls and /proc/PID/cgroup ("/system.slice/nginx.service"),
 * with or without the first slash, or by its path in the file system.
 *
 * Threads: any; nothing is shared.
 */
#pragma once

#include "base/error.h"

/* Finds where the version 1 hierarchy with this controller is mounted; NULL: the version 2 hierarchy. */
bool cgroup_find_mount(const char *controller, char *directory, size_t size);

/* Opens the directory for perf_events_add_all(). Returns the descriptor of the directory. Fails with a sentence and
 * -ENOENT if the cgroup does not exist, or -ENODEV if no mounted cgroup hierarchy supports perf events. */
int cgroup_open(const char *name, struct error *err);
