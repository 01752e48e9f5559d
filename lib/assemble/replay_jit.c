/*
 * A perf map or a jitdump file names the JIT code of a process. A jitdump file has the times and addresses of code, so
 * the frame of an address depends on the time: the replay identifies the frame by code and offset. A perf map has no
 * timestamps, and prof reads the map when all addresses are known (process_perf_map.c). The address and the process
 * identify the frame of such an address. Without such a file, an address is the same frame in all processes.
 *
 * A forked process has a copy of its parent's code at the time of the fork.
 */
#include "assemble/replay_jit.h"

#include "assemble/process_jitdump.h"
#include "assemble/process_perf_map.h"
#include "process/jit_files.h"

#include <unistd.h>

/* ---- files ---- */

static const struct jitdump *open_dump_once(struct replay *replay, uint32_t number)
{
    struct replay_process *process = &replay->processes.data[number];
    if (process->jit.dump_state == REPLAY_JIT_UNKNOWN) {
        process->jit.dump = process_jitdump_open(replay, number);
        process->jit.dump_state = process->jit.dump ? REPLAY_JIT_FOUND : REPLAY_JIT_MISSING;
    }
    return process->jit.dump;
}

static bool has_map(struct replay *replay, uint32_t number)
{
    struct replay_process *process = &replay->processes.data[number];
    if (process->jit.map_state == REPLAY_JIT_UNKNOWN) {
        int fd = process_perf_map_open(replay, number);
        process->jit.map_state = fd < 0 ? REPLAY_JIT_MISSING : REPLAY_JIT_FOUND;
        process->jit.map_problem = fd < 0 ? process_perf_map_describe_problem(fd) : NULL;
        if (fd >= 0)
            close(fd);
    }
    return process->jit.map_state == REPLAY_JIT_FOUND;
}

/* An iteration over a process, and over the ancestors whose code the process has. */
struct ancestry {
    uint32_t process;
    uint64_t time; /* the time (ns) of the fork, at which the ancestor's code counts */
    unsigned generations;
};

static void next_ancestor(const struct replay *replay, struct ancestry *at)
{
    const struct replay_process *process = &replay->processes.data[at->process];
    if (process->start < at->time)
        at->time = process->start;
    at->process = ++at->generations < PERF_MAP_GENERATIONS ? replay_find_fork_parent(replay, at->process) : REPLAY_NONE;
}

/* ---- frames ---- */

/* Finds the code at an address. Returns false if no jitdump file has code there. */
static bool find_dumped(struct replay *replay, uint32_t process, uint64_t pc, uint64_t time,
                        struct replay_jit_frame *found)
{
    struct ancestry at = {.process = process, .time = time};
    for (; at.process != REPLAY_NONE; next_ancestor(replay, &at)) {
        const struct jitdump *dump = open_dump_once(replay, at.process);
        uint32_t code = dump ? process_jitdump_find(replay, dump, pc, at.time) : JIT_HISTORY_NONE;
        if (code == JIT_HISTORY_NONE)
            continue;
        *found = (struct replay_jit_frame){
            .frame = {.lib = REPLAY_LIB_DUMPED, .process = at.process, .address = pc, .code = code},
            .index = &replay->processes.data[at.process].jit.dump_frames,
            .key = (uint64_t)code << 32 | (uint32_t)(pc - dump->codes.data[code].start)};
        return true;
    }
    return false;
}

static uint32_t find_map_owner(struct replay *replay, uint32_t process)
{
    struct ancestry at = {.process = process};
    while (at.process != REPLAY_NONE && !has_map(replay, at.process))
        next_ancestor(replay, &at);
    return at.process;
}

struct replay_jit_frame replay_add_jit_frame(struct replay *replay, uint32_t process, uint64_t pc, uint64_t time,
                                             bool is_mapped)
{
    struct replay_jit_frame found;
    if (replay->input.perf_map_directory && find_dumped(replay, process, pc, time, &found))
        return found;
    uint32_t owner = replay->input.perf_map_directory ? find_map_owner(replay, process) : REPLAY_NONE;
    found = (struct replay_jit_frame){.frame = {.process = owner, .address = pc}, .key = pc};
    found.frame.lib = is_mapped ? REPLAY_LIB_ANONYMOUS : REPLAY_LIB_UNMAPPED;
    found.index = owner != REPLAY_NONE ? &replay->processes.data[owner].jit.map_frames
                  : is_mapped          ? &replay->stacks.pc_frames
                                       : &replay->stacks.unmapped_frames;
    return found;
}

uint64_t replay_find_jit_generation(const struct replay *replay, uint32_t process, uint64_t time)
{
    const struct jitdump *dump = replay->processes.data[process].jit.dump;
    return dump ? 1 + process_jitdump_find_generation(replay, dump, time) : 0;
}

void replay_handle_jit_mapping(struct replay *replay, uint32_t process, uint32_t lib)
{
    if (lib < replay->libs.items.length && replay->libs.items.data[lib].path &&
        jit_files_is_jitdump(replay->libs.items.data[lib].path))
        replay->processes.data[process].jit.dump_lib = lib + 1;
}

void replay_jit_destroy(struct replay_process *process)
{
    if (process->jit.dump)
        jitdump_destroy(process->jit.dump);
    free(process->jit.dump);
    hash_destroy(&process->jit.dump_frames);
    hash_destroy(&process->jit.map_frames);
}
