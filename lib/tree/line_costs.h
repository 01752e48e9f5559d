/*
 * The costs of the lines of one source file, with the calls inlined into them; and the hottest lines of all files.
 */
#pragma once

#include "tree/location_costs.h"

struct line_cost {
    uint32_t line; /* 1-based, or 0 (frames of the file without a line number) */
    double total;  /* weight of samples with a frame at this line, each once */
    double self;   /* weight of samples that end at this line */
};

struct inlined_cost {
    uint32_t line; /* line of the calling frame */
    uint32_t func; /* the inlined func */
    double total;
};

struct line_costs {
    ARRAY(struct line_cost) lines;      /* sorted by line; includes lines of uncounted samples */
    ARRAY(struct inlined_cost) inlined; /* sorted by line, then heaviest first */
    double total, self;                 /* weight of the file's samples, each sample once */
};

struct line_request {
    uint32_t source; /* index in profile->sources */
    uint32_t func;   /* counts only frames of this func, or PROFILE_NONE (all funcs of the file) */
    struct frame_selection selection;
};

/* Computes the costs. Funcs that represent a library have no lines. The caller zeroes `costs` before, and destroys
 * it also after an error. */
int line_costs_compute(struct line_costs *costs, const struct profile *profile, const struct counted_stacks *counted,
                       const struct line_request *request, struct error *err);

void line_costs_destroy(struct line_costs *costs);

/* ---- the hottest lines of all files ---- */

struct hot_line {
    uint32_t func; /* the func with the most self time at the line (the line of a template has several funcs) */
    uint32_t line; /* 1-based line in the source file of the func */
    double self;
};

struct hot_lines {
    ARRAY(struct hot_line) rows; /* heaviest first */
    double known;                /* self of all lines, including lines beyond the limit */
};

/* Lists the hottest lines of all files by self, at most `limit`. Self equals the self of line_costs_compute(). Linear
 * in the number of stacks. The caller zeroes `hot`, and calls hot_lines_destroy() also after an error. */
int hot_lines_compute(struct hot_lines *hot, const struct profile *profile, const struct counted_stacks *counted,
                      size_t limit, struct error *err);

void hot_lines_destroy(struct hot_lines *hot);

/* ---- libraries that can provide the text of a file ---- */

struct code_address {
    uint32_t lib; /* index in profile->libs */
    int64_t address;
};

ARRAY_TYPE(struct code_addresses, struct code_address);

/* Finds one code address of this file for each library, at most `limit`. */
int list_source_places(struct code_addresses *places, const struct profile *profile, uint32_t source, size_t limit,
                       struct error *err);
