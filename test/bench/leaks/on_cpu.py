"""Leak cases on the CPU of a real PyTorch: what the verdicts say of each beside what is true. No GPU is needed.

    python3 test/bench/leaks/on_cpu.py --python PYTHON_WITH_TORCH [--cli dist/cli.js] [FOLDER...]

A folder holds cases and expect.json as test/workloads/leaks does (the default). Each case runs under the tracer with `cuda`
in it replaced by the CPU, whose allocator then reports as a GPU's (cpu_as_gpu.cpp).
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.abspath(os.path.join(HERE, "../../.."))
LIMIT = 1500 << 20  # of cases that run out of memory
WORDS = (('device="cuda"', 'device="cpu"'), (".cuda()", ""), ('autocast("cuda"', 'autocast("cpu"'))
WORDS += (('GradScaler("cuda"', 'GradScaler("cpu"'),)
START = """import ctypes, os, sys
if os.environ.get("CPU_AS_GPU") and "torch" not in sys.modules:
    import torch
    torch.set_num_threads(1)
    ctypes.CDLL(os.environ["CPU_AS_GPU"], ctypes.RTLD_GLOBAL).cpu_as_gpu(ctypes.c_size_t(int(os.environ["CPU_AS_GPU_LIMIT"])))
"""


def build(python, folder):
    """The allocator, under the name of the library that the tracer looks for."""
    torch = subprocess.run(
        [python, "-c", "import torch, os; print(os.path.dirname(torch.__file__))"], capture_output=True, text=True
    ).stdout.strip()
    if not torch:
        sys.exit("%s has no PyTorch: name another with --python." % python)
    library = os.path.join(folder, "libc10_cuda.so")
    command = [os.environ.get("CXX", "c++"), "-std=c++17", "-O1", "-fPIC", "-shared", "-Wl,-z,lazy", "-o", library]
    command += [os.path.join(HERE, "cpu_as_gpu.cpp"), "-I", os.path.join(torch, "include")]
    subprocess.run(command + ["-L", os.path.join(torch, "lib"), "-lc10"], check=True)
    return library


def on_the_cpu(file, folder):
    with open(file, encoding="utf-8") as source:
        lines = source.read().split("\n")
    lines = ["pass" if line.startswith("torch.cuda.set_per_process_memory_fraction") else line for line in lines]
    text = "\n".join(lines)
    for word, instead in WORDS:
        text = text.replace(word, instead)
    copy = os.path.join(folder, os.path.basename(file))
    with open(copy, "w", encoding="utf-8") as target:
        target.write(text)
    return copy


def run(options, file, library, limit):
    with tempfile.TemporaryDirectory() as folder:
        with open(os.path.join(folder, "sitecustomize.py"), "w", encoding="utf-8") as start:
            start.write(START)
        report = os.path.join(folder, "report.json")
        environment = dict(os.environ, PYTHONPATH=folder, CPU_AS_GPU=library, CPU_AS_GPU_LIMIT=str(limit))
        environment["GPU_MEMTRACE_AGENT_DEVICES"] = "all"
        command = ["node", options.cli, "run", "--simulate-gpu", "--holders", "--format", "none", "--report", report]
        command += ["-o", os.path.join(folder, "trace.gputrace"), "--", options.python, on_the_cpu(file, folder)]
        subprocess.run(command, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        with open(report, encoding="utf-8") as document:
            return json.load(document)


def judge(report, wanted):
    """(what was said, whether verdict, line, holder's line and path are right, what was said of them)"""
    found = [each for each in report["findings"] if each["verdict"] in ("leak", "oom")]
    kinds = {each["verdict"] for each in found}
    said = "oom" if "oom" in kinds else "leak" if kinds else "none"
    first = found[0] if found else {}
    line = (first.get("place") or {}).get("line")
    holder = first.get("holder") or {}
    right = [said == wanted["verdict"], line == wanted.get("site") and len(found) == (said != "none")]
    right += [holder.get("line") == wanted.get("holder"), wanted.get("holderPath", "") in holder.get("path", "")]
    return said, right, "%s; %s at %s" % (line, holder.get("path"), holder.get("line")) if found else ""


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--python", default=sys.executable)
    parser.add_argument("--cli", default=os.path.join(ROOT, "dist", "cli.js"))
    parser.add_argument("folders", nargs="*", default=[os.path.join(ROOT, "test", "workloads", "leaks")])
    options = parser.parse_args()
    rows = []
    print("| case | expected | got | line | holder line | path | steps | line; holder |\n|---|---|---|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as folder:
        library = build(options.python, folder)
        for cases in options.folders:
            with open(os.path.join(cases, "expect.json"), encoding="utf-8") as document:
                expected = json.load(document)
            for name, wanted in sorted(expected.items()):
                report = run(options, os.path.join(cases, name), library, LIMIT if wanted["verdict"] == "oom" else 0)
                said, right, text = judge(report, wanted)
                rows.append((wanted["verdict"], said, right))
                words = ["yes" if each else "NO" for each in right[1:]] if wanted["verdict"] != "none" else [""] * 3
                steps = "%(count)d %(source)s" % report["steps"]
                print("| %s |" % " | ".join([name, wanted["verdict"], said] + words + [steps, text]), flush=True)
    named = sum(said != "none" for _, said, _ in rows)
    planted = sum(wanted != "none" for wanted, _, _ in rows)
    hits = sum(wanted == said and right[1] for wanted, said, right in rows if wanted != "none")
    print("precision %d/%d, recall %d/%d" % (hits, named, hits, planted))
    return 0 if all(all(right) for _, _, right in rows) else 1


if __name__ == "__main__":
    sys.exit(main())
