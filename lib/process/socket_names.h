/*
 * Describes sockets of other processes: protocol and addresses, or the path of a unix socket, to explain
 * "socket:[4711]" in a list of waits.
 *
 * Threads: any; nothing is shared.
 */
#pragma once

#include "base/standard.h"

enum { SOCKET_NAME_SIZE = 192 };

/*
 * Describes the socket with this inode, as a process of the same network namespace sees it (/proc/PID/net): "tcp
 * 127.0.0.1:40312 -> 127.0.0.1:5432", "tcp [::]:80, listening", "udp 0.0.0.0:53", "unix /run/dbus/socket", "unix ->
 * /run/dbus/socket" for the connecting side, "unix". False if the socket has another type, is gone, or is beyond the
 * first megabyte of its list, which on machines with very many sockets takes too long to read.
 */
bool socket_find_name(uint32_t pid, uint64_t inode, char *text, size_t size);

/* Parses a line of /proc/PID/net/tcp, tcp6, udp, udp6 (`protocol` "tcp", "udp") or unix ("unix"). False if the line has
 * another inode, or is damaged. */
bool socket_line_parse(const char *protocol, const char *line, uint64_t inode, char *text, size_t size);
