"""Experiment "multi-process": several processes, started by multiprocessing's spawn, each with one thread that
allocates, frees and now and then leaks."""

import argparse
import json
import multiprocessing
import os
import random
import time


def work(index, options, results):
    import gpu  # here, so that the parent process never touches the GPU

    random.seed(options.seed + index)
    gpu.stacks_wanted = True
    truth = gpu.Truth("gpu_mem_stressor")
    leaked, leaked_bytes = [], 0
    deadline = time.monotonic() + options.duration
    while time.monotonic() < deadline:
        size = random.randint(options.min_mb, options.max_mb) * gpu.MIB
        tensor = gpu.empty(size)
        truth.keep(tensor)
        time.sleep(options.sleep_ms / 1000)
        if random.random() < options.leak_prob:
            leaked.append(tensor)
            leaked_bytes += size
        else:
            truth.drop(tensor)
        del tensor
    results.put(truth.facts(index=index, parentPid=os.getppid(), leakedBytes=leaked_bytes))
    results.close()
    results.join_thread()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--procs", type=int, default=4)
    parser.add_argument("--duration", type=float, default=3)
    parser.add_argument("--min-mb", type=int, default=2)
    parser.add_argument("--max-mb", type=int, default=10)
    parser.add_argument("--sleep-ms", type=float, default=25)
    parser.add_argument("--leak-prob", type=float, default=0.1)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    spawn = multiprocessing.get_context("spawn")
    results = spawn.Queue()
    processes = [spawn.Process(target=work, args=(i, options, results)) for i in range(options.procs)]
    for process in processes:
        process.start()
    print("started %s" % ", ".join(str(process.pid) for process in processes), flush=True)
    facts = []
    while len(facts) < len(processes):
        try:
            facts.append(results.get(timeout=1))
        except Exception:
            if not any(process.is_alive() for process in processes) and results.empty():
                break
    for process in processes:
        process.join()
    facts.sort(key=lambda entry: entry["index"])
    print(json.dumps({"workload": "gpu_mem_stressor", "pid": os.getpid(), "processes": facts}), flush=True)
    return 0 if len(facts) == len(processes) else 1


if __name__ == "__main__":
    raise SystemExit(main())
