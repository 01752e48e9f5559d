/*
 * Appends whole blocks to a spool file.
 *
 * Threads: the recorder thread.
 */
#pragma once

#include "spool/block_file_state.h"

/* The checksum in the header of a block. */
uint32_t compute_block_checksum(enum block_kind kind, const void *payload, size_t size);

void fill_block_header(unsigned char *header, enum block_kind kind, size_t size, uint32_t checksum);

/* Stores a number of `bytes` bytes, little-endian. */
void write_fixed_size_number(unsigned char *out, uint64_t value, int bytes);

/* Writes a block at the position of the descriptor. Returns 0 or a negative errno value, like append_block(). */
int write_block(int fd, enum block_kind kind, const void *payload, size_t size);

/* Appends a block, which has `samples` samples. After a failure, the file still ends with its last whole block. */
int append_block(struct block_file *file, enum block_kind kind, const void *payload, size_t size, uint64_t samples);

/* Reserves disk space for `size` more bytes and the profile of `samples` samples. Returns -ENOSPC or -EDQUOT if the
 * disk is full. */
int reserve_room(struct block_file *file, uint64_t size, uint64_t samples);

/* Truncates the file to its last whole block, and releases the reservation. If the truncation fails, the reader still
 * stops at the incomplete block. */
void truncate_to_last_block(struct block_file *file);

/* Whether a negative errno value says that the disk is full, or that the file has reached a quota or a file-size
 * limit. */
bool is_disk_full(int code);

int report_write_error(const struct block_file *file, int code, struct error *err);

/* Adds the samples of `span` to `sum`. */
void extend_chunk_span(struct chunk_span *sum, const struct chunk_span *span);
