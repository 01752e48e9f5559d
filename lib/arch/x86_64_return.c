/*
 * x86-64: finds a function's return address by reading its code ahead to the `ret`.
 *
 * musl, hand-written assembly and JIT compilers leave code without CFI and without frame pointers. This file follows
 * the changes of sp from the pc to the next `ret`. The method needs neither symbols nor the start of the function.
 *
 * The value of a register is a current register or a current word of memory, plus a distance. So a function may save sp
 * in any register, or on the stack, while it realigns the stack (OpenBLAS, OpenSSL, libjpeg-turbo). At the `ret`, the
 * value of sp is the start of the caller's frame, and the values of saved registers are the words that hold them.
 *
 * The path assumes that a call returns with the same sp. Some calls never return (exit, abort), and the code after them
 * may be another function. So a path with padding directly after a call is followed last, and the walker checks whether
 * the found word can be a return address.
 */
#include "arch/code_search.h"
#include "arch/x86_instruction.h"

/* ---- values ---- */

/* The base of a value: a current register (its number), or an entry of search.origins. */
enum { ORIGIN_REALIGNED = INSTRUCTION_REGISTERS, ORIGIN_WORDS, ORIGINS_MAX = 64, ORIGIN_UNKNOWN = 255 };

struct value {
    uint8_t origin;
    int32_t distance; /* bytes to add to the origin */
};

static const struct value unknown_value = {.origin = ORIGIN_UNKNOWN};

static bool is_same_value(struct value a, struct value b)
{
    return a.origin == b.origin && a.distance == b.distance;
}

static struct value add_distance(struct value value, int64_t distance)
{
    enum { DISTANCE_MAX = 1 << 24 };
    int64_t sum = value.distance + distance;
    if (value.origin == ORIGIN_UNKNOWN || distance != (int32_t)distance || sum > DISTANCE_MAX || sum < -DISTANCE_MAX)
        return unknown_value;
    return (struct value){value.origin, (int32_t)sum};
}

/* ---- paths ---- */

/* Words of memory that a path has stored and may load again. */
enum { SLOTS_MAX = 16 };

struct slot {
    struct value address, value;
};

/* A path through the code: its position, and the effects of its instructions so far. */
struct path {
    uint64_t pc;
    struct value registers[INSTRUCTION_REGISTERS];
    struct slot slots[SLOTS_MAX];
    uint8_t slot_count, oldest_slot;
    bool is_below_lost; /* an unknown store may have overwritten words below the first sp */
    bool after_add;     /* the instruction before was an addition */
    bool is_doubtful;   /* the path continued after a call with padding behind it */
};

enum { PATHS_MAX = 64, INSTRUCTIONS_MAX = 1000 };

_Static_assert((int)CODE_SLACK >= (int)INSTRUCTION_SLACK, "the decoder may read beyond the end of the code");

struct search {
    struct code_search code;
    struct value origins[ORIGINS_MAX]; /* addresses of words, for origins from ORIGIN_WORDS up */
    uint8_t origin_count;
    struct path paths[PATHS_MAX]; /* stack of unfinished paths */
    size_t path_count;
    unsigned instructions;
    bool has_tail_call;
    struct path tail_call;
};

static void start_path(struct path *path, uint64_t pc)
{
    *path = (struct path){.pc = pc};
    for (int i = 0; i < INSTRUCTION_REGISTERS; i++)
        path->registers[i].origin = (uint8_t)i;
}

/* Returns a value that stands for the word in memory at this address. */
static struct value make_word_value(struct search *search, struct value address)
{
    if (address.origin == ORIGIN_UNKNOWN || address.origin == ORIGIN_REALIGNED)
        return unknown_value;
    for (uint8_t i = ORIGIN_WORDS; i < search->origin_count; i++)
        if (is_same_value(search->origins[i], address))
            return (struct value){.origin = i};
    if (search->origin_count == ORIGINS_MAX)
        return unknown_value;
    search->origins[search->origin_count] = address;
    return (struct value){.origin = search->origin_count++};
}

static void drop_stored_word(struct path *path, size_t i)
{
    path->slots[i] = path->slots[--path->slot_count];
    path->oldest_slot = 0;
}

static void store_word(struct path *path, struct value address, struct value value)
{
    size_t i = 0;
    if (address.origin == ORIGIN_UNKNOWN)
        return;
    while (i < path->slot_count && !is_same_value(path->slots[i].address, address))
        i++;
    if (i == SLOTS_MAX) {
        i = path->oldest_slot++ % SLOTS_MAX;
        path->is_below_lost = true;
    } else if (i == path->slot_count) {
        path->slot_count++;
    }
    path->slots[i] = (struct slot){address, value};
}

static struct value load_word(struct search *search, const struct path *path, struct value address)
{
    for (size_t i = 0; i < path->slot_count; i++)
        if (is_same_value(path->slots[i].address, address))
            return path->slots[i].value;
    bool is_below = address.origin == REG_RSP && address.distance < 0;
    return is_below && path->is_below_lost ? unknown_value : make_word_value(search, address);
}

/* The stack pointer becomes unknown. Values stored relative to the unknown sp can still be loaded again. */
static void realign_sp(struct path *path)
{
    for (size_t i = 0; i < INSTRUCTION_REGISTERS; i++)
        if (path->registers[i].origin == ORIGIN_REALIGNED)
            path->registers[i] = unknown_value;
    for (size_t i = path->slot_count; i-- > 0;)
        if (path->slots[i].address.origin == ORIGIN_REALIGNED || path->slots[i].value.origin == ORIGIN_REALIGNED)
            drop_stored_word(path, i);
    path->registers[REG_RSP] = (struct value){.origin = ORIGIN_REALIGNED};
}

static void set_register(struct path *path, unsigned reg, struct value value)
{
    if (reg == REG_RSP && value.origin == ORIGIN_UNKNOWN)
        realign_sp(path);
    else
        path->registers[reg] = value;
}

static void forget_registers(struct path *path, unsigned bits)
{
    for (unsigned i = 0; i < INSTRUCTION_REGISTERS; i++)
        if (bits >> i & 1)
            set_register(path, i, unknown_value);
}

static void push_value(struct path *path, struct value value)
{
    set_register(path, REG_RSP, add_distance(path->registers[REG_RSP], -8));
    store_word(path, path->registers[REG_RSP], value);
}

static struct value pop_value(struct search *search, struct path *path)
{
    struct value value = load_word(search, path, path->registers[REG_RSP]);
    set_register(path, REG_RSP, add_distance(path->registers[REG_RSP], 8));
    return value;
}

/* Applies the effects that the ABI permits a called function (System V psABI, 3.2.1): changes of caller-saved
 * registers, and of the stack below sp. */
static void apply_call(struct path *path)
{
    enum { CHANGED = 0x0fc7 }; /* rax, rcx, rdx, rsi, rdi, r8 to r11 */
    struct value sp = path->registers[REG_RSP];
    forget_registers(path, CHANGED);
    for (size_t i = path->slot_count; i-- > 0;)
        if (path->slots[i].address.origin == sp.origin && path->slots[i].address.distance < sp.distance)
            drop_stored_word(path, i);
    path->is_below_lost = true;
}

/* ---- the effects of an instruction ---- */

/* Returns the address of a memory operand: a register plus a distance, without an index register. */
static struct value find_operand_address(const struct path *path, const struct instruction *in)
{
    enum { NO_INDEX = 4, IS_SIB = 4, RIP = 5 };
    unsigned mode = in->modrm >> 6, base = in->modrm & 7;
    if (base == IS_SIB) {
        if ((in->sib >> 3 & 7) != NO_INDEX || (mode == 0 && (in->sib & 7) == RIP))
            return unknown_value;
        base = in->sib & 7;
    } else if (mode == 0 && base == RIP) {
        return unknown_value;
    }
    return add_distance(path->registers[base | (in->rex & REX_B ? 8 : 0)], in->displacement);
}

/* Applies moves of whole registers: mov, lea, xchg, and addition and subtraction of a constant. Returns false for other
 * instructions. */
static bool apply_move(struct search *search, struct path *path, const struct instruction *in)
{
    enum { ADD = 0, AND = 4, SUB = 5 };
    unsigned reg = instruction_get_reg(in), rm = instruction_get_rm(in), group = in->modrm >> 3 & 7;
    bool is_register = instruction_is_register(in);
    struct value value = path->registers[reg];
    if (in->map != 1 || in->is_vex || !(in->rex & REX_W))
        return false;
    switch (in->opcode) {
    case 0x89: /* mov reg to operand */
        if (is_register)
            set_register(path, rm, value);
        else
            store_word(path, find_operand_address(path, in), value);
        return true;
    case 0x8b: /* mov operand to reg */
        value = is_register ? path->registers[rm] : load_word(search, path, find_operand_address(path, in));
        set_register(path, reg, value);
        return true;
    case 0x8d: /* lea */
        set_register(path, reg, find_operand_address(path, in));
        return true;
    case 0x87: /* xchg */
        if (!is_register)
            return false;
        set_register(path, reg, path->registers[rm]);
        set_register(path, rm, value);
        return true;
    case 0x81:
    case 0x83:
        if (!is_register || (group != ADD && group != SUB))
            return false;
        set_register(path, rm, add_distance(path->registers[rm], group == ADD ? in->constant : -in->constant));
        return true;
    default:
        return false;
    }
}

/* Applies instructions that change sp implicitly. Returns false for other instructions. */
static bool apply_stack_instruction(struct search *search, struct path *path, const struct instruction *in)
{
    enum { PUSH_GROUP = 6, LEAVE = 0xc9, ENTER = 0xc8, POPF = 0x9d, POP_OPERAND = 0x8f };
    uint8_t op = in->opcode;
    unsigned named = (op & 7) | (in->rex & REX_B ? 8 : 0);
    if (in->map != 1 || in->is_vex)
        return false;
    if ((op & 0xf8) == 0x50) {
        push_value(path, path->registers[named]);
    } else if (op == 0x68 || op == 0x6a || op == 0x9c || (op == 0xff && (in->modrm >> 3 & 7) == PUSH_GROUP)) {
        push_value(path, unknown_value);
    } else if ((op & 0xf8) == 0x58) {
        set_register(path, named, pop_value(search, path));
    } else if (op == POPF || op == POP_OPERAND) {
        pop_value(search, path);
        forget_registers(path, op == POP_OPERAND ? instruction_get_written_registers(in) : 0);
    } else if (op == LEAVE) {
        set_register(path, REG_RSP, path->registers[REG_RBP]);
        path->registers[REG_RBP] = pop_value(search, path);
    } else if (op == ENTER) {
        forget_registers(path, 1u << REG_RBP | 1u << REG_RSP);
    } else {
        return false;
    }
    return true;
}

enum flow { FLOW_ON, FLOW_CALL, FLOW_JUMP, FLOW_BRANCH, FLOW_RETURN, FLOW_TAIL_CALL, FLOW_SWITCH, FLOW_DEAD };

/* Whether the jump goes through a table of the same function: by a table operand, or after adding a table entry to a
 * base. */
static bool is_table_jump(const struct instruction *in, bool after_add)
{
    bool is_table = in->modrm >> 6 == 0 && (in->modrm & 7) == REG_RSP && (in->sib >> 3 & 7) != 4;
    return in->has_notrack || is_table || (after_add && in->modrm >> 6 == 3);
}

static enum flow classify_flow(const struct instruction *in, bool after_add)
{
    uint8_t op = in->opcode, group = in->modrm >> 3 & 7;
    if (in->is_vex || in->map > 2)
        return FLOW_ON;
    if (in->map == 2)
        return op == 0x0b ? FLOW_DEAD : (op & 0xf0) == 0x80 ? FLOW_BRANCH : FLOW_ON;
    if ((op & 0xf0) == 0x70 || (op & 0xfc) == 0xe0)
        return FLOW_BRANCH;
    switch (op) {
    case 0xc2:
    case 0xc3:
        return FLOW_RETURN;
    case 0xe8:
        return FLOW_CALL;
    case 0xe9:
    case 0xeb:
        return FLOW_JUMP;
    case 0xff:
        return group == 2                     ? FLOW_CALL
               : group != 4                   ? FLOW_ON
               : is_table_jump(in, after_add) ? FLOW_SWITCH
                                              : FLOW_TAIL_CALL;
    case 0xcc: /* int3 */
    case 0xf4: /* hlt */
        return FLOW_DEAD;
    default:
        return FLOW_ON;
    }
}

static enum flow follow_instruction(struct search *search, struct path *path, const struct instruction *in)
{
    enum flow flow = classify_flow(in, path->after_add);
    path->after_add = in->map == 1 && !in->is_vex && (in->opcode == 0x01 || in->opcode == 0x03);
    bool is_first_bp = is_same_value(path->registers[REG_RBP], (struct value){.origin = REG_RBP});
    if (in->map == 1 && in->opcode == 0x8b && in->rex == 0x48 && in->modrm == 0x6d && in->displacement == 0 &&
        is_first_bp) {
        set_register(path, REG_RSP, path->registers[REG_RBP]); /* V8: mov 0(%rbp),%rbp; add $N,%rsp; jmp */
        path->registers[REG_RBP] = pop_value(search, path);
        return FLOW_RETURN;
    }
    if (flow == FLOW_CALL)
        apply_call(path);
    else if (flow == FLOW_ON && !apply_stack_instruction(search, path, in) && !apply_move(search, path, in))
        forget_registers(path, instruction_get_written_registers(in));
    return flow;
}

/* ---- all paths ---- */

static bool is_padding(const unsigned char *code, size_t size)
{
    static const unsigned char nop[] = {0x0f, 0x1f};
    while (size && (*code == 0x66 || *code == 0x2e))
        code++, size--;
    return size && (*code == 0x90 || *code == 0xcc || (size >= sizeof(nop) && !memcmp(code, nop, sizeof(nop))));
}

/* Queues a path that continues at `pc` with the effects of `path`. */
static void queue_path(struct search *search, const struct path *path, uint64_t pc, bool is_last)
{
    if (search->path_count == PATHS_MAX) {
        search->code.is_incomplete = true;
        return;
    }
    size_t at = is_last ? 0 : search->path_count;
    memmove(search->paths + at + 1, search->paths + at, (search->path_count - at) * sizeof(*path));
    search->paths[at] = *path;
    search->paths[at].pc = pc;
    search->path_count++;
}

static bool follow_path(struct search *search, struct path *path)
{
    bool after_call = false;
    for (;;) {
        size_t size;
        struct instruction in;
        const unsigned char *code = code_search_read(&search->code, path->pc, INSTRUCTION_LENGTH_MAX, &size);
        if (after_call && is_padding(code, size) && !path->is_doubtful) {
            path->is_doubtful = true;
            queue_path(search, path, path->pc, true);
            return false;
        }
        if (search->instructions++ == INSTRUCTIONS_MAX || !instruction_decode(code, size, &in)) {
            search->code.is_incomplete |= !path->is_doubtful;
            return false;
        }
        enum flow flow = follow_instruction(search, path, &in);
        path->pc += in.length;
        after_call = flow == FLOW_CALL;
        uint64_t target = path->pc + (uint64_t)in.constant;
        switch (flow) {
        case FLOW_RETURN:
            return true;
        case FLOW_TAIL_CALL:
            if (!search->has_tail_call && !path->is_doubtful) {
                search->tail_call = *path;
                search->has_tail_call = true;
            }
            search->code.is_incomplete |= !path->is_doubtful;
            return false;
        case FLOW_SWITCH:
            search->code.is_incomplete |= !path->is_doubtful;
            return false;
        case FLOW_DEAD:
            return false;
        case FLOW_BRANCH:
            if (code_search_add_target(&search->code, target))
                queue_path(search, path, target, false);
            break;
        case FLOW_JUMP:
            if (!code_search_add_target(&search->code, target))
                return false;
            path->pc = target;
            break;
        default:
            break;
        }
    }
}

/* Finds the distance of a word from `base`, in words. Returns false for a word with another base. */
static bool find_word_distance(const struct search *search, struct value word, struct value base, int64_t *distance)
{
    if (word.origin < ORIGIN_WORDS || word.origin == ORIGIN_UNKNOWN || word.distance != 0)
        return false;
    struct value address = search->origins[word.origin];
    *distance = (int64_t)address.distance - base.distance;
    return address.origin == base.origin && *distance % 8 == 0 && *distance / 8 == (int16_t)(*distance / 8);
}

static uint8_t find_dwarf_number(unsigned reg)
{
    static const uint8_t numbers[8] = {0, 2, 1, 3, UNWIND_REG_SP, UNWIND_REG_BP, 4, 5};
    return reg < 8 ? numbers[reg] : (uint8_t)reg;
}

static void fill_saved_registers(const struct search *search, const struct path *path, struct value cfa,
                                 struct arch_frame *frame)
{
    static const uint8_t by_saved[ARCH_SAVED_REGISTERS] = {REG_RBP, REG_RBX, 12, 13, 14, 15};
    for (size_t i = 0; i < ARCH_SAVED_REGISTERS; i++) {
        int64_t distance;
        if (!find_word_distance(search, path->registers[by_saved[i]], cfa, &distance))
            continue;
        frame->slots[i] = (int16_t)(distance / 8);
        frame->saved |= (uint16_t)(1u << arch_saved_registers[i]);
    }
}

/* Whether the register passes an argument. Code that switches to another coroutine's stack loads sp from an argument.
 */
static bool is_argument_register(unsigned reg)
{
    enum { ARGUMENTS = 0x3c6 }; /* rcx, rdx, rsi, rdi, r8, r9 */
    return ARGUMENTS >> reg & 1;
}

/* Fills the frame of a path that has reached its return. Returns false if the path leaves the address unknown. */
static bool make_frame(struct search *search, const struct path *path, struct arch_frame *out)
{
    enum { FRAME_MAX = 1 << 20 };
    struct value sp = path->registers[REG_RSP], cfa = add_distance(sp, 8), address = load_word(search, path, sp);
    struct arch_frame frame = {.return_slot = -1, .return_register = ARCH_NO_REGISTER};
    if (sp.origin == ORIGIN_UNKNOWN || sp.origin == ORIGIN_REALIGNED || cfa.distance > FRAME_MAX ||
        cfa.distance < -FRAME_MAX)
        return false;
    frame.cfa_offset = cfa.distance;
    frame.base = sp.origin;
    if (sp.origin >= ORIGIN_WORDS) {
        struct value word = search->origins[sp.origin];
        if (word.origin >= INSTRUCTION_REGISTERS)
            return false;
        frame.base = word.origin;
        frame.base_is_word = true;
        frame.word_offset = word.distance;
    }
    if (is_argument_register(frame.base))
        return false;
    int64_t distance;
    if (address.origin < INSTRUCTION_REGISTERS && address.distance == 0)
        frame.return_register = find_dwarf_number(address.origin);
    else if (find_word_distance(search, address, cfa, &distance))
        frame.return_slot = (int16_t)(distance / 8);
    else
        return false;
    bool is_below_sp = frame.cfa_offset + frame.return_slot * 8 < 0 && frame.base == REG_RSP && !frame.base_is_word;
    if (is_below_sp && frame.return_register == ARCH_NO_REGISTER)
        return false;
    frame.base = find_dwarf_number(frame.base);
    fill_saved_registers(search, path, cfa, &frame);
    *out = frame;
    return true;
}

enum arch_return arch_find_return(arch_code_reader *read, void *context, uint64_t pc, struct arch_frame *frame)
{
    struct search search = {.code = {.read = read, .context = context}, .origin_count = ORIGIN_WORDS};
    struct path path;
    start_path(&path, pc);
    queue_path(&search, &path, pc, false);
    while (search.path_count) {
        path = search.paths[--search.path_count];
        if (path.is_doubtful && search.has_tail_call)
            break;
        if (!follow_path(&search, &path))
            continue;
        if (make_frame(&search, &path, frame))
            return path.is_doubtful ? ARCH_MAY_RETURN : ARCH_RETURNS;
        search.code.is_incomplete |= !path.is_doubtful;
    }
    if (search.has_tail_call && make_frame(&search, &search.tail_call, frame))
        return ARCH_RETURNS;
    return search.code.is_incomplete ? ARCH_RETURN_UNKNOWN : ARCH_NEVER_RETURNS;
}

uint64_t arch_find_call_target(const unsigned char code[ARCH_CODE_BEFORE + ARCH_CODE_AFTER], uint64_t return_address)
{
    enum { CALL_SIZE = 5 };
    const unsigned char *call = code + ARCH_CODE_BEFORE - CALL_SIZE;
    int32_t distance;
    memcpy(&distance, call + 1, sizeof(distance));
    return call[0] == 0xe8 ? return_address + (uint64_t)(int64_t)distance : 0;
}
