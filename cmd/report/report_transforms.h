/*
 * Resolves names in transforms, and the focus of a butterfly.
 */
#pragma once

#include "cmd/report/report.h"

/* Sets report->transforms. Returns an exit status, after a message if it is not 0. */
int report_resolve_transforms(struct report *report);

/* Sets report->focus in the transformed tree: a function; for a butterfly also a library or a category. The same
 * returns. */
int report_resolve_focus(struct report *report);
