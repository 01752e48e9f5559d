/*
 * Counts the lines of the disassembly of a file at which objdump has no instruction,
 *
 *     prof        with the length of instructions that capstone does not know
 *     SKIPDATA    without x86_find_length(): capstone skips one byte
 *
 *     bench_disassemble [FILE...]      default: a program of AVX-512 instructions that it compiles, and libc
 */
#include "elf/elf_file.h"
#include "symbol/decoder.h"

#include <capstone/capstone.h>
#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* Which offsets of .text begin an instruction: as objdump says. */
static unsigned char *starts_of(const char *path, const struct elf_section *text, size_t *count)
{
    char command[1024];
    uint64_t address;
    unsigned long read;
    unsigned char *starts = calloc(text->size + 1, 1);
    snprintf(command, sizeof(command),
             "objdump -d -j .text --no-show-raw-insn '%s' | sed -nE 's/^ *([0-9a-f]+):\t.*/\\1/p'", path);
    FILE *in = popen(command, "r");
    for (*count = 0; starts && in && fscanf(in, "%lx", &read) == 1;) {
        address = read;
        if (address >= text->address && address - text->address < text->size) {
            starts[address - text->address] = 1;
            ++*count;
        }
    }
    if (in)
        pclose(in);
    return starts;
}

static size_t wrong_of_prof(const unsigned char *code, size_t size, const unsigned char *starts)
{
    struct decoder *decoder;
    struct instruction instruction;
    size_t wrong = 0;
    if (decoder_open(&decoder, EM_X86_64, 0, NULL) != 0)
        exit(1);
    for (size_t at = 0; at < size; at += instruction.size) {
        decoder_next(decoder, CODE_PLAIN, code + at, size - at, at, &instruction);
        wrong += !starts[at];
    }
    decoder_close(decoder);
    return wrong;
}

static size_t wrong_of_skipdata(const unsigned char *code, size_t size, const unsigned char *starts)
{
    csh handle;
    size_t wrong = 0;
    uint64_t address = 0;
    if (cs_open(CS_ARCH_X86, CS_MODE_64, &handle) != CS_ERR_OK || cs_option(handle, CS_OPT_SKIPDATA, CS_OPT_ON) != 0)
        exit(1);
    cs_insn *instruction = cs_malloc(handle);
    while (cs_disasm_iter(handle, &code, &size, &address, instruction))
        wrong += !starts[instruction->address];
    cs_free(instruction, 1);
    cs_close(&handle);
    return wrong;
}

static void compare(const char *path)
{
    struct elf_file file;
    if (elf_file_open(&file, path, NULL) != 0)
        return;
    const struct elf_section *text = elf_file_find_section(&file, ".text");
    unsigned char *code = text && file.machine == EM_X86_64 ? bytes_load(&text->bytes) : NULL;
    size_t count = 0;
    unsigned char *starts = code ? starts_of(path, text, &count) : NULL;
    if (starts)
        printf("%s: of %zu instructions prof has %zu lines where there is none, SKIPDATA %zu\n", path, count,
               wrong_of_prof(code, text->size, starts), wrong_of_skipdata(code, text->size, starts));
    free(starts);
    free(code);
    elf_file_close(&file);
}

int main(int argc, char **argv)
{
    for (int i = 1; i < argc; i++)
        compare(argv[i]);
    if (argc > 1)
        return 0;
    char path[] = "/tmp/prof-avx512-XXXXXX", command[512];
    int fd = mkstemp(path);
    if (fd < 0)
        return 1;
    snprintf(command, sizeof(command),
             "printf 'void f(float*a,float*b,int n){for(int i=0;i<n;i++)a[i]=a[i]*b[i]+1.5f;}"
             "void g(double*a,int*m,int n){for(int i=0;i<n;i++)if(m[i]>3)a[i]=a[i]*a[i]+m[i];}"
             "int h(unsigned char*a,int n){int s=0;for(int i=0;i<n;i++)s+=a[i]*3;return s;}' |"
             "gcc -O3 -march=sapphirerapids -mprefer-vector-width=512 -ffast-math -shared -fPIC -o %s -x c -",
             path);
    if (system(command) == 0)
        compare(path);
    close(fd);
    unlink(path);
    compare("/lib/x86_64-linux-gnu/libc.so.6");
    return 0;
}
