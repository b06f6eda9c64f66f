"""Memory snapshots made for one fault each, packed by gzip, and `truth.tsv`: what is in them. made_snapshots.py FOLDER"""

import gzip
import os
import pickle
import sys

START_US, BASE, MEGA = 1_760_000_000_000_000, 0x7F0000000000, 1 << 20
MODULE = "/opt/venv/lib/python3.12/site-packages/torch/nn/modules/module.py"


def frame(file, name, line):
    return {"filename": file, "name": name, "line": line}


class History:
    def __init__(self, expandable=False):
        self.expandable, self.at, self.clock = expandable, BASE, START_US
        self.trace, self.live, self.segments, self.annotations = [], {}, [], []

    def note(self, action, frames, **more):
        self.clock += 50
        self.trace.append({"action": action, "stream": 0, "time_us": self.clock, "frames": frames, **more})

    def alloc(self, size, frames):
        address, self.at = self.at, self.at + size + (0 if self.expandable else MEGA)
        self.note("segment_map" if self.expandable else "segment_alloc", frames, addr=address, size=size)
        self.note("alloc", frames, addr=address, size=size)
        self.segments.append((address, size, frames))
        self.live[address] = (size, frames)
        return address

    def free(self, address):
        size, _ = self.live.pop(address)
        for action in ("free_requested", "free_completed"):
            self.note(action, [], addr=address, size=size)

    def annotate(self, name, stage):
        self.clock += 50
        self.annotations.append({"name": name, "stage": stage, "device": 0, "time_us": self.clock})

    def dump(self):
        segments = []
        for address, size, frames in self.segments:
            state = "active_allocated" if address in self.live else "inactive"
            block = {"address": address, "size": size, "requested_size": size, "state": state, "frames": frames}
            fields = {"device": 0, "address": address, "total_size": size, "stream": 0, "segment_type": "large", "segment_pool_id": (0, 0)}
            segments.append({**fields, "is_expandable": self.expandable, "frames": frames, "blocks": [block]})
        return {"segments": segments, "device_traces": [self.trace], "external_annotations": self.annotations, "allocator_settings": {}}


def python(line, file="/home/ada/net.py"):
    return [frame(file, "forward", line), frame(MODULE, "_call_impl", 1790), frame("/home/ada/train.py", "main", 9)]


def one_forward(freed=False):
    history = History()
    kept = [history.alloc(8 * MEGA, python(31 + part)) for _ in range(24) for part in range(3)]
    if freed:
        history.alloc(MEGA, [frame("/home/ada/bench.py", "main", 44)])
        for address in kept:
            history.free(address)
    return history


def one_optimizer_step():
    history = History()
    history.annotate("Optimizer.step#AdamW.step", "START")
    for _ in range(40):
        history.alloc(2 * MEGA, python(75, "/opt/venv/lib/python3.12/site-packages/torch/optim/adamw.py"))
        history.free(history.alloc(2 * MEGA, python(80)))
    history.annotate("Optimizer.step#AdamW.step", "END")
    return history


def oom_expandable():
    history = History(expandable=True)
    for _ in range(36):
        first = history.alloc(64 * MEGA, python(36))
        history.free(first)
        history.note("alloc", python(31), addr=first, size=64 * MEGA)
        history.live[first] = (64 * MEGA, python(31))
    history.note("oom", python(36), size=512 * MEGA, device_free=91 * MEGA)
    return history


def unmapped():
    history = History(expandable=True)
    kept = [history.alloc(64 * MEGA, python(31)) for _ in range(4)]
    for address in kept[2:]:
        history.free(address)
        history.note("segment_unmap", [], addr=address, size=64 * MEGA)
    history.segments = history.segments[:2]
    return history


def mapped_and_empty():
    history = History(expandable=True)
    history.alloc(64 * MEGA, python(31))
    history.at += 640 * MEGA
    for _ in range(2):
        history.free(history.alloc(64 * MEGA, python(36)))
    history.note("segment_unmap", [], addr=history.segments.pop()[0], size=64 * MEGA)
    return history


def freed_at_first():
    history = History()
    history.note("segment_free", [], addr=BASE - 64 * MEGA, size=20 * MEGA)
    history.segments.append((BASE - 128 * MEGA, 8 * MEGA, []))  # from before the history, as the one that was given back
    history.live[BASE - 128 * MEGA] = (8 * MEGA, [])
    for part in range(20):
        history.alloc(8 * MEGA, python(31 + part))
    return history


def windows_paths():
    history = History()
    library = "D:\\p\\.venv\\Lib\\site-packages\\torch\\functional.py"
    for _ in range(12):
        history.alloc(8 * MEGA, [frame(library, "einsum", 373), frame("D:\\p\\model.py", "attend", 21)])
        history.free(history.alloc(8 * MEGA, [frame(library, "einsum", 373), frame("D:\\p\\model.py", "attend", 22)]))
    return history


def backward_without_python():
    history = History()
    names = ["torch::unwind::unwind()", "c10::cuda::CUDACachingAllocator::Native::malloc", "torch::autograd::python::PythonEngine::thread_init"]
    files = ["??", "CUDACachingAllocator.cpp", "python_engine.cpp"]
    stack = [frame(file, name, 0) for file, name in zip(files, names)] + [frame("thread48.o", "execute_native_thread_routine", 0)]
    for _ in range(60):
        history.alloc(4 * MEGA, stack)
        history.free(history.alloc(4 * MEGA, stack))
    return history


def rounds(count):
    history = History()
    for step in range(count):
        history.annotate("ProfilerStep#%d" % step, "START")
        for line in range(40, 50):
            history.free(history.alloc(2 * MEGA, python(line)))
        history.alloc(40 * MEGA, python(12))
        history.annotate("ProfilerStep#%d" % step, "END")
    return history


def blocks(count):
    history = History()
    for _ in range(count):
        history.live[history.at] = (512, [])
        history.segments.append((history.at, 512, []))
        history.at += 512
    history.trace = []
    return history


MADE = {
    "d1_one_forward": one_forward(),
    "d2_one_optimizer_step": one_optimizer_step(),
    "d3_oom_expandable": oom_expandable(),
    "d3_unmapped": unmapped(),
    "d3_mapped_and_empty": mapped_and_empty(),
    "d3_freed_at_first": freed_at_first(),
    "d4_windows_paths": windows_paths(),
    "d5_backward_without_python": backward_without_python(),
    "d6_leak_5_rounds": rounds(5),
    "d6_leak_30_rounds": rounds(30),
    "d7_2041_blocks": blocks(2041),
    "d7_2044_blocks": blocks(2044),
    "d11_forward_then_freed": one_forward(freed=True),
}


def main():
    rows = ["file segments reserved_bytes live_blocks live_bytes events annotations optimizer_steps ooms".split()]
    for name, history in MADE.items():
        data = pickle.dumps(history.dump(), 4)
        with open(os.path.join(sys.argv[1], name + ".pickle.gz"), "wb") as out:
            out.write(gzip.compress(data, mtime=0))
        steps = sum(one["stage"] == "END" and one["name"].startswith("Optimizer.step#") for one in history.annotations)
        sums = [len(history.segments), sum(size for _, size, _ in history.segments), len(history.live)]
        sums += [sum(size for size, _ in history.live.values()), len(history.trace), len(history.annotations), steps]
        rows.append([name, *map(str, sums), str(sum(entry["action"] == "oom" for entry in history.trace))])
    with open(os.path.join(sys.argv[1], "truth.tsv"), "w") as out:
        out.writelines("\t".join(row) + "\n" for row in rows)


main()
