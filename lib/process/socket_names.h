/*
 * What a socket of another process is: its protocol with its addresses, or the path of a unix socket, for those who
 * read "socket:[4711]" in a list of what threads waited for.
 *
 * Threads: any; nothing is shared.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { SOCKET_NAME_SIZE = 192 };

/*
 * Describes the socket with this inode, as a process of the same network namespace sees it (/proc/PID/net):
 * "tcp 127.0.0.1:40312 -> 127.0.0.1:5432", "tcp [::]:80, listening", "udp 0.0.0.0:53", "unix /run/dbus/socket",
 * "unix -> /run/dbus/socket" of the one that connected, "unix". False if it is none of these, is gone, or is beyond the
 * first megabyte of its list: on machines with very many sockets that takes too long.
 */
bool socket_name(uint32_t pid, uint64_t inode, char *text, size_t size);

/* Reads a line of /proc/PID/net/tcp, tcp6, udp, udp6 (`protocol` "tcp", "udp") or unix ("unix"): false if it is not
 * about this inode, or damaged. */
bool socket_line_parse(const char *protocol, const char *line, uint64_t inode, char *text, size_t size);
