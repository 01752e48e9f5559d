/*
 * Makes the template of exported pages from the assets: the page as one file without a profile, see export/html_page.h.
 */
#pragma once

#include "base/error.h"
#include "base/text_buffer.h"
#include "serve/serve_options.h"

/* Path of the asset that is the shell of html_write_template(). */
#define PAGE_SHELL "shell.html"

/* Appends the template to a buffer. Returns -ENOENT if the assets contain no shell. */
int append_page_template(const struct serve_asset *assets, size_t count, struct text_buffer *out, struct error *err);

/* Appends the decompressed asset. */
int asset_unpack(const struct serve_asset *asset, struct text_buffer *out, struct error *err);
