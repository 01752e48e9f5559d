/*
 * The part of a lookup that uses libdw, the second reader of DWARF. libdw reads the units that prof's reader rejects,
 * or all units when `prof symbolicate --check` compares the two readers. libdw runs after prof's own reader has read
 * all units, because libdw must not read a file with a damaged unit.
 *
 * A handle of libdw serves one thread, so libdw runs on the thread that composes the library's answers.
 */
#include "symbol/libdw_reader.h"
#include "symbol/lookup.h"

#include <elf.h>

static enum dwarf_verdict find_worst_verdict(const struct lookup *lookup)
{
    enum dwarf_verdict worst =
        lookup->file_verdict > lookup->dwarf.verdict ? lookup->file_verdict : lookup->dwarf.verdict;
    for (size_t i = 0; i < lookup->units.length; i++)
        if (lookup->units.data[i].verdict > worst)
            worst = lookup->units.data[i].verdict;
    return worst;
}

/* Chooses the addresses for libdw: those in units that prof's own reader declined. If the reader declined the header of
 * a unit, the addresses without a unit, too. */
static void choose_addresses(const struct lookup *lookup, bool *is_chosen)
{
    bool is_all = lookup->reader == SYMBOL_READER_LIBDW || lookup->file_verdict == DWARF_DECLINED;
    bool is_unlisted = is_all || lookup->dwarf.verdict == DWARF_DECLINED;
    memset(is_chosen, is_unlisted, lookup->job->count);
    for (size_t u = 0; u < lookup->units.length; u++)
        for (size_t i = 0; i < lookup->units.data[u].count; i++)
            is_chosen[lookup->by_unit[lookup->units.data[u].first + i]] =
                is_all || lookup->units.data[u].verdict == DWARF_DECLINED;
}

/* Spreads the frames of the chosen addresses to the indexes of all addresses. */
static void copy_ends_to_all_addresses(struct lookup *lookup, const bool *is_chosen, uint32_t *ends)
{
    struct dwarf_frames *frames = &lookup->libdw;
    for (size_t i = 0, k = 0; i < lookup->job->count; i++) {
        if (is_chosen[i]) {
            lookup->job->answers.from_libdw += frames->ends[k] > dwarf_frames_get_first(frames, k);
            k++;
        }
        ends[i] = dwarf_frames_get_first(frames, k);
    }
    free(frames->ends);
    frames->ends = ends;
}

/* If libdw fails too, the answers stay as they are, and `problem` has the reason. */
static int handle_failure(struct lookup *lookup, int code, const struct error *why, struct error *err)
{
    if (code == -ENOMEM)
        return error_no_memory(err);
    if (!lookup->problem[0])
        snprintf(lookup->problem, sizeof(lookup->problem), "lines and inlined functions are missing: %.200s",
                 why->text);
    return 0;
}

static int read_chosen(struct lookup *lookup, const bool *is_chosen, uint64_t *vaddrs, uint32_t *ends,
                       struct error *err)
{
    struct libdw_request request = {.file = debug_files_get_dwarf(&lookup->files), .vaddrs = vaddrs};
    struct error why = {""};
    if (lookup->files.has_alternate)
        request.alternate = &lookup->files.alternate;
    request.follow_skeletons = lookup->reader == SYMBOL_READER_LIBDW;
    for (size_t i = 0; i < lookup->job->count; i++)
        if (is_chosen[i])
            vaddrs[request.count++] = lookup->job->rvas[i] + lookup->dwarf_base;
    int code = request.count && request.file->type != ET_REL ? libdw_find_frames(&request, &lookup->libdw, &why) : 0;
    if (code == 0 && lookup->libdw.ends)
        copy_ends_to_all_addresses(lookup, is_chosen, ends);
    else
        free(ends);
    lookup->job->answers.has_debug_info |= lookup->libdw.list.length > 0;
    return code ? handle_failure(lookup, code, &why, err) : 0;
}

int lookup_read_with_libdw(struct lookup *lookup, struct error *err)
{
    enum dwarf_verdict verdict = find_worst_verdict(lookup);
    if (verdict == DWARF_NO_MEMORY)
        return error_no_memory(err);
    lookup->job->answers.is_damaged = verdict == DWARF_DAMAGED;
    bool is_wanted = lookup->reader == SYMBOL_READER_LIBDW || verdict == DWARF_DECLINED;
    if (!lookup->with_lines || !is_wanted || verdict == DWARF_DAMAGED || !debug_files_get_dwarf(&lookup->files))
        return 0;
    size_t count = lookup->job->count;
    bool *is_chosen = calloc(count + 1, sizeof(*is_chosen));
    uint64_t *vaddrs = malloc((count + 1) * sizeof(*vaddrs));
    uint32_t *ends = malloc((count + 1) * sizeof(*ends));
    int code = 0;
    if (is_chosen && vaddrs && ends) {
        choose_addresses(lookup, is_chosen);
        code = read_chosen(lookup, is_chosen, vaddrs, ends, err);
    } else {
        free(ends);
        code = error_no_memory(err);
    }
    free(is_chosen);
    free(vaddrs);
    return code;
}
