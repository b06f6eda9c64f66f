"""python_walk_bench.py PROBE: what a walk of the Python stack costs, in ns, by version and depth.

PROBE is libpython_probe.so of test/native. Each frame has a function of its own, as in real programs. `hash` is what
every event pays (walk_hash), `walk` what a stack pays that was not seen before, without describing its code objects.
The least mean of 30 rounds of 2,000 walks, caches warm. Pythons: as in test/native/python/versions.py."""

import os
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
TESTS = os.path.join(HERE, "..", "native", "python")
DEPTHS = (5, 10, 40, 50, 100)
ROUNDS, COUNT = 30, 2000


def measure():
    """Runs in the Python that is measured."""
    import probe

    assert probe.without_gil.probe_discover() == probe.READY, probe.without_gil.probe_reason()
    space = {"leaf": probe.without_gil.probe_measure}
    source = "def f0(full): return leaf(%d, %d, full)\n" % (ROUNDS, COUNT)
    source += "".join("def f%d(full):\n    return f%d(full)\n" % (i, i - 1) for i in range(1, max(DEPTHS)))
    exec(source, space)

    # Two frames are there already: this function's and the module's.
    for depth in DEPTHS:
        for full in (0, 1):
            print("%.1f" % space["f%d" % (depth - 3)](full))


def main():
    sys.path.insert(0, TESTS)
    import versions

    print("ns a walk" + "".join("%22s" % ("depth %d" % depth) for depth in DEPTHS))
    print("Python   " + "          hash      walk " * len(DEPTHS))
    environment = dict(os.environ, GMT_PYTHON_PROBE=os.path.abspath(sys.argv[1]), PYTHONPATH=TESTS)
    for (version, _), python in sorted(versions.interpreters().items()):
        if ".".join(version.split(".")[:2]) not in versions.SUPPORTED:
            continue
        command = [python, os.path.abspath(__file__), "--measure"]
        result = subprocess.run(command, env=environment, capture_output=True, text=True)
        if result.returncode != 0:
            sys.exit("Python %s: %s" % (version, result.stderr))
        cells = iter(result.stdout.split())
        print("%-9s" % version + "".join("%14s%10s" % (a, next(cells)) for a in cells), flush=True)


if __name__ == "__main__":
    if "--measure" in sys.argv:
        measure()
    elif len(sys.argv) == 2:
        main()
    else:
        sys.exit(__doc__)
