/*
 * Notes, as PT_NOTE segments, SHT_NOTE sections and /sys/kernel/notes hold them (System V gABI, chapter 5): sizes and
 * type as 32-bit numbers in the byte order of this machine, then the owner's name and the description, each padded to 4
 * bytes. gelf_getnote() can read only the notes of an open ELF file.
 */
#pragma once

#include "base/cursor.h"

struct elf_note {
    uint32_t type, name_size, size;
    const unsigned char *name, *bytes; /* bytes: the description, of `size` bytes; both lie in the notes */
};

/* Reads the next note. False at the end or at a damaged note. */
static inline bool elf_note_next(struct cursor *notes, struct elf_note *note)
{
    if (!cursor_left(notes))
        return false;
    note->name_size = cursor_u32(notes);
    note->size = cursor_u32(notes);
    note->type = cursor_u32(notes);
    note->name = cursor_bytes(notes, ((uint64_t)note->name_size + 3) & ~UINT64_C(3));
    note->bytes = cursor_bytes(notes, note->size);
    bool is_sound = note->name && note->bytes;
    cursor_bytes(notes, (4 - note->size % 4) % 4);
    return is_sound;
}

/* `owner`: with its NULs, of `size` bytes: "GNU" has 4, as has "Go". */
static inline bool elf_note_has_owner(const struct elf_note *note, const char *owner, size_t size)
{
    return note->name_size == size && memcmp(note->name, owner, size) == 0;
}

/* Finds the first note with this owner and type. Returns the note's description, which lies in `notes`, and its size.
 * Returns NULL if no such note precedes the end or the first damaged note. */
static inline const unsigned char *elf_note_find(const void *notes, size_t notes_size, const char owner[4],
                                                 uint32_t type, size_t *size)
{
    struct cursor c = cursor_of(notes, notes_size);
    struct elf_note note;
    while (elf_note_next(&c, &note)) {
        if (note.type != type || !elf_note_has_owner(&note, owner, 4))
            continue;
        *size = note.size;
        return note.bytes;
    }
    return NULL;
}
