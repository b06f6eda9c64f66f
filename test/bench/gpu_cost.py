"""What the tracer costs on a real GPU: ns per tensor event with its stack, and a training step.

The machine's speed drifts by more than the cost, so the ways are compared by turns within one process, a few milliseconds each:
recording off (the hook returns at once) with recording on, and with PyTorch's own history; then, recording, without the agent's
hooks and with them. What the hook costs while off shows between processes, untraced and traced by turns. Medians; prints a table.
    python3 test/bench/gpu_cost.py [--library dist/native/libgpumemtrace.so] [--processes 6] [--recorder FILE] [--only NAME ...]
With a recorder, it runs beside the traced program and folds what is older than 32 MB. `--only`: trainings whose names begin so, and not
what the agent's hooks take.
"""
import argparse
import gc
import glob
import importlib
import json
import math
import os
import statistics
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
DEPTHS = (10, 40)
WAYS = ("recording", "history")
PAIRS, ROUNDS = 2000, 80
MIDDLE = dict(d_model=512, nhead=8, num_encoder_layers=4, num_decoder_layers=4, dim_feedforward=2048)
BASE = {**MIDDLE, "num_encoder_layers": 6, "num_decoder_layers": 6}
# Name, how many steps each way, which job of test/gpu/jobs with what. From models for which the GPU waits to such that wait for it.
TRAININGS = (
    ("3 + 3 layers, 256 wide, 16 x 32 tokens", 400, "transformer", dict(foreach=None)),
    ("the same, foreach off", 300, "transformer", dict(foreach=False)),
    ("4 + 4 layers, 512 wide, 16 x 32 tokens", 250, "transformer", dict(foreach=None, **MIDDLE)),
    ("4 + 4 layers, 512 wide, 64 x 64 tokens", 250, "transformer", dict(foreach=None, sequences=64, tokens=64, **MIDDLE)),
    ("6 + 6 layers, 512 wide, 64 x 128 tokens", 100, "transformer", dict(foreach=None, sequences=64, tokens=128, **BASE)),
    ("GPT-2's smallest, 12 layers, 768 wide, 8 x 1,024 tokens, autocast to bfloat16", 80, "gpt2_small", dict(foreach=None)),
)
WITH_AGENT = (TRAININGS[0][0], TRAININGS[4][0])


def pairs_ns():
    """ns per event: half a pair of torch.empty and del."""
    import torch

    begin = time.perf_counter_ns()
    for _ in range(PAIRS):
        block = torch.empty(1024, device="cuda")
        del block
    return (time.perf_counter_ns() - begin) / PAIRS / 2


def at_depth(depth, work):
    used, frame = 3, sys._getframe()
    while frame:
        used, frame = used + 1, frame.f_back

    def down(n):
        return down(n - 1) if n > 0 else work()

    return down(max(0, depth - used))


def history(on):
    import torch

    torch.cuda.memory._record_memory_history("all" if on else None, stacks="python", max_entries=10_000)


class AgentHooks:
    """What the agent has in the program: a hook of PyTorch's optimizers and one of the collector."""

    def __init__(self):
        from torch.optim.optimizer import _global_optimizer_post_hooks

        self.places = (_global_optimizer_post_hooks, gc.callbacks)
        self.hooks = [place.copy() for place in self.places]
        assert all(self.hooks), "the agent is not there"

    def set(self, on):
        for place, hooks in zip(self.places, self.hooks):
            place.clear()
            if on:
                (place.update if isinstance(place, dict) else place.extend)(hooks)


def by_turns(switch, work, rounds, ways):
    """Runs `work` in each way by turns, after `switch` of the way; a list of results a way."""
    results = {way: [] for way in ways}
    for i in range(rounds):
        for way in ways if i % 2 else reversed(ways):
            switch(way)
            work()
            results[way].append(work())
    return results


def step_ms(trainer):
    import torch

    begin = time.perf_counter()
    trainer.step()
    torch.cuda.synchronize()
    return (time.perf_counter() - begin) * 1e3


def median_interval(values):
    """The 95 % interval of the median, by the ranks that a fair coin gives."""
    ordered, half = sorted(values), len(values) / 2
    reach = 1.96 * math.sqrt(half / 2)
    return ordered[max(0, math.floor(half - reach))], ordered[min(len(ordered) - 1, math.ceil(half + reach))]


def turns_process(only):
    sys.path.insert(0, os.path.join(HERE, "../gpu/jobs"))
    import torch
    from paused_control import Control

    torch.empty(1, device="cuda")
    control = Control()

    def switch(way):
        control.set(way == "recording")

    def switch_with_history(way):
        switch(way)
        history(way == "history")

    # Apart: switching the history on and off leaves the caches to whoever comes next.
    switches = (switch, switch_with_history)
    events = {}
    for depth in DEPTHS:
        events[depth] = [
            at_depth(depth, lambda: by_turns(each, pairs_ns, ROUNDS, ("off", way))) for each, way in zip(switches, WAYS)
        ]
        history(False)
    steps, agent = {}, {}
    for name, count, job, options in TRAININGS:
        if not name.startswith(tuple(only)):
            continue
        trainer = importlib.import_module(job).Trainer(**options)
        control.set(True)
        for _ in range(20):
            step_ms(trainer)
        steps[name] = by_turns(switch, lambda: step_ms(trainer), count, ("off", "recording"))
        if name in WITH_AGENT and only == [""]:
            control.set(True)
            hooks = AgentHooks()
            agent[name] = by_turns(lambda way: hooks.set(way == "agent"), lambda: step_ms(trainer), count, ("none", "agent"))
            hooks.set(True)
    print(json.dumps({"events": events, "steps": steps, "agent": agent}))


def plain_process():
    import torch

    torch.empty(1, device="cuda")
    control = None
    if "GPU_MEMTRACE_DIR" in os.environ:
        sys.path.insert(0, os.path.join(HERE, "../gpu/jobs"))
        from paused_control import Control

        control = Control()
        control.set(False)
    print(json.dumps({depth: at_depth(depth, lambda: statistics.median(pairs_ns() for _ in range(60))) for depth in DEPTHS}))


def run(way, library, traced, recorder=None, only=()):
    env = {**os.environ}
    with tempfile.TemporaryDirectory() as directory:
        if traced:
            env.update(LD_PRELOAD=library, CUDA_INJECTION64_PATH=library, GPU_MEMTRACE_DIR=directory)
            with open(os.path.join(directory, "control"), "wb") as control:
                words = (0x4C54434D, 1, 1, 0)  # magic, version, recording, generation
                control.write(b"".join(word.to_bytes(4, "little") for word in words) + bytes(48))
        if recorder:
            with open(os.path.join(directory, "session.json"), "w") as session:
                json.dump({"pid": os.getpid()}, session)
        beside = recorder and subprocess.Popen([recorder, directory, "--detail", str(32 << 20)])
        words = [sys.executable, __file__, "--way", way, "--only", *only]
        done = subprocess.run(words, env=env, check=True, capture_output=True, text=True)
        if beside:
            print("checkpoints:", len(glob.glob(os.path.join(directory, "*.gmtcheck"))), file=sys.stderr)
            beside.terminate()
            beside.wait()
        return json.loads(done.stdout.splitlines()[-1])


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--library", default=os.path.join(HERE, "../../dist/native/libgpumemtrace.so"))
    parser.add_argument("--processes", type=int, default=6)
    parser.add_argument("--recorder")
    parser.add_argument("--only", nargs="*", default=[])
    parser.add_argument("--way", choices=["turns", "plain"])
    options = parser.parse_args()
    only = options.only or [""]
    if options.way:
        return turns_process(only) if options.way == "turns" else plain_process()
    library = os.path.abspath(options.library)
    plain = [(run("plain", library, False), run("plain", library, True)) for _ in range(options.processes)]
    turns = run("turns", library, True, options.recorder, only)
    print("| event (ns) | " + " | ".join(f"depth {d}" for d in DEPTHS) + " |\n|---|" + "---|" * len(DEPTHS))
    for name, i in (("untraced process", 0), ("traced process, recording off", 1)) if plain else ():
        print(f"| {name} | " + " | ".join(f"{min(p[i][str(d)] for p in plain):.0f}" for d in DEPTHS) + " |")
    for i, way in enumerate(WAYS):
        cells = []
        for d in DEPTHS:
            got = turns["events"][str(d)][i]
            over = statistics.median(a - b for a, b in zip(got[way], got["off"]))
            cells.append(f"{statistics.median(got['off']):.0f} → {statistics.median(got[way]):.0f} ({over:+.0f})")
        print(f"| by turns with recording off: {way} | " + " | ".join(cells) + " |")
    print_steps("training step, by turns", turns["steps"], "off", "recording")
    if turns["agent"]:
        print_steps("the same while recording, the agent's hooks taken out and put back", turns["agent"], "none", "agent")


def print_steps(title, trainings, without, way):
    print(f"\n| {title} | without | with | ratio of medians | median of paired ratios (95 % interval) | all steps |")
    print("|---|---|---|---|---|---|")
    for name, step in trainings.items():
        on, off = step[way], step[without]
        middle_on, middle_off = statistics.median(on), statistics.median(off)
        paired = [a / b for a, b in zip(on, off)]
        low, high = median_interval(paired)
        ratios = f"{middle_on / middle_off:.4f} | {statistics.median(paired):.4f} ({low:.4f} to {high:.4f}) | {sum(on) / sum(off):.4f}"
        print(f"| {name} | {middle_off:.2f} ms | {middle_on:.2f} ms | {ratios} |")


if __name__ == "__main__":
    main()
