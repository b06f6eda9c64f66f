"""A log with what the agent writes."""

import json
import os
import struct
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "inject"))

import log_reader  # noqa: E402
from log_reader import *  # noqa: E402, F403


class AgentLog(log_reader.Log):
    """`names`: {address: (category, text)}; `times_named`: how often, by address; `answers`: the JSON of each; `modules`: {module: path};
    `memory`: (ticks, of the process, used, total, device);
    `allocator`: (allocated, active, device); `blocks`: {address: (asked, stream, pool's two numbers, device)}, -1 = not told."""

    def __init__(self, path):
        self.modules, self.looks, self.generated = {}, [[]], {}
        self.names, self.times_named, self.texts, self.memory, self.allocator, self.blocks = {}, {}, [], [], [], {}
        super().__init__(path)
        self.answers = [json.loads(text.decode()) for text in self.texts]

    def read_side_record(self, kind, payload):
        if kind == log_reader.NUMBERS["GMT_NAME"]:
            address, _sequence, size, _device, category, _zero = struct.unpack_from("<QQIBBH", payload)
            self.times_named[address] = self.times_named.get(address, 0) + 1
            self.names[address] = (category, payload[24 : 24 + size].decode())
        elif kind == log_reader.NUMBERS["GMT_MODULE"]:
            module, size, _zero = struct.unpack_from("<QII", payload)
            self.modules[module] = payload[16 : 16 + size].decode()
        elif kind == log_reader.NUMBERS["GMT_ANSWER"]:
            _sequence, _request, part, _parts, size, _zero = struct.unpack_from("<QIHHII", payload)
            if part == 0:
                self.texts.append(b"")
            self.texts[-1] += payload[24 : 24 + size]
        elif kind == log_reader.NUMBERS["GMT_MEMORY"]:
            self.memory.append(struct.unpack("<4QII", payload)[:5])
        elif kind == log_reader.NUMBERS["GMT_ALLOCATOR"]:
            self.allocator.append(struct.unpack("<3QII", payload)[1:4])
        elif kind == log_reader.NUMBERS["GMT_BLOCK"]:
            address, _sequence, asked, stream, owner, number, device, _zero = struct.unpack("<QQ4qII", payload)
            self.blocks[address] = (asked, stream, owner, number, device)
        elif kind == log_reader.NUMBERS["GMT_GENERATED"]:
            line, size = struct.unpack_from("<II", payload)
            self.generated[line] = payload[8 : 8 + size].decode().split("\n")
        elif kind == log_reader.NUMBERS["GMT_POOL"]:
            _sequence, *about, text, count, _zero = struct.unpack_from("<3Q6I", payload)
            addresses = struct.unpack_from("<%dQ" % count, payload, 48 + text)
            self.looks[-1].append((*about, payload[48 : 48 + text].decode(), addresses))
            if about[3] == 3:
                self.looks.append([])
        else:
            super().read_side_record(kind, payload)

    def answer(self, number):
        found = [each for each in self.answers if each["request"] == number]
        assert len(found) == 1, "%d answers to request %d: %s" % (len(found), number, self.notes)
        return found[0]

    def holder(self, number, address):
        """The entry of the answer that has the address."""
        for each in self.answer(number)["holders"]:
            if hex(address) in each["addresses"]:
                return each
        raise AssertionError("no holder of %#x in %s" % (address, self.answer(number)))

    def marks(self, kind):
        return [event.address for event in self.of_kind(kind)]


def agent_logs(folder):
    return [AgentLog(path) for path in log_reader.paths(folder)]
