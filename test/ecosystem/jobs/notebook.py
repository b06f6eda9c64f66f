"""A notebook that is run cell by cell, as an editor does: prints what was seen as JSON. notebook.py KERNELS NAME CLI"""

import json
import os
import subprocess
import sys
import threading
import time

from jupyter_client import KernelManager
from jupyter_client.kernelspec import KernelSpecManager

kernels, name, node, cli = sys.argv[1:]
seen = {}


class Notebook:
    def __init__(self):
        self.manager = KernelManager(kernel_name=name, kernel_spec_manager=KernelSpecManager(kernel_dirs=[kernels]))
        self.manager.start_kernel()
        self.connect()

    def connect(self):
        self.client = self.manager.client()
        self.client.start_channels()
        self.client.wait_for_ready(timeout=120)

    def run(self, code, history=True):
        """What the cell printed, or its error."""
        messages = []
        self.client.execute_interactive(code, output_hook=messages.append, timeout=120, store_history=history)
        texts = [each["content"].get("text") or each["content"].get("ename") for each in messages]
        return "".join(text for text in texts if text).strip()

    def ask(self, expression):
        return self.run("print(%s)" % expression, history=False)

    def holders(self, address):
        told = subprocess.run([node, cli, "holders", self.pid, "--address", address], capture_output=True, text=True)
        return told.stdout + told.stderr


notebook = Notebook()
run, ask = notebook.run, notebook.ask
run("import gc, os, torch")
notebook.pid = ask("os.getpid()")
run("x = torch.zeros(1000, 250)")  # In [2]
run("kept = []")
for _ in range(3):  # In [4, 5, 6]
    run("# grows\nkept.append(torch.ones(500, 500))")
for _ in range(2):  # In [7, 8]: the new one takes the place of the old one
    run("y = torch.ones(600, 500)")
for _ in range(4):  # In [9, 10, 11, 12]
    run("1\ntorch.ones(300, 1000)")
run("x")  # In [13]
run("def f():\n    global at\n    big = torch.ones(700, 700)\n    at = hex(big.data_ptr())\n    raise ValueError('x')\nf()")
seen["x"] = notebook.holders(ask("hex(x.data_ptr())"))
seen["kept"] = notebook.holders(ask("hex(kept[1].data_ptr())"))
seen["output"] = notebook.holders(ask("hex(Out[10].data_ptr())"))
seen["newest"] = notebook.holders(ask("hex(Out[12].data_ptr())"))
failed = ask("at")
seen["exception"] = notebook.holders(failed)
results = [ask("hex(Out[%d].data_ptr())" % number) for number in (9, 10, 11, 12)]
run("%reset -f out")  # In [15]
seen["left"] = notebook.holders(results[-1])
run('get_ipython().user_ns_hidden.update(_="", __="", ___="")', history=False)
run("1/0")  # In [16]
run("gc.collect()")  # In [17]
seen["after"] = [notebook.holders(address) for address in results + [failed]]
threading.Timer(2, notebook.manager.interrupt_kernel).start()
seen["interrupted"] = run("import time\ncount = 0\ntry:\n    time.sleep(60)\nexcept KeyboardInterrupt:\n    count += 1\ntime.sleep(1)\nprint(count)")
seen["parent"] = ask("os.getppid() == int(os.environ['JPY_PARENT_PID'])")
notebook.client.stop_channels()
notebook.manager.restart_kernel()
notebook.connect()
seen["restarted"] = notebook.ask("'x' in globals()")
notebook.client.stop_channels()
notebook.manager.shutdown_kernel()
seen["gone"] = not notebook.manager.is_alive()
print(json.dumps(seen))
