/*
 * The regular expressions that people type into a search field: . [a-z] [^a-z] \d \w \s (and \D \W \S) ^ $ * + ? | ( )
 * and \ before a literal character. Matching ignores ASCII case; a dot matches one byte.
 *
 * Matching takes time linear in the length of the text times the length of the expression, because names are untrusted.
 */
#pragma once

#include "base/array.h"
#include "base/error.h"

enum { PATTERN_MAX_STEPS = 512 };

struct pattern_step {
    uint8_t kind;
    int16_t first, second; /* next steps, relative to this step */
    uint16_t set;          /* set of matching bytes */
};

struct byte_set {
    uint32_t bits[8];
};

struct pattern {
    ARRAY(struct pattern_step) steps;
    ARRAY(struct byte_set) sets;
};

/* Compiles an expression. -EINVAL if it is invalid (an open bracket, a star after nothing) or too long; the error
 * explains the fault. pattern_destroy() frees it, even after an error. */
int pattern_init(struct pattern *pattern, const char *text, size_t length, struct error *err);

/* Returns whether the expression matches some part of the text. */
bool pattern_matches(const struct pattern *pattern, const char *text, size_t length);

void pattern_destroy(struct pattern *pattern);
