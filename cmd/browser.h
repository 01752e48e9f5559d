/*
 * Opens the desktop session's browser on an address that other users must not see.
 *
 * Everybody can read the arguments of a process, and the address contains the token for the profile. So the browser
 * gets a file that only its owner can read, and that redirects to the address. The file is in XDG_RUNTIME_DIR or,
 * without it, in TMPDIR or /tmp. Browsers packaged as snaps can read none of these directories, only files in the home
 * directory that are not hidden. If the user has snaps, prof writes the file to the home directory.
 */
#pragma once

#include "base/standard.h"

enum { BROWSER_SECONDS = 60 }; /* seconds until prof deletes the file, which an opened browser has then read */

struct browser_file {
    char path[PATH_MAX]; /* empty: no file */
};

/* Returns whether this user has a desktop session. */
bool browser_has_desktop(void);

/* Opens the browser on `url` with `xdg-open`. If xdg-open fails, no file remains; the terminal shows the address. */
void open_browser(struct browser_file *file, const char *url);

/* Removes the file, if any. */
void remove_browser_file(struct browser_file *file);
