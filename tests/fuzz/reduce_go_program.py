#!/usr/bin/env python3
"""Cuts a Go program down to a few functions of its table, for the corpus of fuzz_go.

usage: reduce_go_program.py PROGRAM OUT [FUNCTIONS]

PROGRAM (x86-64, with symbols, Go 1.16 or later) stays what its linker made of it as far as fuzz_go reads: the header, the
records, names, files and steps of the functions of package main, their inlined calls and the moduledata, each moved
together; the functions start at 0x1000. Programs of -buildmode=pie keep their addresses in relocations.
"""
import struct
import subprocess
import sys


class Program:
    def __init__(self, path):
        self.data = open(path, "rb").read()
        (self.type,) = struct.unpack_from("<H", self.data, 16)
        (offset,) = struct.unpack_from("<Q", self.data, 40)
        size, count, names = struct.unpack_from("<HHH", self.data, 58)
        raw = [struct.unpack_from("<IIQQQQIIQQ", self.data, offset + i * size) for i in range(count)]
        texts = raw[names][4]
        self.sections = {}
        for s in raw:
            end = self.data.index(b"\0", texts + s[0])
            self.sections[self.data[texts + s[0]:end].decode()] = s
        self.relocations = {}
        for s in raw:
            if s[1] == 4 and s[2] & 2:
                for at in range(s[4], s[4] + s[5], 24):
                    where, info, value = struct.unpack_from("<QQQ", self.data, at)
                    if info & 0xFFFFFFFF == 8:
                        self.relocations[where] = value
        self.symbols = {}
        for line in subprocess.run(["nm", path], capture_output=True, text=True, check=True).stdout.splitlines():
            parts = line.split(maxsplit=2)
            if len(parts) == 3:
                self.symbols[parts[2]] = int(parts[0], 16)

    def read(self, address, size):
        for s in self.sections.values():
            if s[2] & 2 and s[1] != 8 and s[3] <= address < s[3] + s[5]:
                return self.data[s[4] + address - s[3]:][:size]
        raise ValueError(hex(address))

    def word(self, address):
        return self.relocations.get(address) or struct.unpack("<Q", self.read(address, 8))[0]


def string_at(data, offset):
    return data[offset:data.index(b"\0", offset) + 1]


def steps_at(data, offset):
    """The bytes of a table of steps, with its end."""
    at, first = offset, True
    while data[at] or first:
        for _ in range(2):
            while data[at] & 0x80:
                at += 1
            at += 1
        first = False
    return data[offset:at + 1]


class Pool:
    """Pieces that were moved, each once."""

    def __init__(self, start=b""):
        self.data, self.known = bytearray(start), {}

    def add(self, piece):
        if piece not in self.known:
            self.known[piece] = len(self.data)
            self.data += piece
        return self.known[piece]


def main():
    program, out = Program(sys.argv[1]), sys.argv[2]
    wanted = int(sys.argv[3]) if len(sys.argv) > 3 else 8
    section = program.sections.get(".gopclntab") or program.sections[".data.rel.ro.gopclntab"]
    base, table = section[3], program.data[section[4]:section[4] + section[5]]
    magic = struct.unpack_from("<I", table)[0]
    old, has_line = magic == 0xFFFFFFFA, magic == 0xFFFFFFF1
    header = struct.unpack_from("<" + "Q" * (7 if old else 8), table, 8)
    count = header[0]
    names_at, units_at, files_at, steps_at_, functions_at = header[-5:]
    module = program.symbols["runtime.firstmoduledata"]
    text = program.word(module + 22 * 8)
    data_at = 0 if old else program.word(module + (40 if has_line else 38) * 8)

    def entry(i):
        if old:
            at = functions_at + 16 * i
            return program.word(base + at), (struct.unpack_from("<Q", table, at + 8)[0] if i < count else 0)
        at = functions_at + 8 * i
        return text + struct.unpack_from("<I", table, at)[0], (struct.unpack_from("<I", table, at + 4)[0] if i < count else 0)

    lead = 8 if old else 4  # the size of a record's address
    fixed = lead + 28 + (12 if has_line else 8)
    chosen = []
    for i in range(count):
        record = functions_at + entry(i)[1]
        name = string_at(table, names_at + struct.unpack_from("<I", table, record + lead)[0])
        if name.startswith(b"main."):
            chosen.append(i)
    chosen = range(chosen[0], min(chosen[0] + wanted, count))
    start = entry(chosen[0])[0]
    move = 0x1000 - start

    names, files, steps, units, calls = Pool(), Pool(), Pool(b"\0"), bytearray(), bytearray()
    records, entries, call_places = bytearray(), [], []
    for i in chosen:
        address, record = entry(i)[0], functions_at + entry(i)[1]
        tables, data = struct.unpack_from("<I", table, record + lead + 24)[0], table[record + fixed - 1]
        raw = bytearray(table[record:record + fixed + 4 * tables])

        def field(at):
            return struct.unpack_from("<I", raw, at)[0]

        def put(at, value):
            struct.pack_into("<I", raw, at, value & 0xFFFFFFFF)

        struct.pack_into("<Q" if old else "<I", raw, 0, address + move if old else address - start)
        put(lead, names.add(string_at(table, names_at + field(lead))))
        for at in [lead + 12, lead + 16, lead + 20] + [fixed + 4 * t for t in range(tables)]:
            if field(at):
                put(at, steps.add(steps_at(table, steps_at_ + field(at))))
        unit = field(lead + 28)
        if unit != 0xFFFFFFFF:
            put(lead + 28, len(units) // 4)
            for f in range(64):
                (place,) = struct.unpack_from("<I", table, units_at + 4 * (unit + f))
                known = place != 0xFFFFFFFF and files_at + place < steps_at_
                units += struct.pack("<I", files.add(string_at(table, files_at + place)) if known else 0xFFFFFFFF)
        tree = None
        if data > 3:
            after = record + fixed + 4 * tables
            if old:
                after += -(base + after) % 8
                tree = program.word(base + after + 24)
            else:
                offset = struct.unpack_from("<I", table, after + 12)[0]
                tree = data_at + offset if offset != 0xFFFFFFFF else None
        place = len(calls)
        if tree:
            size = 16 if has_line else 20
            for k in range(16):
                call = bytearray(program.read(tree + k * size, size))
                name = struct.unpack_from("<I", call, size - 12 if has_line else 12)[0]
                if len(call) < size or names_at + name >= units_at:
                    break
                struct.pack_into("<I", call, size - 12 if has_line else 12, names.add(string_at(table, names_at + name)))
                calls += call
        entries.append((address + move if old else address - start, len(records)))
        call_places.append((len(records) + len(raw), data, place if tree else None))
        records += raw + b"\0" * (8 if old else 0) + (b"\xff" * 4 * data if not old else b"\0" * 8 * data)
        records += b"\0" * (-len(records) % 8)
    end = entry(chosen[-1] + 1)[0]
    size = 8 + 8 * len(header)
    width = 8 if old else 4
    array = (2 * len(entries) + 1) * width
    array += -array % 8
    parts = [bytes(names.data), bytes(units), bytes(files.data), bytes(steps.data)]
    offsets, at = [], size
    for part in parts:
        offsets.append(at)
        at += len(part) + -len(part) % 8
    offsets.append(at)
    new_base, calls_base, module_base = 0x10000, 0x20000, 0x30000
    relocations = []
    pie = program.type == 3
    function_table = bytearray(array)
    for i, (address, record) in enumerate(entries):
        struct.pack_into("<QQ" if old else "<II", function_table, 2 * width * i, address, array + record)
        if old:
            relocations.append((new_base + offsets[4] + 16 * i, address))
    struct.pack_into("<Q" if old else "<I", function_table, 2 * width * len(entries), end + move if old else end - start)
    if old:
        relocations.append((new_base + offsets[4] + 16 * len(entries), end + move))
    for (behind, data, place), (_, record) in zip(call_places, entries):
        if place is None:
            continue
        if old:
            behind += -(new_base + offsets[4] + array + behind) % 8
            struct.pack_into("<Q", records, behind + 24, calls_base + place)
            relocations.append((new_base + offsets[4] + array + behind + 24, calls_base + place))
        else:
            struct.pack_into("<I", records, behind + 12, place)
    words = [len(entries), 1] + ([] if old else [0]) + offsets
    new = bytearray(struct.pack("<I", magic) + table[4:8] + struct.pack("<" + "Q" * len(words), *words))
    for part in parts:
        new += part + b"\0" * (-len(part) % 8)
    new += function_table + records
    module_words = [0] * 41
    for i, value in {0: new_base, 1: new_base + offsets[0], 22: 0x1000, 38: calls_base, 40: calls_base}.items():
        module_words[i] = value
        relocations.append((module_base + 8 * i, value))
    if pie:
        module_words = [0] * 41
        name = ".data.rel.ro.gopclntab" if ".data.rel.ro.gopclntab" in program.sections else ".gopclntab"
    else:
        relocations, name = [], ".gopclntab"
    sections = [
        (name, 1, 2, new_base, bytes(new)),
        (".rodata", 1, 2, calls_base, bytes(calls) or b"\0"),
        (".noptrdata", 1, 3, module_base, struct.pack("<41Q", *module_words)),
        (".rela.dyn", 4, 2, 0x40000, b"".join(struct.pack("<QQQ", a, 8, v) for a, v in relocations)),
    ]
    write_elf(out, program.type, sections)


def write_elf(path, kind, sections):
    sections = [s for s in sections if s[4]]
    texts = b"\0" + b"".join(s[0].encode() + b"\0" for s in sections) + b".shstrtab\0"
    body, headers, name = bytearray(64 + 56), [b"\0" * 64], 1
    for title, type_, flags, address, data in sections + [(".shstrtab", 3, 0, 0, texts)]:
        body += b"\0" * (-len(body) % 8)
        headers.append(struct.pack("<IIQQQQIIQQ", name, type_, flags, address, len(body), len(data), 0, 0, 8, 0))
        name += len(title) + 1
        body += data
    body += b"\0" * (-len(body) % 8)
    struct.pack_into("<16sHHIQQQIHHHHHH", body, 0, b"\x7fELF\x02\x01\x01", kind, 62, 1, 0, 64, len(body), 0, 64, 56, 1,
                     64, len(headers), len(headers) - 1)
    struct.pack_into("<IIQQQQQQ", body, 64, 1, 5, 0, 0, 0, len(body), len(body), 0x1000)
    open(path, "wb").write(body + b"".join(headers))


main()
