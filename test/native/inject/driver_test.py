"""The driver layer: each call of the table as the log tells it, and what is recorded where CUPTI is not to be had."""

import json
import os
import shutil
import sys

from log_reader import *  # noqa: F403
from traced import HERE, PROGRAM, PROGRAMS, SIMULATOR, Traced, calls, main

CALLS = calls()
NAMES = sorted(CALLS, key=lambda name: CALLS[name][0])
WORKLOADS = os.path.join(HERE, "..", "..", "workloads")
DRIVER_CALLS = os.path.join(WORKLOADS, "driver_calls.py")
FREES = {"GMT_" + name for name in "FREE ARRAY_FREE HOST_FREE HOST_UNREGISTER PHYSICAL_RELEASE IMPORT_CLOSE UNMAP"
         " ADDRESS_FREE POOL_DESTROY".split()}  # fmt: skip
ENDS = ("cuCtxDestroy_v2", "cuDevicePrimaryCtxReset_v2", "cuDevicePrimaryCtxRelease_v2")
CONTEXT_ENDS = (GMT_CONTEXT_DESTROY, GMT_DEVICE_RESET)


def parsed(text):
    return [json.loads(line) for line in text.splitlines()]


def shape(text):
    """What a program prints of its calls, without the addresses."""
    return [[row[0], row[2], row[3], row[7]] for row in parsed(text)]


class Driver(Traced):
    source = GMT_DRIVER_CUPTI

    def record(self, *arguments, **environment):
        done = self.run_python(*arguments, GPU_MEMTRACE_SIM_DEVICES="2", **environment)
        found = [log for log in logs(self.trace) if log.command[-1] != "--export"]
        self.assertEqual(len(found), 1)
        log = found[0]
        self.assertEqual((log.driver_source, log.simulated, log.lost), (self.source, 1, {}))
        self.assertEqual([event.sequence for event in log.events], list(range(1, log.next_sequence)))
        return done, log

    def driver_program(self):
        """What it printed and its log: recorded once for all tests of a class."""
        if "driven" not in vars(type(self)):
            type(self).driven = self.record("driver_program.py")
        return self.driven

    def expected_kind(self, call, arguments):
        """Name of the kind that one call of the workload makes."""
        if call.startswith("cuGraphAddNode"):
            return "GMT_GRAPH_ALLOC" if arguments["bytes"] else "GMT_GRAPH_FREE"
        return CALLS[call][1]

    def expect(self, calls_made):
        """(row, kind, failed, address, bytes, result) of each event that these calls must have made."""
        wanted = []
        for made in calls_made:
            if made["call"] in ENDS:
                continue
            kind, result, row = self.expected_kind(made["call"], made), made["result"], CALLS[made["call"]][0]
            address, size = int(made["address"], 16), made["bytes"]
            if kind in FREES:
                wanted.append((row, NUMBERS[kind], False, address, size or 0, 0))
                if result:
                    wanted.append((row, GMT_FREE_UNDONE, False, address, NUMBERS[kind], result))
            else:
                wanted.append((row, NUMBERS[kind], result != 0, 0 if result else address, size, result))
        return wanted

    def test_every_call_of_the_table(self):
        done, log = self.record(DRIVER_CALLS)
        facts = json.loads(done.stdout)
        self.assertEqual(facts["absent"], [])
        self.assertEqual({made["call"] for made in facts["calls"]}, set(CALLS))
        got = [
            (event.detail.call, event.kind, event.failed, event.address, event.bytes, event.detail.result)
            for event in log.events
            if event.kind < 64 and event.kind not in CONTEXT_ENDS
        ]
        wanted = self.expect(facts["calls"])
        self.assertEqual([NAMES[row[0]] for row in got], [NAMES[row[0]] for row in wanted])
        for one, other in zip(got, wanted):
            with self.subTest(NAMES[one[0]]):
                size = other[4] if other[4] is not None else one[4]  # the workload does not know each size
                self.assertEqual(one, other[:4] + (size,) + other[5:])
        self.assertGreaterEqual(sum(event.failed for event in log.events), 2)
        self.assertGreaterEqual(len(log.of_kind(GMT_FREE_UNDONE)), 2)

    def test_devices_streams_objects(self):
        done, log = self.driver_program()
        got = [event for event in log.events if event.kind < 64]
        told = parsed(done.stdout)
        ends = [row for row in told if row[0] in ("context", "released")]
        events = [event for event in got if event.kind not in CONTEXT_ENDS]
        rows = [row for row in told if row not in ends]
        self.assertEqual(len(events), len(rows))
        for event, (call, address, size, device, stream, thing, offset, result) in zip(events, rows):
            with self.subTest((call, address)):
                kind = GMT_FREE_UNDONE if call == "undone" else NUMBERS[CALLS[call][1]]
                name = "cuMemFree_v2" if call == "undone" else call
                self.assertEqual((event.kind, NAMES[event.detail.call], event.bytes), (kind, name, size))
                self.assertEqual(event.device, device)
                if address is not None:
                    self.assertEqual(event.address, address)
                detail = event.detail
                self.assertEqual((detail.stream, detail.object, detail.offset), (stream, thing, offset))
                self.assertEqual(detail.result, result)
                self.assertNotEqual(detail.context, 0)
                if not call.startswith("undone"):
                    self.assertEqual(event.failed, result != 0)
        self.check_ends([event for event in got if event.kind in CONTEXT_ENDS], ends)

    def check_ends(self, events, told):
        self.assertEqual([event.kind for event in events], [GMT_CONTEXT_DESTROY] * 3)
        self.assertEqual([event.device for event in events], [row[3] for row in told])
        self.assertEqual(events[0].address, told[0][1])

    def test_devices_are_described(self):
        _, log = self.record("driver_program.py", GPU_MEMTRACE_SIM_NAME="Test GPU", GPU_MEMTRACE_SIM_MEMORY="3GiB")
        self.assertEqual(log.devices, {0: [("Test GPU", 3 << 30)], 1: [("Test GPU", 3 << 30)]})

    def test_frees_are_written_before_they_happen(self):
        _, log = self.driver_program()
        undone = [at for at, event in enumerate(log.events) if event.kind == GMT_FREE_UNDONE]
        self.assertTrue(undone)
        for at in undone:
            self.assertEqual(log.events[at - 1].kind, GMT_FREE)
            self.assertEqual(log.events[at - 1].address, log.events[at].address)

    def test_every_way_to_get_at_a_function(self):
        done = self.run_program(PROGRAM, "look_ups")
        addresses = [int(line, 16) for line in done.stdout.split()]
        log = only_log(self.trace)
        self.assertEqual(log.driver_source, self.source)
        mine = [event for event in log.events if event.kind in (GMT_DEVICE_ALLOC, GMT_FREE)]
        wanted = []
        for size, address in enumerate(addresses, 1):
            wanted += [(GMT_DEVICE_ALLOC, address, size << 20), (GMT_FREE, address, 0)]
        self.assertEqual([(event.kind, event.address, event.bytes) for event in mine], wanted)

    def test_its_source_is_told_while_recording_is_off(self):
        self.write_control(0, 1)
        self.run_program(PROGRAM, "look_ups")
        log = only_log(self.trace)
        self.assertEqual((log.driver_source, log.simulated), (self.source, 1))
        self.assertEqual([event.kind for event in log.events], [GMT_RECORDING_STOP])

    def test_results_are_the_program_s_own(self):
        """A program that is traced prints what it prints alone."""
        alone = (sys.executable, os.path.join(PROGRAMS, "driver_program.py"))
        plain = Traced.run_program(self, *alone, traced=False, preload=False, GPU_MEMTRACE_SIM_DEVICES="2")
        self.assertEqual(shape(plain.stdout), shape(self.driver_program()[0].stdout))


class WithoutCupti(Traced):
    """Without a libcupti that knows this driver: another one that the machine may have refuses."""

    def setUp(self):
        super().setUp()
        self.simulator = os.path.join(self.folder, "simulator")
        shutil.copytree(SIMULATOR, self.simulator, ignore=shutil.ignore_patterns("libcupti*"))

    def check_note(self, log):
        self.assertEqual((log.driver_source, log.simulated, log.lost), (GMT_DRIVER_NONE, 1, {}))
        [note] = [text for code, text in log.notes if code == GMT_NOTE_NO_CUPTI]
        if "failed (error" not in note:
            self.assertIn("nvidia-cuda-cupti-cu12", note)

    def test_tensors_are_recorded_and_what_is_missing_is_named(self):
        program = os.path.join(WORKLOADS, "sample_train.py")
        self.run_program(sys.executable, program, "--steps", "5")
        kinds = (GMT_TENSOR_ALLOC, GMT_TENSOR_FREE)
        complete = only_log(self.trace)
        os.unlink(complete.path)
        self.run_program(sys.executable, program, "--steps", "5", simulator=self.simulator)
        log = only_log(self.trace)
        self.check_note(log)
        tensors, expected = ([(event.kind, event.bytes) for event in each.of_kind(*kinds)] for each in (log, complete))
        self.assertEqual(tensors, expected)
        self.assertTrue(tensors)
        self.assertTrue(complete.of_kind(GMT_DEVICE_ALLOC))
        self.assertEqual([event for event in log.events if GMT_DEVICE_ALLOC <= event.kind < 64], [])

    def test_a_program_runs_as_without_the_tracer(self):
        outputs = []
        for how in ({"traced": False, "preload": False}, {}):
            more = {"simulator": self.simulator, "GPU_MEMTRACE_SIM_DEVICES": "2"}
            outputs.append(self.run_python("driver_program.py", **more, **how).stdout)
        self.assertEqual(*map(shape, outputs))
        self.assertEqual(os.listdir(self.trace), [])  # nothing of the driver was seen


class Paths(Traced):
    def test_named_cupti(self):
        """GPU_MEMTRACE_CUPTI names the libcupti to take where the process brings none."""
        simulator = os.path.join(self.folder, "simulator")
        shutil.copytree(SIMULATOR, simulator, ignore=shutil.ignore_patterns("libcupti*"))
        named = os.path.join(SIMULATOR, "libcupti.so.13")
        self.run_program(PROGRAM, "look_ups", simulator=simulator, GPU_MEMTRACE_CUPTI=named)
        log = only_log(self.trace)
        self.assertEqual(log.driver_source, GMT_DRIVER_CUPTI)
        self.assertTrue(any(code == GMT_NOTE_CUPTI_PATH and named in text for code, text in log.notes), log.notes)

    def test_injected_without_preload(self):
        self.run_program(PROGRAM, "look_ups", preload=False)
        log = only_log(self.trace)
        self.assertEqual((log.driver_source, len(log.of_kind(GMT_DEVICE_ALLOC))), (GMT_DRIVER_CUPTI, 4))

    def test_preloaded_without_a_trace_directory(self):
        self.run_program(PROGRAM, "look_ups", traced=False, CUDA_INJECTION64_PATH=os.environ["GMT_LIBRARY"])
        self.assertEqual(os.listdir(self.trace), [])


if __name__ == "__main__":
    main()
