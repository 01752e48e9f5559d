#include "process/process_signals.h"

#include "os/file_io.h"

#include <signal.h>

uint64_t process_signals_parse_count(const char *text, const char *name)
{
    size_t length = strlen(name);
    for (const char *line = text; line; line = strchr(line, '\n')) {
        line += *line == '\n';
        if (strncmp(line, name, length) != 0 || line[length] != ' ')
            continue;
        char *end;
        errno = 0;
        uint64_t count = strtoull(line + length + 1, &end, 10);
        return end != line + length + 1 && !errno ? count : UINT64_MAX;
    }
    return UINT64_MAX;
}

/* Parses a set of signals: "SigIgn:\t0000000000001000". */
static uint64_t parse_set(const char *status, const char *name)
{
    const char *line = strstr(status, name);
    return line ? strtoull(line + strlen(name), NULL, 16) : 0;
}

bool process_signals_has_effect(const char *status, uint32_t number)
{
    uint64_t bit = number && number <= 64 ? UINT64_C(1) << (number - 1) : 0;
    bool is_idle = number == SIGCHLD || number == SIGWINCH || number == SIGURG || number == SIGCONT;
    bool is_caught = parse_set(status, "\nSigCgt:") & bit;
    return is_caught || (!is_idle && !(parse_set(status, "\nSigIgn:") & bit));
}

static uint64_t count_oom_kills(void)
{
    char text[16384];
    return file_read_text("/proc/vmstat", text, sizeof(text)) ? process_signals_parse_count(text, "oom_kill")
                                                              : UINT64_MAX;
}

void process_signals_init(struct process_signals *signals)
{
    *signals = (struct process_signals){.oom_kills = count_oom_kills()};
}

/* "bash (1234)". Writes the name of the sender, which may have ended meanwhile. */
static const char *name_sender(struct process_signals *signals, uint32_t sender)
{
    char path[32], name[32];
    if (!sender)
        return "";
    if (signals->sender == sender)
        return signals->sender_name;
    snprintf(path, sizeof(path), "/proc/%" PRIu32 "/comm", sender);
    if (file_read_text(path, name, sizeof(name)))
        snprintf(signals->sender_name, sizeof(signals->sender_name), "%s (%" PRIu32 ")", name, sender);
    else
        snprintf(signals->sender_name, sizeof(signals->sender_name), "process %" PRIu32, sender);
    signals->sender = sender;
    return signals->sender_name;
}

void process_signals_store_sent(struct process_signals *signals, const struct sent_signal *sent)
{
    signals->sent[signals->next_sent] = *sent;
    signals->next_sent = (signals->next_sent + 1) % PROCESS_SIGNALS_SENT;
}

uint32_t process_signals_remove_sender(struct process_signals *signals, uint32_t pid, uint32_t number)
{
    for (size_t i = 1; i <= PROCESS_SIGNALS_SENT; i++) {
        struct sent_signal *sent =
            &signals->sent[(signals->next_sent + PROCESS_SIGNALS_SENT - i) % PROCESS_SIGNALS_SENT];
        if (sent->pid != pid || sent->number != number)
            continue;
        uint32_t sender = sent->sender;
        *sent = (struct sent_signal){0};
        return sender;
    }
    return 0;
}

int process_signals_add(struct process_signals *signals, struct spool_writer *spool,
                        const struct process_signal_note *note, struct error *err)
{
    if (signals->stored >= PROCESS_SIGNALS_MAX) {
        signals->left_out++;
        return 0;
    }
    signals->stored++;
    const struct spool_signal signal = {.pid = note->pid,
                                        .tid = note->tid,
                                        .time_ns = note->time,
                                        .signal = note->number,
                                        .sender = name_sender(signals, note->sender)};
    return spool_write_signal(spool, &signal, err);
}

int process_signals_add_kill(struct process_signals *signals, struct spool_writer *spool, uint32_t pid, uint64_t time,
                             struct error *err)
{
    uint64_t before = signals->oom_kills;
    if (before == UINT64_MAX)
        return 0;
    uint64_t now = count_oom_kills();
    if (now == UINT64_MAX || now <= before)
        return 0;
    signals->oom_kills = now;
    const struct spool_oom_kill kill = {.pid = pid, .time_ns = time, .count = now - before};
    return spool_write_oom_kill(spool, &kill, err);
}
