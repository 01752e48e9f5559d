/*
 * The pc cache of one address space: pc -> rule of its frame.
 *
 * Interpreting CFI for a pc costs at least 100 ns, and samples repeat the same few thousand pcs. A rule has 32 bytes,
 * enough for the usual output of compilers (CFA = register + offset, callee-saved registers in slots below it). Other
 * CFI becomes RULE_COMPLEX, and the walker interprets the CFI at each step. A hash of the pc selects a pair of rules in
 * one cache line; a new rule replaces the older rule of the pair. The table starts small, for short processes, and
 * doubles while it has many misses.
 *
 * Only the thread that walks in the address space may use its cache.
 */
#pragma once

#include "arch/arch.h"

enum rule_kind {
    RULE_FRAME,       /* CFA = register + offset */
    RULE_FRAME_DEREF, /* the return address is return_slot words from the word at register + offset, and the CFA is just
                         above the return address (realigned stacks) */
    RULE_COMPLEX,     /* the CFI does not fit into a rule: interpret the CFI */
    RULE_GO,          /* as RULE_FRAME, for Go functions, whose CFI does not describe the saved frame pointer */
    RULE_GO_NO_CFI,   /* Go code whose table lacks the pc */
    RULE_HASKELL,     /* code of GHC, whose callers are not on the thread's stack */
    RULE_AFTER_CLONE, /* RULE_START in the new thread, RULE_FRAME in its parent */
    RULE_START,       /* the thread's first function: no caller */
    RULE_NO_CFI,      /* follow the frame pointer */
    /* as RULE_FRAME, found by reading the code up to its return instruction; valid only if the slot holds a possible
     * return address */
    RULE_RETURN,
    RULE_RETURN_DEREF,    /* as RULE_FRAME_DEREF, found like RULE_RETURN */
    RULE_RETURN_REGISTER, /* as RULE_RETURN, with the return address in the register return_slot */
    RULE_NO_RETURN,       /* for code without a return: a thread's first function, exit, abort */
    /* code near the ELF entry point: RULE_RETURN if the slot holds a possible return address, else RULE_START */
    RULE_ENTRY,
    RULE_CONTEXT_START, /* a return address that follows no call: marks a context's first frame */
    RULE_JAVA,          /* RULE_FRAME if the slot holds a possible return address, else follow the frame pointer */
    RULE_SIGNAL_FRAME,  /* code without CFI, with the kernel's signal frame at sp */
    RULE_UNMAPPED,      /* the pc is not in executable memory; never cached */
    RULE_TOO_COSTLY,    /* the process has exceeded its work limit; never cached */
};

struct rule {
    uint64_t pc;
    int32_t cfa_offset;
    uint8_t kind; /* enum rule_kind */
    uint8_t cfa_register;
    arch_saved_set saved; /* bit set of the DWARF registers that have a slot */
    /* slot of each saved register: distance from the CFA in words, in the order of arch_saved_registers */
    int16_t slots[ARCH_SAVED_REGISTERS];
    int16_t return_slot; /* slot of the return address, or ARCH_RETURN_IN_LINK */
    uint16_t generation; /* generation of the cache when the rule was added, or 0 (empty) */
};

_Static_assert(sizeof(struct rule) == 32 || ARCH_HAS_LINK_REGISTER, "two rules share a cache line");

/* Fills in the rule of recognized code. */
static inline void rule_fill_from_snippet(const struct arch_code *code, enum rule_kind kind, struct rule *rule)
{
    rule->kind = (uint8_t)kind;
    rule->cfa_register = UNWIND_REG_SP;
    rule->cfa_offset = (int32_t)code->cfa_offset;
    rule->return_slot = code->return_slot;
    if (code->saved_bp) {
        rule->saved = 1u << UNWIND_REG_BP;
        rule->slots[0] = (int16_t)(code->return_slot - 1);
    }
}

/* Fills in the rule of a frame that prof found by reading the code up to its return instruction. Returns false, and
 * leaves the rule unchanged, if the frame does not fit. */
static inline bool rule_fill_from_return(const struct arch_frame *frame, struct rule *rule)
{
    bool is_plain = frame->return_slot == -1 && frame->cfa_offset % 8 == 0 &&
                    frame->cfa_offset / 8 == (int16_t)(frame->cfa_offset / 8);
    if (frame->base_is_word && (!is_plain || frame->return_register != ARCH_NO_REGISTER))
        return false;
    rule->kind = RULE_RETURN;
    rule->cfa_register = frame->base;
    rule->cfa_offset = frame->cfa_offset;
    rule->return_slot = frame->return_slot;
    rule->saved = frame->saved;
    memcpy(rule->slots, frame->slots, sizeof(rule->slots));
    if (frame->return_register != ARCH_NO_REGISTER) {
        rule->kind = RULE_RETURN_REGISTER;
        rule->return_slot = frame->return_register;
    } else if (frame->base_is_word) {
        rule->kind = RULE_RETURN_DEREF;
        rule->cfa_offset = frame->word_offset;
        rule->return_slot = (int16_t)(frame->cfa_offset / 8 - 1);
    }
    return true;
}

enum { CACHE_FIRST_BITS = 7, CACHE_MAX_BITS = 12 };

struct unwind_cache {
    struct rule (*pairs)[2]; /* 1 << bits pairs; the newer rule of a pair is first */
    unsigned bits;
    uint16_t generation; /* rules of other generations are invalid */
    uint32_t misses;     /* misses since the table was created or doubled */
};

/* Returns an empty cache, or NULL if memory ran out. */
struct unwind_cache *unwind_cache_new(void);
void unwind_cache_free(struct unwind_cache *cache);

/* Removes all rules. Accepts NULL. */
void unwind_cache_clear(struct unwind_cache *cache);

/* Adds a zeroed rule for `pc`, which replaces the older rule of its pair. The result is valid until the next call.
 * Doubles a table that has more misses than pairs, before it adds the rule. */
struct rule *unwind_cache_add(struct unwind_cache *cache, uint64_t pc);

/* Fibonacci hashing (Knuth, TAOCP 3, 6.4). */
static inline struct rule *unwind_cache_get_pair(const struct unwind_cache *cache, uint64_t pc)
{
    return cache->pairs[(pc * UINT64_C(0x9e3779b97f4a7c15)) >> (64 - cache->bits)];
}

/* Returns the rule of `pc`, or NULL. */
static inline struct rule *unwind_cache_find(const struct unwind_cache *cache, uint64_t pc)
{
    struct rule *pair = unwind_cache_get_pair(cache, pc);
    if (pair[0].pc == pc && pair[0].generation == cache->generation)
        return &pair[0];
    return pair[1].pc == pc && pair[1].generation == cache->generation ? &pair[1] : NULL;
}
