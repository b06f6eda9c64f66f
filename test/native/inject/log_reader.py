"""Reads a trace log by the layout alone (native/wire), for the tests of the side that writes it."""

import collections
import glob
import os
import re
import struct
from array import array

WIRE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "..", "native", "wire")


def _read_numbers():
    text = ""
    for name in ("layout.h", "records.gen.h"):
        with open(os.path.join(WIRE, name)) as header:
            text += header.read()
    numbers = {name: int(value, 0) for name, value in re.findall(r"\b(GMT_\w+)\s*=\s*\n?\s*(\d+)[, ]", text)}
    for name, value in re.findall(r"#define (GMT_\w+) (0x[0-9a-f]+|\d+)(?:u|ull)?\b", text):
        numbers[name] = int(value, 0)
    return numbers


NUMBERS = _read_numbers()
NUMBERS["GMT_SEQUENCE_ACCUMULATE"] = (1 << 64) - 1
globals().update(NUMBERS)
SIDE_RECORD_BIT = 1 << 63
LOST = {value: name for name, value in NUMBERS.items() if name.startswith("GMT_LOST_") and name != "GMT_LOST_CAUSES"}

Event = collections.namedtuple("Event", "sequence thread kind failed device address bytes stack ticks detail autograd")
Detail = collections.namedtuple("Detail", "call flags result stream object offset context caller")
Autograd = collections.namedtuple("Autograd", "sequence thread role")
Function = collections.namedtuple("Function", "file first_line name version line_table")
Node = collections.namedtuple("Node", "sequence stack thread writer")


class Log:
    """One process's log. `events` in order of sequence; marks are events too."""

    def __init__(self, path, details=True):
        with open(path, "rb") as file:
            self.data = file.read()
        self.path = path
        self.read_header()
        self.threads, self.devices, self.notes, self.nodes, self.stacks, self.codes = {}, {}, [], [], {}, {}
        self.command, self.python_version = [], 0
        self.stack_flags, self.functions = {}, {}
        self.libraries = {}  # path by number
        self.ranges = []  # (thread, key, name or '' at its end, ticks), thread by thread
        self.chunks = 0
        self.autograd = {}  # what holds, by thread
        self.words = []  # of each chunk, where only `sequences` is wanted
        self.events = []
        for index in range(self.chunks_reserved):
            at = 65536 + index * GMT_CHUNK_BYTES
            if len(self.data) >= at + 64 and struct.unpack_from("<I", self.data, at)[0] == GMT_CHUNK_MAGIC:
                self.chunks += 1
                self.read_chunk(at, details)
        self.events.sort()

    def read_header(self):
        head = struct.unpack_from("<Q8I5QIIQ", self.data, 0)
        assert head[0] == GMT_LOG_MAGIC and head[1] == GMT_LOG_VERSION, "not a trace log: " + self.path
        self.pid, self.parent_pid = head[5], head[6]
        self.driver_source, self.simulated, self.process_start = head[14:17]
        running = struct.unpack_from("<4Q", self.data, 128)
        self.chunks_reserved, self.next_sequence, self.ended, self.thread_count = running
        counts = struct.unpack_from("<16Q", self.data, 256)
        self.lost = {LOST.get(cause, cause): count for cause, count in enumerate(counts) if count}

    def read_chunk(self, at, details):
        words = array("Q", self.data[at + 64 : at + GMT_CHUNK_BYTES])
        if not details:
            self.words.append(words)
            return
        base = struct.unpack_from("<Q", self.data, at + 16)[0]
        detail, autograd = None, self.autograd
        self.numbers = {}  # of threads, by index, where they differ; each chunk tells its own
        slot = 0
        while slot < len(words) // 4 and words[slot * 4]:
            commit = words[slot * 4]
            place = at + 64 + slot * 32
            if commit & SIDE_RECORD_BIT:
                kind, _flags, slots, size = struct.unpack_from("<BBHI", self.data, place + 8)
                payload = self.data[place + 16 : place + 16 + size]
                assert slots * 32 >= 16 + size and slots, "side record at %d does not fit itself" % place
                if kind == GMT_END_OF_CHUNK:
                    break
                if kind == GMT_TIME_BASE:
                    base = struct.unpack("<QQ", payload)[0]
                elif kind == GMT_DRIVER_DETAIL:
                    detail = Detail(*struct.unpack("<HHi5Q", payload))
                elif kind == GMT_AUTOGRAD:
                    autograd[self.number(commit)] = Autograd(*struct.unpack("<QII", payload[:16]))
                elif kind == GMT_WRITER:
                    self.first_sequence, self.numbers[commit & 0xFFFF] = struct.unpack_from("<QI", payload)
                else:
                    self.writer = self.number(commit)
                    self.read_side_record(kind, payload)
                slot += slots
                continue
            size = words[slot * 4 + 2]
            stack, time = struct.unpack_from("<II", self.data, place + 24)
            self.events.append(
                Event(commit >> 16, self.number(commit), size & 0x7F, bool(size & GMT_FAILED), size >> 8 & 0xFF,
                      words[slot * 4 + 1], size >> 16, stack, base + time, detail, autograd.get(self.number(commit)))
            )  # fmt: skip
            detail = None
            slot += 1

    def number(self, commit):
        return self.numbers.get(commit & 0xFFFF, commit & 0xFFFF)

    def read_side_record(self, kind, payload):
        if kind == GMT_THREAD:
            tid, index, size = struct.unpack_from("<IHH", payload)
            self.threads[self.numbers.get(index, index)] = (tid, payload[8 : 8 + size].decode())
        elif kind == GMT_DEVICE:
            device, size, total = struct.unpack_from("<IIQ", payload)
            self.devices.setdefault(device, []).append((payload[16 : 16 + size].decode(), total))
        elif kind == GMT_NOTE:
            code, size = struct.unpack_from("<II", payload)
            self.notes.append((code, payload[8 : 8 + size].decode()))
        elif kind == GMT_PROCESS:
            size, version = struct.unpack_from("<II", payload)
            self.command = payload[8 : 8 + size].decode(errors="replace").split("\0")[:-1]
            self.python_version = self.python_version or version
        elif kind == GMT_NODE:
            self.nodes.append(Node(*struct.unpack("<QII", payload), self.writer))
        elif kind == GMT_STACK:
            number, frames, self.stack_flags[number] = struct.unpack_from("<IHH", payload)
            self.stacks[number] = [struct.unpack_from("<II", payload, 8 + 8 * i) for i in range(frames)]
        elif kind == GMT_LIBRARY:
            number, size = struct.unpack_from("<II", payload)
            assert number not in self.libraries, "a library is described twice"
            self.libraries[number] = payload[8 : 8 + size].decode()
        elif kind == GMT_RANGE:
            ticks, key, size = struct.unpack_from("<QII", payload)
            self.ranges.append((self.writer, key, payload[16 : 16 + size].decode(), ticks))
        elif kind == GMT_CODE:
            number, line, version, _flags, *sizes = struct.unpack_from("<IIHHIII", payload)
            self.codes[number] = line
            file, name, table = (payload[24 + sum(sizes[:i]) : 24 + sum(sizes[: i + 1])] for i in range(3))
            self.functions[number] = Function(file.decode(), line, name.decode(), version, table)

    def sequences(self):
        """All sequences, sorted; of a log that was read without details. Its records must all be events or short."""
        found = []
        for words in self.words:
            slot = 0
            commits, kinds = words[0::4], words[1::4]
            total = len(commits)
            while slot < total and commits[slot]:
                if not commits[slot] & SIDE_RECORD_BIT:
                    found.append(commits[slot] >> 16)
                    slot += 1
                elif kinds[slot] & 0xFF == GMT_END_OF_CHUNK:
                    break
                else:
                    slot += kinds[slot] >> 16 & 0xFFFF
        found.sort()
        return found

    def of_kind(self, *kinds):
        return [event for event in self.events if event.kind in kinds]

    def allocations_and_frees(self):
        return [event for event in self.events if event.kind < 64]


def paths(folder):
    return sorted(glob.glob(os.path.join(folder, "*.gmtlog")))


def logs(folder, details=True):
    return [Log(path, details) for path in paths(folder)]


def only_log(folder, details=True):
    found = logs(folder, details)
    assert len(found) == 1, "%d logs in the trace directory, 1 wanted" % len(found)
    return found[0]
