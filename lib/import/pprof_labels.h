/*
 * Labels of pprof samples, for which a profile has no columns. Samples with the same text labels ("request": "A") form
 * a thread. The thread's marker "Labels" stores the labels, so that prof's export restores the labels. Number labels
 * ("bytes": 4096) become markers at their samples. Labels that name a process or thread become no markers.
 */
#pragma once

#include "import/profile_builder.h"

enum { PPROF_LABEL_SETS_MAX = 256 }; /* limit of label sets; samples of further sets have no labels */

#define PPROF_LABELS_TYPE "pprof-labels" /* strings of the marker's payload */

struct pprof_labels {
    struct profile_builder *builder;
    struct hash sets; /* names (strings) of threads with a marker "Labels" */
    struct hash keys; /* keys (strings) of text labels */
    size_t count;     /* number of label sets */
    bool has_numbers, has_too_many;
    ARRAY(uint32_t) key_strings;
};

/* Of one sample. */
struct pprof_label {
    struct builder_text key, text, unit;
    int64_t number; /* if the text is empty */
};
void pprof_labels_destroy(struct pprof_labels *labels);

/* Returns the thread for a sample with these labels. `name` is the thread name from a label, or empty. PROFILE_NONE if
 * memory ran out. */
uint32_t pprof_labels_add_thread(struct pprof_labels *labels, uint64_t pid, uint64_t tid, struct builder_text name,
                                 const struct pprof_label *list, size_t count);

/* Adds the markers of number labels. `row` is the main sample with these labels. False if memory ran out. */
bool pprof_labels_add_markers(struct pprof_labels *labels, uint32_t thread, size_t row, const struct pprof_label *list,
                              size_t count);

/* Adds the schemas of the markers, and selects all threads. */
int pprof_labels_finish(struct pprof_labels *labels, struct error *err);
