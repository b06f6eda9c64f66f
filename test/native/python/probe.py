"""The probe library, and what a reader does with its records. Runs on Python 3.8 and newer."""

import ctypes
import os
import struct
import sys

NO_PYTHON, UNSUPPORTED, READY = 0, 1, 2
MAX_FRAMES = 128

path = os.environ["GMT_PYTHON_PROBE"]
without_gil = ctypes.CDLL(path)  # a call releases the GIL
with_gil = ctypes.PyDLL(path)  # a call keeps it
for library in (without_gil, with_gil):
    library.probe_hash.restype = ctypes.c_uint64
    library.probe_mismatches.restype = ctypes.c_uint64
    library.probe_reason.restype = ctypes.c_char_p
    library.probe_describe.restype = ctypes.c_size_t
    library.probe_describe.argtypes = [ctypes.c_char_p, ctypes.c_size_t]
    library.probe_measure.restype = ctypes.c_double


def line_39(table, line, offset):
    address = 0
    for delta_address, delta_line in struct.iter_unpack("Bb", table):
        address += delta_address
        if address > offset:
            break
        line += delta_line
    return line


def line_310(table, line, offset):
    end = 0
    for delta_address, delta_line in struct.iter_unpack("Bb", table):
        end += delta_address
        if delta_line != -128:
            line += delta_line
        if offset < end:
            return None if delta_line == -128 else line
    raise ValueError("offset %d is behind the line table" % offset)


def varint(table, at):
    value = shift = 0
    while True:
        byte = table[at]
        at += 1
        value |= (byte & 63) << shift
        shift += 6
        if not byte & 64:
            return value, at


def line_311(table, line, offset):
    at = end = 0
    while at < len(table):
        first = table[at]
        assert first & 128, "not the start of an entry"
        code, units = first >> 3 & 15, (first & 7) + 1
        at += 1
        if code in (13, 14):
            value, at = varint(table, at)
            line += -(value >> 1) if value & 1 else value >> 1
        elif 10 <= code <= 12:
            line += code - 10
        end += units * 2
        if offset < end:
            return None if code == 15 else line
        while at < len(table) and not table[at] & 128:
            at += 1
    raise ValueError("offset %d is behind the line table" % offset)


class Code:
    def __init__(self, payload):
        record = struct.unpack_from("=IIHHIII", payload)
        self.id, self.first_line, self.version, self.flags = record[:4]
        file_bytes, name_bytes, table_bytes = record[4:]
        rest = payload[24:]
        assert len(rest) == file_bytes + name_bytes + table_bytes, "lengths of the record"
        self.file = rest[:file_bytes].decode("utf-8")
        self.name = rest[file_bytes : file_bytes + name_bytes].decode("utf-8")
        self.table = rest[file_bytes + name_bytes :]

    def line(self, offset):
        if offset == 0xFFFFFFFF:
            return self.first_line
        decode = line_39 if self.version == 0x309 else line_310 if self.version == 0x30A else line_311
        return decode(self.table, self.first_line, offset)


_codes = {}


def code(number):
    if number not in _codes:
        buffer = ctypes.create_string_buffer(32768)
        size = with_gil.probe_code(number, buffer)
        _codes[number] = Code(buffer.raw[:size])
    return _codes[number]


def frames_of(stack):
    """[(file, name, line)], innermost first, and whether the stack was cut."""
    buffer = (ctypes.c_uint32 * (2 * MAX_FRAMES))()
    count = with_gil.probe_stack(stack, buffer)
    cut, count = bool(count & 0x8000), count & 0x7FFF
    pairs = [(code(buffer[2 * i]), buffer[2 * i + 1]) for i in range(count)]
    return [(c.file, c.name, c.line(offset)) for c, offset in pairs], cut


def name_of(code_object):
    return getattr(code_object, "co_qualname", code_object.co_name)


def expected_from(frame, first_line):
    """The same as the interpreter tells it; the innermost frame's line is given, as it has moved on since."""
    frames = [(frame.f_code.co_filename, name_of(frame.f_code), first_line)]
    frame = frame.f_back
    while frame is not None:
        frames.append((frame.f_code.co_filename, name_of(frame.f_code), frame.f_lineno))
        frame = frame.f_back
    return frames


class Wrong(Exception):
    pass


def compare(stack, expected):
    if stack == 0:
        raise Wrong("no stack where %d frames are expected" % len(expected))
    found, cut = frames_of(stack)
    if cut != (len(expected) > MAX_FRAMES):
        raise Wrong("cut is %s for %d frames" % (cut, len(expected)))
    expected = expected[:MAX_FRAMES]
    if found != expected:
        different = [pair for pair in zip(found, expected) if pair[0] != pair[1]]
        raise Wrong("%d and %d frames; first difference: %s" % (len(found), len(expected), different[:1]))


checks = 0


def check():
    """Compares the walk with sys._getframe, called with and without the GIL."""
    global checks
    stack, frame = without_gil.probe_capture(), sys._getframe()
    compare(stack, expected_from(frame, check.__code__.co_firstlineno + 3))
    stack, frame = with_gil.probe_capture(), sys._getframe()
    compare(stack, expected_from(frame, check.__code__.co_firstlineno + 5))
    checks += 1
    return checks
