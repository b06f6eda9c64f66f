"""A burst under the uprobe tracer: uprobe_burst.py TRACER BURST FOLDER-OF-LIBCUDA [--processes 4] [--threads 4] [--pairs 1000000]
[--directory DIR] [tracer's options…]

PAIRS is for each process, in all of its threads together. Needs root, and room for 200 bytes an event in the folder. Exit status 1:
an event is missing."""

import argparse
import glob
import os
import struct
import subprocess
import sys
import tempfile
import time


def cpu_seconds(pid):
    with open("/proc/%d/schedstat" % pid) as stat:
        return int(stat.read().split()[0]) / 1e9


def read_header(path):
    """Events (marks left out), and what was lost."""
    with open(path, "rb") as log:
        head = log.read(4096)
    return struct.unpack_from("<Q", head, 136)[0] - 1 - 2, sum(struct.unpack_from("<16Q", head, 256))


def main():
    parser = argparse.ArgumentParser()
    for name in ("tracer", "burst", "driver"):
        parser.add_argument(name)
    parser.add_argument("--processes", type=int, default=4)
    parser.add_argument("--threads", type=int, default=4)
    parser.add_argument("--pairs", type=int, default=1000000)
    parser.add_argument("--directory", default="/dev/shm")
    options, more = parser.parse_known_args()
    words = [options.burst, str(options.processes), str(options.threads), str(options.pairs), "1"]
    environment = dict(os.environ, LD_LIBRARY_PATH=options.driver)
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "universal_newlines": True}
    with tempfile.TemporaryDirectory(dir=options.directory) as folder:
        program = subprocess.Popen(words, env=environment, **pipes)
        program.stdout.readline()
        attach = [options.tracer, "attach", "--pid", str(program.pid), "--directory", folder, "--children", *more]
        tracer = subprocess.Popen(attach, **pipes)
        ready = tracer.stdout.readline()
        if "ready" not in ready:
            sys.exit(ready)
        began, used, busy = time.monotonic(), cpu_seconds(tracer.pid), 0
        program.stdin.write("go\n")
        program.stdin.close()
        while tracer.poll() is None:  # it ends with the program
            try:
                busy = cpu_seconds(tracer.pid) - used
            except (OSError, IndexError):
                break
            time.sleep(0.02)
        program.wait()
        seconds = time.monotonic() - began
        last = tracer.stdout.read().splitlines()[-1]
        found = [read_header(path) for path in glob.glob(folder + "/*.gmtlog")]
    wanted = 2 * options.pairs // options.threads * options.threads * options.processes
    kept, lost = (sum(column) for column in zip(*found))
    print("| processes | threads | pairs each | events | kept | lost | s | million events/s | tracer's CPU, µs an event |")
    print("|---|---|---|---|---|---|---|---|---|")
    print("| %d | %d | %d | %d | %d | %d | %.1f | %.2f | %.3f |" % (options.processes, options.threads, options.pairs, wanted,
          kept, lost, seconds, wanted / seconds / 1e6, busy * 1e6 / wanted))  # fmt: skip
    print(last)
    sys.exit(kept + lost != wanted or lost != 0)


main()
