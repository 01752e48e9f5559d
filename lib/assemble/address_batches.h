/*
 * Groups the addresses of a profile for the symbolizer: one job per library, with the distinct addresses of the library
 * in ascending order.
 *
 *     address_batches_add(&batches, lib, rva, requester) ...
 *     address_batches_make(&batches, lib_of, context)
 *     symbolizer_lookup_all(symbolizer, batches.jobs.data, batches.jobs.length, err)
 *     for each job, for its addresses: address_batches_get_answer()
 */
#pragma once

#include "symbol/symbol.h"

struct batch_address {
    uint64_t rva;
    uint32_t lib;       /* the caller's index */
    uint32_t requester; /* the caller's number of the frame with this address */
    uint32_t answer;    /* index into the answers of the job */
};

/* Starts zeroed. */
struct address_batches {
    ARRAY(struct batch_address) addresses; /* after address_batches_make(): by library, then by address */
    ARRAY(struct symbol_job) jobs;
    ARRAY(size_t) first; /* first index in `addresses` of each job, and the end */
    uint64_t *rvas;
};

/* False if memory ran out. */
bool address_batches_add(struct address_batches *batches, uint32_t lib, uint64_t rva, uint32_t requester);

/* Makes the jobs. `lib_of` describes a library, and the texts of the description must outlive the batches. False if
 * memory ran out. */
bool address_batches_make(struct address_batches *batches,
                          struct symbol_lib (*lib_of)(const void *context, uint32_t lib), const void *context);

/* Returns the answer for an address (an index into `addresses`) of a job; an empty answer if the job failed. */
const struct symbol_answer *address_batches_get_answer(const struct address_batches *batches, size_t job,
                                                       size_t address);

void address_batches_destroy(struct address_batches *batches);
