/*
 * What libdw takes for the same raw material: the ranges of all functions and inlined calls of a program, and its line
 * tables, unit by unit on one thread. Names are not asked for. Run by tests/bench/bench_symbol_big, where libdw is
 * installed.
 *
 *     libdw_pass FILE
 */
#include <dwarf.h>
#include <elfutils/libdw.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <time.h>

struct range {
    Dwarf_Addr start, end;
    Dwarf_Off die;
    int depth;
};

static struct range *ranges;
static size_t range_count, range_capacity;

static void add_ranges(Dwarf_Die *die, int depth)
{
    Dwarf_Addr base, start, end;
    ptrdiff_t offset = 0;
    while ((offset = dwarf_ranges(die, offset, &base, &start, &end)) > 0) {
        if (range_count == range_capacity) {
            range_capacity = range_capacity ? range_capacity * 2 : 1024;
            ranges = realloc(ranges, range_capacity * sizeof(*ranges));
            if (!ranges)
                exit(EXIT_FAILURE);
        }
        ranges[range_count++] = (struct range){start, end, dwarf_dieoffset(die), depth};
    }
}

static void walk(Dwarf_Die *die, int depth)
{
    Dwarf_Die child;
    int tag = dwarf_tag(die);
    if (tag == DW_TAG_subprogram || tag == DW_TAG_inlined_subroutine)
        add_ranges(die, depth);
    if (dwarf_child(die, &child) == 0)
        do
            walk(&child, depth + 1);
        while (dwarf_siblingof(&child, &child) == 0);
}

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

int main(int argc, char **argv)
{
    double start = now();
    int fd = argc > 1 ? open(argv[1], O_RDONLY) : -1;
    Dwarf *dwarf = fd >= 0 ? dwarf_begin(fd, DWARF_C_READ) : NULL;
    if (!dwarf) {
        fprintf(stderr, "usage: libdw_pass FILE, which has debug info\n");
        return EXIT_FAILURE;
    }
    Dwarf_Off offset = 0, next;
    size_t header_size, line_count = 0;
    while (dwarf_nextcu(dwarf, offset, &next, &header_size, NULL, NULL, NULL) == 0) {
        Dwarf_Die unit;
        Dwarf_Lines *lines;
        size_t count;
        if (dwarf_offdie(dwarf, offset + header_size, &unit)) {
            walk(&unit, 0);
            if (dwarf_getsrclines(&unit, &lines, &count) == 0)
                line_count += count;
        }
        offset = next;
    }
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    printf("  libdw, 1 thread: %.2f s, peak memory %ld MiB, for %zu ranges and %zu lines, no names\n", now() - start,
           usage.ru_maxrss / 1024, range_count, line_count);
    return EXIT_SUCCESS;
}
