"""What a search for holders costs: GMT_LIBRARY=… python search_bench.py [objects…]. Prints a table; each line is a process of its own
that has so many objects more than an empty one, in a list, and 50 tensors to find: in a list, in a module, in a loop, and one that
nobody has."""

import json
import os
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "inject"))

PROGRAM = """
import gc, sys
import torch, tracing

assert tracing.begin()
place = int(sys.argv[1])
junk = [{"a": [each]} for each in range(place // 2)]


class Loop:
    def __init__(self):
        self.me, self.tensor = self, torch.zeros(4)


gc.disable()
kept = [torch.zeros(4) for _ in range(48)]
net = torch.nn.Linear(4, 4)
loop = Loop()
told = [[hex(each.untyped_storage().data_ptr()), 16, 0] for each in kept + [net.weight, loop.tensor]] + [["0x10", 16, 0]]
del loop
for number in (1, 2, 3):
    tracing.ask(number, "holders", addresses=told, budgetMs=500)
"""


def measure(objects):
    from agent_log import agent_logs

    folder = tempfile.mkdtemp(prefix="gmt-agent-")
    library = os.environ["GMT_LIBRARY"]
    more = {"LD_PRELOAD": library, "CUDA_INJECTION64_PATH": library, "GPU_MEMTRACE_DIR": folder, "PYTHONPATH": os.path.join(HERE, "programs")}
    subprocess.run([sys.executable, "-W", "ignore", "-c", PROGRAM, str(objects)], env=dict(os.environ, **more), check=True)
    (log,) = agent_logs(folder)
    shutil.rmtree(folder)
    for number in (1, 2, 3):
        answer = log.answer(number)
        kinds = {each["kind"]: each["count"] for each in answer["holders"]}
        print("%9d objects  %6.1f ms  cut: %-5s  %s" % (answer["objects"], answer["tookMs"], answer["cut"], json.dumps(kinds)))


for wanted in [int(each) for each in sys.argv[1:]] or [0, 1000000]:
    measure(wanted)
