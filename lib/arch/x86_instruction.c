#include "arch/x86_instruction.h"

/* ---- length ---- */

/* Form of each opcode: `.` nothing follows, `m` ModRM, `b` `w` `z` a constant of 1, 2, 4 bytes (`z`: 2 with prefix 66),
 * `B` `Z` ModRM and a constant, `d` a distance of 4 bytes, `a` an address of 8 bytes, `e` enter, `i` a constant of 4
 * bytes (8 with REX.W), `t` as m (test: and a constant), `p` prefix, `x` not in 64-bit code, and the escapes: `0` for
 * the second opcode map, `2` `3` `4` for VEX and EVEX. */
static const char first_map[] = "mmmmbzxxmmmmbzx0mmmmbzxxmmmmbzxxmmmmbzpxmmmmbzpxmmmmbzpxmmmmbzpx" /* 00 */
                                "pppppppppppppppp................xx4mppppzZbB....bbbbbbbbbbbbbbbb" /* 40 */
                                "BZxBmmmmmmmmmmmm..........x.....aaaa....bz......bbbbbbbbiiiiiiii" /* 80 */
                                "BBw.32BZe.w..b..mmmmxxx.mmmmmmmmbbbbbbbbddxb....p.pp..tt......mm" /* c0 */;
/* The forms of the opcodes after 0F: `8` and `9` lead to the third and fourth opcode map. */
static const char second_map[] = "mmmmx.....x.xm.Bmmmmmmmmmmmmmmmmmmmmxxxxmmmmmmmm........8x9xxxxx"
                                 "mmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmBBBBmmm.mmmmmmmm"
                                 "dddddddddddddddd"
                                 "mmmmmmmmmmmmmmmm...mBmxx...mBmmmmmmmmmmmmmBmmmmm"
                                 "mmBmBBBm........mmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmm";

/* Reads a signed number of 1, 2 or 4 bytes, and moves *at past it. */
static int64_t read_number(const unsigned char **at, unsigned size)
{
    uint64_t value;
    memcpy(&value, *at, sizeof(value));
    *at += size;
    return (int64_t)(value << (64 - 8 * size)) >> (64 - 8 * size);
}

static void read_modrm(const unsigned char **at, struct instruction *in)
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
        in->displacement = read_number(at, 4);
    else if (mode == 1)
        in->displacement = read_number(at, 1);
}

/* Returns the form of an opcode after a VEX or EVEX prefix. The prefix has the bits of REX and the number of its
 * operand inverted. */
static char read_extended_prefix(const unsigned char **at, char prefix, struct instruction *in)
{
    enum { PREFIX_66 = 1, PREFIX_F3 = 2 };
    uint8_t first = **at, last = prefix == '2' ? first : (*at)[1];
    unsigned map = prefix == '2' ? 1 : first & (prefix == '4' ? 7 : 0x1f);
    *at += prefix - '1';
    in->is_vex = true;
    in->map = (uint8_t)(map + 1);
    in->rex = (uint8_t)((first & 0x80 ? 0 : REX_R) | (prefix == '2' || first & 0x20 ? 0 : REX_B) |
                        (prefix != '2' && last & 0x80 ? REX_W : 0));
    in->vex_register = ~last >> 3 & 15;
    in->has_66 = (last & 3) == PREFIX_66;
    in->has_f3 = (last & 3) == PREFIX_F3;
    in->opcode = *(*at)++;
    if (map == 1)
        return second_map[in->opcode];
    return map == 3 ? 'B' : 'm';
}

bool instruction_decode(const unsigned char *code, size_t size, struct instruction *in)
{
    const unsigned char *at = code;
    *in = (struct instruction){.map = 1};
    char form;
    while ((form = first_map[in->opcode = *at++]) == 'p' && at <= code + INSTRUCTION_LENGTH_MAX) {
        in->has_66 |= in->opcode == 0x66;
        in->has_f3 |= in->opcode == 0xf3;
        in->has_notrack |= in->opcode == 0x3e;
        in->rex = (in->opcode & 0xf0) == 0x40 ? in->opcode : 0;
    }
    bool is_short = in->has_66;
    if (form == '0') {
        in->map = 2;
        form = second_map[in->opcode = *at++];
        if (form == '8' || form == '9') {
            in->map = form == '8' ? 3 : 4;
            in->opcode = *at++;
            form = form == '9' ? 'B' : 'm';
        }
    } else if (form >= '2' && form <= '4') {
        form = read_extended_prefix(&at, form, in);
    }
    if (form == 'm' || form == 'B' || form == 'Z' || form == 't')
        read_modrm(&at, in);
    unsigned number = is_short && !(in->rex & REX_W) ? 2 : 4;
    if (form == 't')
        form = in->modrm & 0x30 ? '.' : in->opcode == 0xf6 ? 'b' : 'z';
    switch (form) {
    case 'b':
    case 'B':
        in->constant = read_number(&at, 1);
        break;
    case 'w':
        in->constant = read_number(&at, 2);
        break;
    case 'd':
        in->constant = read_number(&at, 4);
        break;
    case 'e':
        at += 3;
        break;
    case 'z':
    case 'Z':
        in->constant = read_number(&at, number);
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
    return in->length <= INSTRUCTION_LENGTH_MAX && in->length <= size;
}

/* ---- the registers that an instruction writes ---- */

/* The registers that each opcode changes, one letter an opcode:
 *   m  the operand, if it is a register        r  the register in the reg field of ModRM      b  both
 *   o  the register in the opcode              x  the register in the opcode, and rax (xchg)
 *   a  rax       c  rcx       d  rdx           s  the registers of string instructions
 *   y  rax, rcx, rdx and r11 (system calls and reads of counters)      z  rax, rbx, rcx and rdx (cpuid)
 *   k  as m, and rax (cmpxchg)                 q  as m, rax and rdx
 * As m for some instructions: g  all but cmp     i  inc and dec     u  all but test     v  all but vectors */
static const char first_writes[] = "mmrraa..mmrraa..mmrraa..mmrraa..mmrraa..mmrraa..mmrraa.........." /* 00 */
                                   "...................................r.....r.rssss................" /* 40 */
                                   "gggg..bbmmrrmr.mxxxxxxxxad.....aaa..ssss..ssssssoooooooooooooooo" /* 80 */
                                   "mm....mm........mmmm...a.......accc.aa......aa........uu......ii" /* c0 */;
/* The registers that the opcodes after 0F change, without and with VEX or EVEX. */
static const char second_writes[] = "myrr.y..........................mm..........rr...yyyyy.........." /* 00 */
                                    "rrrrrrrrrrrrrrrrr.............................................v." /* 40 */
                                    "................mmmmmmmmmmmmmmmm..z.mm.....mmm.rkkrmrrrrr.mmrrrr" /* 80 */
                                    "bb...r.qoooooooo.......r........................................" /* c0 */;

static unsigned get_register_bit(unsigned reg)
{
    return 1u << reg;
}

/* Most opcodes of these maps operate on vectors. */
static char find_vex_writes(const struct instruction *in)
{
    if (in->map == 2)
        return in->opcode == 0x7e ? 'v' : in->opcode && strchr("\x50\x2c\x2d\x93\xc5\xd7", in->opcode) ? 'r' : '.';
    if (in->map == 3)
        return in->opcode == 0xf6 ? 'R' : in->opcode == 0xf3 ? 'V' : in->opcode >= 0xf0 ? 'r' : '.';
    if (in->map > 4)
        return '.';
    return (in->opcode & 0xfc) == 0x14 ? 'm' : in->opcode == 0xf0 ? 'r' : '.';
}

static char find_writes(const struct instruction *in)
{
    if (in->is_vex)
        return find_vex_writes(in);
    switch (in->map) {
    case 1:
        return first_writes[in->opcode];
    case 2:
        return second_writes[in->opcode];
    case 3:
        return in->opcode >= 0xf0 ? 'r' : '.';
    default:
        return (in->opcode & 0xfc) == 0x14 ? 'm' : '.';
    }
}

unsigned instruction_get_written_registers(const struct instruction *in)
{
    enum { NOP = 0x90 };
    const unsigned rax = get_register_bit(REG_RAX), rcx = get_register_bit(REG_RCX), rdx = get_register_bit(REG_RDX),
                   rbx = get_register_bit(REG_RBX);
    const unsigned reg = get_register_bit(instruction_get_reg(in)),
                   rm = instruction_is_register(in) ? get_register_bit(instruction_get_rm(in)) : 0;
    const unsigned in_opcode = get_register_bit((in->opcode & 7) | (in->rex & REX_B ? 8 : 0)),
                   group = in->modrm >> 3 & 7;
    switch (find_writes(in)) {
    case 'm':
        return rm;
    case 'r':
        return reg;
    case 'b':
        return reg | rm;
    case 'o':
        return in_opcode;
    case 'x':
        return in->opcode == NOP && !(in->rex & REX_B) ? 0 : in_opcode | rax;
    case 'a':
        return rax;
    case 'c':
        return rcx;
    case 'd':
        return rdx;
    case 's':
        return rax | rcx | get_register_bit(REG_RSI) | get_register_bit(REG_RDI);
    case 'y':
        return rax | rcx | rdx | get_register_bit(REG_R11);
    case 'z':
        return rax | rbx | rcx | rdx;
    case 'k':
        return rm | rax;
    case 'q':
        return rm | rax | rdx;
    case 'g':
        return group != 7 ? rm : 0;
    case 'i':
        return group < 2 ? rm : 0;
    case 'u':
        return group < 2 ? 0 : group < 4 ? rm : rax | rdx;
    case 'v':
        return in->has_f3 ? 0 : rm;
    case 'R':
        return reg | get_register_bit(in->vex_register);
    case 'V':
        return get_register_bit(in->vex_register);
    default:
        return 0;
    }
}
