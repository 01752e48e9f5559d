/*
 * The pager: a program that shows the output of prof one screen at a time, as in git.
 */
#pragma once

/*
 * If standard output is a terminal, starts the program in PROF_PAGER, PAGER or, without both, less, and sends all
 * further output to the program. An empty value or "cat" disables the pager. These environment variables contain a
 * program and its arguments, separated by blanks; prof starts the program without a shell. If LESS is not set, less
 * gets the options FRX. less then exits if everything fits on one screen, shows colors, and leaves the text on the
 * screen. If the pager cannot start, prints a message, and output goes to the terminal. If the user quits the pager
 * early, prof exits with status 0.
 */
void pager_start(void);

/* Ends the output and waits until the user quits the pager. Does nothing if no pager was started. */
void pager_wait(void);
