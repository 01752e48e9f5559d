/*
 * A profile as an HTML file that needs nothing else: the page, the engine and the profile in one file, which a browser
 * opens from the disk, without a server and without a network.
 *
 * Its parts are gzip files, written as text in elements that browsers do not run (`<script type="text/plain">`).
 * web/src/shell.ts, the only script that the file itself begins, unpacks them.
 *
 * The file is UTF-16LE with a byte order mark, which a browser believes whatever charset a server names
 * (https://encoding.spec.whatwg.org/#decode). So nearly every code unit can hold 16 bits of a part, and a part grows by
 * 0.5 % (base 64: 33 %). Excluded are surrogates, the two noncharacters at the end, and all units below '@': among
 * those are the characters that the HTML parser changes (NUL, CR) and the one that could end the element ('<'). UNITS
 * of the 65,536 units remain, too few for 16 bits. So a 16-bit value below LONG_UNITS is one unit; for a larger value,
 * its upper 15 bits are one unit. A byte 0x80 ends a part, as its last bits may be padding. Lines end only so that a
 * text editor can show the file.
 *
 * build.mjs makes the shell, which has a marker `<!--file NAME-->` for each file of the page. html_template() fills
 * these markers to make the template. html_page_write() replaces `<!--profile-->` by a profile.
 */
#pragma once

#include "base/sink.h"
#include "profile/profile.h"

#include <stdbool.h>
#include <stddef.h>

struct html_file {
    const char *name;
    const unsigned char *gzip;
    size_t size;
};

/* Writes the template. `shell` is ASCII. -EINVAL if the shell names a missing file. */
int html_template(const char *shell, size_t length, const struct html_file *files, size_t count,
                  const struct byte_sink *sink, struct error *err);

struct html_page {
    const char *text;          /* the template */
    size_t length;             /* in bytes */
    const unsigned char *gzip; /* the profile, packed */
    size_t gzip_size;
    const char *view; /* as in the query part of the page's address ("tab=flame-graph"); "": the default view */
    bool has_editor;  /* for the texts of source files: html_needs_editor() */
};

/* Writes the file, UTF-16LE as the template. -EINVAL if the text is no template. */
int html_page_write(const struct html_page *page, const struct byte_sink *sink, struct error *err);

/* Whether a profile has texts of source files. The editor that shows them is more than half of the page. */
bool html_needs_editor(const struct profile *profile);
