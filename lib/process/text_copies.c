#include "process/text_copies.h"

#include "os/target_memory.h"
#include "unwind/module.h"

enum { COPIES_MAX = 64 };

static void drop_copy(struct text_copies *copies, size_t i)
{
    unwind_module_unref(copies->copies.data[i].file.module);
    copies->copies.data[i] = copies->copies.data[--copies->copies.length];
}

void text_copies_drop(struct text_copies *copies, uint64_t start, uint64_t end)
{
    for (size_t i = copies->copies.length; i-- > 0;)
        if (copies->copies.data[i].file.start < end && copies->copies.data[i].file.end > start)
            drop_copy(copies, i);
}

bool text_copies_add(struct text_copies *copies, const struct mapping *file)
{
    const struct text_copy copy = {.file = *file};
    text_copies_drop(copies, file->start, file->end);
    if (!file->module || copies->copies.length >= COPIES_MAX)
        return true;
    if (!array_push(&copies->copies, copy))
        return false;
    unwind_module_ref(file->module);
    return true;
}

bool text_copies_replace(struct text_copies *copies, const struct address_space *space, uint64_t start, uint64_t end)
{
    while (start < end) {
        const struct mapping *mapping = address_space_find(space, start);
        struct address_gap gap;
        if (!mapping) {
            address_space_is_unmapped(space, start, &gap);
            start = gap.end;
            continue;
        }
        struct mapping part = *mapping;
        part.start = start;
        part.end = mapping->end < end ? mapping->end : end;
        part.rva += start - mapping->start;
        start = mapping->end;
        if (part.lib != MAPPING_NO_LIB && !text_copies_add(copies, &part))
            return false;
    }
    return true;
}

static struct text_copy *find_copy_at(const struct text_copies *copies, uint64_t pc)
{
    for (size_t i = 0; i < copies->copies.length; i++)
        if (pc >= copies->copies.data[i].file.start && pc < copies->copies.data[i].file.end)
            return &copies->copies.data[i];
    return NULL;
}

bool text_copies_has(const struct text_copies *copies, uint64_t pc)
{
    return find_copy_at(copies, pc) != NULL;
}

bool text_copies_are_equal(const struct text_copies *copies, uint64_t pc)
{
    const struct text_copy *copy = find_copy_at(copies, pc);
    return copy && copy->is_equal;
}

enum comparison { EQUAL, DIFFERENT, UNREADABLE };

/* Compares the memory around `pc` with the file. */
static enum comparison compare_with_file(const struct mapping *file, struct target_thread thread, uint64_t pc)
{
    enum { AROUND = 256 };
    unsigned char in_file[AROUND], in_memory[AROUND];
    uint64_t at = pc & ~(uint64_t)(AROUND - 1);
    at = at < file->start ? file->start : at;
    size_t size = file->end - at < AROUND ? (size_t)(file->end - at) : AROUND;
    uint64_t vaddr = unwind_module_get_base(file->module) + file->rva + (at - file->start);
    size = unwind_module_read_code(file->module, vaddr, in_file, size);
    if (at + size <= pc)
        return DIFFERENT; /* the file has no bytes at this address */
    if (target_memory_read(thread, at, in_memory, size) != size)
        return UNREADABLE;
    return memcmp(in_file, in_memory, size) == 0 ? EQUAL : DIFFERENT;
}

const struct mapping *text_copies_find(struct text_copies *copies, struct target_thread thread, uint64_t pc)
{
    struct text_copy *copy = find_copy_at(copies, pc);
    enum comparison comparison = !copy            ? UNREADABLE
                                 : copy->is_equal ? EQUAL
                                                  : compare_with_file(&copy->file, thread, pc);
    if (comparison == DIFFERENT)
        drop_copy(copies, (size_t)(copy - copies->copies.data));
    if (comparison != EQUAL)
        return NULL;
    copy->is_equal = true;
    return &copy->file;
}

bool text_copies_inherit(struct text_copies *child, const struct text_copies *parent)
{
    if (!array_append(&child->copies, parent->copies.data, parent->copies.length))
        return false;
    for (size_t i = 0; i < parent->copies.length; i++)
        unwind_module_ref(parent->copies.data[i].file.module);
    return true;
}

void text_copies_destroy(struct text_copies *copies)
{
    for (size_t i = 0; i < copies->copies.length; i++)
        unwind_module_unref(copies->copies.data[i].file.module);
    array_free(&copies->copies);
}
