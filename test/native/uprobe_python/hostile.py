"""A process whose frames and code objects are nonsense: chains without an end, sizes without bounds, addresses of nothing. The walk
may give any names for them, but must come to an end, and be right again afterwards."""

import ctypes
import os
import random
import sys

import record

ROUNDS = 3000
# native/python/python_layouts.h: place of the innermost frame, frame_previous, frame_code, code_file, code_line_table
FRAME, PREVIOUS, CODE, FILE, TABLE = {
    9: (24, 24, 32, 104, 120),
    10: (24, 24, 32, 104, 120),
    11: (56, 48, 32, 112, 136),
    12: (56, 8, 0, 112, 136),
    13: (72, 8, 0, 112, 136),
    14: (72, 8, 0, 112, 136),
}[sys.version_info[1]]

calls = ctypes.PyDLL(os.environ["GMT_CALLS"])
calls.call_with.argtypes = [ctypes.c_void_p, ctypes.c_uint64, ctypes.c_void_p, ctypes.c_size_t]
current = ctypes.pythonapi.PyThreadState_Get
current.restype = ctypes.c_void_p
place = current() + FRAME
if sys.version_info[1] in (11, 12):
    place = ctypes.c_uint64.from_address(place).value + (8 if sys.version_info[1] == 11 else 0)

words = lambda address, count: list((ctypes.c_uint64 * count).from_address(address))  # noqa: E731
frame = (ctypes.c_uint64 * 64)()
code = (ctypes.c_uint64 * 64)()
text = (ctypes.c_uint64 * 64)()
table = (ctypes.c_uint64 * 64)()
parts = [ctypes.addressof(part) for part in (frame, code, text, table)]
random_ = random.Random(3)


def strange():
    return random_.choice([0, 1, 8, random_.getrandbits(64), random_.getrandbits(47), 1 << 62, (1 << 64) - 1, *parts, id(text)])


def spoil(part, most):
    for _ in range(random_.randrange(most)):
        part[random_.randrange(24)] = strange()


def whole():
    """A frame that calls itself, of a code object that is this function's."""
    frame[:16] = words(ctypes.c_uint64.from_address(place).value, 16)
    code[:22] = words(id(whole.__code__), 22)
    text[:12] = words(id(whole.__code__.co_filename), 12)
    table[:8] = words(code[TABLE // 8], 8)
    frame[PREVIOUS // 8] = parts[0]
    frame[CODE // 8] = parts[1]
    code[FILE // 8] = parts[2]
    code[TABLE // 8] = parts[3]


record.check()
for round_ in range(ROUNDS):
    whole()
    for part in (frame, code, text, table):
        if random_.random() < 0.4:
            spoil(part, 6)
    calls.call_with(place, random_.choice([parts[0]] * 9 + [strange()]), ctypes.cast(record.with_gil, ctypes.c_void_p), 0)
record.check()
