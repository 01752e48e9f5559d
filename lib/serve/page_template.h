/*
 * The page as one file without a profile, made of the assets: see export/html_page.h.
 */
#pragma once

#include "base/error.h"
#include "base/text_buffer.h"
#include "serve/serve_options.h"

/* The asset that html_template() takes for its shell. */
#define PAGE_SHELL "shell.html"

/* Appends the template. -ENOENT if the assets have no shell. */
int page_template(const struct serve_asset *assets, size_t count, struct text_buffer *out, struct error *err);

/* Appends the file itself, decompressed. */
int asset_unpack(const struct serve_asset *asset, struct text_buffer *out, struct error *err);
