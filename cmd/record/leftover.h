/* Spool files of earlier recordings that were not saved. */
#pragma once

/* Prints a message about a spool file "BASE.PID.spool" whose recorder was killed, or could not save the profile. */
void print_leftover(const char *base);
