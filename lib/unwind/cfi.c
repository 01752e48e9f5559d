#include "unwind/cfi.h"

#include <dwarf.h>

/* ---- entries ---- */

/* Limit of one entry, in bytes. A larger entry is damaged or hostile, and skipped. The longest entry of cc1plus has 30
 * KB. */
enum { ENTRY_MAX = 1 << 20 };

/* The length, kind and bytes of one entry, CIE or FDE. */
struct entry {
    struct cursor body;   /* the bytes after the CIE id or CIE pointer */
    uint64_t body_offset; /* of body.at in the section */
    uint64_t id;          /* CIE id or CIE pointer */
    uint64_t id_offset;   /* offset of the id in the section */
    uint64_t next;
    bool is_64bit;
};

/* Reads the start of an entry. Returns 1, 0 for an entry that is too short for its id, or -1 at the end of the section.
 */
static int entry_read(struct cfi_section *section, uint64_t offset, struct entry *entry)
{
    const unsigned char *head = file_part_get_bytes(&section->part, offset, 4);
    if (!head)
        return -1;
    struct cursor c = cursor_of(head, 4);
    uint64_t length = cursor_u32(&c), head_size = 4;
    entry->is_64bit = length == UINT32_MAX;
    if (entry->is_64bit) {
        if (!(head = file_part_get_bytes(&section->part, offset + 4, 8)))
            return -1;
        c = cursor_of(head, 8);
        length = cursor_u64(&c);
        head_size = 12;
    }
    uint64_t start = offset + head_size;
    if (!length || start > section->part.size || length > section->part.size - start)
        return -1;
    entry->next = start + length;
    if (length > ENTRY_MAX)
        return 0;
    const unsigned char *bytes = file_part_get_bytes(&section->part, start, length);
    if (!bytes)
        return -1;
    entry->id_offset = start;
    c = cursor_of(bytes, length);
    /* In .eh_frame, the id always has four bytes, even after a 64-bit length. */
    bool wide_id = entry->is_64bit && section->is_debug_frame;
    entry->id = wide_id ? cursor_u64(&c) : cursor_u32(&c);
    entry->body = c;
    entry->body_offset = start + (wide_id ? 8 : 4);
    return c.failed ? 0 : 1;
}

static bool entry_is_cie(const struct cfi_section *section, const struct entry *entry)
{
    if (!section->is_debug_frame)
        return entry->id == 0;
    return entry->id == (entry->is_64bit ? UINT64_MAX : UINT32_MAX);
}

bool cfi_read_address(struct cursor *c, uint8_t encoding, uint64_t vaddr, uint64_t data, uint64_t *address)
{
    if (encoding == DW_EH_PE_omit)
        return false;
    if (encoding == DW_EH_PE_aligned) {
        cursor_bytes(c, -vaddr & 7);
        *address = cursor_u64(c);
        return !c->failed;
    }
    uint64_t value;
    switch (encoding & 0x0f) {
    case DW_EH_PE_absptr:
    case DW_EH_PE_udata8:
    case DW_EH_PE_sdata8:
        value = cursor_u64(c);
        break;
    case DW_EH_PE_uleb128:
        value = cursor_uleb(c);
        break;
    case DW_EH_PE_udata2:
        value = cursor_u16(c);
        break;
    case DW_EH_PE_udata4:
        value = cursor_u32(c);
        break;
    case DW_EH_PE_sleb128:
        value = (uint64_t)cursor_sleb(c);
        break;
    case DW_EH_PE_sdata2:
        value = (uint64_t)(int16_t)cursor_u16(c);
        break;
    case DW_EH_PE_sdata4:
        value = (uint64_t)(int32_t)cursor_u32(c);
        break;
    default:
        return false;
    }
    switch (encoding & 0x70) {
    case 0:
        break;
    case DW_EH_PE_pcrel:
        value += vaddr;
        break;
    case DW_EH_PE_datarel:
        value += data;
        break;
    default:
        return false;
    }
    *address = value;
    return !c->failed && !(encoding & DW_EH_PE_indirect);
}

static uint64_t find_cursor_vaddr(const struct cfi_section *section, const struct cursor *c)
{
    return section->vaddr + (uint64_t)(c->at - section->part.bytes);
}

/* A raw pointer has the size of the file's class. */
static uint8_t choose_pointer_encoding(const struct cfi_section *section, uint8_t encoding)
{
    bool is_short = section->is_32_bit && encoding != DW_EH_PE_omit && (encoding & 0x0f) == DW_EH_PE_absptr;
    return is_short ? encoding | DW_EH_PE_udata4 : encoding;
}

static bool augmentation_read(const struct cfi_section *section, struct cursor *c, const char *letters,
                              struct cfi_cie *cie)
{
    if (letters[0] != 'z')
        return letters[0] == '\0';
    cie->has_augmentation_data = true;
    for (letters++; *letters; letters++) {
        switch (*letters) {
        case 'L':
            cursor_u8(c);
            break;
        case 'P': { /* the personality routine: only its size matters */
            uint8_t encoding = choose_pointer_encoding(section, cursor_u8(c));
            uint64_t ignored;
            if (encoding != DW_EH_PE_omit)
                cfi_read_address(c, encoding & ~DW_EH_PE_indirect, find_cursor_vaddr(section, c), 0, &ignored);
            break;
        }
        case 'R':
            cie->pointer_encoding = choose_pointer_encoding(section, cursor_u8(c));
            break;
        case 'S':
            cie->is_signal_frame = true;
            break;
        case 'B':
        case 'G': /* arm64: pointer authentication key B, memory tagging; no data */
            break;
        default: /* skips unknown data by its length */
            return !c->failed;
        }
    }
    return !c->failed;
}

static bool cie_read(struct cfi_section *section, uint64_t offset, struct cfi_cie *cie)
{
    struct entry entry;
    if (entry_read(section, offset, &entry) != 1 || !entry_is_cie(section, &entry))
        return false;
    struct cursor c = entry.body;
    *cie = (struct cfi_cie){.pointer_encoding = choose_pointer_encoding(section, DW_EH_PE_absptr),
                            .address_size = section->is_32_bit ? 4 : 8};
    uint8_t version = cursor_u8(&c);
    if (version != 1 && version != 3 && version != 4)
        return false;
    const char *letters = cursor_string(&c);
    if (!letters)
        return false;
    if (version == 4) {
        if (cursor_u8(&c) != cie->address_size || cursor_u8(&c) != 0) /* no segments on this machine */
            return false;
    }
    cie->code_align = cursor_uleb(&c);
    cie->data_align = cursor_sleb(&c);
    uint64_t return_register = version == 1 ? cursor_u8(&c) : cursor_uleb(&c);
    if (c.failed || return_register != (section->is_32_bit ? CFI_RETURN_32_BIT : UNWIND_REG_RETURN))
        return false;
    struct cursor augmentation = c;
    if (letters[0] == 'z') {
        uint64_t size = cursor_uleb(&c);
        augmentation = c;
        if (!cursor_bytes(&c, size))
            return false;
        augmentation.end = c.at;
        if (!augmentation_read(section, &augmentation, letters, cie))
            return false;
    } else if (!augmentation_read(section, &c, letters, cie)) {
        return false;
    }
    cie->instructions = c;
    return !c.failed;
}

int cfi_fde_read(struct cfi_section *section, uint64_t offset, struct cfi_fde *fde, uint64_t *next)
{
    struct entry entry;
    int kind = entry_read(section, offset, &entry);
    if (kind < 0)
        return -1;
    *next = entry.next;
    if (kind == 0 || entry_is_cie(section, &entry))
        return 0;
    /* The CIE pointer counts backward from its field in .eh_frame, and from the start of the section in .debug_frame.
     */
    if (!section->is_debug_frame && entry.id > entry.id_offset)
        return 0;
    uint64_t cie_offset = section->is_debug_frame ? entry.id : entry.id_offset - entry.id;
    if (!cie_read(section, cie_offset, &fde->cie))
        return 0;
    struct cursor c = entry.body;
    uint8_t encoding = fde->cie.pointer_encoding;
    if (!cfi_read_address(&c, encoding, find_cursor_vaddr(section, &c), 0, &fde->start) ||
        !cfi_read_address(&c, encoding & 0x0f, 0, 0, &fde->size))
        return 0;
    if (fde->cie.has_augmentation_data)
        cursor_bytes(&c, cursor_uleb(&c));
    fde->instructions = c;
    fde->is_debug_frame = section->is_debug_frame;
    return !c.failed && fde->size > 0;
}

/* ---- instructions ---- */

/* Compilers nest two deep. */
enum { REMEMBERED_MAX = 16 };

struct interpreter {
    const struct cfi_cie *cie;
    struct cfi_row row;
    const struct cfi_row *initial; /* the row after the CIE's instructions, or NULL until then */
    uint64_t location, pc;
    struct cfi_row remembered[REMEMBERED_MAX];
    struct unwind_work *work;
    unsigned remembered_count;
    bool failed;
};

/* Ignores the rules of registers that the walker does not follow (vector registers and others). */
static void set_rule(struct interpreter *in, uint64_t reg, enum cfi_rule rule, int64_t value)
{
    if (reg < UNWIND_REGS) {
        in->row.rules[reg] = (uint8_t)rule;
        in->row.values[reg] = value;
    }
}

static void restore_rule(struct interpreter *in, uint64_t reg)
{
    if (!in->initial)
        in->failed = true;
    else if (reg < UNWIND_REGS)
        set_rule(in, reg, (enum cfi_rule)in->initial->rules[reg], in->initial->values[reg]);
}

static int64_t multiply_factor(const struct interpreter *in, uint64_t value)
{
    return (int64_t)(value * (uint64_t)in->cie->data_align);
}

static int64_t skip_expression(struct interpreter *in, struct cursor *c)
{
    int64_t offset = c->at - in->row.expressions;
    cursor_bytes(c, cursor_uleb(c));
    return offset;
}

static void set_cfa(struct interpreter *in, uint64_t reg, int64_t offset)
{
    in->row.cfa_kind = CFI_CFA_REGISTER;
    in->row.cfa_register = reg;
    in->row.cfa_value = offset;
    in->failed |= reg >= UNWIND_REGS;
}

/* DW_CFA_def_cfa_register and DW_CFA_def_cfa_offset change one half of the CFA, which must be a register and an offset.
 */
static void change_cfa(struct interpreter *in, uint64_t reg, int64_t offset)
{
    if (in->row.cfa_kind != CFI_CFA_REGISTER)
        in->failed = true;
    else
        set_cfa(in, reg, offset);
}

static void push_state(struct interpreter *in)
{
    if (in->remembered_count == REMEMBERED_MAX)
        in->failed = true;
    else
        in->remembered[in->remembered_count++] = in->row;
}

static void pop_state(struct interpreter *in)
{
    if (in->remembered_count == 0)
        in->failed = true;
    else
        in->row = in->remembered[--in->remembered_count];
}

/* Advances the row's address. Returns true if the pc lies in the row before the advance. */
static bool advance_pc(struct interpreter *in, uint64_t factored_delta)
{
    uint64_t delta = factored_delta * in->cie->code_align;
    if (in->pc - in->location < delta)
        return true;
    in->location += delta;
    return false;
}

/* Runs an instruction that changes the CFA. */
static void change_cfa_by_instruction(struct interpreter *in, struct cursor *c, uint8_t op)
{
    uint64_t reg;
    switch (op) {
    case DW_CFA_def_cfa:
        reg = cursor_uleb(c);
        set_cfa(in, reg, (int64_t)cursor_uleb(c));
        break;
    case DW_CFA_def_cfa_sf:
        reg = cursor_uleb(c);
        set_cfa(in, reg, multiply_factor(in, (uint64_t)cursor_sleb(c)));
        break;
    case DW_CFA_def_cfa_register:
        change_cfa(in, cursor_uleb(c), in->row.cfa_value);
        break;
    case DW_CFA_def_cfa_offset:
        change_cfa(in, in->row.cfa_register, (int64_t)cursor_uleb(c));
        break;
    case DW_CFA_def_cfa_offset_sf:
        change_cfa(in, in->row.cfa_register, multiply_factor(in, (uint64_t)cursor_sleb(c)));
        break;
    case DW_CFA_def_cfa_expression:
        in->row.cfa_kind = CFI_CFA_EXPRESSION;
        in->row.cfa_value = skip_expression(in, c);
        break;
    default:
        in->failed = true;
        break;
    }
}

static void run_other_instruction(struct interpreter *in, struct cursor *c, uint8_t op)
{
    uint64_t reg;
    switch (op) {
    case DW_CFA_nop:
    case DW_CFA_GNU_window_save:
        break;
    case DW_CFA_offset_extended:
        reg = cursor_uleb(c);
        set_rule(in, reg, CFI_OFFSET, multiply_factor(in, cursor_uleb(c)));
        break;
    case DW_CFA_offset_extended_sf:
        reg = cursor_uleb(c);
        set_rule(in, reg, CFI_OFFSET, multiply_factor(in, (uint64_t)cursor_sleb(c)));
        break;
    case DW_CFA_GNU_negative_offset_extended:
        reg = cursor_uleb(c);
        set_rule(in, reg, CFI_OFFSET, multiply_factor(in, 0 - cursor_uleb(c)));
        break;
    case DW_CFA_val_offset:
        reg = cursor_uleb(c);
        set_rule(in, reg, CFI_VAL_OFFSET, multiply_factor(in, cursor_uleb(c)));
        break;
    case DW_CFA_val_offset_sf:
        reg = cursor_uleb(c);
        set_rule(in, reg, CFI_VAL_OFFSET, multiply_factor(in, (uint64_t)cursor_sleb(c)));
        break;
    case DW_CFA_restore_extended:
        restore_rule(in, cursor_uleb(c));
        break;
    case DW_CFA_undefined:
        set_rule(in, cursor_uleb(c), CFI_UNDEFINED, 0);
        break;
    case DW_CFA_same_value:
        set_rule(in, cursor_uleb(c), CFI_SAME_VALUE, 0);
        break;
    case DW_CFA_register:
        reg = cursor_uleb(c);
        set_rule(in, reg, CFI_REGISTER, (int64_t)cursor_uleb(c));
        break;
    case DW_CFA_expression:
        reg = cursor_uleb(c);
        set_rule(in, reg, CFI_EXPRESSION, skip_expression(in, c));
        break;
    case DW_CFA_val_expression:
        reg = cursor_uleb(c);
        set_rule(in, reg, CFI_VAL_EXPRESSION, skip_expression(in, c));
        break;
    case DW_CFA_remember_state:
        push_state(in);
        break;
    case DW_CFA_restore_state:
        pop_state(in);
        break;
    case DW_CFA_GNU_args_size:
        cursor_uleb(c);
        break;
    default:
        change_cfa_by_instruction(in, c, op);
        break;
    }
}

/* DW_CFA_set_loc takes an address in the encoding of the FDE. Only .debug_frame and assembly use DW_CFA_set_loc, with
 * absolute addresses. */
static bool set_location(struct interpreter *in, struct cursor *c)
{
    uint64_t location = cursor_u64(c);
    if (in->cie->pointer_encoding != DW_EH_PE_absptr)
        in->failed = true;
    else if (location > in->pc)
        return true;
    else
        in->location = location;
    return false;
}

/* Runs the CFI instructions up to the row of the pc. */
static bool run_instructions(struct interpreter *in, struct cursor c)
{
    while (c.at < c.end && !in->failed && !c.failed) {
        if (!unwind_work_add(in->work, 1))
            return false;
        uint8_t op = cursor_u8(&c), low = op & 0x3f;
        bool done = false;
        switch (op & 0xc0) {
        case DW_CFA_advance_loc:
            done = advance_pc(in, low);
            break;
        case DW_CFA_offset:
            set_rule(in, low, CFI_OFFSET, multiply_factor(in, cursor_uleb(&c)));
            break;
        case DW_CFA_restore:
            restore_rule(in, low);
            break;
        default:
            switch (op) {
            case DW_CFA_set_loc:
                done = set_location(in, &c);
                break;
            case DW_CFA_advance_loc1:
                done = advance_pc(in, cursor_u8(&c));
                break;
            case DW_CFA_advance_loc2:
                done = advance_pc(in, cursor_u16(&c));
                break;
            case DW_CFA_advance_loc4:
                done = advance_pc(in, cursor_u32(&c));
                break;
            case DW_CFA_MIPS_advance_loc8:
                done = advance_pc(in, cursor_u64(&c));
                break;
            default:
                run_other_instruction(in, &c, op);
                break;
            }
        }
        if (done)
            break;
    }
    return !in->failed && !c.failed;
}

bool cfi_find_row(const struct cfi_fde *fde, uint64_t pc, struct cfi_row *row, struct unwind_work *work)
{
    struct interpreter in;
    in.cie = &fde->cie;
    in.work = work;
    in.initial = NULL;
    in.remembered_count = 0;
    in.failed = false;
    in.pc = pc;
    in.location = fde->start;
    /* Expression offsets of a CIE and of an FDE count from one base, because both entries lie in one section. */
    bool cie_first = fde->cie.instructions.at < fde->instructions.at;
    in.row = (struct cfi_row){
        .cfa_kind = CFI_CFA_UNSET,
        .expressions = cie_first ? fde->cie.instructions.at : fde->instructions.at,
        .end = cie_first ? fde->instructions.end : fde->cie.instructions.end,
        .is_signal_frame = fde->cie.is_signal_frame,
    };
    if (!run_instructions(&in, fde->cie.instructions))
        return false;
    struct cfi_row initial = in.row;
    in.initial = &initial;
    if (!run_instructions(&in, fde->instructions))
        return false;
    *row = in.row;
    return row->cfa_kind != CFI_CFA_UNSET;
}

struct cursor cfi_get_expression(const struct cfi_row *row, int64_t value)
{
    struct cursor c = cursor_of(row->expressions + value, (size_t)(row->end - row->expressions) - (size_t)value);
    uint64_t size = cursor_uleb(&c);
    const unsigned char *code = cursor_bytes(&c, size);
    return code ? cursor_of(code, size) : cursor_of(row->end, 0);
}
