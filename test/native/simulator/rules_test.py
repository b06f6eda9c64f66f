"""The rules of the simulated driver: addresses, capacity, failures, virtual memory, contexts, entry points."""

import ctypes
import os
import re
import subprocess
import sys
import threading
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
LIBRARIES = os.environ["GMT_SIMULATOR"]
os.environ.update(GPU_MEMTRACE_SIM_DEVICES="2", GPU_MEMTRACE_SIM_MEMORY="1GiB", GPU_MEMTRACE_SIM_NAME="Test GPU")
sys.path.insert(0, os.path.join(HERE, "..", "..", "workloads"))
import driver_calls  # noqa: E402

cuda = ctypes.CDLL(os.path.join(LIBRARIES, "libcuda.so.1"))
U64, I32, U32, VOID = ctypes.c_uint64, ctypes.c_int, ctypes.c_uint, ctypes.c_void_p
MIB, PAGE = 1 << 20, 2 << 20
INVALID_VALUE, OUT_OF_MEMORY, NOT_INITIALIZED, INVALID_CONTEXT, DESTROYED = 1, 2, 3, 201, 709


def call(name, *arguments):
    return getattr(cuda, name)(*arguments)


def alloc(size):
    address = U64()
    result = call("cuMemAlloc_v2", ctypes.byref(address), U64(size))
    return address.value if result == 0 else -result


def free(address):
    return call("cuMemFree_v2", U64(address))


def available():
    now, total = U64(), U64()
    assert call("cuMemGetInfo_v2", ctypes.byref(now), ctypes.byref(total)) == 0
    return now.value


def retain(device=0):
    context = VOID()
    assert call("cuDevicePrimaryCtxRetain", ctypes.byref(context), I32(device)) == 0
    assert call("cuCtxSetCurrent", context) == 0
    return context


def python(code, **environment):
    """Runs code in a process of its own; gives its output."""
    prelude = "import sys; sys.path.insert(0, %r); from rules_test import *\n" % HERE
    run = subprocess.run(
        [sys.executable, "-c", prelude + code],
        env=dict(os.environ, **environment),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        universal_newlines=True,
    )
    assert run.returncode == 0, run.stderr
    return run.stdout.strip(), run.stderr.strip()


class WithContext(unittest.TestCase):
    def setUp(self):
        self.assertEqual(call("cuInit", U32(0)), 0)
        retain()
        self.before = available()

    def tearDown(self):
        retain()
        self.assertEqual(available(), self.before, "the test gave everything back")


class Addresses(WithContext):
    def test_large_ones_begin_at_a_page(self):
        blocks = [alloc(size) for size in (PAGE, PAGE + 1, 5 * MIB, 20 * MIB)]
        for block in blocks:
            self.assertGreater(block, 0x600000000000)
            self.assertEqual(block % PAGE, 0)
        self.assertEqual(self.before - available(), (2 + 4 + 6 + 20) * MIB)
        for block in blocks:
            self.assertEqual(free(block), 0)

    def test_small_ones_share_a_page_in_steps_of_512(self):
        blocks = [alloc(size) for size in (1, 513, 1024, 128 * 1024)]
        self.assertEqual([block - blocks[0] for block in blocks], [0, 512, 1536, 2560])
        self.assertEqual(self.before - available(), PAGE)
        for block in blocks:
            self.assertEqual(free(block), 0)

    def test_a_freed_address_comes_back_first(self):
        first, second = alloc(4 * MIB), alloc(4 * MIB)
        free(first)
        self.assertEqual(alloc(2 * MIB), first)
        self.assertEqual(alloc(2 * MIB), first + 2 * MIB)
        for block in (first, first + 2 * MIB, second):
            self.assertEqual(free(block), 0)
        small, other = alloc(1024), alloc(1024)
        free(small)
        self.assertEqual(alloc(512), small)
        free(small)
        free(other)

    def test_neighbours_merge_when_freed(self):
        blocks = [alloc(PAGE) for _ in range(8)]
        for block in blocks[::2] + blocks[1::2]:
            free(block)
        self.assertEqual(alloc(16 * MIB), blocks[0])
        free(blocks[0])

    def test_live_blocks_never_overlap_under_threads(self):
        spans, failures = [], []

        def work(index):
            retain()
            mine = [(alloc(700 * (index + 1) * (i % 40 + 1)), 700 * (index + 1) * (i % 40 + 1)) for i in range(200)]
            spans.extend(mine[::2])
            failures.extend(result for result in (free(address) for address, _ in mine[1::2]) if result)

        threads = [threading.Thread(target=work, args=(i,)) for i in range(6)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        spans.sort()
        self.assertEqual(failures, [])
        self.assertEqual(len(spans), 600)
        for (address, size), (following, _) in zip(spans, spans[1:]):
            self.assertLessEqual(address + size, following)
        for address, _ in spans:
            self.assertEqual(free(address), 0)


class Failures(WithContext):
    def test_full_device(self):
        block = alloc(1023 * MIB)
        self.assertEqual(alloc(PAGE), -OUT_OF_MEMORY)
        self.assertEqual(alloc(1), -OUT_OF_MEMORY)
        free(block)
        whole = alloc(1024 * MIB)
        self.assertGreater(whole, 0)
        free(whole)

    def test_frees_that_fail(self):
        block = alloc(4 * MIB)
        for address in (0x1000, block + PAGE, block + 512):
            self.assertEqual(free(address), INVALID_VALUE)
        self.assertEqual(free(block), 0)
        self.assertEqual(free(block), INVALID_VALUE)
        self.assertEqual(free(0), 0)

    def test_nothing_asked_for(self):
        self.assertEqual(alloc(0), -INVALID_VALUE)
        self.assertEqual(call("cuMemAlloc_v2", None, U64(512)), INVALID_VALUE)

    def test_settings_that_make_no_sense_are_told(self):
        out, err = python("os.environ['GPU_MEMTRACE_SIM_MEMORY'] = 'x'; print(call('cuInit', 0))")
        self.assertEqual(out, "0")
        self.assertIn("GPU_MEMTRACE_SIM_MEMORY=x is not", err)

    def test_no_device(self):
        prelude = "import os; import ctypes; os.environ['GPU_MEMTRACE_SIM_DEVICES'] = '0'\n"
        self.assertEqual(python(prelude + "print(call('cuInit', 0))")[0], "100")

    def test_before_init_and_in_a_forked_child(self):
        code = (
            "print(alloc(512), flush=True); call('cuInit', 0); retain(); block = alloc(512)\n"
            "child = os.fork()\n"
            "if child == 0: print(alloc(512), free(block), call('cuInit', 0), flush=True); os._exit(0)\n"
            "os.waitpid(child, 0); print(free(block))"
        )
        self.assertEqual(python(code)[0].split("\n"), ["-3", "-3 3 3", "0"])


class VirtualMemory(WithContext):
    def create(self, size):
        handle = U64()
        prop = driver_calls.AllocationProp(type=1, location=driver_calls.Location(1, 0))
        self.assertEqual(call("cuMemCreate", ctypes.byref(handle), U64(size), ctypes.byref(prop), U64(0)), 0)
        return handle.value

    def reserve(self, size):
        place = U64()
        self.assertEqual(call("cuMemAddressReserve", ctypes.byref(place), U64(size), U64(0), U64(0), U64(0)), 0)
        return place.value

    def map(self, place, size, handle):
        return call("cuMemMap", U64(place), U64(size), U64(0), U64(handle), U64(0))

    def test_release_before_unmap_keeps_the_memory(self):
        place, handle = self.reserve(8 * MIB), self.create(4 * MIB)
        self.assertEqual(self.map(place, 4 * MIB, handle), 0)
        self.assertEqual(call("cuMemRelease", U64(handle)), 0)
        self.assertEqual(self.before - available(), 4 * MIB)
        self.assertEqual(call("cuMemRelease", U64(handle)), INVALID_VALUE)
        self.assertEqual(call("cuMemUnmap", U64(place), U64(4 * MIB)), 0)
        self.assertEqual(available(), self.before)
        self.assertEqual(call("cuMemAddressFree", U64(place), U64(8 * MIB)), 0)

    def test_addresses_cost_no_memory_and_stay_while_mapped(self):
        place, handle = self.reserve(1 << 40), self.create(PAGE)
        self.assertEqual(self.before - available(), PAGE)
        self.assertEqual(self.map(place, PAGE, handle), 0)
        self.assertEqual(self.map(place, PAGE, handle), INVALID_VALUE)
        self.assertEqual(self.map(place - PAGE, PAGE, handle), INVALID_VALUE)
        self.assertEqual(call("cuMemAddressFree", U64(place), U64(1 << 40)), INVALID_VALUE)
        self.assertEqual(call("cuMemUnmap", U64(place), U64(PAGE)), 0)
        self.assertEqual(call("cuMemRelease", U64(handle)), 0)
        self.assertEqual(call("cuMemAddressFree", U64(place), U64(1 << 40)), 0)

    def test_one_unmap_may_end_several_maps_but_no_part_of_one(self):
        place, handles = self.reserve(8 * MIB), [self.create(4 * MIB), self.create(4 * MIB)]
        for i, handle in enumerate(handles):
            self.assertEqual(self.map(place + i * 4 * MIB, 4 * MIB, handle), 0)
        self.assertEqual(call("cuMemUnmap", U64(place), U64(6 * MIB)), INVALID_VALUE)
        for _ in range(2):  # unmapping what is not mapped is no error
            self.assertEqual(call("cuMemUnmap", U64(place), U64(8 * MIB)), 0)
        self.assertEqual(call("cuMemUnmap", U64(place), U64(1 << 40)), INVALID_VALUE)
        for handle in handles:
            self.assertEqual(call("cuMemRelease", U64(handle)), 0)
        self.assertEqual(call("cuMemAddressFree", U64(place), U64(8 * MIB)), 0)

    def test_retain_adds_a_reference(self):
        place, handle, again = self.reserve(PAGE), self.create(PAGE), U64()
        self.map(place, PAGE, handle)
        self.assertEqual(call("cuMemRetainAllocationHandle", ctypes.byref(again), VOID(place)), 0)
        self.assertEqual(again.value, handle)
        call("cuMemUnmap", U64(place), U64(PAGE))
        self.assertEqual(call("cuMemRelease", U64(handle)), 0)
        self.assertEqual(self.before - available(), PAGE)
        self.assertEqual(call("cuMemRelease", U64(handle)), 0)
        call("cuMemAddressFree", U64(place), U64(PAGE))


class Contexts(WithContext):
    def test_destroy_frees_what_is_in_it(self):
        other = alloc(4 * MIB)
        context = VOID()
        self.assertEqual(call("cuCtxCreate_v2", ctypes.byref(context), U32(0), I32(0)), 0)
        inside = [alloc(4 * MIB), alloc(512)]
        self.assertEqual(call("cuCtxDestroy_v2", context), 0)
        self.assertEqual(self.before - available(), 4 * MIB)
        self.assertEqual([free(block) for block in inside], [INVALID_VALUE, INVALID_VALUE])
        self.assertEqual(call("cuCtxDestroy_v2", context), DESTROYED)
        self.assertEqual(free(other), 0)

    def test_reset_of_the_primary_context(self):
        context = retain(1)
        block = alloc(4 * MIB)
        self.assertEqual(call("cuDevicePrimaryCtxReset_v2", I32(1)), 0)
        self.assertEqual(free(block), DESTROYED)
        self.assertEqual(alloc(512), -DESTROYED)
        self.assertEqual(retain(1).value, context.value)
        self.assertEqual(available(), 1024 * MIB)
        self.assertEqual(call("cuDevicePrimaryCtxRelease_v2", I32(1)), 0)
        self.assertEqual(call("cuDevicePrimaryCtxRelease_v2", I32(1)), 0)
        self.assertEqual(call("cuDevicePrimaryCtxRelease_v2", I32(1)), INVALID_CONTEXT)

    def test_devices_have_their_own_memory(self):
        retain(1)
        block = alloc(1000 * MIB)
        retain(0)
        self.assertEqual(available(), self.before)
        self.assertEqual(free(block), 0)
        self.assertEqual(call("cuDevicePrimaryCtxRelease_v2", I32(1)), 0)

    def test_a_thread_without_a_context(self):
        results = []
        thread = threading.Thread(target=lambda: results.append(alloc(512)))
        thread.start()
        thread.join()
        self.assertEqual(results, [-INVALID_CONTEXT])


class Other(WithContext):
    def test_pool_outlives_its_destruction_until_its_last_block(self):
        pool, address = VOID(), U64()
        props = driver_calls.PoolProps(type=1, location=driver_calls.Location(1, 0))
        self.assertEqual(call("cuMemPoolCreate", ctypes.byref(pool), ctypes.byref(props)), 0)
        call("cuMemAllocFromPoolAsync", ctypes.byref(address), U64(4 * MIB), pool, None)
        self.assertEqual(call("cuMemPoolDestroy", pool), 0)
        self.assertEqual(call("cuMemPoolTrimTo", pool, U64(0)), INVALID_VALUE)
        self.assertEqual(free(address.value), 0)

    def test_host_memory_is_memory(self):
        pointer = VOID()
        self.assertEqual(call("cuMemAllocHost_v2", ctypes.byref(pointer), U64(100000)), 0)
        ctypes.memset(pointer, 7, 100000)
        self.assertEqual(call("cuMemHostRegister_v2", pointer, U64(4096), U32(0)), INVALID_VALUE)
        self.assertEqual(call("cuMemHostUnregister", pointer), 713)
        self.assertEqual(call("cuMemFreeHost", pointer), 0)
        self.assertEqual(call("cuMemFreeHost", pointer), INVALID_VALUE)
        buffer = ctypes.create_string_buffer(1 << 16)
        for expected in (0, 712):
            self.assertEqual(call("cuMemHostRegister_v2", buffer, U64(1 << 16), U32(0)), expected)
        for expected in (0, 713):
            self.assertEqual(call("cuMemHostUnregister", buffer), expected)

    @unittest.skipIf("QEMU_RESERVED_VA" in os.environ, "the emulator has no room for the addresses that become memory")
    def test_managed_memory_is_memory(self):
        managed = U64()
        self.assertEqual(call("cuMemAllocManaged", ctypes.byref(managed), U64(4 * MIB), U32(1)), 0)
        ctypes.memset(managed.value, 9, 4 * MIB)
        self.assertEqual(ctypes.string_at(managed.value + 4 * MIB - 2, 2), b"\x09\x09")
        self.assertEqual(free(managed.value), 0)

    def test_entry_points_are_the_exported_functions(self):
        with open(os.path.join(HERE, "..", "..", "..", "native", "cuda", "calls.h")) as table:
            rows = re.findall(r"X\((cu\w+?)(_v\d)?(_pts[zd])?, *\d+,.*?(\d+)\) *\\?$", table.read(), re.M)
        self.assertEqual(len(rows), 46)
        newest = {}
        for base, version, twin, since in rows:
            if base + version != "cuMemHostAlloc_v2":  # has a callback id, and no real driver exports it
                newest.setdefault((base, twin), []).append((int(since), base + version + twin))
        for (base, twin), functions in newest.items():
            for since, name in functions:
                best = max(function for function in functions if function[0] <= since)
                self.assertEqual(self.entry(base, since, 2 if twin else 0), self.export(best[1]), name)
                self.assertIsNotNone(self.export(name))
            self.assertEqual(self.entry(base, min(functions)[0] - 1, 2 if twin else 0), None, base)
        self.assertEqual(self.entry("cuMemAlloc_v2", 13000, 0), None)
        self.assertEqual(self.entry("cuGetProcAddress", 11030, 0), self.export("cuGetProcAddress"))

    def entry(self, name, version, flags):
        function, status = VOID(), I32()
        result = call(
            "cuGetProcAddress_v2", name.encode(), ctypes.byref(function), I32(version), U64(flags), ctypes.byref(status)
        )
        self.assertEqual(result, 0)
        self.assertEqual(status.value == 0, function.value is not None)
        return function.value

    def export(self, name):
        return ctypes.cast(getattr(cuda, name), VOID).value


if __name__ == "__main__":
    unittest.main(verbosity=2)
