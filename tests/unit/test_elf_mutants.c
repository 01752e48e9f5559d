/*
 * Damaged ELF files harm nothing. Each of a few small real files is changed in one to four fields or bytes again and
 * again, always in the same way: in its headers, section table, notes, symbols, relocations, compressed sections, call
 * frame information and debug info. A process of its own then opens the file as prof does: looks up names with both
 * readers of DWARF, disassembles, and walks. It must end by itself, in time, and without much memory.
 *
 *     MUTANTS=500 SEED=2 build/tests/unit/test_elf_mutants     # 500 of each file (60 without it), others than usual
 */
#include "support/directory.h"
#include "symbol/disassemble.h"
#include "symbol/symbol.h"
#include "unwind/address_space.h"
#include "unwind/unwind.h"

#include <elf.h>
#include <errno.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MOST_SECONDS = 20, MOST_KIB = 1 << 20, ADDRESSES = 128, PARTS_MAX = 256 };

/* What a mutant may be changed in. */
struct part {
    size_t offset, size;
    size_t field; /* width of what is changed: 1, 2, 4 or 8 bytes */
};

struct original {
    unsigned char *bytes;
    size_t size;
    struct part parts[PARTS_MAX];
    size_t part_count;
    uint64_t code, code_size; /* of .text, as vaddr */
};

static uint64_t random_state;

static uint64_t next_random(void)
{
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return random_state;
}

static uint64_t random_below(uint64_t limit)
{
    return limit ? next_random() % limit : 0;
}

static unsigned number_of(const char *variable, unsigned usual)
{
    const char *text = getenv(variable);
    return text ? (unsigned)strtoul(text, NULL, 10) : usual;
}

/* ---- the originals ---- */

static void add_part(struct original *file, uint64_t offset, uint64_t size, size_t field)
{
    if (file->part_count < PARTS_MAX && size && offset < file->size && size <= file->size - offset)
        file->parts[file->part_count++] = (struct part){(size_t)offset, (size_t)size, field};
}

static bool has_readers(const char *name)
{
    static const char *const names[] = {".debug_",       ".eh_frame", ".gnu_debug", ".note",   ".symtab",  ".dynsym",
                                        ".strtab",       ".rela",     ".plt",       ".got",    ".dynamic", ".gopclntab",
                                        ".go.buildinfo", ".shstrtab", ".dynstr",    ".zdebug_"};
    for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
        if (strncmp(name, names[i], strlen(names[i])) == 0)
            return true;
    return false;
}

static void find_parts(struct original *file)
{
    Elf64_Ehdr header;
    memcpy(&header, file->bytes, sizeof(header));
    add_part(file, 0, sizeof(header), 2);
    for (int twice = 0; twice < 2; twice++) { /* headers decide more than contents */
        add_part(file, header.e_phoff, (uint64_t)header.e_phnum * sizeof(Elf64_Phdr), 8);
        add_part(file, header.e_shoff, (uint64_t)header.e_shnum * sizeof(Elf64_Shdr), 4 + 4 * (size_t)twice);
    }
    Elf64_Shdr names;
    memcpy(&names, file->bytes + header.e_shoff + header.e_shstrndx * sizeof(names), sizeof(names));
    for (size_t i = 0; i < header.e_shnum; i++) {
        Elf64_Shdr section;
        memcpy(&section, file->bytes + header.e_shoff + i * sizeof(section), sizeof(section));
        const char *name = (char *)file->bytes + names.sh_offset + section.sh_name;
        if (strcmp(name, ".text") == 0)
            file->code = section.sh_addr, file->code_size = section.sh_size;
        if (section.sh_type == SHT_NOBITS || !has_readers(name))
            continue;
        if (section.sh_flags & SHF_COMPRESSED)
            add_part(file, section.sh_offset, sizeof(Elf64_Chdr), 8);
        bool has_records = section.sh_type == SHT_SYMTAB || section.sh_type == SHT_DYNSYM ||
                           section.sh_type == SHT_RELA || section.sh_type == SHT_DYNAMIC;
        add_part(file, section.sh_offset, section.sh_size, has_records ? 8 : section.sh_type == SHT_NOTE ? 4 : 1);
        add_part(file, section.sh_offset, section.sh_size < 64 ? section.sh_size : 64, 4);
    }
}

static struct original read_original(const char *path)
{
    struct original file = {0};
    FILE *in = fopen(path, "rb");
    assert_non_null(in);
    fseek(in, 0, SEEK_END);
    file.size = (size_t)ftell(in);
    rewind(in);
    file.bytes = malloc(file.size);
    assert_int_equal(fread(file.bytes, 1, file.size, in), file.size);
    fclose(in);
    find_parts(&file);
    assert_true(file.part_count > 4);
    return file;
}

/* ---- mutants ---- */

static uint64_t odd_number(const struct original *file, uint64_t before)
{
    const uint64_t numbers[] = {0,
                                1,
                                UINT64_MAX,
                                INT64_MAX,
                                UINT32_MAX,
                                INT32_MAX,
                                UINT64_C(1) << 40,
                                file->size,
                                file->size - 1,
                                before + 1,
                                before - 1,
                                before * 2,
                                before ^ (UINT64_C(1) << random_below(64)),
                                random_below(file->size),
                                next_random()};
    return numbers[random_below(sizeof(numbers) / sizeof(*numbers))];
}

static void change_once(const struct original *file, unsigned char *bytes)
{
    const struct part *part = &file->parts[random_below(file->part_count)];
    size_t count = part->size / part->field, at = part->offset + part->field * (size_t)random_below(count);
    if (!count)
        return;
    if (part->field == 1 && random_below(4) == 0) { /* a long LEB128, a run of zeros, an opcode again and again */
        size_t left = part->offset + part->size - at, run_length = 1 + (size_t)random_below(left < 24 ? left : 24);
        memset(bytes + at, (int[]){0, 0xff, 0x80, (int)random_below(256)}[random_below(4)], run_length);
        return;
    }
    uint64_t number = 0;
    memcpy(&number, bytes + at, part->field);
    number = odd_number(file, number);
    memcpy(bytes + at, &number, part->field);
}

/* Returns the size: some are cut off. */
static size_t mutate(const struct original *file, unsigned char *bytes)
{
    memcpy(bytes, file->bytes, file->size);
    for (uint64_t changes = 1 + random_below(4); changes > 0; changes--)
        change_once(file, bytes);
    return random_below(16) == 0 ? (size_t)random_below(file->size) : file->size;
}

/* ---- what prof does with a file ---- */

static uint64_t base_of(const struct original *file)
{
    Elf64_Ehdr header;
    memcpy(&header, file->bytes, sizeof(header));
    for (size_t i = 0; i < header.e_phnum; i++) {
        Elf64_Phdr segment;
        memcpy(&segment, file->bytes + header.e_phoff + i * sizeof(segment), sizeof(segment));
        if (segment.p_type == PT_LOAD)
            return segment.p_vaddr;
    }
    return 0;
}

/* Names of addresses all over the code; the second reader only if the first found no damage, as `symbolicate --check`.
 */
static size_t look_up(const struct original *file, const struct symbol_lib *lib)
{
    uint64_t rvas[ADDRESSES];
    size_t named = 0;
    struct error err;
    for (uint64_t i = 0; i < ADDRESSES; i++)
        rvas[i] = file->code - base_of(file) + i * (file->code_size / ADDRESSES + 1);
    for (int reader = SYMBOL_READER_OWN; reader <= SYMBOL_READER_LIBDW; reader++) {
        struct symbolizer_options options = {.reader = (enum symbol_reader)reader, .threads = 1};
        struct symbolizer *symbolizer = symbolizer_new(&options);
        struct symbol_answers answers = {.problem = ""};
        if (!symbolizer || symbolizer_lookup(symbolizer, lib, rvas, ADDRESSES, &answers, &err))
            _exit(3);
        bool is_damaged = answers.is_damaged;
        for (size_t i = 0; i < answers.frames.length; i++)
            named += answers.frames.data[i].function != NULL;
        symbol_answers_destroy(&answers);
        symbolizer_free(symbolizer);
        if (is_damaged)
            break;
    }
    return named;
}

static size_t take_apart(const struct original *file, const struct symbol_lib *lib)
{
    struct disassembly code = {0};
    struct disassemble_request request = {
        .lib = *lib, .start = file->code - base_of(file), .size = file->code_size < 2048 ? file->code_size : 2048};
    struct symbolizer_options options = {.threads = 1, .skip_inlines_and_lines = true};
    struct error err;
    struct symbolizer *names = symbolizer_new(&options);
    if (!names)
        _exit(3);
    disassemble(&code, &request, names, &err);
    size_t count = code.instructions.length;
    disassembly_destroy(&code);
    symbolizer_free(names);
    return count;
}

static size_t walk(const struct original *file, const unsigned char *bytes, size_t size)
{
    enum { FRAMES = 64, WORDS = 512, MAPPED_AT = 0x10000000, STACK_AT = 0x7000000 };
    struct unwind_module *module;
    size_t frames = 0;
    if (unwind_module_open_memory(&module, bytes, size, "mutant", NULL))
        return 0;
    struct address_space space = {0};
    struct mapping mapping = {.start = MAPPED_AT, .end = MAPPED_AT + file->size, .module = module};
    if (!address_space_map(&space, &mapping))
        _exit(3);
    unwind_module_unref(module);
    uint64_t words[WORDS], first = MAPPED_AT + file->code - base_of(file);
    for (size_t i = 0; i < WORDS; i++)
        words[i] = i % 2 ? first + i * 97 % file->code_size : STACK_AT + (i + 4) * 8;
    for (size_t i = 0; i < ADDRESSES; i++) {
        struct unwind_regs regs = {0};
        uint64_t pcs[FRAMES];
        for (unsigned r = 0; r < UNWIND_REGS; r++)
            regs.r[r] = STACK_AT + r * 16;
        regs.r[UNWIND_REG_SP] = STACK_AT;
        regs.r[UNWIND_REG_PC] = first + i * (file->code_size / ADDRESSES + 1);
        struct unwind_stack stack = {
            .sp = STACK_AT, .bytes = (const unsigned char *)words, .size = WORDS * sizeof(*words)};
        frames += unwind_walk(&space, &regs, &stack, pcs, FRAMES).frames;
    }
    address_space_destroy(&space);
    return frames;
}

/* In a process of its own. Returns what wait4() says of it. */
static int use(const struct original *file, const char *path, const unsigned char *bytes, size_t size, long *kib)
{
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
        alarm(MOST_SECONDS);
        struct symbol_lib lib = {.kind = SYMBOL_LIB_ELF, .name = "mutant", .path = path};
        size_t named = look_up(file, &lib), instructions = take_apart(file, &lib), frames = walk(file, bytes, size);
        _exit(file->bytes == bytes && (!named || !instructions || frames <= ADDRESSES) ? 4 : 0);
    }
    int status = 0;
    struct rusage usage;
    while (wait4(child, &status, 0, &usage) < 0 && errno == EINTR)
        ;
    *kib = usage.ru_maxrss;
    return status;
}

static void write_bytes(const char *path, const unsigned char *bytes, size_t size)
{
    FILE *out = fopen(path, "wb");
    assert_non_null(out);
    assert_int_equal(fwrite(bytes, 1, size, out), size);
    fclose(out);
}

/* A mutant that does harm is kept beside the test's directory. */
static void survive(const char *original_path)
{
    struct original file = read_original(original_path);
    unsigned char *bytes = malloc(file.size);
    char path[64];
    long kib;
    snprintf(path, sizeof(path), "%s/mutant", directory);
    write_bytes(path, file.bytes, file.size);
    int status = use(&file, path, file.bytes, file.size, &kib);
    if (status)
        fail_msg("%s itself cannot be used: status %x", original_path, (unsigned)status);
    random_state = 88172645463325252U + number_of("SEED", 77) * 7919U;
    unsigned count = number_of("MUTANTS", 60), harmful = 0;
    for (unsigned i = 0; i < count; i++) {
        size_t size = mutate(&file, bytes);
        write_bytes(path, bytes, size);
        status = use(&file, path, bytes, size, &kib);
        if (!status && kib <= MOST_KIB)
            continue;
        char kept[128];
        snprintf(kept, sizeof(kept), "/tmp/prof-harmful-%s-%u", strrchr(original_path, '/') + 1, i);
        write_bytes(kept, bytes, size);
        print_message("# mutant %u: status %x, %ld KiB, kept as %s\n", i, (unsigned)status, kib, kept);
        harmful++;
    }
    print_message("# %s: %u mutants in %zu parts\n", original_path, count, file.part_count);
    free(bytes);
    free(file.bytes);
    assert_int_equal(harmful, 0);
}

static const char source_c[] = "#include <stdlib.h>\n#include <string.h>\n"
                               "static inline int inner(int x) { return x * 7 + (int)strlen(getenv(\"A\")); }\n"
                               "__attribute__((noinline)) int middle(int x) { return inner(x) ^ inner(x + 1); }\n"
                               "int main(int argc, char **argv) { (void)argv; char b[argc]; memset(b, 1, argc);\n"
                               "    return middle(argc + b[0]); }\n";

static void test_c_with_compressed_debug_info(void **unused)
{
    (void)unused;
    write_text("a.c", source_c);
    run("gcc -g -O2 -gz=zlib -o zlib a.c");
    survive(in_directory("zlib"));
}

static void test_cpp_with_zstd_or_other_debug_info(void **unused)
{
    (void)unused;
    write_text("a.cpp", "#include <map>\n#include <string>\n#include <stdexcept>\n"
                        "int count(std::map<std::string, int> &m, const std::string &k) {\n"
                        "    if (k.empty()) throw std::runtime_error(k); return ++m[k]; }\n"
                        "int main(int n, char **v) { std::map<std::string, int> m; return count(m, v[n - 1]); }\n");
    run("g++ -g -O1 -o cpp a.cpp && { objcopy --compress-debug-sections=zstd cpp 2>/dev/null || true; }");
    survive(in_directory("cpp"));
}

static void test_stripped_with_gnu_debugdata(void **unused)
{
    (void)unused;
    write_text("b.c", source_c);
    run("gcc -O2 -o mini b.c && cp mini mini.symbols && strip --strip-debug mini.symbols && xz -k mini.symbols && "
        "strip mini && "
        "objcopy --add-section .gnu_debugdata=mini.symbols.xz mini");
    survive(in_directory("mini"));
}

static void test_debug_frame_and_dwarf4(void **unused)
{
    (void)unused;
    write_text("d.c", source_c);
    run("gcc -g -gdwarf-4 -O1 -fno-asynchronous-unwind-tables -o frame d.c");
    survive(in_directory("frame"));
}

static void test_rust(void **unused)
{
    (void)unused;
    write_text("r.rs",
               "use std::collections::HashMap;\nfn main() { let mut m = HashMap::new();\n"
               "    for a in std::env::args() { *m.entry(a).or_insert(0) += 1; } println!(\"{}\", m.len()); }\n");
    if (system("command -v rustc >/dev/null") != 0)
        skip();
    run("rustc -g -O -C prefer-dynamic -o rust r.rs");
    survive(in_directory("rust"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_c_with_compressed_debug_info),
        cmocka_unit_test(test_cpp_with_zstd_or_other_debug_info),
        cmocka_unit_test(test_stripped_with_gnu_debugdata),
        cmocka_unit_test(test_debug_frame_and_dwarf4),
        cmocka_unit_test(test_rust),
    };
    return cmocka_run_group_tests(tests, make_empty_directory, remove_directory);
}
