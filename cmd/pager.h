/*
 * The pager: a program that shows what prof prints a screen at a time, as git uses one.
 */
#ifndef PROF_CMD_PAGER_H
#define PROF_CMD_PAGER_H

/*
 * If standard output is a terminal, starts the program that PROF_PAGER names, or PAGER, or else less, and makes it read
 * what is printed from now on. An empty value or "cat" means none. The value is a program and arguments with blanks
 * between them; no shell reads it. Without LESS in the environment, less gets the options FRX: it ends at once if all
 * fits on the screen, shows colors, and leaves the text on the screen. If the program cannot be started, a message says
 * so and output goes to the terminal. If the user leaves the pager before all is printed, prof ends with status 0.
 */
void pager_start(void);

/* Ends the output and waits until the user has left the pager. Nothing happens if none was started. */
void pager_wait(void);

#endif
