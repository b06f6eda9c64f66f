"""The control word of a traced process, as the launcher switches it."""
import mmap
import os
import struct


class Control:
    """`control` in the trace directory: magic, version, recording, generation (four 32-bit words)."""

    def __init__(self):
        with open(os.path.join(os.environ["GPU_MEMTRACE_DIR"], "control"), "r+b") as file:
            self.words = mmap.mmap(file.fileno(), 64)

    def set(self, on):
        generation = struct.unpack_from("<I", self.words, 12)[0]
        struct.pack_into("<I", self.words, 8, 1 if on else 0)
        struct.pack_into("<I", self.words, 12, generation + 1)
