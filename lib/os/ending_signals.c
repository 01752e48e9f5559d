#include "os/ending_signals.h"

static void add_unless_ignored(sigset_t *signals, int signal_number)
{
    struct sigaction action;
    if (sigaction(signal_number, NULL, &action) == 0 && action.sa_handler != SIG_IGN)
        sigaddset(signals, signal_number);
}

void list_ending_signals(sigset_t *signals)
{
    sigemptyset(signals);
    add_unless_ignored(signals, SIGINT);
    add_unless_ignored(signals, SIGTERM);
    add_unless_ignored(signals, SIGHUP);
}
