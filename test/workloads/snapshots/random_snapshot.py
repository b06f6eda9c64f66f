"""Random memory snapshots as PyTorch 1.13 to 2.14 writes them, each beside what a reader of its own sums up of it.

random_snapshot.py FOLDER COUNT [SEED]: files in FOLDER, and one line of JSON a file.
"""

import gzip
import io
import json
import os
import pickle
import random
import sys
import zipfile

VERSIONS = ["1.13", "2.0", "2.1", "2.4", "2.8", "2.12", "2.14"]
START_US = 1_760_000_000_000_000
MEGA = 1 << 20
FILES = ["/home/ada/train.py", "/home/ada/modèle/ネット.py", "D:\\work\\net.py", "src\\rel.py", "/home/a\udcff/x.py", "<string>", "", "??",
         "/venv/lib/python3.12/site-packages/torch/nn/modules/linear.py", "CUDACachingAllocator.cpp", "thread48.o", "In [3]"]


def rounded(size):
    return max(512, -(-size // 512) * 512)


class Machine:
    """One device's allocator: blocks side by side in segments, some of which have holes."""

    def __init__(self, rng, device, version, frames):
        self.rng, self.device, self.version, self.frames = rng, device, version, frames
        self.base = 0x7F0000000000 + (device << 36)
        self.expandable = version >= "2.1" and rng.random() < 0.3
        self.segments, self.free, self.live, self.pending, self.trace = {}, [], {}, {}, []

    def note(self, action, address, size, stack, clock, **more):
        entry = {"action": action, "addr": address, "size": size, "stream": 0, "frames": stack}
        if self.version >= "2.1":
            entry["time_us"] = clock
        if self.version >= "2.4":
            entry["compile_context"] = "N/A"
        if self.version >= "2.8":
            entry["user_metadata"] = ""
        self.trace.append({**entry, **more})

    def segment(self, clock):
        size = self.rng.choice([2, 20, 64]) * MEGA
        address = max([self.base, *(a + s + (0 if self.expandable else MEGA) for a, s in self.segments.items())])
        self.segments[address] = size
        self.free.append((address, size))
        self.note("segment_map" if self.expandable else "segment_alloc", address, size, self.frames(), clock)

    def alloc(self, clock):
        asked = self.rng.choice([1, 512, 700, self.rng.randrange(1, 2 * MEGA)])
        size = rounded(asked)
        place = next((i for i, (_, room) in enumerate(self.free) if room >= size), None)
        if place is None:
            self.segment(clock)
            place = len(self.free) - 1
        address, room = self.free.pop(place)
        if room > size:
            self.free.append((address + size, room - size))
        stack = self.frames()
        self.live[address] = (size, asked, stack)
        self.note("alloc", address, asked, stack, clock)

    def release(self, clock):
        address = self.rng.choice(list(self.live))
        size, asked, stack = self.live.pop(address)
        self.note("free_requested", address, asked, self.frames(), clock)
        self.pending[address] = (size, asked, stack)
        if self.rng.random() < 0.9:
            self.complete(address, clock)

    def complete(self, address, clock):
        size, asked, _ = self.pending.pop(address)
        self.note("free_completed", address, asked, [], clock)
        self.free.append((address, size))

    def give_back(self, clock):
        for address, size in list(self.segments.items()):
            own = [a for a in [*self.live, *self.pending] if address <= a < address + size]
            if own or self.rng.random() < 0.5:
                continue
            del self.segments[address]
            self.free = [(a, s) for a, s in self.free if not address <= a < address + size]
            self.note("segment_unmap" if self.expandable else "segment_free", address, size, [], clock)

    def block(self, address, size, asked, state, stack):
        if self.version < "2.0":
            history = [{"addr": address, "real_size": asked, "frames": stack}] if state == "active_allocated" else []
            return {"size": size, "state": state, **({"history": history} if history else {})}
        block = {"size": size, "requested_size": asked, "state": state, "frames": stack}
        return {**block, **({"address": address} if self.version >= "2.1" else {})}

    def parts(self):
        for address, size in self.segments.items():
            blocks, at = [], address
            own = {**self.live, **{a: (s, n, f) for a, (s, n, f) in self.pending.items()}}
            for place in sorted(a for a in own if address <= a < address + size):
                if place > at:
                    blocks.append(self.block(at, place - at, 0, "inactive", []))
                room, asked, stack = own[place]
                state = "active_allocated" if place in self.live else self.rng.choice(["active_pending_free", "active_awaiting_free"])
                blocks.append(self.block(place, room, asked, state, stack))
                at = place + room
            if at < address + size:
                blocks.append(self.block(at, address + size - at, 0, "inactive", []))
            segment = {"device": self.device, "address": address, "total_size": size, "stream": 0, "segment_type": "large", "blocks": blocks}
            if self.version >= "2.1":
                pool = (0, self.rng.choice([0, 0, 3]))
                segment.update(segment_pool_id=pool, is_expandable=self.expandable, frames=self.frames())
            yield segment


def stacks(rng):
    """A function that gives the stacks of a program: few or many, shallow or very deep, with or without Python."""
    depth = rng.choice([1, 4, 20, 127, 128, 129, 300])
    if rng.random() < 0.1:
        return list
    frame = lambda i: {"filename": rng.choice(FILES), "name": rng.choice(["f", "torch::autograd::Engine::run()", "größer", ""]), "line": rng.choice([0, i + 1])}
    known = [[frame(i) for i in range(rng.randrange(1, depth + 1))] for _ in range(rng.choice([1, 5, 40]))]
    return lambda: rng.choice(known)


def pinned(rng, frames):
    """Blocks of PyTorch's pinned memory, as 2.14 has them."""
    live, trace, clock = {}, [], START_US
    for i in range(rng.randrange(0, 60)):
        clock += 10
        address, size = 0x7E0000000000 + i * MEGA, 1 << rng.randrange(9, 20)
        common = {"addr": address, "size": size, "stream": 0, "time_us": clock, "frames": frames()}
        trace += [{"action": "segment_alloc", **common}, {"action": "alloc", **common}]
        live[address] = size
        if rng.random() < 0.5:
            gone = rng.choice(list(live))
            trace += [{"action": action, **common, "addr": gone, "size": live[gone]} for action in ("free_requested", "free_completed")]
            del live[gone]
    segments = [{"address": a, "total_size": s, "blocks": [{"address": a, "size": s, "requested_size": s, "state": "active_allocated", "frames": frames()}]} for a, s in live.items()]
    return segments, trace


def make(rng):
    version = rng.choice(VERSIONS)
    frames = stacks(rng)
    machines = [Machine(rng, device, version, frames) for device in range(rng.choice([1, 1, 2, 3]))]
    annotations, clock = [], START_US
    annotated = version >= "2.4" and rng.random() < 0.4
    for step in range(rng.choice([0, 1, 10, 60])):
        for machine in machines:
            for _ in range(rng.randrange(1, 12)):
                clock += rng.choice([0, 1, 7, 5_000_000])
                machine.alloc(clock) if rng.random() < 0.6 or not machine.live else machine.release(clock)
            if machine.pending and rng.random() < 0.3:
                machine.complete(next(iter(machine.pending)), clock)
            if rng.random() < 0.1:
                machine.give_back(clock)
            if rng.random() < 0.02:
                machine.note("oom", 0, 1 << 36, frames(), clock, device_free=rng.randrange(1 << 30))
                del machine.trace[-1]["addr"]
            if rng.random() < 0.02:
                machine.note("snapshot", 0, 0, [], clock)
            if annotated:
                name = "Optimizer.step#AdamW.step"
                annotations += [{"name": name, "stage": s, "device": machine.device, "time_us": clock + 1} for s in ("START", "END")]
    history = rng.choice([None, 0, 1, 7, 100, 100_000])
    segments = [segment for machine in machines for segment in machine.parts()]
    if version < "2.0":
        return segments
    out = {"segments": segments, "device_traces": [m.trace[-history:] if history else [] for m in machines]}
    if history is None and rng.random() < 0.3:
        out["device_traces"] = []
    if version >= "2.1":
        out["allocator_settings"] = {"PYTORCH_CUDA_ALLOC_CONF": "", "max_split_size": -1}
    if version >= "2.4":
        out["external_annotations"] = annotations
    if version >= "2.14":
        out["host_segments"], out["host_traces"] = pinned(rng, frames)
    return out


def sums(snapshot):
    """What is in a snapshot, by nothing but adding up."""
    old = isinstance(snapshot, list)
    segments = snapshot if old else snapshot["segments"]
    live, reserved = {}, 0
    for segment in segments:
        at = segment["address"]
        reserved += segment["total_size"]
        for block in segment["blocks"]:
            at = block.get("address", at)
            if block["state"] == "active_allocated":
                live[segment["device"], at] = block["size"]
            at += block["size"]
    traces = [] if old else snapshot["device_traces"]
    entries = [(device, entry) for device, trace in enumerate(traces) for entry in trace]
    timed = any("time_us" in entry for _, entry in entries) or bool(not old and snapshot.get("host_traces"))
    notes = [] if old else snapshot.get("external_annotations", [])
    first = notes[0]["device"] if notes else None
    return {
        "liveBlocks": len(live),
        "liveBytes": sum(live.values()),
        "reservedBytes": reserved,
        "ooms": sum(entry["action"] == "oom" for _, entry in entries),
        "optimizerSteps": sum(note["stage"] == "END" and note["device"] == first for note in notes) if timed else 0,
        "peaks": {str(device): peak(trace, {a: s for (d, a), s in live.items() if d == device}) for device, trace in enumerate(traces) if trace},
        "hostBytes": 0 if old else sum(b["size"] for s in snapshot.get("host_segments", []) for b in s["blocks"]),
    }


def peak(trace, final):
    """The most that tensors had. A block whose first entry is its end was there before, and so was one without any."""
    seen, before = set(), {}
    for entry in trace:
        if entry["action"] in ("alloc", "free_requested", "free_completed") and entry["addr"] not in seen:
            seen.add(entry["addr"])
            if entry["action"] != "alloc":
                before[entry["addr"]] = rounded(entry["size"])
    before.update({a: s for a, s in final.items() if a not in seen})
    now = most = sum(before.values())
    for entry in trace:
        if entry["action"] == "alloc":
            before[entry["addr"]] = rounded(entry["size"])
            now += before[entry["addr"]]
        elif entry["action"].startswith("free_"):
            now -= before.pop(entry["addr"], 0)
        most = max(most, now)
    return most


def write(snapshot, path, rng):
    data = pickle.dumps(snapshot, rng.choice([2, 3, 4, 5]))
    packing = rng.choice(["", "", ".gz", ".zip"])
    if packing == ".gz":
        data = gzip.compress(data)
    if packing == ".zip":
        archive = io.BytesIO()
        with zipfile.ZipFile(archive, "w", rng.choice([zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED])) as out:
            out.writestr("dump.pickle", data)
        data = archive.getvalue()
    with open(path + packing, "wb") as out:
        out.write(data)
    return path + packing


def main():
    folder, count, seed = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]) if len(sys.argv) > 3 else 1
    for number in range(seed, seed + count):
        rng = random.Random(number)
        snapshot = make(rng)
        path = write(snapshot, os.path.join(folder, "%d.pickle" % number), rng)
        print(json.dumps({"seed": number, "file": path, **sums(snapshot)}))


main()
