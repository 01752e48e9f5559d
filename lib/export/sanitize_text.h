/*
 * What a text tells of the person and the machine that recorded it: directories of homes, user and host names,
 * addresses of networks. A text is any name of a profile: a path, a function, a thread, a value of a marker.
 *
 * Home directories are found by their usual places (/home/NAME, /Users/NAME, C:\Users\NAME, /root) and by the paths
 * that the caller knows. The NAMEs found in the texts of a profile are user names; with those that the caller knows,
 * they are left out as whole words in other places, too (/tmp/NAME-1). Names of accounts that many machines have
 * (ubuntu, runner) stay: they are names of programs as often, and tell nothing.
 */
#pragma once

#include "base/strings.h"
#include "base/text_buffer.h"

#include <stdbool.h>
#include <stddef.h>

/* What is left out. */
enum sanitize_part {
    SANITIZE_HOMES = 1,     /* home directories in paths: "~" */
    SANITIZE_NAMES = 2,     /* user names: "user"; host names: "host"; IP addresses: "address" */
    SANITIZE_URLS = 4,      /* what follows the scheme of a URL */
    SANITIZE_ARGUMENTS = 8, /* of commands; environment variables, the directory and the options of the recording */
    SANITIZE_SOURCES = 16,  /* texts of source files */
    SANITIZE_ALL = 31,
    SANITIZE_PARTS = 5
};

struct sanitize_words {
    struct strings users, hosts, homes;
};

void sanitize_words_destroy(struct sanitize_words *words);

/* Adds a name; those that tell nothing are not added. False if memory ran out. */
bool sanitize_add_user(struct sanitize_words *words, const char *name, size_t length);
bool sanitize_add_host(struct sanitize_words *words, const char *name, size_t length);
bool sanitize_add_home(struct sanitize_words *words, const char *path);

/* Adds the users whose home directories a text names. */
bool sanitize_find_users(struct sanitize_words *words, const char *text, size_t length);

/* Appends the text without the parts of `parts`, and sets the bits of those that it had in *found. `is_code`: it names
 * a function, where a user name is a word like others unless a path or an address is in it. False if memory ran out. */
bool sanitize_text(const struct sanitize_words *words, unsigned parts, bool is_code, const char *text, size_t length,
                   struct text_buffer *out, unsigned *found);
