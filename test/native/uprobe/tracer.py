"""Runs programs under the uprobe tracer. Needs root: without it a test file ends with status 77, which is "skipped"."""

import json
import os
import select
import signal
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
INJECT = os.path.join(HERE, "..", "inject")
sys.path.append(INJECT)

import traced  # noqa: E402
from log_reader import *  # noqa: E402, F403
from long_run import LONG, in_long  # noqa: E402, F401

UPROBE = os.environ.get("GMT_UPROBE", "")  # gpu-memtrace-uprobe
BURST = os.environ.get("GMT_BURST", "")  # uprobe_burst
SIMULATOR = traced.SIMULATOR
SKIPPED = 77
LIMIT = 300  # seconds after which something hangs, however busy the machine is


def state_of(pid):
    try:
        with open("/proc/%d/stat" % pid) as stat:
            return stat.read().rsplit(")", 1)[1].split()[0]
    except OSError:
        return "gone"


def wait_until(what, condition, seconds=LIMIT):
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "it never came: " + what
        time.sleep(0.005)


class Tracer:
    """One gpu-memtrace-uprobe. `said`: its lines so far."""

    def __init__(self, test, pid, *options, program=UPROBE, directory=None, wait=True, prefix=(), stacks=None, **popen):
        command = [*prefix, program, "attach", "--pid", str(pid), "--directory", directory or test.trace, *options]
        if not (test.stacks if stacks is None else stacks):
            command.append("--no-stacks")
        self.process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, universal_newlines=True,
            **popen,
        )  # fmt: skip
        test.addCleanup(self.stop)
        self.said = []
        if wait:
            assert self.hear("ready"), (self.said, self.process.stderr.read())

    def hear(self, kind, seconds=LIMIT):
        """The next line of this type, or None when it ended without one."""
        while True:
            assert select.select([self.process.stdout], [], [], seconds)[0], "the tracer says nothing: %s" % self.said
            text = self.process.stdout.readline()
            if not text:
                return None
            self.said.append(json.loads(text))
            if self.said[-1]["type"] == kind:
                return self.said[-1]

    def end(self, status=0):
        """Waits for its end; gives its last line."""
        self.hear("no such type")
        assert self.process.wait(LIMIT) == status, (self.process.returncode, self.process.stderr.read())
        return self.said[-1]

    def detach(self):
        self.process.stdin.close()
        return self.end()

    def stop(self):
        if self.process.poll() is None:
            self.process.kill()
        for pipe in (self.process.stdin, self.process.stdout, self.process.stderr):
            pipe.close()
        self.process.wait()


class Uprobed(traced.Traced):
    # Without stacks the kernel checks a fifth of the tracer's programs: LONG for tests that look at none.
    stacks = True

    def program_environment(self, simulator=SIMULATOR, **more):
        return self.environment(traced=False, preload=False, simulator=simulator, **more)

    def start(self, *command, **environment):
        """A program, as it is."""
        process = subprocess.Popen(
            [str(part) for part in command], env=self.program_environment(**environment), stdin=subprocess.PIPE,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, universal_newlines=True, cwd=self.folder,
        )  # fmt: skip
        self.addCleanup(self.end_program, process)
        return process

    def start_held(self, *command, **environment):
        """A program that waits for SIGCONT before it does anything."""
        process = self.start("/bin/sh", "-c", 'kill -STOP $$; exec "$@"', "sh", *command, **environment)
        wait_until("the program's stop", lambda: state_of(process.pid) == "T")
        return process

    def end_program(self, process):
        if process.poll() is None:
            process.send_signal(signal.SIGCONT)
            process.kill()
        process.communicate()

    def record_program(self, *command, options=("--children",), status=0, stacks=None, **environment):
        """Runs a program under the tracer from its begin to its end."""
        program = self.start_held(*command, **environment)
        tracer = Tracer(self, program.pid, "--wait-libraries", *options, stacks=stacks)
        program.send_signal(signal.SIGCONT)
        out, error = program.communicate(timeout=LIMIT)
        self.assertEqual(program.returncode, status, "%s\n%s\n%s" % (command, out[-2000:], error[-2000:]))
        self.summary = tracer.end()
        self.assertEqual(self.summary["type"], "ended", tracer.said)
        self.said = tracer.said
        return subprocess.CompletedProcess(command, program.returncode, out, error)


def main():
    if os.geteuid() != 0 or not os.path.exists(UPROBE):
        print("skipped: the uprobe tracer %s" % ("needs root" if os.path.exists(UPROBE) else "was not built"))
        sys.exit(SKIPPED)
    traced.main()
