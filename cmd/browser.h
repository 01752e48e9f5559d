/*
 * The browser of the desktop session, opened on an address that other users must not see.
 *
 * Everybody can read the arguments of a process, and the address holds the token that gives access to the profile. So
 * the browser is given a file that only its owner can read, which sends it on to the address at once. The file lies in
 * XDG_RUNTIME_DIR, or in TMPDIR or /tmp where there is none. Browsers that are snaps can read neither of these, only
 * what is not hidden in the home folder: for those who use snaps the file lies there.
 */
#ifndef PROF_CMD_BROWSER_H
#define PROF_CMD_BROWSER_H

#include <limits.h>
#include <stdbool.h>

enum { BROWSER_SECONDS = 60 }; /* after which a browser that was opened has read the file, or never will */

struct browser_file {
    char path[PATH_MAX]; /* empty: none */
};

/* Whether there is a desktop session of this user. */
bool browser_has_desktop(void);

/* Opens the browser, as `xdg-open` knows it, on `url`. Where that does not work nothing is opened, and no file is left:
 * the user has the address on the terminal. */
void browser_open(struct browser_file *file, const char *url);

/* Removes the file, if there is one. */
void browser_remove(struct browser_file *file);

#endif
