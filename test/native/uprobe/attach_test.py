"""Attaching to what already runs, detaching, and every way in which it can fail."""

import ctypes
import re
import shutil
import struct
import threading

from tracer import *  # noqa: F403

BREAKPOINT = 0xCC
PYTHON = shutil.which("python3", path="/usr/bin:/usr/local/bin") or sys.executable  # one that any user may run


def symbol_place(library, name):
    """Where a function begins: its offset from the library's begin in memory, and its first bytes in the file."""
    handle = ctypes.CDLL(library)
    address = ctypes.cast(getattr(handle, name), ctypes.c_void_p).value
    base = min(begin for begin, _ in mappings("self", library))
    with open(library, "rb") as file:
        file.seek(address - base)
        return address - base, file.read(16)


def mappings(pid, library):
    with open("/proc/%s/maps" % pid) as maps:
        for line in maps:
            if os.path.realpath(library) in line:
                yield tuple(int(part, 16) for part in line.split()[0].split("-"))


class Running(Uprobed):
    stacks = LONG

    def start_burst(self, processes=1, threads=1, pairs=100, rounds=1, **environment):
        program = self.start(BURST, processes, threads, pairs, rounds, **environment)
        self.assertEqual(program.stdout.readline(), "ready\n")
        return program

    def next_round(self, program):
        program.stdin.write("go\n")
        program.stdin.flush()
        return program.stdout.readline()

    def finish(self, program, status=0):
        out, error = program.communicate("go\n", timeout=LIMIT)
        self.assertEqual(program.returncode, status, error)
        return out


class Attach(Running):
    def test_attach_and_end_of_the_program(self):
        program = self.start_burst(threads=4, pairs=1000)
        tracer = Tracer(self, program.pid, stacks=True)
        ready = tracer.said[0]
        self.assertEqual(ready["how"], "uprobe_multi")
        self.assertEqual([os.path.basename(path) for path in ready["libraries"]], ["libcuda.so.1"])
        self.assertGreater(ready["probes"], 90)
        self.finish(program)
        summary = tracer.end()
        log = only_log(self.trace)
        self.assertEqual(log.pid, program.pid)
        self.assertEqual(summary, {"type": "ended", "events": len(log.events), "lost": 0})
        self.assertIn({"type": "exit", "pid": program.pid}, tracer.said)
        self.assertEqual(log.command[0], BURST)
        self.assertEqual((log.driver_source, log.simulated, log.ended, log.lost), (GMT_DRIVER_UPROBE, 1, 1, {}))
        self.assertEqual(len(log.of_kind(GMT_DEVICE_ALLOC)), 1000)
        self.assertEqual(len(log.of_kind(GMT_FREE)), 1000)
        self.assertEqual([event.sequence for event in log.events], list(range(1, log.next_sequence)))
        self.assertEqual(log.events[0].kind, GMT_RECORDING_START)
        self.assertEqual(log.events[-1].kind, GMT_PROCESS_ENDING)
        self.assertIn(GMT_NOTE_ATTACHED, [code for code, _ in log.notes])
        times = [event.ticks for event in log.events]
        self.assertEqual(times, sorted(times))
        with open("/proc/uptime") as uptime:
            self.assertLess(abs(times[-1] / 1e9 - float(uptime.read().split()[0])), 30)

    def test_all_threads_are_seen_and_named(self):
        program = self.start_burst(threads=4, pairs=400)
        tracer = Tracer(self, program.pid)
        self.finish(program)
        tracer.end()
        log = only_log(self.trace)
        self.assertEqual(len(log.threads), 5)
        self.assertEqual(log.threads[0], (program.pid, "uprobe_burst"))
        self.assertEqual(len({tid for tid, _ in log.threads.values()}), 5)
        by_thread = {thread: 0 for thread in log.threads}
        for event in log.of_kind(GMT_DEVICE_ALLOC):
            by_thread[event.thread] += 1
        self.assertEqual(sorted(by_thread.values()), [0, 100, 100, 100, 100])

    def test_perf_probes(self):
        for options in ((), ("--children",)):
            program = self.start_burst(threads=4, pairs=400)
            tracer = Tracer(self, program.pid, "--perf-probes", *options)
            self.assertEqual(tracer.said[0]["how"], "perf")
            self.finish(program)
            tracer.end()
            log = only_log(self.trace)
            found = len(log.of_kind(GMT_DEVICE_ALLOC)), len(log.of_kind(GMT_FREE)), len(log.threads), log.lost
            self.assertEqual(found, (400, 400, 5, {}))
            os.unlink(log.path)

    def test_other_processes_are_not_recorded(self):
        other, program = self.start_burst(pairs=50), self.start_burst(pairs=70)
        tracer = Tracer(self, program.pid, "--children")
        self.finish(other)
        self.finish(program)
        tracer.end()
        log = only_log(self.trace)
        self.assertEqual((log.pid, len(log.of_kind(GMT_DEVICE_ALLOC))), (program.pid, 70))

    def test_detach_by_signal_and_by_the_end_of_input(self):
        for way in (signal.SIGINT, signal.SIGTERM, None):
            program = self.start_burst()
            tracer = Tracer(self, program.pid)
            if way:
                tracer.process.send_signal(way)
                last = tracer.end()
            else:
                last = tracer.detach()
            self.assertEqual((last["type"], last["lost"]), ("ended", 0))
            self.finish(program)
            log = only_log(self.trace)
            self.assertEqual([event.kind for event in log.events], [GMT_RECORDING_START, GMT_RECORDING_STOP])
            self.assertEqual(log.ended, 0)
            os.unlink(log.path)

    def test_nothing_is_left_behind(self):
        offset, code = symbol_place(os.path.join(SIMULATOR, "libcuda.so.1"), "cuMemAlloc_v2")
        for way in ("detach", "kill"):
            program = self.start_burst(pairs=500)
            base = min(begin for begin, _ in mappings(program.pid, os.path.join(SIMULATOR, "libcuda.so.1")))
            tracer = Tracer(self, program.pid)
            self.assertIn(BREAKPOINT, self.memory(program.pid, base + offset, len(code)))
            maps = self.maps_of(tracer.process.pid)
            self.assertTrue(maps and maps <= self.all_maps())
            if way == "detach":
                tracer.detach()
            else:
                tracer.stop()
            wait_until("the probes' end", lambda: self.memory(program.pid, base + offset, len(code)) == code)
            wait_until("the end of its BPF programs", lambda: not maps & self.all_maps())
            out = self.finish(program)
            self.assertEqual(out, "%d 500\n" % program.pid)

    def maps_of(self, pid):
        """Numbers of the BPF maps that a process has open."""
        folder, found = "/proc/%d/fdinfo" % pid, set()
        for name in os.listdir(folder):
            with open(os.path.join(folder, name)) as about:
                found.update(re.findall(r"^map_id:\t(\d+)$", about.read(), re.MULTILINE))
        return found

    def all_maps(self):
        """Numbers of all BPF maps of this machine."""
        bpftool = shutil.which("bpftool", path=os.environ["PATH"] + ":/usr/sbin:/sbin")
        shown = subprocess.run([bpftool, "map", "show"], stdout=subprocess.PIPE, universal_newlines=True).stdout
        return set(re.findall(r"^(\d+): ", shown, re.MULTILINE))

    def memory(self, pid, address, count):
        with open("/proc/%d/mem" % pid, "rb") as memory:
            memory.seek(address)
            return memory.read(count)

    def test_two_tracers_at_once(self):
        program = self.start_burst(pairs=300)
        second = os.path.join(self.folder, "second")
        os.mkdir(second, 0o700)
        tracers = [Tracer(self, program.pid), Tracer(self, program.pid, directory=second)]
        self.finish(program)
        for tracer, folder in zip(tracers, (self.trace, second)):
            tracer.end()
            self.assertEqual(len(only_log(folder).of_kind(GMT_DEVICE_ALLOC)), 300)

    def test_recording_is_switched(self):
        self.write_control(1, 1)
        program = self.start_burst(pairs=10, rounds=3)
        tracer = Tracer(self, program.pid)
        self.next_round(program)
        for recording, generation in ((0, 2), (1, 3)):
            self.write_control(recording, generation)
            now = GMT_RECORDING_START if recording else GMT_RECORDING_STOP
            wait_until("the switch", lambda: only_log(self.trace).events[-1].kind == now)
            self.next_round(program)
        self.finish(program)
        tracer.end()
        kinds = [event.kind for event in only_log(self.trace).events if event.kind != GMT_PROCESS_ENDING]
        begin, stop = [GMT_RECORDING_START] + [GMT_DEVICE_ALLOC, GMT_FREE] * 10, [GMT_RECORDING_STOP]
        self.assertEqual(kinds, begin + stop + begin)

    def test_the_log_can_be_read_while_it_grows(self):
        program = self.start_burst(pairs=10, rounds=2)
        tracer = Tracer(self, program.pid)
        self.next_round(program)
        wait_until("events in the log", lambda: len(only_log(self.trace).of_kind(GMT_DEVICE_ALLOC)) == 10)
        self.finish(program)
        tracer.end()

    def test_budget(self):
        program = self.start_burst(pairs=50000)
        tracer = Tracer(self, program.pid, "--budget-bytes", str(1 << 20))
        self.finish(program)
        summary = tracer.end()
        log = only_log(self.trace)
        self.assertLessEqual(os.path.getsize(log.path), 65536 + (1 << 20))
        kept = len(log.of_kind(GMT_DEVICE_ALLOC, GMT_FREE))
        lost = sum(log.lost.values())
        self.assertEqual(summary["lost"], lost)
        self.assertEqual(set(log.lost), {"GMT_LOST_BUDGET"})
        self.assertIn(kept + lost, (100000, 100001))  # the mark at its end is lost as well

    def test_a_limit_of_file_sizes_is_a_counted_loss(self):
        program = self.start_burst(pairs=50000)
        tracer = Tracer(self, program.pid, prefix=("prlimit", "--fsize=%d" % (1 << 20)))
        self.finish(program)
        summary = tracer.end()
        log = only_log(self.trace)
        kept = len(log.of_kind(GMT_DEVICE_ALLOC, GMT_FREE))
        self.assertEqual(set(log.lost), {"GMT_LOST_FILE_LIMIT"})
        self.assertIn(kept + summary["lost"], (100000, 100001))


class Problems(Running):
    def fails(self, code, pid, *options, prefix=(), text="", **more):
        tracer = Tracer(self, pid, *options, wait=False, prefix=prefix, **more)
        last = tracer.end(status=2)
        self.assertEqual((last["type"], last["code"]), ("error", code), last)
        self.assertIn(text, last["message"])
        self.assertEqual(len(tracer.said), 1)
        self.assertNotIn("\n", last["message"])
        return last["message"]

    def test_no_process(self):
        self.fails("no-process", 4194305 * 8, text="33554440")
        program = self.start("true")
        wait_until("its end", lambda: state_of(program.pid) == "Z")
        self.fails("no-process", program.pid)

    def test_a_thread_is_no_process(self):
        ids = []
        blocked = threading.Event()
        thread = threading.Thread(target=lambda: (ids.append(threading.get_native_id()), blocked.wait()))
        thread.start()
        self.addCleanup(thread.join)
        self.addCleanup(blocked.set)
        wait_until("a thread", lambda: ids)
        self.fails("no-process", ids[0])

    def test_no_libcuda(self):
        self.fails("no-libcuda", self.start("sleep", "100").pid)
        self.fails("no-libcuda", 2)  # a thread of the kernel

    def test_directory(self):
        program = self.start_burst()
        self.fails("directory", program.pid, directory=os.path.join(self.folder, "none"), text="none")
        self.fails("directory", program.pid, directory=__file__)

    def test_arguments(self):
        for words in (["--pid", "x"], ["--nothing"], ["--ring-bytes", "5"], ["--ring-bytes"], ["--pid", "0"]):
            with self.subTest(words):
                self.fails("bad-arguments", 1, *words)
        done = subprocess.run([UPROBE], stdout=subprocess.PIPE)
        self.assertEqual((done.returncode, json.loads(done.stdout)["code"]), (2, "bad-arguments"))

    def test_ended(self):
        """It ends while the programs are being loaded: then there is an error, or an attachment that ends at once."""
        seen = set()
        for delay in (0.02, 0.05, 0.1, 0.2, 0.3, None):
            program = self.start_burst()
            tracer = Tracer(self, program.pid, wait=delay is None)
            time.sleep(delay or 0)
            program.kill()
            program.wait()
            tracer.hear("no such type")
            tracer.process.wait()
            last = tracer.said[-1]
            seen.add(last.get("code", last["type"]))
        self.assertLessEqual(seen, {"ended", "no-process"})
        self.assertIn("ended", seen)

    def as_user(self, *command, capabilities=""):
        """Words that run a command as a user without rights, or with these alone."""
        sets = ["--inh-caps=" + capabilities, "--ambient-caps=" + capabilities] if capabilities else []
        return ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", *sets, *command]

    def open_to_all(self):
        os.chmod(self.folder, 0o755)
        os.chown(self.trace, 65534, 65534)

    def test_no_privilege(self):
        self.open_to_all()
        program = self.start(*self.as_user("sleep", "100"))
        wait_until("its start", lambda: state_of(program.pid) == "S")
        message = self.fails("no-privilege", program.pid, prefix=self.as_user())
        self.assertIn("cap_bpf,cap_perfmon", message)
        self.fails("no-privilege", program.pid, prefix=self.as_user(capabilities="+perfmon"))

    def test_not_yours(self):
        self.open_to_all()
        program = self.start_burst()
        self.fails("not-yours", program.pid, prefix=self.as_user())
        self.fails("not-yours", program.pid, prefix=self.as_user(capabilities="+bpf,+perfmon"))

    def test_a_user_with_the_two_capabilities(self):
        self.open_to_all()
        program = self.start(*self.as_user(BURST, "1", "2", "100", "1"))
        self.assertEqual(program.stdout.readline(), "ready\n")
        tracer = Tracer(self, program.pid, "--children", prefix=self.as_user(capabilities="+bpf,+perfmon"))
        self.finish(program)
        tracer.end()
        log = only_log(self.trace)
        self.assertEqual(len(log.of_kind(GMT_DEVICE_ALLOC)), 100)
        self.assertEqual(os.stat(log.path).st_uid, 65534)

    def test_a_file_with_the_two_capabilities(self):
        """As after setcap: for the user's own processes, and with stacks."""
        self.open_to_all()
        own = shutil.copy(UPROBE, self.folder)
        setcap = shutil.which("setcap", path=os.environ["PATH"] + ":/usr/sbin:/sbin")
        if not setcap or subprocess.run([setcap, "cap_bpf,cap_perfmon+ep", own], stderr=subprocess.DEVNULL).returncode:
            self.skipTest("capabilities of files cannot be set here")
        script = (
            "import ctypes, sys; f = ctypes.CDLL('libcuda.so.1'); print('ready', flush=True); sys.stdin.readline();"
            "a = ctypes.c_uint64(); f.cuInit(0); f.cuMemAlloc_v2(ctypes.byref(a), ctypes.c_size_t(1))"
        )
        program = self.start(*self.as_user(PYTHON, "-c", script))
        self.assertEqual(program.stdout.readline(), "ready\n")
        tracer = Tracer(self, program.pid, program=own, prefix=self.as_user(), stacks=True)
        self.finish(program)
        tracer.end()
        log = only_log(self.trace)
        events = log.of_kind(GMT_DEVICE_ALLOC)
        self.assertEqual(len(events), 1)
        self.assertIn(events[0].stack, log.stacks)
        self.fails("not-yours", self.start_burst().pid, prefix=self.as_user(), program=own)

    def test_as_root_files_belong_to_the_owner_of_the_folder(self):
        self.open_to_all()
        os.chmod(self.trace, 0o700)
        for program in (self.start_burst(), self.start(*self.as_user(BURST, "1", "1", "100", "1"))):
            tracer = Tracer(self, program.pid)
            with open("/proc/%d/status" % tracer.process.pid) as status:
                facts = dict(line.split(":\t", 1) for line in status.read().splitlines())
            self.assertEqual(facts["Uid"].split(), ["65534"] * 4)
            allowed = 1 << 39 | 1 << 38 | 1 << 19 | 1 << 40 | 1 << 2 | 1 << 5
            for name in ("CapPrm", "CapEff"):
                self.assertEqual(int(facts[name], 16) & ~allowed, 0, name)
            self.assertEqual(int(facts["CapBnd"], 16) | int(facts["CapInh"], 16) | int(facts["CapAmb"], 16), 0)
            self.assertEqual(facts["NoNewPrivs"], "1")
            self.finish(program)
            tracer.end()
        found = logs(self.trace)
        self.assertEqual([len(log.of_kind(GMT_DEVICE_ALLOC)) for log in found], [100, 100])
        self.assertEqual({(os.stat(log.path).st_uid, os.stat(log.path).st_gid) for log in found}, {(65534, 65534)})


class SelfTest(Uprobed):
    def run_self_test(self, *prefix):
        done = subprocess.run([*prefix, UPROBE, "self-test"], stdout=subprocess.PIPE, universal_newlines=True)
        return done.returncode, json.loads(done.stdout)

    def test_with_rights(self):
        status, answer = self.run_self_test()
        self.assertEqual(status, 0)
        self.assertEqual({key: answer[key] for key in ("bpf", "btf", "privileged")}, dict.fromkeys(("bpf", "btf", "privileged"), True))
        self.assertTrue(answer["uprobeMulti"] or answer["perfUprobe"])

    def test_without_rights(self):
        status, answer = self.run_self_test("setpriv", "--reuid=65534", "--clear-groups", "--regid=65534")
        self.assertEqual(status, 1)
        self.assertEqual((answer["privileged"], answer["uprobeMulti"], answer["perfUprobe"]), (False, False, False))
        self.assertIn("CAP_BPF", answer["message"])


if __name__ == "__main__":
    main()
