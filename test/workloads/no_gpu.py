"""A program without CUDA: it must run as if nothing was there, and leave no log."""

import json
import os
import subprocess
import sys

child = subprocess.run([sys.executable, "-c", "print(6 * 7)"], stdout=subprocess.PIPE, check=True)
print(json.dumps({"workload": "no_gpu", "pid": os.getpid(), "child": child.stdout.decode().strip()}), flush=True)
sys.exit(7)
