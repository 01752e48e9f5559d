"""Rewrites a perf.data file into a form that the installed perf and this machine do not produce.

    perf_data_rewrite.py compressed2 IN OUT    each COMPRESSED record of -z as the COMPRESSED2 records of perf 6.16: the
                                               size of the data in front of it, and filled up to 8 bytes behind it
    perf_data_rewrite.py cycles IN OUT         the first event becomes CPU cycles of a hardware counter
"""

import struct
import sys

HEADER = struct.Struct("<8s9Q")  # magic, sizes of header and attribute, three sections
RECORD = struct.Struct("<IHH")
COMPRESSED, COMPRESSED2 = 81, 83
MOST = 30000  # bytes of data in one record, so that some records become two


def as_compressed2(data):
    for at in range(0, len(data), MOST):
        part = data[at:at + MOST]
        padded = part + b"\0" * (-len(part) % 8)
        yield RECORD.pack(COMPRESSED2, 0, RECORD.size + 8 + len(padded)) + struct.pack("<Q", len(part)) + padded


def compressed2(file):
    fields = list(HEADER.unpack_from(file))
    start, size = fields[5:7]
    end, at, records = start + size, start, []
    while at < end:
        kind, _, length = RECORD.unpack_from(file, at)
        data = file[at + RECORD.size:at + length]
        records += as_compressed2(data) if kind == COMPRESSED else [file[at:at + length]]
        at += length
    assert len(records) > 2, "nothing is compressed in this file"
    data = b"".join(records)
    fields[6] = len(data)
    # the sections of the features lie behind the data, and so do the offsets that say where
    features = bin(int.from_bytes(file[72:104], "little")).count("1")
    tail = bytearray(file[end:])
    for i in range(features):
        offset, length = struct.unpack_from("<QQ", tail, 16 * i)
        struct.pack_into("<QQ", tail, 16 * i, offset + len(data) - size, length)
    return HEADER.pack(*fields) + file[HEADER.size:start] + data + bytes(tail)


def cycles(file):
    attribute = HEADER.unpack_from(file)[3]
    changed = bytearray(file)
    struct.pack_into("<I", changed, attribute, 0)  # PERF_TYPE_HARDWARE
    struct.pack_into("<Q", changed, attribute + 8, 0)  # PERF_COUNT_HW_CPU_CYCLES
    return bytes(changed)


with open(sys.argv[2], "rb") as source, open(sys.argv[3], "wb") as target:
    target.write({"compressed2": compressed2, "cycles": cycles}[sys.argv[1]](source.read()))
