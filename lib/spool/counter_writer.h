/* Writes counter readings to a spool. */
#pragma once

#include "base/error.h"
#include "spool/counter_reading.h"
#include "spool/spool.h"

int counter_writer_write(struct spool_writer *spool, const struct counter_reading *reading, struct error *err);
