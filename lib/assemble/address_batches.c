#include "assemble/address_batches.h"

#include "base/search.h"

bool address_batches_add(struct address_batches *batches, uint32_t lib, uint64_t rva, uint32_t requester)
{
    return array_push(&batches->addresses, (struct batch_address){.rva = rva, .lib = lib, .requester = requester});
}

DEFINE_COMPARE(compare_addresses, struct batch_address,
               ORDER_THEN(a->lib, b->lib, ORDER_THEN(a->rva, b->rva, ORDER(a->requester, b->requester))))

bool address_batches_make(struct address_batches *batches,
                          struct symbol_lib (*lib_of)(const void *context, uint32_t lib), const void *context)
{
    struct batch_address *addresses = batches->addresses.data;
    size_t count = batches->addresses.length, distinct = 0;
    batches->rvas = malloc((count + 1) * sizeof(*batches->rvas));
    if (!batches->rvas)
        return false;
    if (count)
        qsort(addresses, count, sizeof(*addresses), compare_addresses);
    struct symbol_job *job = NULL;
    for (size_t i = 0; i < count; i++) {
        if (i == 0 || addresses[i].lib != addresses[i - 1].lib) {
            job = array_push_zero(&batches->jobs);
            if (!job || !array_push(&batches->first, i))
                return false;
            job->lib = lib_of(context, addresses[i].lib);
            job->rvas = &batches->rvas[distinct];
        }
        if (job->count == 0 || addresses[i].rva != addresses[i - 1].rva) {
            batches->rvas[distinct++] = addresses[i].rva;
            job->count++;
        }
        addresses[i].answer = (uint32_t)(job->count - 1);
    }
    return array_push(&batches->first, count);
}

const struct symbol_answer *address_batches_get_answer(const struct address_batches *batches, size_t job,
                                                       size_t address)
{
    static const struct symbol_answer nothing;
    const struct symbol_answers *answers = &batches->jobs.data[job].answers;
    uint32_t index = batches->addresses.data[address].answer;
    return index < answers->count ? &answers->answers[index] : &nothing;
}

void address_batches_destroy(struct address_batches *batches)
{
    for (size_t i = 0; i < batches->jobs.length; i++)
        symbol_answers_destroy(&batches->jobs.data[i].answers);
    array_free(&batches->addresses);
    array_free(&batches->jobs);
    array_free(&batches->first);
    free(batches->rvas);
}
