/*
 * A profile as a self-contained HTML file with the page, the engine and the profile, which a browser opens from disk,
 * without server or network.
 *
 * The parts of the HTML file are gzip files, written as text in elements that browsers do not run (`<script
 * type="text/plain">`). web/src/shell.ts, the only script that browsers run directly, unpacks the parts.
 *
 * The file is UTF-16LE with a byte order mark, which has precedence over the charset of a server
 * (https://encoding.spec.whatwg.org/#decode). So nearly every code unit can hold 16 bits of a part, and a part grows by
 * 0.5 % (base 64: 33 %). The file uses no surrogates, no noncharacters, and no units below '@', which include the
 * characters that the HTML parser changes (NUL, CR) or that could end the element ('<'). UNITS of the 65,536 units
 * remain, too few to encode 16 bits. So one unit encodes a 16-bit value below LONG_UNITS, or the upper 15 bits of a
 * larger value. A byte 0x80 ends a part, because the last bits may be padding. Line breaks are only for text editors.
 *
 * build.mjs makes the shell, with a placeholder `<!--file NAME-->` for each file of the page. html_write_template()
 * replaces these placeholders to make the template. html_page_write() replaces `<!--profile-->` by a profile.
 */
#pragma once

#include "base/sink.h"
#include "profile/profile.h"

struct html_file {
    const char *name;
    const unsigned char *gzip;
    size_t size;
};

/* Writes the template. `shell` is ASCII. -EINVAL if the shell names a missing file. */
int html_write_template(const char *shell, size_t length, const struct html_file *files, size_t count,
                        const struct byte_sink *sink, struct error *err);

struct html_page {
    const char *text;          /* the template */
    size_t length;             /* in bytes */
    const unsigned char *gzip; /* the profile, packed */
    size_t gzip_size;
    const char *view; /* view, as in the query part of the page's URL ("tab=flame-graph"); "": the default view */
    bool has_editor;  /* whether to include the source editor: html_needs_editor() */
};

/* Writes the HTML file in UTF-16LE, like the template. -EINVAL if the text is no template. */
int html_page_write(const struct html_page *page, const struct byte_sink *sink, struct error *err);

/* Returns whether a profile contains texts of source files. The editor for source files is more than half of the
 * page. */
bool html_needs_editor(const struct profile *profile);
