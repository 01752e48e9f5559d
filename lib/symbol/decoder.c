/*
 * capstone decodes the instructions. This file finds the addresses that instructions refer to. On x86, and in jumps,
 * one instruction encodes the address. On arm64 two instructions do: adrp loads the page, and a following instruction
 * adds the offset. So the decoder tracks the pages in registers, from an adrp to the end of the basic block.
 */
#include "symbol/decoder.h"
#include "os/late_library.h"
#include "arch/x86_length.h"

#include <capstone/capstone.h>
#include <elf.h>
#include <pthread.h>

#define FUNCTIONS(use)                                                                                                 \
    use(cs_close) use(cs_disasm_iter) use(cs_free) use(cs_insn_group) use(cs_malloc) use(cs_open) use(cs_option)       \
        use(cs_version)

static struct {
    FUNCTIONS(LATE_FUNCTION)
} capstone;
static bool is_capstone_loaded;

struct machine {
    uint16_t elf;
    cs_arch architecture;
    cs_mode mode;
    const char *name;
    size_t syntax_count;
    const char *syntaxes[DECODER_SYNTAXES];
    int capstone_syntaxes[DECODER_SYNTAXES];
};

static const struct machine machines[] = {
    {EM_X86_64, CS_ARCH_X86, CS_MODE_64, "x86_64", 2, {"Intel", "AT&T"}, {CS_OPT_SYNTAX_INTEL, CS_OPT_SYNTAX_ATT}},
    {EM_386, CS_ARCH_X86, CS_MODE_32, "i686", 2, {"Intel", "AT&T"}, {CS_OPT_SYNTAX_INTEL, CS_OPT_SYNTAX_ATT}},
    {EM_AARCH64, CS_ARCH_ARM64, CS_MODE_ARM, "aarch64", 1, {"ARM"}, {CS_OPT_SYNTAX_DEFAULT}},
    {EM_ARM, CS_ARCH_ARM, CS_MODE_ARM | CS_MODE_V8, "arm", 1, {"ARM"}, {CS_OPT_SYNTAX_DEFAULT}},
};

/* A register that holds the address of a page. */
struct page {
    unsigned reg;
    uint64_t address;
};

enum { PAGES_MAX = 8 };

struct decoder {
    const struct machine *machine;
    uint64_t base;
    csh handles[DECODER_SYNTAXES];
    cs_insn *scratch[DECODER_SYNTAXES];
    bool is_thumb;
    struct page pages[PAGES_MAX];
    size_t page_count, next_page;
    uint64_t joined_at; /* nearest later target of a decoded jump, or 0 */
};

/* ---- opening ---- */

#define TEXT(number)     #number
#define LIBRARY(version) "libcapstone.so." TEXT(version)

static void load_capstone(void)
{
    static const struct late_symbol symbols[] = {FUNCTIONS(LATE_SYMBOL)};
    is_capstone_loaded =
        late_library_load(LIBRARY(CS_API_MAJOR), symbols, sizeof(symbols) / sizeof(*symbols), &capstone);
}

static bool open_syntax(struct decoder *decoder, size_t i)
{
    const struct machine *machine = decoder->machine;
    if (capstone.cs_open(machine->architecture, machine->mode, &decoder->handles[i]) != CS_ERR_OK)
        return false;
    if (machine->capstone_syntaxes[i] != CS_OPT_SYNTAX_DEFAULT &&
        capstone.cs_option(decoder->handles[i], CS_OPT_SYNTAX, (size_t)machine->capstone_syntaxes[i]) != CS_ERR_OK)
        return false;
    if (i == 0 && capstone.cs_option(decoder->handles[i], CS_OPT_DETAIL, CS_OPT_ON) != CS_ERR_OK)
        return false;
    decoder->scratch[i] = capstone.cs_malloc(decoder->handles[i]);
    return decoder->scratch[i] != NULL;
}

int decoder_open(struct decoder **out, uint16_t machine, uint64_t base, struct error *err)
{
    const struct machine *found = NULL;
    *out = NULL;
    for (size_t i = 0; i < sizeof(machines) / sizeof(*machines); i++)
        if (machines[i].elf == machine)
            found = &machines[i];
    if (!found)
        return error_set(
            err, ENOTSUP,
            "prof cannot disassemble code for this processor architecture, only x86-64, x86, arm64 and arm");
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, load_capstone);
    if (!is_capstone_loaded)
        return error_set(err, ENOTSUP, "the disassembler is not installed: install " LIBRARY(CS_API_MAJOR));
    struct decoder *decoder = calloc(1, sizeof(*decoder));
    if (!decoder)
        return error_no_memory(err);
    decoder->machine = found;
    decoder->base = base;
    for (size_t i = 0; i < found->syntax_count; i++)
        if (!open_syntax(decoder, i)) {
            decoder_close(decoder);
            return error_set(err, ENOTSUP, "the installed disassembler does not know %s", found->name);
        }
    *out = decoder;
    return 0;
}

void decoder_close(struct decoder *decoder)
{
    if (!decoder)
        return;
    for (size_t i = 0; i < DECODER_SYNTAXES; i++) {
        if (decoder->scratch[i])
            capstone.cs_free(decoder->scratch[i], 1);
        if (decoder->handles[i])
            capstone.cs_close(&decoder->handles[i]);
    }
    free(decoder);
}

const char *decoder_get_architecture(const struct decoder *decoder)
{
    return decoder->machine->name;
}

size_t decoder_list_syntaxes(const struct decoder *decoder, const char *names[DECODER_SYNTAXES])
{
    memcpy(names, decoder->machine->syntaxes, sizeof(decoder->machine->syntaxes));
    return decoder->machine->syntax_count;
}

/* ---- referenced addresses ---- */

static bool is_branch(const struct decoder *decoder, const cs_insn *insn)
{
    return capstone.cs_insn_group(decoder->handles[0], insn, CS_GRP_JUMP) ||
           capstone.cs_insn_group(decoder->handles[0], insn, CS_GRP_CALL) ||
           capstone.cs_insn_group(decoder->handles[0], insn, CS_GRP_BRANCH_RELATIVE);
}

static void set_target(struct instruction *out, enum reference_kind kind, uint64_t target)
{
    out->reference = kind;
    out->target = target;
}

static void find_x86_reference(const struct decoder *decoder, const cs_insn *insn, struct instruction *out)
{
    const cs_x86 *x86 = &insn->detail->x86;
    if (x86->op_count == 1 && x86->operands[0].type == X86_OP_IMM && is_branch(decoder, insn)) {
        set_target(out, REFERENCE_JUMP, (uint64_t)x86->operands[0].imm);
        return;
    }
    for (uint8_t i = 0; i < x86->op_count; i++) {
        const x86_op_mem *memory = &x86->operands[i].mem;
        if (x86->operands[i].type != X86_OP_MEM || memory->index != X86_REG_INVALID ||
            memory->segment != X86_REG_INVALID)
            continue;
        if (memory->base == X86_REG_RIP)
            set_target(out, REFERENCE_MEMORY, insn->address + insn->size + (uint64_t)memory->disp);
        else if (memory->base == X86_REG_INVALID && decoder->machine->elf == EM_386)
            set_target(out, REFERENCE_MEMORY, (uint32_t)memory->disp - decoder->base);
    }
}

static unsigned find_whole_register(unsigned reg)
{
    if (reg == ARM64_REG_W29)
        return ARM64_REG_X29;
    if (reg == ARM64_REG_W30)
        return ARM64_REG_X30;
    return reg >= ARM64_REG_W0 && reg <= ARM64_REG_W28 ? reg - ARM64_REG_W0 + ARM64_REG_X0 : reg;
}

static const struct page *find_page(const struct decoder *decoder, unsigned reg)
{
    for (size_t i = 0; i < decoder->page_count; i++)
        if (decoder->pages[i].reg == reg)
            return &decoder->pages[i];
    return NULL;
}

static void forget_page(struct decoder *decoder, unsigned reg)
{
    for (size_t i = 0; i < decoder->page_count; i++)
        if (decoder->pages[i].reg == find_whole_register(reg))
            decoder->pages[i].reg = ARM64_REG_INVALID;
}

static void forget_pages(struct decoder *decoder)
{
    decoder->page_count = decoder->next_page = 0;
}

static void set_page(struct decoder *decoder, unsigned reg, uint64_t address)
{
    forget_page(decoder, reg);
    decoder->pages[decoder->next_page] = (struct page){reg, address};
    if (decoder->page_count <= decoder->next_page)
        decoder->page_count = decoder->next_page + 1;
    decoder->next_page = (decoder->next_page + 1) % PAGES_MAX;
}

/* The address of a tracked page plus an offset: "add x1, x0, #12" or "ldr x1, [x0, #12]". */
static void find_address_in_page(struct decoder *decoder, const cs_insn *insn, struct instruction *out)
{
    const cs_arm64 *arm64 = &insn->detail->arm64;
    const cs_arm64_op *operands = arm64->operands;
    if (insn->id == ARM64_INS_ADD && arm64->op_count == 3 && operands[1].type == ARM64_OP_REG &&
        operands[2].type == ARM64_OP_IMM && operands[2].shift.value == 0) {
        const struct page *page = find_page(decoder, operands[1].reg);
        if (page)
            set_target(out, REFERENCE_MEMORY, page->address + (uint64_t)operands[2].imm);
    }
    for (uint8_t i = 0; i < arm64->op_count; i++) {
        if (operands[i].type != ARM64_OP_MEM)
            continue;
        const struct page *page = operands[i].mem.index == ARM64_REG_INVALID && !arm64->writeback
                                      ? find_page(decoder, operands[i].mem.base)
                                      : NULL;
        if (page)
            set_target(out, REFERENCE_MEMORY, page->address + (uint64_t)(int64_t)operands[i].mem.disp);
        if (arm64->writeback)
            forget_page(decoder, operands[i].mem.base);
    }
}

static void find_arm64_reference(struct decoder *decoder, const cs_insn *insn, struct instruction *out)
{
    const cs_arm64 *arm64 = &insn->detail->arm64;
    const cs_arm64_op *last = arm64->op_count ? &arm64->operands[arm64->op_count - 1] : NULL;
    if (decoder->joined_at && insn->address >= decoder->joined_at) {
        forget_pages(decoder);
        decoder->joined_at = 0;
    }
    if (is_branch(decoder, insn)) {
        if (last && last->type == ARM64_OP_IMM) {
            set_target(out, REFERENCE_JUMP, (uint64_t)last->imm);
            if (out->target > insn->address && (!decoder->joined_at || out->target < decoder->joined_at))
                decoder->joined_at = out->target;
        }
        forget_pages(decoder);
        return;
    }
    find_address_in_page(decoder, insn, out);
    for (uint8_t i = 0; i < arm64->op_count; i++)
        if (arm64->operands[i].type == ARM64_OP_REG)
            forget_page(decoder, arm64->operands[i].reg);
    if (!last || last->type != ARM64_OP_IMM)
        return;
    if (insn->id == ARM64_INS_ADRP)
        set_page(decoder, arm64->operands[0].reg, (uint64_t)last->imm);
    else if (insn->id == ARM64_INS_ADR || (insn->id == ARM64_INS_LDR && arm64->op_count == 2) ||
             insn->id == ARM64_INS_LDRSW)
        set_target(out, REFERENCE_MEMORY, (uint64_t)last->imm);
}

static void find_arm_reference(const struct decoder *decoder, const cs_insn *insn, struct instruction *out)
{
    enum { PC_AHEAD = 8, PC_AHEAD_THUMB = 4 };
    const cs_arm *arm = &insn->detail->arm;
    const cs_arm_op *last = arm->op_count ? &arm->operands[arm->op_count - 1] : NULL;
    if (!last)
        return;
    if (last->type == ARM_OP_IMM && is_branch(decoder, insn)) {
        set_target(out, REFERENCE_JUMP, (uint32_t)last->imm);
    } else if (last->type == ARM_OP_MEM && last->mem.base == ARM_REG_PC && last->mem.index == ARM_REG_INVALID) {
        uint64_t pc = (insn->address + (decoder->is_thumb ? PC_AHEAD_THUMB : PC_AHEAD)) & ~UINT64_C(3);
        set_target(out, REFERENCE_MEMORY, pc + (uint64_t)(int64_t)last->mem.disp);
    }
}

static void find_reference(struct decoder *decoder, const cs_insn *insn, struct instruction *out)
{
    if (!insn->detail)
        return;
    switch (decoder->machine->architecture) {
    case CS_ARCH_X86:
        find_x86_reference(decoder, insn, out);
        break;
    case CS_ARCH_ARM64:
        find_arm64_reference(decoder, insn, out);
        break;
    default:
        find_arm_reference(decoder, insn, out);
    }
}

void decoder_write_name(char *name, size_t size)
{
    int major, minor;
    capstone.cs_version(&major, &minor);
    snprintf(name, size, "capstone %d.%d", major, minor);
}

/* ---- decoding ---- */

/* Returns the number of bytes to skip at an invalid instruction. */
static size_t find_undecodable_size(enum code_kind kind, const unsigned char *code, size_t size)
{
    enum { WORD = 4, HALF = 2 };
    bool is_long = size >= HALF && code[1] >= 0xe8; /* Thumb: the first half of a 4-byte instruction */
    size_t wanted = kind == CODE_THUMB && !is_long ? HALF : WORD;
    return wanted < size ? wanted : size;
}

static void write_bytes(struct instruction *out, size_t size, const unsigned char *code)
{
    int used = snprintf(out->texts[0], INSTRUCTION_TEXT_MAX, ".byte");
    for (size_t i = 0; i < size; i++)
        used +=
            snprintf(out->texts[0] + used, (size_t)(INSTRUCTION_TEXT_MAX - used), "%s0x%02x", i ? ", " : " ", code[i]);
    memcpy(out->texts[1], out->texts[0], INSTRUCTION_TEXT_MAX);
    out->size = (uint32_t)size;
}

/* Writes a line for bytes that capstone does not decode. An x86 instruction with a known length is newer than
 * capstone. */
static void write_undecodable(const struct decoder *decoder, enum code_kind kind, struct instruction *out,
                              const unsigned char *code, size_t size)
{
    char name[32];
    if (decoder->machine->architecture != CS_ARCH_X86) {
        write_bytes(out, find_undecodable_size(kind, code, size), code);
        return;
    }
    size_t known = x86_find_length(code, size, decoder->machine->elf == EM_X86_64);
    write_bytes(out, known ? known : 1, code);
    decoder_write_name(name, sizeof(name));
    out->is_newer = known != 0;
    for (size_t i = 0; known && i < DECODER_SYNTAXES; i++)
        snprintf(out->texts[i] + strlen(out->texts[i]), 64, "  # %s does not know it", name);
}

_Static_assert(sizeof(((cs_insn *)NULL)->mnemonic) + sizeof(((cs_insn *)NULL)->op_str) < INSTRUCTION_TEXT_MAX,
               "the buffer has room for the text of an instruction");

static void write_text(char *text, const cs_insn *insn)
{
    size_t length = strlen(insn->mnemonic), operands = strlen(insn->op_str);
    memcpy(text, insn->mnemonic, length);
    if (operands)
        text[length++] = ' ';
    memcpy(text + length, insn->op_str, operands + 1);
}

static bool decode_instruction(struct decoder *decoder, size_t syntax, const unsigned char *code, size_t size,
                               uint64_t address)
{
    return capstone.cs_disasm_iter(decoder->handles[syntax], &code, &size, &address, decoder->scratch[syntax]);
}

static void set_code_kind(struct decoder *decoder, enum code_kind kind)
{
    bool is_thumb = kind == CODE_THUMB;
    if (decoder->machine->elf != EM_ARM || is_thumb == decoder->is_thumb)
        return;
    decoder->is_thumb = is_thumb;
    capstone.cs_option(decoder->handles[0], CS_OPT_MODE,
                       (size_t)(CS_MODE_V8 | (is_thumb ? CS_MODE_THUMB : CS_MODE_ARM)));
}

void decoder_next(struct decoder *decoder, enum code_kind kind, const unsigned char *code, size_t size,
                  uint64_t address, struct instruction *out)
{
    out->address = address;
    out->reference = REFERENCE_NONE;
    out->target = 0;
    out->is_newer = false;
    if (kind == CODE_DATA) {
        write_bytes(out, size < 4 ? size : 4, code);
        return;
    }
    set_code_kind(decoder, kind);
    if (!decode_instruction(decoder, 0, code, size, address)) {
        write_undecodable(decoder, kind, out, code, size);
        return;
    }
    const cs_insn *insn = decoder->scratch[0];
    out->size = insn->size;
    write_text(out->texts[0], insn);
    for (size_t i = 1; i < DECODER_SYNTAXES && decoder->scratch[i]; i++)
        write_text(out->texts[i], decode_instruction(decoder, i, code, size, address) ? decoder->scratch[i] : insn);
    find_reference(decoder, insn, out);
}
