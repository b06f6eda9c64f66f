"""The simulated pair libc10.so / libc10_cuda.so: PyTorch's rules, and reports that add up."""

import ctypes
import os
import subprocess
import sys
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
os.environ["GPU_MEMTRACE_SIM_MEMORY"] = "256MiB"
WORKLOADS = os.path.join(HERE, "..", "..", "workloads")
sys.path.insert(0, WORKLOADS)
import gpu  # noqa: E402

MIB = gpu.MIB


class Allocator(unittest.TestCase):
    def setUp(self):
        gpu.empty_cache()
        self.before = gpu.stats()
        self.assertEqual((self.before["liveBytes"], self.before["reservedBytes"]), (0, 0))

    def since(self, name):
        return gpu.stats()[name] - self.before[name]

    def test_segment_sizes(self):
        for size, segment in ((1, 2), (MIB, 2), (MIB + 1, 20), (10 * MIB - 512, 20), (10 * MIB, 10), (11 * MIB, 12)):
            block = gpu.empty(size)
            self.assertEqual(gpu.stats()["reservedBytes"], segment * MIB, size)
            del block
            gpu.empty_cache()

    def test_blocks_are_rounded_split_and_merged(self):
        first, second, third = gpu.empty(1), gpu.empty(513), gpu.empty(1024)
        self.assertEqual([gpu.rounded_bytes(block) for block in (first, second, third)], [512, 1024, 1024])
        self.assertEqual([block - first for block in (first, second, third)], [0, 512, 1536])
        self.assertEqual(self.since("segmentsAllocated"), 1)
        address = int(first)
        del first, second, third
        whole = gpu.empty(MIB)
        self.assertEqual(int(whole), address)
        self.assertEqual((self.since("allocations"), self.since("frees")), (4, 3))

    def test_empty_cache_gives_back_only_whole_segments(self):
        kept, dropped = gpu.empty(4 * MIB), gpu.empty(4 * MIB)
        big = gpu.empty(50 * MIB)
        del dropped, big
        gpu.empty_cache()
        self.assertEqual((self.since("segmentsAllocated"), self.since("segmentsFreed")), (2, 1))
        self.assertEqual(gpu.stats()["reservedBytes"], 20 * MIB)
        del kept

    def test_out_of_memory_after_the_cache_was_given_back(self):
        blocks = [gpu.empty(50 * MIB) for _ in range(5)]
        del blocks[1:]
        self.assertEqual(len({int(block) for block in blocks}), 1)
        large = gpu.empty(150 * MIB)  # fits only once the four cached segments are gone
        self.assertEqual(self.since("segmentsFreed"), 4)
        with self.assertRaises(gpu.OutOfMemory):
            gpu.empty(100 * MIB)
        self.assertEqual(self.since("outOfMemory"), 1)
        del large

    def test_a_block_keeps_a_rest_that_is_too_small_to_split_off(self):
        block = gpu.empty(19 * MIB + 512)
        self.assertEqual(gpu.rounded_bytes(block), 20 * MIB)
        self.assertEqual(gpu.stats()["liveBytes"], 20 * MIB)
        del block


class Reports(unittest.TestCase):
    def test_reports_pass_an_interposed_function_and_add_up(self):
        """A preloaded library that defines the report functions sees each one, with the right device and totals."""
        environment = dict(os.environ, LD_PRELOAD=os.environ["GMT_SIMULATOR_REPORTS"], GPU_MEMTRACE_SIM_DEVICES="2")
        code = (
            "import ctypes, gpu\n"
            "a, b = gpu.empty(700), gpu.empty(3000000, 1)\n"
            "del a\n"
            "try: gpu.empty(1 << 40)\n"
            "except gpu.OutOfMemory: pass\n"
            "reports = ctypes.CDLL(None)\n"
            "for i in range(ctypes.c_int.in_dll(reports, 'report_count').value):\n"
            "    entry = (ctypes.c_int64 * 5)()\n"
            "    reports.report_at(i, entry)\n"
            "    print(*entry)\n"
        )
        output = subprocess.check_output([sys.executable, "-c", code], env=environment, cwd=WORKLOADS)
        lines = output.decode().split("\n")
        first, second = 2 * MIB, 20 * MIB
        self.assertEqual(
            lines[:-1],
            [
                "1024 1024 %d 1 0" % first,
                "3000320 3000320 %d 1 1" % second,
                "-1024 0 %d 1 0" % first,
                "%d 0 0 1 0" % (1 << 40),
            ],
        )


if __name__ == "__main__":
    unittest.main()
