/*
 * Converts the tables of files before version 49 of the format to the later layout, before prof builds the profile: see
 * build_old.c.
 */
#pragma once

#include "profile/build_tables.h"

/* Converts the tables of the file in place. Does nothing to files of later versions. */
int build_old_layouts(struct build *build);
