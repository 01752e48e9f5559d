/*
 * arm64: finds a function's return address by reading its code ahead to the `ret`.
 *
 * This file follows sp, and the loads and stores of the callee-saved registers, from the pc to the next `ret`. A
 * register then has its value at the pc, or a word of the stack. An address is a distance from sp at the pc, or from
 * x29 at the pc after code that sets sp by x29. x86_64_return.c has the same rules for calls that may never return.
 */
#include "arch/code_search.h"

enum { FIRST = 19, FP = 29, LR = 30, SP = 31, TRACKED = LR - FIRST + 1, WORD = 4 };

/* What a register holds. */
struct value {
    enum { UNKNOWN, OWN /* its value at the pc */, LOADED /* the word at `at` */, ADDRESS /* the address `at` */ } kind;
    int32_t at;
};

enum { STORED_MAX = 16 };

struct path {
    uint64_t pc;
    struct value registers[TRACKED], sp; /* sp: an ADDRESS, or UNKNOWN */
    struct {
        int32_t at;
        struct value value;
    } stored[STORED_MAX];
    uint8_t stored_count;
    bool is_from_fp;  /* addresses are distances from x29 */
    bool is_doubtful; /* the path continued after a call with padding behind it */
};

enum { PATHS_MAX = 32, INSTRUCTIONS_MAX = 1000 };

struct search {
    struct code_search code;
    struct path paths[PATHS_MAX]; /* stack of unfinished paths */
    size_t path_count;
    unsigned instructions;
    bool has_tail_call;
    struct path tail_call;
};

static bool read_instruction(struct search *search, uint64_t pc, uint32_t *word)
{
    size_t size;
    const unsigned char *code = code_search_read(&search->code, pc, WORD, &size);
    if (size < WORD || pc % WORD)
        return false;
    memcpy(word, code, WORD);
    return true;
}

/* Returns the lowest `bits` bits of the field at `shift`, as a signed number. */
static int32_t read_signed(uint32_t word, unsigned shift, unsigned bits)
{
    uint32_t sign = UINT32_C(1) << (bits - 1), field = word >> shift & (sign * 2 - 1);
    return (int32_t)(field ^ sign) - (int32_t)sign;
}

static struct value *find_register(struct path *path, unsigned reg)
{
    return reg >= FIRST && reg <= LR ? &path->registers[reg - FIRST] : NULL;
}

static void forget_register(struct path *path, unsigned reg)
{
    struct value *value = find_register(path, reg);
    if (value)
        value->kind = UNKNOWN;
}

/* Returns the address in sp or x29, or an unknown value for other registers. */
static struct value read_address(const struct path *path, unsigned reg)
{
    struct value value = reg == SP ? path->sp : reg == FP ? path->registers[FP - FIRST] : (struct value){UNKNOWN, 0};
    if (value.kind == OWN && path->is_from_fp)
        return (struct value){ADDRESS, 0};
    return value.kind == ADDRESS ? value : (struct value){UNKNOWN, 0};
}

static void store_register(struct path *path, int32_t at, unsigned reg)
{
    size_t i = 0;
    const struct value *value = find_register(path, reg);
    while (i < path->stored_count && path->stored[i].at != at)
        i++;
    if (i == STORED_MAX)
        return;
    path->stored[i].at = at;
    path->stored[i].value = value ? *value : (struct value){UNKNOWN, 0};
    path->stored_count += i == path->stored_count;
}

static void load_register(struct path *path, struct value address, unsigned reg)
{
    struct value *value = find_register(path, reg);
    if (!value)
        return;
    *value = (struct value){address.kind == ADDRESS ? LOADED : UNKNOWN, address.at};
    for (size_t i = 0; i < path->stored_count && address.kind == ADDRESS; i++)
        if (path->stored[i].at == address.at)
            *value = path->stored[i].value;
}

/* Loads and stores of one register or two, which may also change the register of the address. */
static void follow_load_or_store(struct path *path, uint32_t word)
{
    enum { POST_INDEX = 1, PRE_INDEX = 3 };
    bool is_vector = word >> 26 & 1, is_pair = (word & 0x3a000000) == 0x28000000;
    bool has_short = (word & 0x3b200000) == 0x38000000, has_long = (word & 0x3b000000) == 0x39000000;
    unsigned size = word >> 30, base = word >> 5 & 31,
             index = is_pair     ? word >> 23 & 3
                     : has_short ? word >> 10 & 3
                                 : 0;
    bool is_load = is_pair ? word >> 22 & 1 : (word >> 22 & 3) != 0, is_word = !is_vector && size == (is_pair ? 2 : 3);
    int32_t scale = is_vector ? 4 << size : size == 2 ? 8 : 4, offset = 0;
    if (is_pair)
        offset = read_signed(word, 15, 7) * scale;
    else if (has_short)
        offset = read_signed(word, 12, 9);
    else if (has_long)
        offset = (int32_t)((word >> 10 & 0xfff) << size);
    bool is_indexed = index == POST_INDEX || index == PRE_INDEX, is_known = is_pair || has_short || has_long;
    struct value address = read_address(path, base), moved = {address.kind, address.at + offset};
    if (index != POST_INDEX)
        address = moved;
    if (!is_known)
        address.kind = UNKNOWN;
    unsigned registers = is_vector ? 0 : is_pair ? 2 : 1;
    for (unsigned i = 0; i < registers; i++, address.at += 8) {
        unsigned reg = i ? word >> 10 & 31 : word & 31;
        if (is_load && is_word)
            load_register(path, address, reg);
        else if (is_load)
            forget_register(path, reg);
        else if (address.kind == ADDRESS && is_word)
            store_register(path, address.at, reg);
    }
    if (is_indexed && base == SP)
        path->sp = moved;
    else if (is_indexed)
        forget_register(path, base);
}

/* Sets sp by the value that x29 has had since the pc. Addresses are distances from x29 from now on. */
static void count_from_fp(struct path *path)
{
    path->is_from_fp = true;
    path->stored_count = 0;
    for (size_t i = 0; i < TRACKED; i++)
        if (path->registers[i].kind != OWN)
            path->registers[i].kind = UNKNOWN;
}

/* add and sub with a constant, which include the moves between sp and other registers. */
static void follow_add(struct path *path, uint32_t word)
{
    unsigned from = word >> 5 & 31, to = word & 31;
    int32_t constant = (int32_t)((word >> 10 & 0xfff) << (word >> 22 & 1 ? 12 : 0));
    if (to == SP && from == FP && path->registers[FP - FIRST].kind == OWN && !path->is_from_fp)
        count_from_fp(path);
    struct value value = read_address(path, from), *changed = to == SP ? &path->sp : find_register(path, to);
    value.at += word >> 30 & 1 ? -constant : constant;
    if (changed)
        *changed = to == SP || to == FP ? value : (struct value){UNKNOWN, 0};
}

static void follow_other(struct path *path, uint32_t word)
{
    unsigned group = word >> 25 & 15, reg = word & 31;
    bool is_immediate = (group & 14) == 8, is_by_registers = (group & 7) == 5;
    if ((word & 0x9f000000) == 0x91000000 && !(word >> 29 & 1))
        follow_add(path, word);
    else if ((group & 5) == 4)
        follow_load_or_store(path, word);
    else if (is_immediate || is_by_registers)
        forget_register(path, reg);
    /* sp is the result of and, and of add and sub with a register, but not of the forms that set flags. */
    bool may_set_sp = (word & 0x7f800000) == 0x12000000 || (word & 0x3fe00000) == 0x0b200000;
    if (reg == SP && may_set_sp)
        path->sp.kind = UNKNOWN;
}

/* Adds a path from the target of a jump, unless another path has followed the jump. */
static void queue_path(struct search *search, const struct path *path, uint64_t pc)
{
    if (search->path_count == PATHS_MAX) {
        search->code.is_incomplete |= !code_search_has_target(&search->code, pc);
    } else if (code_search_add_target(&search->code, pc)) {
        search->paths[search->path_count] = *path;
        search->paths[search->path_count++].pc = pc;
    }
}

static bool is_undefined(uint32_t word) /* udf, brk */
{
    return word < 0x10000 || (word & 0xffe0001f) == 0xd4200000;
}

/* Whether the word after a call is the first of another function: paciasp, bti c, stp x29,x30,[sp,#-N]! */
static bool begins_function(uint32_t word)
{
    return word == 0xd503233f || word == 0xd503245f || (word & 0xffc07fff) == 0xa9807bfd;
}

/* Follows a path to its return. Returns false if the path ends elsewhere. */
static bool follow_path(struct search *search, struct path *path)
{
    static const uint32_t nop = 0xd503201f;
    enum { JUMP, CALL, RETURN, OTHER };
    uint32_t word, next;
    for (; read_instruction(search, path->pc, &word); path->pc += WORD) {
        if (search->instructions++ == INSTRUCTIONS_MAX)
            break;
        bool is_indirect = (word & 0xfe1f0000) == 0xd61f0000; /* br, blr, ret, also with signatures */
        unsigned kind = is_indirect ? word >> 21 & 7 : word >> 26 == 0x25 ? CALL : OTHER, reg = word >> 5 & 31;
        if (kind == RETURN)
            return reg == LR || reg == 31;
        if (kind == JUMP) { /* the tail call of a function, or a jump by a table */
            search->has_tail_call = true;
            search->tail_call = *path;
            return false;
        }
        if (is_undefined(word))
            return false;
        if (kind == CALL) {
            forget_register(path, LR);
            if (!read_instruction(search, path->pc + WORD, &next) || is_undefined(next) || begins_function(next))
                return false;
            path->is_doubtful |= next == nop;
        } else if (word >> 26 == 0x05) { /* b */
            queue_path(search, path, path->pc + (uint64_t)((int64_t)read_signed(word, 0, 26) * WORD));
            return false;
        } else if ((word & 0xff000000) == 0x54000000 || (word & 0x7e000000) == 0x34000000) { /* b.cond, cbz, cbnz */
            queue_path(search, path, path->pc + (uint64_t)((int64_t)read_signed(word, 5, 19) * WORD));
        } else if ((word & 0x7e000000) == 0x36000000) { /* tbz, tbnz */
            queue_path(search, path, path->pc + (uint64_t)((int64_t)read_signed(word, 5, 14) * WORD));
        } else {
            follow_other(path, word);
        }
    }
    search->code.is_incomplete = true;
    return false;
}

/* Fills the frame of a path that has reached its return. Returns false if the path leaves the address unknown. */
static bool make_frame(const struct path *path, struct arch_frame *out)
{
    enum { FRAME_MAX = 1 << 20 };
    struct value lr = path->registers[LR - FIRST];
    struct arch_frame frame = {.base = path->is_from_fp ? FP : SP, .cfa_offset = path->sp.at, .return_slot = -1};
    if (path->sp.kind != ADDRESS || path->sp.at > FRAME_MAX || path->sp.at < 0 || lr.kind == UNKNOWN ||
        lr.kind == ADDRESS)
        return false;
    frame.return_register = lr.kind == OWN ? LR : ARCH_NO_REGISTER;
    if (lr.kind == LOADED)
        frame.return_slot = (int16_t)((lr.at - path->sp.at) / 8);
    for (size_t i = 0; i < ARCH_SAVED_REGISTERS; i++) {
        struct value value = path->registers[arch_saved_registers[i] - FIRST];
        if (value.kind != LOADED)
            continue;
        frame.saved |= UINT32_C(1) << arch_saved_registers[i];
        frame.slots[i] = (int16_t)((value.at - path->sp.at) / 8);
    }
    *out = frame;
    return true;
}

enum arch_return arch_find_return(arch_code_reader *read, void *context, uint64_t pc, struct arch_frame *frame)
{
    struct search search = {.code = {.read = read, .context = context}};
    struct path path = {.sp = {ADDRESS, 0}};
    for (size_t i = 0; i < TRACKED; i++)
        path.registers[i].kind = OWN;
    queue_path(&search, &path, pc);
    while (search.path_count) {
        path = search.paths[--search.path_count];
        if (!follow_path(&search, &path))
            continue;
        if (make_frame(&path, frame))
            return path.is_doubtful ? ARCH_MAY_RETURN : ARCH_RETURNS;
        search.code.is_incomplete |= !path.is_doubtful;
    }
    if (search.has_tail_call && make_frame(&search.tail_call, frame))
        return ARCH_RETURNS;
    return search.code.is_incomplete ? ARCH_RETURN_UNKNOWN : ARCH_NEVER_RETURNS;
}
