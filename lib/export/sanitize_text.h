/*
 * Finds personal data in a text: home directories, user and host names, network addresses. A text is a path, a name of
 * a function or thread, or a value of a marker.
 *
 * Home directories are found by their usual places (/home/NAME, /Users/NAME, C:\Users\NAME, /root) and by the paths
 * that the caller knows. The NAMEs in these paths, and names known to the caller, are user names, which are also
 * removed as whole words from other texts (/tmp/NAME-1). Common account names (ubuntu, runner) stay, because they
 * reveal nothing and are often names of programs.
 */
#pragma once

#include "base/strings.h"
#include "base/text_buffer.h"

/* The kinds of data to remove. */
enum sanitize_part {
    SANITIZE_HOMES = 1,     /* home directories in paths: "~" */
    SANITIZE_NAMES = 2,     /* user names: "user"; host names: "host"; IP addresses: "address" */
    SANITIZE_URLS = 4,      /* the part of a URL after the scheme */
    SANITIZE_ARGUMENTS = 8, /* arguments of commands; environment, directory and options of the recording */
    SANITIZE_SOURCES = 16,  /* texts of source files */
    SANITIZE_NOTES = 32,    /* notes of the user */
    SANITIZE_ALL = 63,
    SANITIZE_PARTS = 6
};

struct sanitize_words {
    struct strings users, hosts, homes;
};

void sanitize_words_destroy(struct sanitize_words *words);

/* Adds a name; skips names that reveal nothing. False if memory ran out. */
bool sanitize_add_user(struct sanitize_words *words, const char *name, size_t length);
bool sanitize_add_host(struct sanitize_words *words, const char *name, size_t length);
bool sanitize_add_home(struct sanitize_words *words, const char *path);

/* Adds the users whose home directories a text names. */
bool sanitize_find_users(struct sanitize_words *words, const char *text, size_t length);

/* Appends the text without the parts in `parts`, and sets the bits of the removed parts in *found. With `is_code`, the
 * text is a function name, where user names are removed only inside a path or address. False if memory ran out. */
bool sanitize_text(const struct sanitize_words *words, unsigned parts, bool is_code, const char *text, size_t length,
                   struct text_buffer *out, unsigned *found);
