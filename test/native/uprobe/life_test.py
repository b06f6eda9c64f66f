"""Processes that make processes, run other programs, load libraries late, live in namespaces."""

import shutil

from tracer import *  # noqa: F403

LATE = """
import ctypes, sys
print("ready", flush=True)
sys.stdin.readline()
driver = ctypes.CDLL("libcuda.so.1")
context, address = ctypes.c_void_p(), ctypes.c_uint64()
assert driver.cuInit(0) == 0
assert driver.cuDevicePrimaryCtxRetain(ctypes.byref(context), 0) == 0
assert driver.cuCtxSetCurrent(context) == 0
for i in range(10):
    assert driver.cuMemAlloc_v2(ctypes.byref(address), ctypes.c_size_t(4096)) == 0
"""


def allocations(log):
    return len(log.of_kind(GMT_DEVICE_ALLOC))


class Life(Uprobed):
    stacks = LONG

    def test_forks_are_followed(self):
        done = self.record_program(BURST, 4, 2, 200)
        pids = {int(line.split()[0]) for line in done.stdout.splitlines()}
        found = logs(self.trace)
        self.assertEqual({log.pid for log in found}, pids)
        self.assertEqual(len(pids), 4)
        for log in found:
            self.assertEqual((allocations(log), log.ended, log.lost), (200, 1, {}))
        parent = next(log for log in found if log.parent_pid == os.getpid())
        self.assertEqual({log.parent_pid for log in found if log != parent}, {parent.pid})
        told = {line["pid"] for line in self.said if line["type"] == "process"}
        self.assertEqual(told, pids - {parent.pid})
        self.assertEqual({line["pid"] for line in self.said if line["type"] == "exit"}, pids)

    def test_without_children_forks_are_not_followed(self):
        done = self.record_program(BURST, 3, 1, 100, options=())
        self.assertEqual(len(done.stdout.splitlines()), 3)
        self.assertEqual(allocations(only_log(self.trace)), 100)

    def test_programs_that_are_run_are_followed(self):
        script = "%s 1 1 50; %s 1 1 60; exec %s 1 1 70" % (BURST, BURST, BURST)
        self.record_program("/bin/sh", "-c", script)
        found = logs(self.trace)
        self.assertEqual(sorted(allocations(log) for log in found), [50, 60, 70])
        self.assertEqual(len({log.pid for log in found}), 3)
        for log in found:
            self.assertEqual((log.command[0], log.ended), (BURST, 1))

    def test_a_process_that_becomes_another_program_gets_another_log(self):
        again = "import os; os.execv(%r, [%r, '1', '1', '30'])" % (BURST, BURST)
        self.record_program(sys.executable, "-c", LATE.replace("sys.stdin.readline()", "") + again)
        found = logs(self.trace)
        self.assertEqual(len({log.pid for log in found}), 1)
        self.assertEqual([(allocations(log), log.command[0]) for log in sorted(found, key=lambda log: log.path)],
                         [(10, sys.executable), (30, BURST)])  # fmt: skip

    def test_a_killed_process_did_not_end_in_order(self):
        script = "import os, signal\nos.kill(os.getpid(), signal.SIGKILL)\n"
        self.record_program(sys.executable, "-c", LATE.replace("sys.stdin.readline()", "") + script, status=-9)
        log = only_log(self.trace)
        self.assertEqual((allocations(log), log.ended), (10, 0))
        self.assertEqual(log.of_kind(GMT_PROCESS_ENDING), [])

    def test_a_library_that_comes_later(self):
        """An attachment follows it by itself, and stops nobody: what is called before the probes are in place is missed."""
        program = self.start(sys.executable, "-c", LATE.replace("assert driver.cuInit", "sys.stdin.readline()\nassert driver.cuInit", 1))
        self.assertEqual(program.stdout.readline(), "ready\n")
        tracer = Tracer(self, program.pid, "--wait-libraries")
        self.assertEqual(tracer.said[0]["libraries"], [])
        program.stdin.write("load\n")
        program.stdin.flush()
        self.assertTrue(tracer.hear("library")["path"].endswith("libcuda.so.1"))
        out, error = program.communicate("go\n", timeout=LIMIT)
        self.assertEqual(program.returncode, 0, error)
        tracer.end()
        self.assertEqual(allocations(only_log(self.trace)), 10)

    def test_a_second_driver_while_attached(self):
        """The same file by another name is one library; a copy of it is another."""
        copy = os.path.join(self.folder, "libcuda.so.9")
        script = LATE.replace("driver =", "import shutil\nshutil.copy(%r, %r)\nctypes.CDLL('libcuda.so.1')\nprint('loaded', flush=True)\nsys.stdin.readline()\ndriver = ctypes.CDLL(%r)\nsys.stdin.readline()\nold ="
                              % (os.path.join(SIMULATOR, "libcuda.so.1"), copy, copy)).replace("old =", "#")  # fmt: skip
        program = self.start(sys.executable, "-c", script)
        self.assertEqual(program.stdout.readline(), "ready\n")
        program.stdin.write("go\n")
        program.stdin.flush()
        self.assertEqual(program.stdout.readline(), "loaded\n")
        tracer = Tracer(self, program.pid)
        program.stdin.write("load\n")
        program.stdin.flush()
        self.assertEqual(tracer.hear("library")["path"], copy)
        out, error = program.communicate("go\n", timeout=LIMIT)
        self.assertEqual(program.returncode, 0, error)
        tracer.end()
        self.assertEqual(allocations(only_log(self.trace)), 10)

    def test_no_call_of_a_started_program_is_missed(self):
        """Twenty programs that call the driver at once after it is mapped."""
        script = 'for i in 1 2 3 4 5 6 7 8 9 10; do "$0" 1 1 3 & done; wait'
        self.record_program("/bin/sh", "-c", script, BURST)
        self.assertEqual([allocations(log) for log in logs(self.trace)], [3] * 10)

    def test_the_python_of_a_process(self):
        self.record_program(sys.executable, "-c", LATE.replace("sys.stdin.readline()", ""), stacks=True)
        log = only_log(self.trace)
        self.assertEqual(log.python_version, sys.hexversion)
        for event in log.of_kind(GMT_DEVICE_ALLOC):
            self.assertIn(event.stack, log.stacks)
        self.record_program(sys.executable, "-c", LATE.replace("sys.stdin.readline()", ""), options=("--no-stacks",), stacks=True)
        other = next(found for found in logs(self.trace) if found.path != log.path)
        self.assertEqual({event.stack for event in other.events}, {0})


    def test_stacks_where_memory_may_not_be_read(self):
        """The interpreter is found by what BPF reads."""
        program = self.start(sys.executable, "-c", LATE.replace("print(", "ctypes.CDLL('libcuda.so.1'); print(", 1))
        self.assertEqual(program.stdout.readline(), "ready\n")
        forbid = [sys.executable, os.path.join(HERE, "forbid_reading.py")]
        tracer = Tracer(self, program.pid, prefix=forbid, stacks=True)
        program.communicate("go\n", timeout=LIMIT)
        tracer.end()
        log = only_log(self.trace)
        self.assertEqual(log.python_version, sys.hexversion)
        self.assertEqual(allocations(log), 10)
        for event in log.of_kind(GMT_DEVICE_ALLOC):
            self.assertIn(event.stack, log.stacks)


class Namespaces(Uprobed):
    stacks = LONG

    def burst_in(self, *unshare):
        """A burst in namespaces of its own, held before it starts: (the unshare program, pid seen from here)."""
        program = self.start(*unshare, BURST, 1, 2, 100, 1)
        self.assertEqual(program.stdout.readline(), "ready\n")
        with open("/proc/%d/task/%d/children" % (program.pid, program.pid)) as children:
            return program, int(children.read().split()[0])

    def test_a_process_in_a_pid_namespace(self):
        program, pid = self.burst_in("unshare", "--pid", "--fork", "--mount-proc")
        tracer = Tracer(self, pid)
        out, _ = program.communicate("go\n", timeout=LIMIT)
        self.assertEqual(out, "1 100\n")
        tracer.end()
        log = only_log(self.trace)
        self.assertEqual((log.pid, allocations(log), len(log.threads)), (pid, 100, 3))

    def test_the_tracer_in_a_pid_namespace_too(self):
        said = os.path.join(self.folder, "said")
        script = ('("$1" 1 2 100 1 < "$3" > "$4" & until grep -q ready "$4"; do sleep 0.01; done; '
                  '"$0" attach --pid $! --directory "$2" %s < /dev/null)' % ("" if LONG else "--no-stacks"))  # fmt: skip
        fifo = os.path.join(self.folder, "fifo")
        os.mkfifo(fifo)
        holder = self.start(sys.executable, "-c", "import sys; f = open(%r, 'w'); sys.stdin.readline(); f.write('go\\n')" % fifo)
        both = self.start("unshare", "--pid", "--fork", "--mount-proc", "/bin/sh", "-c",
                          script, UPROBE, BURST, self.trace, fifo, said)  # fmt: skip
        self.assertEqual(json.loads(both.stdout.readline())["type"], "ready", both.stderr)
        holder.communicate("\n", timeout=LIMIT)
        both.communicate(timeout=LIMIT)
        log = only_log(self.trace)
        self.assertLess(log.pid, 20)
        self.assertEqual((allocations(log), len(log.threads), log.command[0]), (100, 3, BURST))

    def test_a_process_with_another_root(self):
        """As in a container: its libcuda lies where nothing lies here."""
        root = os.path.join(self.folder, "root")
        script = (
            "mkdir -p {0}; mount -t tmpfs none {0}; cd {0}; mkdir lib lib64 usr work driver proc old; "
            "for d in lib lib64 usr; do mount --rbind /$d $d; done; cp {1}/libcuda.so.1 driver; cp {2} work/burst; "
            "pivot_root . old; exec env LD_LIBRARY_PATH=/driver /work/burst 1 1 40 1"
        ).format(root, SIMULATOR, BURST)
        program = self.start("unshare", "--mount", "/bin/sh", "-c", script)
        self.assertEqual(program.stdout.readline(), "ready\n", program.poll())
        tracer = Tracer(self, program.pid)
        self.assertEqual(tracer.said[0]["libraries"], ["/driver/libcuda.so.1"])
        program.communicate("go\n", timeout=LIMIT)
        tracer.end()
        self.assertEqual(allocations(only_log(self.trace)), 40)

    def test_a_library_that_was_deleted_since(self):
        folder = os.path.join(self.folder, "gone")
        os.mkdir(folder)
        shutil.copy(os.path.join(SIMULATOR, "libcuda.so.1"), folder)
        program = self.start(BURST, 1, 1, 40, 1, simulator=folder)
        self.assertEqual(program.stdout.readline(), "ready\n")
        os.unlink(os.path.join(folder, "libcuda.so.1"))
        tracer = Tracer(self, program.pid)
        program.communicate("go\n", timeout=LIMIT)
        tracer.end()
        self.assertEqual(allocations(only_log(self.trace)), 40)


if __name__ == "__main__":
    main()
