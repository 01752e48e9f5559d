/*
 * Reads the index of a DWARF package (.dwp), which has the parts of the sections that belong to each unit.
 *
 * A package concatenates the sections of many .dwo files. The section .debug_cu_index is a hash table from the id of a
 * unit to a row of offsets and sizes, with one column per section. Formats: DWARF 5, 7.3.5.3; version 2 for DWARF 4,
 * https://gcc.gnu.org/wiki/DebugFissionDWP.
 */
#pragma once

#include "symbol/dwarf_file.h"

/* Narrows `sections` of the whole package to the parts of the unit with this id. Sections without a column in the index
 * stay whole (.debug_str.dwo is shared). Returns false if the index lacks the unit or is damaged. */
bool dwarf_package_select(const struct bytes *index, uint64_t id, struct bytes sections[DWARF_SECTIONS]);
