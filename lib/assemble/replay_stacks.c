#include "assemble/replay_stacks.h"

#include "assemble/replay_jit.h"
#include "assemble/replay_libs.h"
#include "assemble/replay_names.h"
#include "language/python_frame.h"
#include "spool/wait_reasons.h"

/* Kernel addresses are in the upper half on every 64-bit architecture. */
static bool is_kernel_address(uint64_t address)
{
    return address >> 63;
}

/* ---- frames and stacks ---- */

/* Returns the number of the frame with this key, and adds a missing frame. REPLAY_NONE if memory ran out. */
static uint32_t add_frame(struct replay *replay, struct hash *index, uint64_t key, const struct replay_frame *frame)
{
    uint32_t *place = hash_at(index, key);
    if (!place)
        return REPLAY_NONE;
    if (*place == HASH_MISSING) {
        if (!array_push(&replay->stacks.frames, *frame)) {
            hash_remove(index, key);
            return REPLAY_NONE;
        }
        *place = (uint32_t)replay->stacks.frames.length - 1;
    }
    return *place;
}

/* Adds a frame outside libraries; its key is its pc. A placeholder frame has pc 0, and a key at the top of the address
 * space. */
static uint32_t add_pc_frame(struct replay *replay, uint32_t lib, uint64_t pc)
{
    struct replay_frame frame = {.lib = lib, .process = REPLAY_NONE, .address = pc};
    bool is_mark = lib == REPLAY_LIB_TRUNCATED || lib == REPLAY_LIB_NOT_SAMPLED;
    return add_frame(replay, &replay->stacks.pc_frames, is_mark ? UINT64_MAX - (UINT32_MAX - lib) : pc, &frame);
}

/* Adds a frame for `count` omitted frames, rounded down to a power of 2: the stacks of a recursion with varying depth
 * share such frames. */
static uint32_t add_omitted_frame(struct replay *replay, uint64_t count)
{
    while (count & (count - 1))
        count &= count - 1;
    struct replay_frame frame = {.lib = REPLAY_LIB_OMITTED, .process = REPLAY_NONE, .address = count};
    return add_frame(replay, &replay->stacks.pc_frames, unwind_encode_omitted(count), &frame);
}

enum { RVA_BITS = 40 };

static uint32_t find_frame(struct replay *replay, uint32_t process, uint64_t pc, uint64_t time)
{
    if (unwind_decode_omitted(pc))
        return add_omitted_frame(replay, unwind_decode_omitted(pc));
    if (python_frame_is(pc))
        return add_pc_frame(replay, REPLAY_LIB_PYTHON, pc);
    bool kernel = is_kernel_address(pc);
    const struct mapping *mapping =
        address_space_find(kernel ? &replay->libs.kernel : &replay->processes.data[process].space, pc);
    if (mapping && replay_knows_lib(replay, mapping->lib)) {
        uint64_t rva = mapping->rva + (pc - mapping->start);
        struct replay_frame frame = {.lib = mapping->lib, .process = REPLAY_NONE, .address = rva};
        if (rva >> RVA_BITS == 0 && mapping->lib >> (64 - RVA_BITS) == 0)
            return add_frame(replay, &replay->stacks.lib_frames, (uint64_t)mapping->lib << RVA_BITS | rva, &frame);
    }
    if (kernel)
        return add_pc_frame(replay, REPLAY_LIB_UNKNOWN_KERNEL, pc);
    struct replay_jit_frame jit = replay_add_jit_frame(replay, process, pc, time, mapping != NULL);
    return add_frame(replay, jit.index, jit.key, &jit.frame);
}

static uint32_t add_stack(struct replay *replay, uint32_t prefix, uint32_t frame)
{
    uint32_t *place = hash_at(&replay->stacks.index, (uint64_t)prefix << 32 | frame);
    if (!place)
        return REPLAY_NONE;
    if (*place == HASH_MISSING) {
        if (!array_push(&replay->stacks.items, (struct replay_stack){.prefix = prefix, .frame = frame})) {
            hash_remove(&replay->stacks.index, (uint64_t)prefix << 32 | frame);
            return REPLAY_NONE;
        }
        *place = (uint32_t)replay->stacks.items.length - 1;
    }
    return *place;
}

uint32_t replay_add_placeholder_stack(struct replay *replay, uint32_t lib)
{
    uint32_t mark = add_pc_frame(replay, lib, 0);
    return mark == REPLAY_NONE ? REPLAY_NONE : add_stack(replay, REPLAY_NONE, mark);
}

/* Finds the library to which the memory of a lock may belong. Only mappings of code are known, and the data of a
 * library follows its code. */
static bool find_lock(const struct replay *replay, uint32_t process, const struct spool_wait *wait,
                      struct replay_lock *lock)
{
    static const char start[] = "lock 0x";
    const char *name = wait->reason == REASON_LOCK ? replay_get_object(replay, wait->object) : NULL;
    if (!name || strncmp(name, start, strlen(start)) != 0)
        return false;
    uint64_t address = strtoull(name + strlen(start), NULL, 16);
    const struct mapping *mapping = address_space_find_at_or_below(&replay->processes.data[process].space, address);
    if (!mapping || !replay_knows_lib(replay, mapping->lib))
        return false;
    *lock = (struct replay_lock){mapping->lib, mapping->rva + (address - mapping->start)};
    return lock->rva >> RVA_BITS == 0;
}

/* Returns the frame of a wait for a lock at this place. The same address may be in different libraries of two
 * processes. */
static uint32_t add_lock_frame(struct replay *replay, const struct replay_frame *frame, const struct replay_lock *lock)
{
    struct replay_stacks *stacks = &replay->stacks;
    struct replay_frame of_lock = *frame;
    of_lock.code = (uint32_t)stacks->locks.length + 1;
    if (!array_push(&stacks->locks, *lock))
        return REPLAY_NONE;
    uint64_t key = (uint64_t)replay_decode_wait_object(frame->address) << 32 | lock->lib;
    uint32_t index = add_frame(replay, &stacks->lock_frames, key, &of_lock);
    if (index == REPLAY_NONE || stacks->frames.data[index].code != of_lock.code)
        stacks->locks.length--;
    bool is_other = index != REPLAY_NONE && stacks->locks.data[stacks->frames.data[index].code - 1].rva != lock->rva;
    return is_other ? add_frame(replay, &stacks->wait_frames, frame->address, frame) : index;
}

uint32_t replay_add_wait_stack(struct replay *replay, uint32_t process, uint32_t stack, const struct spool_wait *wait)
{
    struct replay_lock lock;
    uint32_t reason = wait->reason < WAIT_REASONS ? wait->reason : (uint32_t)REASON_UNKNOWN;
    struct replay_frame frame = {
        .lib = REPLAY_LIB_WAIT, .process = REPLAY_NONE, .address = replay_encode_wait(reason, wait->object)};
    uint32_t index = find_lock(replay, process, wait, &lock)
                         ? add_lock_frame(replay, &frame, &lock)
                         : add_frame(replay, &replay->stacks.wait_frames, frame.address, &frame);
    return index == REPLAY_NONE ? REPLAY_NONE : add_stack(replay, stack, index);
}

int replay_find_stack(struct replay *replay, struct replay_thread *thread, const struct sampled_stack *sampled,
                      uint32_t *stack, struct error *err)
{
    struct replay_process *process = &replay->processes.data[thread->process];
    bool truncated = sampled->is_truncated;
    size_t count = sampled->frames.count;
    uint64_t map_generation = (uint64_t)process->map_generation + replay->libs.kernel_generation;
    uint64_t code_generation = replay_find_jit_generation(replay, thread->process, sampled->time);
    size_t shared = 0;
    if (truncated == thread->last_stack.is_truncated && thread->last_stack.map_generation == map_generation &&
        thread->last_stack.code_generation == code_generation)
        while (shared < count && shared < thread->last_stack.pcs.length &&
               thread->last_stack.pcs.data[shared] == sampled->frames.items[count - 1 - shared])
            shared++;
    thread->last_stack.is_truncated = truncated;
    thread->last_stack.map_generation = map_generation;
    thread->last_stack.code_generation = code_generation;
    thread->last_stack.pcs.length = thread->last_stack.stacks.length = shared;
    if (!array_reserve(&thread->last_stack.pcs, count - shared) ||
        !array_reserve(&thread->last_stack.stacks, count - shared))
        return error_no_memory(err);

    uint32_t prefix = REPLAY_NONE;
    if (shared) {
        prefix = thread->last_stack.stacks.data[shared - 1];
    } else if (truncated) {
        prefix = replay_add_placeholder_stack(replay, REPLAY_LIB_TRUNCATED);
        if (prefix == REPLAY_NONE)
            return error_no_memory(err);
    }
    for (size_t i = shared; i < count; i++) {
        uint64_t pc = sampled->frames.items[count - 1 - i];
        uint32_t frame = find_frame(replay, thread->process, pc, sampled->time);
        prefix = frame == REPLAY_NONE ? REPLAY_NONE : add_stack(replay, prefix, frame);
        if (prefix == REPLAY_NONE)
            return error_no_memory(err);
        thread->last_stack.pcs.data[i] = pc;
        thread->last_stack.stacks.data[i] = prefix;
        thread->last_stack.pcs.length = thread->last_stack.stacks.length = i + 1;
    }
    *stack = prefix;
    return 0;
}

void replay_stacks_destroy(struct replay_stacks *stacks)
{
    array_free(&stacks->frames);
    array_free(&stacks->items);
    hash_destroy(&stacks->lib_frames);
    hash_destroy(&stacks->pc_frames);
    hash_destroy(&stacks->unmapped_frames);
    hash_destroy(&stacks->wait_frames);
    hash_destroy(&stacks->lock_frames);
    array_free(&stacks->locks);
    hash_destroy(&stacks->index);
}
