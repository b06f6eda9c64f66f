"""What the tracer costs on a real GPU: ns per tensor event with its stack, and a training step.

Three ways of the same program, interleaved as processes: untraced, traced (LD_PRELOAD as the launcher sets it), and PyTorch's own
history. Prints a table; the minimum over rounds for events, the median of paired differences for steps.
    python3 test/bench/gpu_cost.py [--library dist/native/libgpumemtrace.so] [--rounds 5]
"""
import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
DEPTHS = (10, 40)


def event_ns(depth, pairs=20_000, repeats=5):
    """ns per event (half a pair of torch.empty and del) with `depth` Python frames."""
    import torch

    def loop():
        best = float("inf")
        for _ in range(repeats):
            begin = time.perf_counter_ns()
            for _ in range(pairs):
                block = torch.empty(1024, device="cuda")
                del block
            best = min(best, (time.perf_counter_ns() - begin) / pairs / 2)
        return best

    def down(n):
        return down(n - 1) if n > 0 else loop()

    used = 0
    frame = sys._getframe()
    while frame:
        used, frame = used + 1, frame.f_back
    return down(depth - used - 2)


def step_ms(steps, trainer):
    import torch

    times = []
    for _ in range(steps):
        begin = time.perf_counter()
        trainer.step()
        torch.cuda.synchronize()
        times.append((time.perf_counter() - begin) * 1e3)
    return times


def one_process(way):
    import torch

    sys.path.insert(0, os.path.join(HERE, "../gpu/jobs"))
    from transformer import Trainer

    torch.empty(1, device="cuda")
    if way == "history":
        torch.cuda.memory._record_memory_history(stacks="python", max_entries=100_000)
    events = {depth: event_ns(depth) for depth in DEPTHS}
    trainer = Trainer(num_encoder_layers=6, num_decoder_layers=6)
    step_ms(20, trainer)
    print(json.dumps({"events": events, "steps": step_ms(60, trainer)}))


def toggled_process():
    """Steps with recording on and off by turns in one process: the difference without the noise between processes."""
    sys.path.insert(0, os.path.join(HERE, "../gpu/jobs"))
    from paused_control import Control
    from transformer import Trainer

    trainer, control = Trainer(num_encoder_layers=6, num_decoder_layers=6), Control()
    step_ms(20, trainer)
    ratios = []
    for _ in range(40):
        control.set(True)
        on = statistics.median(step_ms(7, trainer))
        control.set(False)
        off = statistics.median(step_ms(7, trainer))
        ratios.append(on / off)
    print(json.dumps({"ratio": statistics.median(ratios), "quartiles": statistics.quantiles(ratios)}))


def run(way, library):
    env = {**os.environ}
    with tempfile.TemporaryDirectory() as directory:
        if way in ("traced", "toggled"):
            env.update(LD_PRELOAD=library, CUDA_INJECTION64_PATH=library, GPU_MEMTRACE_DIR=directory)
            with open(os.path.join(directory, "control"), "wb") as control:
                control.write((0x4C54434D).to_bytes(4, "little") + bytes([1, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0]) + bytes(48))
        done = subprocess.run([sys.executable, __file__, "--way", way], env=env, check=True, capture_output=True, text=True)
        return json.loads(done.stdout.splitlines()[-1])


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--library", default=os.path.join(HERE, "../../dist/native/libgpumemtrace.so"))
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--way", choices=["untraced", "traced", "history", "toggled"])
    options = parser.parse_args()
    if options.way:
        return toggled_process() if options.way == "toggled" else one_process(options.way)
    library = os.path.abspath(options.library)
    rounds = [{way: run(way, library) for way in ("untraced", "traced", "history")} for _ in range(options.rounds)]
    best = {w: {d: min(r[w]["events"][str(d)] for r in rounds) for d in DEPTHS} for w in rounds[0]}
    step = {w: statistics.median(t for r in rounds for t in r[w]["steps"]) for w in rounds[0]}
    print(f"| way | {' | '.join(f'event, depth {d} (ns)' for d in DEPTHS)} | step (ms) | step, of untraced |\n|---|" + "---|" * (len(DEPTHS) + 2))
    for way in best:
        over = [f"{best[way][d]:.0f} (+{best[way][d] - best['untraced'][d]:.0f})" for d in DEPTHS]
        print(f"| {way} | {' | '.join(over)} | {step[way]:.2f} | {step[way] / step['untraced']:.3f} |")
    toggled = run("toggled", library)
    quartiles = ", ".join(f"{q:.4f}" for q in toggled["quartiles"])
    print(f"step with recording on / off by turns in one process: {toggled['ratio']:.4f} (quartiles {quartiles})")


if __name__ == "__main__":
    main()
