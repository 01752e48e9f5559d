/* DW_AT_low_pc with DW_AT_high_pc, or a list in .debug_ranges (DWARF 3, 4) or .debug_rnglists (5), has the address
 * ranges of a DIE. */
#pragma once

#include "symbol/dwarf_unit.h"

/* Return false to end the listing. */
typedef bool dwarf_range_visitor(void *context, uint64_t start, uint64_t end);

/* Calls `visit` for each range [start, end). Skips empty ranges and ranges at address 0, which linkers give to
 * functions that they dropped. */
void dwarf_ranges_visit(struct dwarf_unit_reader *reader, const struct dwarf_code *code, dwarf_range_visitor *visit,
                        void *context);
