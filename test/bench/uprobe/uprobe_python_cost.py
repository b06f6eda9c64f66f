"""uprobe_python_cost.py TRACE LIBRARY CALLS [--awake]: what a Python stack costs inside BPF, in ns, by version and depth.

The three are uprobe_python_trace, libcuda.so.1 of the simulator and libuprobe_python_calls.so. Each frame has a function of its
own, as in real programs; all stacks are known but the first. Median and 90th percentile of 2,000 calls, with the two clock readings
that measure it. `new` is the first call of a stack, which describes it and its code objects. Needs root. Pythons: as in
test/native/python/versions.py."""

import ctypes
import functools
import json
import os
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
DEPTHS = (1, 10, 40)
COUNT = 2000


def measure():
    """Runs in the Python that is measured."""
    call = ctypes.CDLL(os.environ["GMT_PROBED"]).cuMemAlloc_v2
    many = ctypes.CDLL(os.environ["GMT_CALLS"]).call_many
    source = "def f1(depth): many(call, size(depth), size(%d))\n" % COUNT
    source += "".join("def f%d(depth):\n    return f%d(depth)\n" % (i, i - 1) for i in range(2, max(DEPTHS)))
    space = {"many": many, "call": call, "size": ctypes.c_size_t}
    exec(source, space)
    input()
    # Two frames are there already, this function's and the module's, so the least depth is that of a bare callback.
    on_thread = ctypes.CDLL(os.environ["GMT_CALLS"]).call_on_thread
    on_thread(ctypes.CFUNCTYPE(None)(functools.partial(space["f1"], 1)))
    for depth in DEPTHS[1:]:
        space["f%d" % (depth - 2)](depth)


def main():
    sys.path.insert(0, os.path.join(HERE, "..", "..", "native", "python"))
    import versions

    trace, library, calls = map(os.path.abspath, sys.argv[1:4])
    environment = dict(os.environ, GMT_PROBED=library, GMT_CALLS=calls)
    print("ns a stack" + "".join("%27s" % ("depth %d" % depth) for depth in DEPTHS))
    print("Python   " + "      median      90 %      new" * len(DEPTHS))
    for (version, _), python in sorted(versions.interpreters().items()):
        if ".".join(version.split(".")[:2]) not in versions.SUPPORTED:
            continue
        with tempfile.TemporaryDirectory() as folder:
            out = os.path.join(folder, "out")
            command = [trace, *sys.argv[4:], library, "cuMemAlloc_v2", out, "--", python, os.path.abspath(__file__), "--measure"]
            subprocess.run(command, env=environment, check=True)
            with open(out) as lines:
                found = [json.loads(line) for line in lines][:-1]
        cells = ""
        for depth in DEPTHS:
            times = [call["ns"] for call in found if call["number"] == depth]
            new, rest = times[0], sorted(times[1:])
            cells += "%12d%10d%9d" % (rest[len(rest) // 2], rest[len(rest) * 9 // 10], new)
        print("%-9s%s" % (version, cells), flush=True)


if __name__ == "__main__":
    if "--measure" in sys.argv:
        measure()
    elif len(sys.argv) >= 4:
        main()
    else:
        sys.exit(__doc__)
