/*
 * The page, compressed, inside the binary. cmd/embed-page generates the table from the output of web/build.mjs.
 */
#pragma once

#include "serve/serve.h"

extern const struct serve_asset page_assets[];
extern const size_t page_asset_count;
