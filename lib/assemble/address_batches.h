/*
 * The addresses of a profile, put together for the symbolizer: one job for each library, with its distinct addresses in
 * order.
 *
 *     address_batches_add(&batches, lib, rva, asker) ...
 *     address_batches_make(&batches, lib_of, context)
 *     symbolizer_lookup_all(symbolizer, batches.jobs.data, batches.jobs.length, err)
 *     for each job, for its addresses: address_batches_answer()
 */
#ifndef PROF_ASSEMBLE_ADDRESS_BATCHES_H
#define PROF_ASSEMBLE_ADDRESS_BATCHES_H

#include "symbol/symbol.h"

struct batch_address {
    uint64_t rva;
    uint32_t lib;    /* the caller's number */
    uint32_t asker;  /* the caller's: who wants to know */
    uint32_t answer; /* into the answers of the job */
};

/* Zero it to start. */
struct address_batches {
    ARRAY(struct batch_address) addresses; /* once made: by library, then by address */
    ARRAY(struct symbol_job) jobs;
    ARRAY(size_t) first; /* of each job: into addresses; and the end */
    uint64_t *rvas;
};

/* False if memory ran out. */
bool address_batches_add(struct address_batches *batches, uint32_t lib, uint64_t rva, uint32_t asker);

/* Makes the jobs; `lib_of` says what a library is, whose texts must outlive the batches. False if memory ran out. */
bool address_batches_make(struct address_batches *batches,
                          struct symbol_lib (*lib_of)(const void *context, uint32_t lib), const void *context);

/* What was found for an address (an index into addresses) of a job; nothing known if the job has failed. */
const struct symbol_answer *address_batches_answer(const struct address_batches *batches, size_t job, size_t address);

void address_batches_destroy(struct address_batches *batches);

#endif
