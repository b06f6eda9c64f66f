"""The same program recorded by both tracers gives the same: allocations, frees, live bytes, and the lines that they belong to."""

import collections

from tracer import *  # noqa: F403

WORKLOADS = os.path.join(HERE, "..", "..", "workloads")
TENSOR_ENDS, DRIVER_ENDS = (GMT_TENSOR_FREE,), (GMT_FREE,)
ALL = set(range(1, 64)) - {GMT_CONTEXT_DESTROY, GMT_DEVICE_RESET}
TENSORS = {GMT_TENSOR_ALLOC, GMT_TENSOR_FREE, GMT_TENSOR_OOM}
TENSOR, DRIVER = (GMT_TENSOR_ALLOC,), (GMT_DEVICE_ALLOC, GMT_ASYNC_ALLOC, GMT_MANAGED_ALLOC)


class Codes(Log):
    """Also keeps the names of code objects."""

    def read_side_record(self, kind, payload):
        super().read_side_record(kind, payload)
        if kind == GMT_CODE:
            number, line, _, _, file_bytes, name_bytes = struct.unpack_from("<IIHHII", payload)
            text = payload[24:]
            name = text[file_bytes : file_bytes + name_bytes].decode()
            self.codes[number] = (os.path.basename(text[:file_bytes].decode()), name, line)

    def frames(self, stack):
        return tuple(self.codes[code] + (offset,) for code, offset in self.stacks.get(stack, ()))


def summary(log, kinds):
    """What a model would tell of these kinds, from the events alone."""
    counts, alive, sites = collections.Counter(), {}, collections.Counter()
    for event in log.events:
        if event.kind not in kinds:
            continue
        counts[event.kind, event.failed, event.device] += 1
        if event.failed:
            continue
        layer = "tensor" if event.kind < 16 else "driver"
        if event.kind in TENSOR + DRIVER:
            alive[layer, event.address] = (event.device, event.bytes, log.frames(event.stack))
        elif event.kind in TENSOR_ENDS + DRIVER_ENDS:
            alive.pop((layer, event.address))
    live = collections.Counter()
    for (layer, _), (device, size, frames) in alive.items():
        live[layer, device] += size
        sites[layer, device, frames] += size
    return {"counts": counts, "live": live, "sites": sites}


class Same(Uprobed):
    def by_both(self, script, *arguments, **more):
        command = [sys.executable, os.path.join(WORKLOADS, script), *arguments]
        result = []
        for run in (self.run_program, self.record_program):
            run(*command, **more)
            found = [Codes(path) for path in paths(self.trace)]
            result.append(found)
            for log in found:
                os.unlink(log.path)
                self.assertEqual(log.lost, {})
        return result

    def check(self, script, *arguments, kinds=ALL, **more):
        inject, uprobe = self.by_both(script, *arguments, **more)
        self.assertEqual(len(inject), len(uprobe))
        order = lambda told: (sorted(map(repr, told["sites"].items())), sorted(told["counts"].items()))  # noqa: E731
        mine, theirs = (sorted((summary(log, kinds) for log in found), key=lambda told: repr(order(told))) for found in (inject, uprobe))
        for one, other in zip(mine, theirs):
            for what in one:
                self.assertEqual(one[what], other[what], what)
        self.assertEqual({log.driver_source for log in inject}, {GMT_DRIVER_CUPTI})
        self.assertEqual({log.driver_source for log in uprobe}, {GMT_DRIVER_UPROBE})
        self.assertTrue(any(told["sites"] for told in mine))
        self.assertGreater(sum(sum(told["counts"].values()) for told in mine), 10)

    def test_training(self):
        self.check("sample_train.py", "--steps", "20")

    def test_threads(self):
        """How the allocator cuts its memory up depends on who comes first, so that is left out."""
        words = ("--threads", "3", "--iterations", "5", "--sleep-ms", "1", "--anomaly-mb", "64")
        self.check("gpu_alloc_anomaly.py", *words, kinds=TENSORS)

    @in_long
    def test_the_driver_alone(self):
        words = ("--threads", "1", "--iterations", "12", "--sleep-ms", "1", "--anomaly-mb", "64")
        self.check("gpu_alloc_anomaly.py", *words, GPU_MEMTRACE_WORKLOAD="driver")

    def test_two_devices(self):
        self.check("fork_spawn_exec.py", GPU_MEMTRACE_SIM_DEVICES="2")

    @in_long
    def test_out_of_memory(self):
        self.check("oom.py", GPU_MEMTRACE_SIM_MEMORY="1GiB")


if __name__ == "__main__":
    main()
