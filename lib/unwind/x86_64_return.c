/*
 * x86-64: where a function's return address lies, found by reading ahead to its `ret`.
 *
 * musl, hand-written assembly and JIT compilers leave code without CFI and without frame pointers. Yet the code itself
 * says how it returns: from any instruction on, follow the pushes, pops and additions to sp up to the next `ret`. What
 * they add up to is the distance to the return address, and the registers that they pop are where the caller's values
 * lie. Symbols and the beginning of the function are not needed.
 *
 * A call is taken to come back with the same sp. Some never do (exit, abort), and what follows them may be another
 * function: a path that meets padding right after a call is followed last, and the walker asks whether the word found
 * can be a return address at all.
 *
 * Decoding needs the length of every instruction and the meaning of a few: Intel's Software Developer's Manual, volume
 * 2, appendix A (opcode maps) and 2.1 to 2.7 (prefixes).
 */
#include "unwind/arch.h"

#include <string.h>

/* ---- decoding ---- */

/* Form of each opcode: `.` nothing follows, `m` ModRM, `b` `w` `z` a constant of 1, 2, 4 bytes (`z`: 2 with prefix 66),
 * `B` `Z` ModRM and a constant, `d` a distance of 4 bytes, `a` an address of 8 bytes, `e` enter, `i` a constant of 4
 * bytes (8 with REX.W), `t` as m (test: and a constant), `p` prefix, `x` not in 64-bit code, and the escapes: `0` to
 * the second map, `2` `3` `4` VEX, EVEX. */
static const char first_map[] = "mmmmbzxxmmmmbzx0mmmmbzxxmmmmbzxxmmmmbzpxmmmmbzpxmmmmbzpxmmmmbzpx" /* 00 */
                                "pppppppppppppppp................xx4mppppzZbB....bbbbbbbbbbbbbbbb" /* 40 */
                                "BZxBmmmmmmmmmmmm..........x.....aaaa....bz......bbbbbbbbiiiiiiii" /* 80 */
                                "BBw.32BZe.w..b..mmmmxxx.mmmmmmmmbbbbbbbbddxb....p.pp..tt......mm" /* c0 */;
/* The same for opcodes after 0F; `8` `9`: the third and fourth map. */
static const char second_map[] = "mmmmx.....x.xm.Bmmmmmmmmmmmmmmmmmmmmxxxxmmmmmmmm........8x9xxxxx"
                                 "mmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmBBBBmmm.mmmmmmmm"
                                 "dddddddddddddddd"
                                 "mmmmmmmmmmmmmmmm...mBmxx...mBmmmmmmmmmmmmmBmmmmm"
                                 "mmBmBBBm........mmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmm";

/* SLACK: bytes from the first of an instruction on that decoding may read, however short the code is. */
enum { LENGTH_MAX = 15, SLACK = 40, REX_B = 1, REX_R = 4, REX_W = 8 };

struct instruction {
    unsigned length;
    bool is_first_map, is_second_map, has_notrack;
    uint8_t opcode, rex, modrm, sib;
    int64_t displacement, constant;
};

/* A signed number of 1, 2 or 4 bytes; moves *at behind it. */
static int64_t take_number(const unsigned char **at, unsigned size)
{
    uint64_t value;
    memcpy(&value, *at, sizeof(value));
    *at += size;
    return (int64_t)(value << (64 - 8 * size)) >> (64 - 8 * size);
}

static void take_modrm(const unsigned char **at, struct instruction *in)
{
    in->modrm = *(*at)++;
    unsigned mode = in->modrm >> 6, base = in->modrm & 7;
    if (mode == 3)
        return;
    if (base == 4) {
        in->sib = *(*at)++;
        base = in->sib & 7;
    }
    if (mode == 2 || (mode == 0 && base == 5))
        in->displacement = take_number(at, 4);
    else if (mode == 1)
        in->displacement = take_number(at, 1);
}

/* The form of an opcode that a VEX or EVEX prefix of this many bytes precedes. */
static char take_extended(const unsigned char **at, char prefix)
{
    unsigned map = prefix == '2' ? 1 : **at & (prefix == '4' ? 7 : 0x1f);
    *at += prefix - '1';
    uint8_t opcode = *(*at)++;
    if (map == 1)
        return second_map[opcode];
    return map == 3 ? 'B' : 'm';
}

/* Decodes the instruction at `code`, where SLACK bytes can be read, whatever `size` says. Returns false if it is not
 * an instruction, or has more than `size` bytes. */
static bool decode(const unsigned char *code, size_t size, struct instruction *in)
{
    const unsigned char *at = code;
    *in = (struct instruction){.is_first_map = true};
    bool is_short = false; /* prefix 66 */
    char form;
    while ((form = first_map[in->opcode = *at++]) == 'p' && at <= code + LENGTH_MAX) {
        is_short |= in->opcode == 0x66;
        in->has_notrack |= in->opcode == 0x3e;
        in->rex = (in->opcode & 0xf0) == 0x40 ? in->opcode : 0;
    }
    if (form == '0') {
        in->is_first_map = false;
        form = second_map[in->opcode = *at++];
        in->is_second_map = form != '8' && form != '9';
        if (!in->is_second_map) {
            at++;
            form = form == '9' ? 'B' : 'm';
        }
    } else if (form >= '2' && form <= '4') {
        in->is_first_map = false;
        form = take_extended(&at, form);
    }
    if (form == 'm' || form == 'B' || form == 'Z' || form == 't')
        take_modrm(&at, in);
    unsigned number = is_short && !(in->rex & REX_W) ? 2 : 4;
    if (form == 't')
        form = in->modrm & 0x30 ? '.' : in->opcode == 0xf6 ? 'b' : 'z';
    switch (form) {
    case 'b':
    case 'B':
        in->constant = take_number(&at, 1);
        break;
    case 'w':
        in->constant = take_number(&at, 2);
        break;
    case 'd':
        in->constant = take_number(&at, 4);
        break;
    case 'e':
        at += 3;
        break;
    case 'z':
    case 'Z':
        in->constant = take_number(&at, number);
        break;
    case 'i':
        at += in->rex & REX_W ? 8 : number;
        break;
    case 'a':
        at += 8;
        break;
    case 'x':
        return false;
    default:
        break;
    }
    in->length = (unsigned)(at - code);
    return in->length <= LENGTH_MAX && in->length <= size;
}

/* ---- what an instruction does to the stack ---- */

enum { REG_RSP = 4, REG_RBP = 5 }; /* as instructions number them */

/* A path through the code: where it is, and what it has done to sp. */
struct path {
    uint64_t pc;
    int64_t sp;         /* distance from the base */
    bool base_is_bp;    /* the base is the frame pointer as it was at the beginning, else the stack pointer */
    bool is_sp_lost;    /* sp is somewhere else */
    bool bp_is_from_sp; /* the frame pointer was set to `bp`, in distances from the first sp */
    int64_t bp;
    bool after_add;   /* the instruction before was an addition */
    bool is_doubtful; /* went on behind a call that padding follows */
    uint16_t saved;   /* bits of DWARF registers that were popped, at `slots`, in the order of arch_saved_registers */
    int64_t slots[ARCH_SAVED_REGISTERS];
};

static void pop(struct path *path, unsigned reg)
{
    static const uint8_t by_number[16] = {
        [REG_RBP] = UNWIND_REG_BP, [3] = 3, [12] = 12, [13] = 13, [14] = 14, [15] = 15};
    for (unsigned i = 0; i < ARCH_SAVED_REGISTERS; i++)
        if (arch_saved_registers[i] == by_number[reg] && path->sp >= 0) {
            path->saved |= (uint16_t)(1u << by_number[reg]);
            path->slots[i] = path->sp;
        }
    path->sp += 8;
}

static void set_sp_from_bp(struct path *path, int64_t distance)
{
    path->is_sp_lost = false;
    if (path->bp_is_from_sp) {
        path->sp = path->bp + distance;
        return;
    }
    if (!path->base_is_bp)
        path->saved = 0; /* their slots count from another base */
    path->base_is_bp = true;
    path->sp = distance;
}

/* The instructions that compute sp: add, sub, lea, mov, leave, and others, after which it is not known. */
static void follow_sp(struct path *path, const struct instruction *in)
{
    unsigned reg = in->modrm >> 3 & 7, rm = in->modrm & 7, mode = in->modrm >> 6;
    if (in->opcode != 0xc9 && reg != REG_RSP && (mode != 3 || rm != REG_RSP))
        return; /* most */
    bool to_rm = mode == 3 && rm == REG_RSP && !(in->rex & REX_B), to_reg = reg == REG_RSP && !(in->rex & REX_R);
    bool is_arithmetic = in->opcode < 0x38;
    if (in->opcode == 0xc9) {
        set_sp_from_bp(path, 0);
        pop(path, REG_RBP);
    } else if ((in->opcode == 0x81 || in->opcode == 0x83) && to_rm && (reg == 0 || reg == 5)) {
        path->sp += reg == 0 ? in->constant : -in->constant;
    } else if (((in->modrm == 0xec && in->opcode == 0x89) || (in->modrm == 0xe5 && in->opcode == 0x8b)) &&
               !(in->rex & (REX_B | REX_R))) {
        set_sp_from_bp(path, 0);
    } else if ((in->modrm == 0xe5 && in->opcode == 0x89) || (in->modrm == 0xec && in->opcode == 0x8b)) {
        path->bp_is_from_sp = !path->base_is_bp && !path->is_sp_lost && !(in->rex & (REX_B | REX_R));
        path->bp = path->sp;
    } else if (in->opcode == 0x8d && to_reg && rm == REG_RBP && mode != 0 && !(in->rex & REX_B)) {
        set_sp_from_bp(path, in->displacement);
    } else if (in->opcode == 0x8d && to_reg && rm == REG_RSP && in->sib == 0x24 && mode != 3) {
        path->sp += in->displacement;
    } else if (((in->opcode == 0x8d || in->opcode == 0x8b || (is_arithmetic && (in->opcode & 7) == 3)) && to_reg) ||
               ((in->opcode == 0x89 || (is_arithmetic && (in->opcode & 7) == 1)) && to_rm) ||
               ((in->opcode == 0x81 || in->opcode == 0x83) && to_rm && reg != 7 /* cmp */)) {
        path->is_sp_lost = true;
    }
}

enum flow { FLOW_ON, FLOW_CALL, FLOW_JUMP, FLOW_BRANCH, FLOW_RETURN, FLOW_TAIL_CALL, FLOW_SWITCH, FLOW_DEAD };

/* A jump to a computed address in the same function: the operand holds its table, or an addition just before it has
 * used the table. */
static bool is_switch(const struct instruction *in, bool after_add)
{
    bool is_table = in->modrm >> 6 == 0 && (in->modrm & 7) == REG_RSP && (in->sib >> 3 & 7) != 4;
    return in->has_notrack || is_table || (after_add && in->modrm >> 6 == 3);
}

static enum flow follow(struct path *path, const struct instruction *in)
{
    uint8_t op = in->opcode, reg = in->modrm >> 3 & 7;
    bool after_add = path->after_add;
    path->after_add = in->is_first_map && (op == 0x01 || op == 0x03);
    if (in->is_second_map)
        return op == 0x0b ? FLOW_DEAD : (op & 0xf0) == 0x80 ? FLOW_BRANCH : FLOW_ON;
    if (!in->is_first_map)
        return FLOW_ON;
    if ((op & 0xf8) == 0x58)
        pop(path, (op & 7) | (in->rex & REX_B ? 8 : 0));
    else if ((op & 0xf8) == 0x50 || op == 0x68 || op == 0x6a || op == 0x9c || (op == 0xff && reg == 6))
        path->sp -= 8;
    else if (op == 0x9d || op == 0x8f)
        path->sp += 8;
    else
        follow_sp(path, in);
    if (op == 0x8b && in->rex == 0x48 && in->modrm == 0x6d && in->displacement == 0 && !path->bp_is_from_sp) {
        set_sp_from_bp(path, 0); /* V8: mov 0(%rbp),%rbp; add $N,%rsp; jmp */
        pop(path, REG_RBP);
        return FLOW_RETURN;
    }
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
        return reg == 2 ? FLOW_CALL : reg != 4 ? FLOW_ON : is_switch(in, after_add) ? FLOW_SWITCH : FLOW_TAIL_CALL;
    case 0xcc: /* int3 */
    case 0xf4: /* hlt */
        return FLOW_DEAD;
    default:
        return FLOW_ON;
    }
}

/* ---- all paths ---- */

enum { PATHS_MAX = 64, TARGETS_MAX = 128, INSTRUCTIONS_MAX = 1000, WINDOW = 1024 };

struct search {
    arch_code_reader *read;
    void *context;
    unsigned char window[WINDOW + SLACK];
    uint64_t window_at;
    size_t window_size;
    struct path paths[PATHS_MAX]; /* still to follow; the last first */
    size_t path_count;
    uint64_t targets[TARGETS_MAX]; /* of jumps that were followed */
    size_t target_count;
    unsigned instructions;
    bool is_incomplete; /* some path was not followed to its end */
    bool has_tail_call;
    struct path tail_call;
};

static const unsigned char *code_at(struct search *search, uint64_t pc, size_t *size)
{
    if (pc - search->window_at >= search->window_size || search->window_size - (pc - search->window_at) < LENGTH_MAX) {
        search->window_at = pc;
        search->window_size = search->read(search->context, pc, search->window, WINDOW);
        memset(search->window + search->window_size, 0, SLACK);
    }
    *size = search->window_size - (size_t)(pc - search->window_at);
    return search->window + (pc - search->window_at);
}

static bool is_padding(const unsigned char *code, size_t size)
{
    static const unsigned char nop[] = {0x0f, 0x1f};
    while (size && (*code == 0x66 || *code == 0x2e))
        code++, size--;
    return size && (*code == 0x90 || *code == 0xcc || (size >= sizeof(nop) && !memcmp(code, nop, sizeof(nop))));
}

/* Remembers to go on at `pc` with what `path` has done so far. */
static void add_path(struct search *search, const struct path *path, uint64_t pc, bool is_last)
{
    if (search->path_count == PATHS_MAX) {
        search->is_incomplete = true;
        return;
    }
    size_t at = is_last ? 0 : search->path_count;
    memmove(search->paths + at + 1, search->paths + at, (search->path_count - at) * sizeof(*path));
    search->paths[at] = *path;
    search->paths[at].pc = pc;
    search->path_count++;
}

static bool is_new_target(struct search *search, uint64_t pc)
{
    for (size_t i = 0; i < search->target_count; i++)
        if (search->targets[i] == pc)
            return false;
    if (search->target_count == TARGETS_MAX) {
        search->is_incomplete = true;
        return false;
    }
    search->targets[search->target_count++] = pc;
    return true;
}

static bool follow_path(struct search *search, struct path *path)
{
    bool after_call = false;
    for (;;) {
        size_t size;
        struct instruction in;
        const unsigned char *code = code_at(search, path->pc, &size);
        if (after_call && is_padding(code, size) && !path->is_doubtful) {
            path->is_doubtful = true;
            add_path(search, path, path->pc, true);
            return false;
        }
        if (search->instructions++ == INSTRUCTIONS_MAX || !decode(code, size, &in)) {
            search->is_incomplete |= !path->is_doubtful;
            return false;
        }
        enum flow flow = follow(path, &in);
        path->pc += in.length;
        after_call = flow == FLOW_CALL;
        uint64_t target = path->pc + (uint64_t)in.constant;
        switch (flow) {
        case FLOW_RETURN:
            search->is_incomplete |= path->is_sp_lost && !path->is_doubtful;
            return !path->is_sp_lost;
        case FLOW_TAIL_CALL:
            if (!search->has_tail_call && !path->is_sp_lost && !path->is_doubtful) {
                search->tail_call = *path;
                search->has_tail_call = true;
            }
            search->is_incomplete |= !path->is_doubtful;
            return false;
        case FLOW_SWITCH:
            search->is_incomplete |= !path->is_doubtful;
            return false;
        case FLOW_DEAD:
            return false;
        case FLOW_BRANCH:
            if (is_new_target(search, target))
                add_path(search, path, target, false);
            break;
        case FLOW_JUMP:
            if (!is_new_target(search, target))
                return false;
            path->pc = target;
            break;
        default:
            break;
        }
    }
}

static bool path_frame(const struct path *path, struct arch_frame *frame)
{
    enum { FRAME_MAX = 1 << 20 };
    *frame = (struct arch_frame){.base_is_bp = path->base_is_bp, .saved = path->saved};
    if (path->sp < (path->base_is_bp ? 8 : 0) || path->sp > FRAME_MAX)
        return false;
    frame->cfa_offset = (int32_t)path->sp + 8;
    for (size_t i = 0; i < ARCH_SAVED_REGISTERS; i++)
        if (path->saved >> arch_saved_registers[i] & 1)
            frame->slots[i] = (int16_t)((path->slots[i] - frame->cfa_offset) / 8);
    return true;
}

enum arch_return arch_find_return(arch_code_reader *read, void *context, uint64_t pc, struct arch_frame *frame)
{
    struct search search = {.read = read, .context = context};
    struct path path = {.pc = pc};
    add_path(&search, &path, pc, false);
    while (search.path_count) {
        path = search.paths[--search.path_count];
        if (path.is_doubtful && search.has_tail_call)
            break;
        if (!follow_path(&search, &path))
            continue;
        if (path_frame(&path, frame))
            return path.is_doubtful ? ARCH_MAY_RETURN : ARCH_RETURNS;
        search.is_incomplete |= !path.is_doubtful;
    }
    if (search.has_tail_call && path_frame(&search.tail_call, frame))
        return ARCH_RETURNS;
    return search.is_incomplete ? ARCH_RETURN_UNKNOWN : ARCH_NEVER_RETURNS;
}

uint64_t arch_call_target(const unsigned char code[ARCH_CODE_BEFORE + ARCH_CODE_AFTER], uint64_t return_address)
{
    enum { CALL_SIZE = 5 };
    const unsigned char *call = code + ARCH_CODE_BEFORE - CALL_SIZE;
    int32_t distance;
    memcpy(&distance, call + 1, sizeof(distance));
    return call[0] == 0xe8 ? return_address + (uint64_t)(int64_t)distance : 0;
}
