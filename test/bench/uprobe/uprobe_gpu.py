"""The uprobe tracer on a real GPU with PyTorch, as root: uprobe_gpu.py TRACER UPROBE_COST BURST FOLDER-OF-SIMULATED-LIBCUDA

Prints tables: the cost of a pair on the real driver, a burst on the simulated one (its calls cost nothing, so it is the hardest), and a
training job with and without an attachment, whose results must be equal and whose allocations must all be there. Exit status 1: they
are not."""

import glob
import json
import os
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "..", "native", "inject"))

JOB = """
import json, sys, time, torch
torch.manual_seed(1)
torch.use_deterministic_algorithms(True, warn_only=True)
model = torch.nn.Transformer(128, 4, 2, 2, 256, dropout=0.0, batch_first=True).cuda()
optimizer = torch.optim.AdamW(model.parameters(), foreach=False)
def step():
    source, target = torch.randn(8, 32, 128, device="cuda"), torch.randn(8, 32, 128, device="cuda")
    loss = (model(source, target) - target).square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    return loss
for _ in range(10):
    step()
torch.cuda.synchronize()
count = lambda: [torch.cuda.memory_stats()["allocation.all." + what] for what in ("allocated", "freed")]
print("ready", flush=True)
sys.stdin.readline()
before, began, kept = count(), time.perf_counter(), []
for i in range(200):
    loss = step()
    if i % 50 == 0:
        kept.append(loss.detach().clone())
torch.cuda.synchronize()
seconds, after = time.perf_counter() - began, count()
print(json.dumps({"loss": float(loss), "ms": seconds * 5, "allocated": after[0] - before[0], "freed": after[1] - before[1]}), flush=True)
sys.stdin.readline()
"""


def run_job(tracer=None, *options):
    """The job's facts, and the log of its attachment."""
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "universal_newlines": True}
    job = subprocess.Popen([sys.executable, "-c", JOB], env=dict(os.environ, CUBLAS_WORKSPACE_CONFIG=":4096:8"), **pipes)
    assert job.stdout.readline() == "ready\n"
    with tempfile.TemporaryDirectory(dir="/dev/shm") as folder:
        if tracer:
            attached = subprocess.Popen([tracer, "attach", "--pid", str(job.pid), "--directory", folder, *options], **pipes)
            ready = attached.stdout.readline()
            assert "ready" in ready, ready
            print(ready.strip())
        job.stdin.write("go\n")
        job.stdin.flush()
        facts, log = json.loads(job.stdout.readline()), None
        if tracer:
            said = attached.communicate()[0]  # the end of its input detaches it
            print(said.strip().splitlines()[-1])
            import log_reader

            log = log_reader.Log(glob.glob(folder + "/*.gmtlog")[0])
    job.communicate("end\n")
    assert job.returncode == 0
    return facts, log


def compare(tracer):
    import log_reader

    print("\n| training step of a small Transformer | ms | loss | allocations | frees | recorded | lost |\n|---|---|---|---|---|---|---|")
    alone, _ = run_job()
    rows, good = [("alone", alone, None)], True
    for options in ((), ("--no-stacks",)):
        facts, log = run_job(tracer, *options)
        rows.append(("attached" + " ".join(("",) + options), facts, log))
        kinds = [event.kind for event in log.events if event.address != log_reader.GMT_EARLIER_ADDRESS]
        recorded = (kinds.count(log_reader.GMT_TENSOR_ALLOC), kinds.count(log_reader.GMT_TENSOR_FREE))
        good &= recorded == (facts["allocated"], facts["freed"]) and facts["loss"] == alone["loss"] and not log.lost
    for name, facts, log in rows:
        recorded = "" if log is None else "%d events, %d stacks" % (len(log.events), len(log.stacks))
        lost = "" if log is None else log.lost
        print("| %s | %.2f | %.9g | %d | %d | %s | %s |" % (name, facts["ms"], facts["loss"], facts["allocated"], facts["freed"], recorded, lost))
    return good


def main():
    tracer, cost, burst, simulated = sys.argv[1:]
    print(subprocess.run([tracer, "self-test"], stdout=subprocess.PIPE, universal_newlines=True).stdout)
    for options in (["--async"], ["--async", "--no-stacks"], ["--pairs", "3000"]):
        print("\n## uprobe_cost " + " ".join(options), flush=True)
        subprocess.run([cost, tracer, "--seconds", "3", *options])
    print(flush=True)
    lossless = subprocess.run([sys.executable, os.path.join(HERE, "uprobe_burst.py"), tracer, burst, simulated]).returncode
    sys.exit(not compare(tracer) or lossless)


main()
