/*
 * A descriptor of /proc/PID/root would not do: when the last process of a mount namespace ends, its file systems come
 * apart, and /tmp below that root is then whatever was there before. So /tmp itself is opened. It is one descriptor for
 * each mount namespace that has compiled code, and one for each jitdump file; both numbers are bounded, and what is
 * above is looked for under its name when all is over.
 */
#include "record/code_places.h"

#include <ctype.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { FOLDERS_MAX = 64, DUMPS_MAX = 256 };

/* The inode of a namespace ("mnt", "pid"), 0 if it cannot be seen. `process` is a pid or "self". */
static uint64_t namespace_of(const char *process, const char *kind)
{
    char path[64];
    struct stat info;
    snprintf(path, sizeof(path), "/proc/%s/ns/%s", process, kind);
    return stat(path, &info) == 0 ? (uint64_t)info.st_ino : 0;
}

static bool is_in_another(const char *process, const char *kind)
{
    uint64_t theirs = namespace_of(process, kind);
    return theirs && theirs != namespace_of("self", kind);
}

/* The last number of "NSpid:" in /proc/PID/status: one for each namespace, from ours inwards. */
static uint32_t innermost_pid(const char *process, uint32_t pid)
{
    char path[64], line[256];
    snprintf(path, sizeof(path), "/proc/%s/status", process);
    FILE *status = fopen(path, "re");
    while (status && fgets(line, sizeof(line), status)) {
        const char *last = strncmp(line, "NSpid:", 6) == 0 ? strrchr(line, '\t') : NULL;
        unsigned long number = last ? strtoul(last + 1, NULL, 10) : 0;
        if (number && number <= UINT32_MAX)
            pid = (uint32_t)number;
    }
    if (status)
        fclose(status);
    return pid;
}

static uint32_t open_folder(struct code_places *places, const char *process)
{
    uint64_t namespace = namespace_of(process, "mnt");
    for (size_t i = 0; i < places->folders.length; i++)
        if (places->folders.data[i].namespace == namespace)
            return (uint32_t)i;
    if (places->folders.length == FOLDERS_MAX)
        return CODE_FOLDER_OURS;
    char path[64];
    snprintf(path, sizeof(path), "/proc/%s/root/tmp", process);
    int fd = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0)
        return CODE_FOLDER_OURS;
    if (!array_push(&places->folders, (struct code_folder){.namespace = namespace, .fd = fd})) {
        close(fd);
        return CODE_FOLDER_OURS;
    }
    return (uint32_t)places->folders.length - 1;
}

static struct code_place *place_of(struct code_places *places, uint32_t process, uint32_t pid)
{
    uint32_t index = hash_get(&places->by_process, process);
    if (index != HASH_MISSING)
        return &places->places.data[index];
    char name[16];
    snprintf(name, sizeof(name), "%" PRIu32, pid);
    struct code_place place = {.pid = pid, .folder = CODE_FOLDER_OURS, .dump = -1};
    if (is_in_another(name, "pid"))
        place.pid = innermost_pid(name, pid);
    if (is_in_another(name, "mnt"))
        place.folder = open_folder(places, name);
    index = (uint32_t)places->places.length;
    if (!array_push(&places->places, place) || !hash_set(&places->by_process, process, index))
        return NULL;
    return &places->places.data[index];
}

bool code_places_note(struct code_places *places, uint32_t process, uint32_t pid)
{
    return place_of(places, process, pid) != NULL;
}

bool code_places_note_dump(struct code_places *places, uint32_t process, uint32_t pid, const char *path)
{
    struct code_place *place = place_of(places, process, pid);
    char in_root[4096 + 64];
    if (!place)
        return false;
    if (place->dump >= 0 || places->dumps == DUMPS_MAX)
        return true;
    snprintf(in_root, sizeof(in_root), "/proc/%" PRIu32 "/root%s", pid, path);
    place->dump = open(in_root, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY);
    places->dumps += place->dump >= 0;
    return true;
}

bool code_places_is_dump(const char *path)
{
    const char *name = strrchr(path, '/');
    if (!name || strncmp(name, "/jit-", 5) != 0 || !isdigit((unsigned char)name[5]))
        return false;
    return strcmp(name + 5 + strspn(name + 5, "0123456789"), ".dump") == 0;
}

const struct code_place *code_places_find(const struct code_places *places, uint32_t process)
{
    uint32_t index = hash_get(&places->by_process, process);
    return index == HASH_MISSING ? NULL : &places->places.data[index];
}

void code_places_destroy(struct code_places *places)
{
    for (size_t i = 0; i < places->folders.length; i++)
        close(places->folders.data[i].fd);
    for (size_t i = 0; i < places->places.length; i++)
        if (places->places.data[i].dump >= 0)
            close(places->places.data[i].dump);
    array_free(&places->places);
    array_free(&places->folders);
    hash_destroy(&places->by_process);
}
