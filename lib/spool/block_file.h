/*
 * Writes a spool file as blocks, and keeps blocks in memory while the disk is full. block_file.c describes the layout.
 *
 * - A full disk: up to BLOCK_FILE_QUEUE_MAX bytes of blocks are queued in memory. Beyond this limit, the recorder drops
 *   and counts the oldest samples. The recorder writes the queue when the disk has space again.
 * - A flight recorder keeps only the newest chunks of samples: a new chunk overwrites the oldest.
 * - A power failure: the recorder syncs the file to the disk (file_sync.h).
 *
 * Threads: the recorder thread.
 */
#pragma once

#include "spool/block_file_state.h"

/* Creates the file (mode 0600, must not exist). keep_bytes, keep_ns: limits of a flight recorder, or 0 for no limit. */
int block_file_create(struct block_file *file, const char *path, uint64_t keep_bytes, uint64_t keep_ns,
                      struct error *err);

/* Append events or a chunk. On a full disk the functions queue the block and return 0. */
int block_file_add_events(struct block_file *file, const void *bytes, size_t size, struct error *err);
int block_file_add_chunk(struct block_file *file, const void *bytes, size_t size, const struct chunk_span *span,
                         struct error *err);

/* Tries to write the queued blocks. Call this function about every second. */
int block_file_write_queued(struct block_file *file, struct error *err);

/* Starts to sync the file to the disk, without waiting. Call this function about every second. Returns the error of an
 * earlier sync. */
int block_file_sync(struct block_file *file, struct error *err);

/* Drops the oldest queued samples that a file in memory cannot hold, because the limit of file sizes applies to files
 * in memory, too. */
void block_file_limit_queued(struct block_file *file);

/* Moves the queued blocks to a spool file in memory. Returns the descriptor of the file, or a negative errno value. */
int block_file_move_queued(struct block_file *file, struct error *err);

/* Closes the file, frees the queued blocks, and releases the reserved disk space. Zeroes the struct. */
int block_file_close(struct block_file *file, struct error *err);
