/*
 * The slots of a flight recorder, whose newest chunk overwrites the oldest, and the compaction of its events.
 *
 * Threads: the recorder thread.
 */
#pragma once

#include "spool/block_file_state.h"

/* Writes the chunk to a slot. On a full disk, the chunk replaces the oldest chunk. Without an older chunk, the
 * function drops the new chunk. The caller may add the whole chunk being filled again and again, until
 * block_slots_end_chunk(). */
int block_slots_replace_chunk(struct block_file *file, const void *chunk, size_t size, const struct chunk_span *span,
                              struct error *err);
void block_slots_end_chunk(struct block_file *file);

/* ---- compacting the events of a flight recorder ---- */

/* Whether the file has enough events to compact them. */
bool block_slots_has_many_events(const struct block_file *file);

/* Returns the sequence of the oldest chunk in the file, and the time of its first sample. */
void block_slots_find_oldest_chunk(const struct block_file *file, uint64_t *sequence, uint64_t *time);

/* Reads all events of the file. Returns false if they cannot be read. */
bool block_slots_read_events(struct block_file *file, unsigned char **bytes, size_t *size);

/* Replaces the file with a new one that has these events and the chunks in slots. Keeps the old file if the disk is
 * full. */
int block_slots_replace_events(struct block_file *file, const void *events, size_t size, struct error *err);
