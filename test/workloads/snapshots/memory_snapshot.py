"""Writes memory snapshots with the structure of PyTorch's `torch.cuda.memory._dump_snapshot`, without a GPU.

An allocator like PyTorch's hands out blocks of segments; a training loop uses it. Prints what must be alive as one line of JSON.
"""

import argparse
import json
import pickle
import random

SEGMENT = 20 << 20
START_US = 1_700_000_000_000_000


class Allocator:
    """First fit in segments of one size; remembers its actions as PyTorch does."""

    def __init__(self, device, expandable=False, pool=0):
        self.device = device
        self.base = 0x7F0000000000 + (device << 40)
        self.expandable = expandable
        self.pool = (0, pool)
        self.segments = []  # address
        self.free = []  # (address, size): next fit, from the end
        self.live = {}  # address: (size, requested, frames)
        self.trace = []
        self.annotations = []
        self.time = START_US

    def annotate(self, name, stage):
        self.annotations.append({"name": name, "stage": stage, "device": self.device, "time_us": self.time})

    def note(self, action, address, size, frames, metadata=""):
        self.time += 7
        entry = {"action": action, "addr": address, "size": size, "stream": 0, "time_us": self.time, "frames": frames}
        entry["compile_context"] = "N/A"
        entry["user_metadata"] = metadata
        self.trace.append(entry)

    def alloc(self, requested, frames, metadata=""):
        size = -(-requested // 512) * 512
        place = next((i for i in range(len(self.free) - 1, max(-1, len(self.free) - 64), -1) if self.free[i][1] >= size), None)
        if place is None:
            address = self.base + len(self.segments) * SEGMENT
            self.note("segment_map" if self.expandable else "segment_alloc", address, SEGMENT, frames)
            self.segments.append((address, frames))
            self.free.append((address, SEGMENT))
            place = len(self.free) - 1
        address, room = self.free.pop(place)
        if room > size:
            self.free.append((address + size, room - size))
        self.live[address] = (size, requested, frames)
        self.note("alloc", address, requested, frames, metadata)
        return address

    def release(self, address, frames):
        size, requested, _ = self.live.pop(address)
        self.note("free_requested", address, requested, frames)
        self.note("free_completed", address, requested, frames)
        self.free.append((address, size))

    def blocks(self, segment):
        at = segment
        for address in sorted(a for a in self.live if segment <= a < segment + SEGMENT):
            if address > at:
                yield block(at, address - at, 0, "inactive", [])
            size, requested, frames = self.live[address]
            yield block(address, size, requested, "active_allocated", frames)
            at = address + size
        if at < segment + SEGMENT:
            yield block(at, segment + SEGMENT - at, 0, "inactive", [])

    def segment(self, address, frames):
        blocks = list(self.blocks(address))
        active = sum(b["size"] for b in blocks if b["state"] == "active_allocated")
        return {
            "device": self.device,
            "address": address,
            "total_size": SEGMENT,
            "allocated_size": active,
            "active_size": active,
            "requested_size": sum(b["requested_size"] for b in blocks),
            "stream": 0,
            "segment_type": "large",
            "segment_pool_id": self.pool,
            "is_expandable": self.expandable,
            "frames": frames,
            "blocks": blocks,
        }


def block(address, size, requested, state, frames):
    return {"address": address, "size": size, "requested_size": requested, "state": state, "frames": frames}


class Program:
    """Stacks of a training script: a few lines of its own below many of PyTorch."""

    def __init__(self, depth, native=False, lines=50):
        def frame(name, line, file):
            return {"filename": file, "line": line, "name": name}

        library = "/venv/lib/python3.12/site-packages/torch/nn/modules/module.py"
        self.inner = [frame("_call_impl", 1500 + i, library) for i in range(depth)]
        self.recorder = [frame("torch::unwind::unwind()", 0, "??"), frame("at::empty_cuda", 44, "EmptyTensor.cpp")] if native else []
        self.lines = {line: frame("forward", line, "/home/ada/net.py") for line in range(10, 10 + lines)}
        self.main = frame("<module>", 7, "/home/ada/train.py")
        self.leak = frame("remember", 99, "/home/ada/train.py")

    def stack(self, line):
        own = self.leak if line == 99 else self.lines[line]
        return self.recorder + self.inner[line % 5 :] + [own, self.main]


def train(allocator, program, steps, rng):
    """Each step takes and frees a few blocks a line, and keeps one 2,048-byte block at line 99."""
    kept = []
    for step in range(steps):
        allocator.annotate("ProfilerStep#%d" % step, "START")
        allocator.annotate("forward", "START")
        activations = []
        for line in program.lines:
            activations.append((allocator.alloc(rng.randrange(1000, 40_000), program.stack(line)), line))
        kept.append(allocator.alloc(2000, program.stack(99), "kept by remember()"))
        for address, line in reversed(activations):
            allocator.release(address, program.stack(line))
        allocator.annotate("forward", "END")
        allocator.annotate("ProfilerStep#%d" % step, "END")
    return kept


def snapshot(allocators, history, annotated):
    return {
        "segments": [a.segment(address, frames) for a in allocators for address, frames in a.segments],
        "device_traces": [a.trace[-history:] if history else a.trace for a in allocators],
        "allocator_settings": {"PYTORCH_CUDA_ALLOC_CONF": "", "max_split_size": -1, "roundup_power2_divisions": {"1": 0}},
        "external_annotations": [each for a in allocators for each in a.annotations] if annotated else [],
    }


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("file")
    parser.add_argument("--steps", type=int, default=80)
    parser.add_argument("--depth", type=int, default=8)
    parser.add_argument("--lines", type=int, default=50, help="that allocate in each step")
    parser.add_argument("--devices", type=int, default=1)
    parser.add_argument("--protocol", type=int, default=4)
    parser.add_argument("--history", type=int, default=0, help="newest entries that are kept")
    parser.add_argument("--expandable", action="store_true")
    parser.add_argument("--native", action="store_true")
    parser.add_argument("--oom", action="store_true")
    parser.add_argument("--pool", type=int, default=0, help="number of the pool that all is of")
    parser.add_argument("--annotated", action="store_true", help="with the ranges of a profiler")
    options = parser.parse_args()
    program = Program(options.depth, options.native, options.lines)
    allocators = [Allocator(device, options.expandable, options.pool) for device in range(options.devices)]
    for allocator in allocators:
        train(allocator, program, options.steps, random.Random(1))
    if options.oom:
        entry = {"action": "oom", "device_free": 1 << 20, "size": 1 << 40, "stream": 0, "time_us": allocators[0].time + 1}
        allocators[0].trace.append({**entry, "frames": program.stack(42)})
    with open(options.file, "wb") as out:
        pickle.dump(snapshot(allocators, options.history, options.annotated), out, options.protocol)
    sizes = [size for a in allocators for size, _, _ in a.live.values()]
    segments = sum(len(a.segments) for a in allocators)
    print(json.dumps({"blocks": len(sizes), "bytes": sum(sizes), "reserved": segments * SEGMENT}))


main()
