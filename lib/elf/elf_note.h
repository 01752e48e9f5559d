/*
 * Notes, as PT_NOTE segments, SHT_NOTE sections and /sys/kernel/notes hold them (System V gABI, chapter 5): sizes and
 * type as 32-bit numbers in the byte order of this machine, then the owner's name and the description, each padded to 4
 * bytes. gelf_getnote() can read only the notes of an open ELF file.
 */
#pragma once

#include "base/cursor.h"

/* Finds the first note with this owner ("GNU", with its NUL) and type. Returns the note's description, which lies in
 * `notes`, and its size. Returns NULL if no such note precedes the end or the first damaged note. */
static inline const unsigned char *elf_note_find(const void *notes, size_t notes_size, const char owner[4],
                                                 uint32_t type, size_t *size)
{
    struct cursor c = cursor_of(notes, notes_size);
    while (cursor_left(&c)) {
        uint32_t name_size = cursor_u32(&c), bytes_size = cursor_u32(&c), note_type = cursor_u32(&c);
        const unsigned char *name = cursor_bytes(&c, ((uint64_t)name_size + 3) & ~UINT64_C(3));
        const unsigned char *bytes = cursor_bytes(&c, bytes_size);
        if (!name || !bytes)
            return NULL;
        if (note_type == type && name_size == 4 && memcmp(name, owner, 4) == 0) {
            *size = bytes_size;
            return bytes;
        }
        cursor_bytes(&c, (4 - bytes_size % 4) % 4);
    }
    return NULL;
}
