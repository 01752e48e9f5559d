/*
 * The installed disassembler may not know the instructions of newer processors. Decoding can continue after an unknown
 * instruction only if its length is known. A few rules give the length (Intel's Software Developer's Manual, volume 2,
 * 2.1, 2.3 and 2.7): prefixes, the opcode in one of three maps, ModRM with SIB and displacement, and an immediate byte
 * for all of map 3 and a few opcodes of map 1.
 */
#include "arch/x86_length.h"

#include "base/cursor.h"

enum opcode_map { MAP_NONE, MAP_0F, MAP_0F38, MAP_0F3A };

struct opcode {
    enum opcode_map map;
    unsigned char byte;
    bool is_extended; /* after a VEX or EVEX prefix */
};

static bool is_legacy_prefix(unsigned char byte)
{
    switch (byte) {
    case 0x26:
    case 0x2e:
    case 0x36:
    case 0x3e:
    case 0x64:
    case 0x65:
    case 0x66:
    case 0x67:
    case 0xf0:
    case 0xf2:
    case 0xf3:
        return true;
    default:
        return false;
    }
}

static enum opcode_map choose_map(unsigned number)
{
    return number >= 1 && number <= 3 ? (enum opcode_map)number : MAP_NONE;
}

/* Reads the two or three bytes after 0x62 or 0xc4, or the one after 0xc5, and the opcode. In 32-bit code these prefix
 * bytes are other instructions unless a ModRM byte with registers follows. */
static struct opcode read_extended(struct cursor *c, unsigned char prefix, bool is_64)
{
    struct opcode opcode = {.is_extended = true};
    unsigned char first = cursor_u8(c);
    if (!is_64 && (first & 0xc0) != 0xc0)
        return opcode;
    if (prefix == 0xc5) {
        opcode.map = MAP_0F;
    } else if (prefix == 0xc4) {
        cursor_u8(c);
        opcode.map = choose_map(first & 0x1f);
    } else {
        unsigned char second = cursor_u8(c);
        cursor_u8(c);
        bool is_evex = !(first & 0x08) && (second & 0x04);
        unsigned number = first & 0x07; /* maps 5 and 6 (half precision) have no immediates */
        opcode.map = !is_evex ? MAP_NONE : number == 5 || number == 6 ? MAP_0F38 : choose_map(number);
    }
    opcode.byte = cursor_u8(c);
    return opcode;
}

static struct opcode read_opcode(struct cursor *c, bool is_64)
{
    unsigned char byte = cursor_u8(c);
    while (!c->failed && is_legacy_prefix(byte))
        byte = cursor_u8(c);
    if (byte == 0x62 || byte == 0xc4 || byte == 0xc5)
        return read_extended(c, byte, is_64);
    if (is_64 && (byte & 0xf0) == 0x40) /* REX */
        byte = cursor_u8(c);
    if (byte != 0x0f)
        return (struct opcode){.map = MAP_NONE};
    byte = cursor_u8(c);
    if (byte == 0x38)
        return (struct opcode){.map = MAP_0F38, .byte = cursor_u8(c)};
    if (byte == 0x3a)
        return (struct opcode){.map = MAP_0F3A, .byte = cursor_u8(c)};
    return (struct opcode){.map = MAP_0F, .byte = byte};
}

/* In the map 0F, this knows only opcodes with a ModRM byte and the usual immediates. */
static bool has_modrm(const struct opcode *opcode)
{
    if (opcode->map != MAP_0F)
        return true;
    if (opcode->is_extended)
        return opcode->byte != 0x77; /* vzeroupper */
    switch (opcode->byte >> 4) {
    case 0x0:
        return opcode->byte <= 0x03 || opcode->byte == 0x0d || opcode->byte == 0x0f;
    case 0x1:
    case 0x2:
    case 0x4:
    case 0x5:
    case 0x6:
    case 0x9:
    case 0xb:
    case 0xd:
    case 0xe:
    case 0xf:
        return true;
    case 0x7:
        return opcode->byte != 0x77;
    case 0xa:
        return (opcode->byte & 7) >= 3;
    case 0xc:
        return opcode->byte < 0xc8;
    default: /* 0x3: system; 0x8: jumps */
        return false;
    }
}

static bool has_constant(const struct opcode *opcode)
{
    unsigned char byte = opcode->byte;
    if (opcode->map != MAP_0F)
        return opcode->map == MAP_0F3A;
    return (byte >= 0x70 && byte <= 0x73) || byte == 0xc2 || (byte >= 0xc4 && byte <= 0xc6) ||
           (!opcode->is_extended && (byte == 0x0f || byte == 0xa4 || byte == 0xac || byte == 0xba));
}

static void skip_modrm(struct cursor *c)
{
    unsigned char modrm = cursor_u8(c), mode = modrm >> 6, base = modrm & 7;
    if (mode == 3)
        return;
    if (base == 4)
        base = cursor_u8(c) & 7; /* of the SIB byte */
    if (mode == 2 || (mode == 0 && base == 5))
        cursor_bytes(c, 4);
    else if (mode == 1)
        cursor_bytes(c, 1);
}

size_t x86_length(const unsigned char *code, size_t size, bool is_64)
{
    enum { LONGEST = 15 };
    struct cursor c = cursor_of(code, size < LONGEST ? size : LONGEST);
    struct opcode opcode = read_opcode(&c, is_64);
    if (c.failed || opcode.map == MAP_NONE || !has_modrm(&opcode))
        return 0;
    skip_modrm(&c);
    if (has_constant(&opcode))
        cursor_u8(&c);
    return c.failed ? 0 : (size_t)(c.at - code);
}
