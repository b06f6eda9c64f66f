"""Many events on the simulated GPU: `many.py [--steps N] [--lines N] [--kept N] [--paced EVENTS_PER_SECOND]`.

Each step allocates once at each of `lines` lines and frees what the step before made; of each step `kept` blocks stay.
With 1,000 steps, 5,000 lines and 100 kept: 10 million events, 100,000 live blocks, 5,000 sites.
"""

import argparse
import os
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "workloads"))

import gpu  # noqa: E402

FUNCTIONS_A_FILE = 500


def write_functions(folder, lines):
    """Modules whose functions allocate, each at a line of its own; returns the functions."""
    sys.path.insert(0, folder)
    functions = []
    for first in range(0, lines, FUNCTIONS_A_FILE):
        name = "layers_%02d" % (first // FUNCTIONS_A_FILE)
        count = min(FUNCTIONS_A_FILE, lines - first)
        with open(os.path.join(folder, name + ".py"), "w") as file:
            file.write("from gpu import empty\n")
            for i in range(count):
                file.write("\n\ndef forward_%d():\n    return empty(%d)\n" % (i, 512 + (first + i) % 64 * 2048))
        module = __import__(name)
        functions += [getattr(module, "forward_%d" % i) for i in range(count)]
    return functions


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=1000)
    parser.add_argument("--lines", type=int, default=5000)
    parser.add_argument("--kept", type=int, default=100)
    parser.add_argument("--paced", type=float, default=0, help="events a second; 0: as fast as it goes")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        functions = write_functions(folder, options.lines)
        kept = []
        begun = time.monotonic()
        for step in range(options.steps):
            blocks = [function() for function in functions]
            first = step * options.kept % options.lines
            kept += blocks[first : first + options.kept]
            del blocks
            if options.paced:
                ahead = (step + 1) * 2 * options.lines / options.paced - (time.monotonic() - begun)
                time.sleep(max(0, ahead))
        print("%d blocks kept, %.1f s" % (len(kept), time.monotonic() - begun), flush=True)
    os._exit(0)  # what is kept stays alive to the end


if __name__ == "__main__":
    main()
