"""The simulated CUPTI: one subscriber, switches, and for every driver call of the table its two callbacks, whose
parameters are read by the table's rows alone and compared with what the calls gave."""

import ctypes
import os
import re
import subprocess
import sys
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
LIBRARIES = os.environ["GMT_SIMULATOR"]
os.environ["LD_LIBRARY_PATH"] = LIBRARIES
sys.path.insert(0, os.path.join(HERE, "..", "..", "workloads"))
import driver_calls  # noqa: E402

cuda = ctypes.CDLL(os.path.join(LIBRARIES, "libcuda.so.1"))
cupti = ctypes.CDLL(os.path.join(LIBRARIES, "libcupti.so.13"))
DRIVER, RESOURCE = 1, 3
ENTER, EXIT = 0, 1
CALLBACK = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_uint, ctypes.c_uint, ctypes.c_void_p)
U64 = ctypes.c_uint64


class CallbackData(ctypes.Structure):
    _fields_ = [
        ("site", ctypes.c_uint),
        ("name", ctypes.c_char_p),
        ("params", ctypes.c_void_p),
        ("result", ctypes.POINTER(ctypes.c_int)),
        ("symbol", ctypes.c_char_p),
        ("context", ctypes.c_void_p),
        ("context_uid", ctypes.c_uint),
        ("data", ctypes.POINTER(U64)),
        ("correlation", ctypes.c_uint),
    ]


class Row:
    """A row of native/cuda/calls.h."""

    def __init__(self, text):
        fields = [field.strip().strip('"') for field in text.split(",")]
        self.name, self.cbid, self.args = fields[0], int(fields[1]), fields[3]
        self.address, self.bytes = int(fields[4]), int(fields[5])
        self.source = fields[8]

    def argument(self, params, index):
        """Value of one argument in the struct at `params`, laid out as C does."""
        offset = 0
        for letter in self.args[: index + 1]:
            size, alignment = {"p": (8, 8), "u": (4, 4), "H": (64, 1)}[letter]
            offset = (offset + alignment - 1) // alignment * alignment
            start, offset = offset, offset + size
        kind = ctypes.c_uint32 if self.args[index] == "u" else U64
        return kind.from_address(params + start).value

    def seen_address(self, params):
        if self.address < 0:
            return 0
        value = self.argument(params, self.address)
        if self.source in ("GMT_SOURCE_IN", "GMT_SOURCE_CONTEXT"):
            return value
        if self.source == "GMT_SOURCE_ALLOC_NODE":
            return driver_calls.AllocNode.from_address(value).address
        if self.source == "GMT_SOURCE_NODE":
            node = driver_calls.NodeParams.from_address(value)
            return node.body.alloc.address if node.type == 10 else node.body.free
        return U64.from_address(value).value

    def seen_bytes(self, params):
        if self.source == "GMT_SOURCE_PITCH":
            return U64.from_address(self.argument(params, 1)).value * self.argument(params, 3)
        if self.source == "GMT_SOURCE_MAPPED":
            return U64.from_address(self.argument(params, self.bytes)).value
        if self.source == "GMT_SOURCE_ALLOC_NODE":
            return driver_calls.AllocNode.from_address(self.argument(params, 4)).bytes
        if self.source == "GMT_SOURCE_NODE":
            return driver_calls.NodeParams.from_address(self.argument(params, self.address)).body.alloc.bytes
        if self.source == "GMT_SOURCE_BUFFER_DESC":
            return driver_calls.ExternalBuffer.from_address(self.argument(params, 2)).bytes
        return self.argument(params, self.bytes) if self.bytes >= 0 else None


def read_table():
    with open(os.path.join(HERE, "..", "..", "..", "native", "cuda", "calls.h")) as table:
        rows = [Row(text) for text in re.findall(r"X\((cu.*?)\) *\\?$", table.read(), re.M)]
    return {row.cbid: row for row in rows}


class Subscriber:
    """Collects what its callbacks were shown."""

    def __init__(self, rows):
        self.rows = rows
        self.seen, self.resources, self.errors, self.open = [], [], [], []
        self.handle = ctypes.c_void_p()
        self.callback = CALLBACK(self.on_event)

    def on_event(self, _userdata, domain, cbid, data):
        try:
            if domain == RESOURCE:
                self.resources.append((cbid, ctypes.c_void_p.from_address(data).value))
            else:
                self.on_call(self.rows[cbid], CallbackData.from_address(data))
        except Exception as error:
            self.errors.append(repr(error))

    def on_call(self, row, data):
        if data.name.decode() != row.name:
            self.errors.append("%s is shown as %s" % (row.name, data.name))
        if data.site == ENTER:
            data.data[0] = 1000 + data.correlation
            at_enter = row.seen_address(data.params) if row.source == "GMT_SOURCE_IN" else None
            self.open.append((data.correlation, data.context, at_enter))
            return
        correlation, context, at_enter = self.open.pop()
        if (data.correlation, data.data[0]) != (correlation, 1000 + correlation):
            self.errors.append("%s: exit and enter do not belong together" % row.name)
        result = data.result[0]
        entry = {"call": row.name, "result": result, "address": row.seen_address(data.params), "context": context}
        if at_enter is not None and at_enter != entry["address"]:
            self.errors.append("%s: another address at enter" % row.name)
        entry["bytes"] = row.seen_bytes(data.params) if result == 0 else None
        self.seen.append(entry)


class Cupti(unittest.TestCase):
    def subscribe(self):
        subscriber = Subscriber(read_table())
        self.assertEqual(cupti.cuptiSubscribe(ctypes.byref(subscriber.handle), subscriber.callback, None), 0)
        self.addCleanup(lambda: cupti.cuptiUnsubscribe(subscriber.handle))
        return subscriber

    def test_every_call_of_the_table(self):
        subscriber = self.subscribe()
        for cbid in subscriber.rows:
            self.assertEqual(cupti.cuptiEnableCallback(1, subscriber.handle, DRIVER, cbid), 0)
        self.assertEqual(cupti.cuptiEnableCallback(1, subscriber.handle, RESOURCE, 1), 0)
        self.assertEqual(cupti.cuptiEnableCallback(1, subscriber.handle, RESOURCE, 2), 0)
        driver = driver_calls.start()
        uses = ("device_memory", "pools", "virtual_memory", "arrays", "host_memory", "graphs", "imports", "bulk_frees")
        for use in uses:
            getattr(driver_calls, use)(driver)
        self.assertEqual(subscriber.errors, [])
        self.assertEqual(driver.absent, [])
        self.assertEqual({row.name for row in subscriber.rows.values()}, {call["call"] for call in driver.calls})
        self.assertEqual(len(subscriber.seen), len(driver.calls))
        for seen, call in zip(subscriber.seen, driver.calls):
            self.compare(seen, call)
        self.assertEqual([cbid for cbid, _ in subscriber.resources], [1, 1, 2, 2])

    def compare(self, seen, call):
        self.assertEqual((seen["call"], seen["result"]), (call["call"], call["result"]))
        allocation_failed = call["result"] != 0 and call["address"] == "0x0"
        if not allocation_failed:
            self.assertEqual("0x%x" % (seen["address"] or 0), call["address"], call)
        if call["result"] == 0 and call["bytes"] is not None and seen["bytes"] is not None:
            self.assertEqual(seen["bytes"], call["bytes"], call)

    def test_one_subscriber(self):
        first, second = self.subscribe(), ctypes.c_void_p()
        self.assertEqual(cupti.cuptiSubscribe(ctypes.byref(second), first.callback, None), 39)

        class Params(ctypes.Structure):
            _fields_ = [("size", U64), ("name", ctypes.c_char_p), ("old", ctypes.c_char_p), ("old_size", U64)]

        old = ctypes.create_string_buffer(64)
        params = Params(32, b"other", ctypes.cast(old, ctypes.c_char_p), 64)
        result = cupti.cuptiSubscribe_v2(ctypes.byref(second), first.callback, None, ctypes.byref(params))
        self.assertEqual((result, old.value), (39, b"CUPTI"))
        self.assertEqual(cupti.cuptiUnsubscribe(ctypes.c_void_p(1)), 1)
        self.assertEqual(cupti.cuptiUnsubscribe(first.handle), 0)
        self.assertEqual(cupti.cuptiSubscribe_v2(ctypes.byref(second), first.callback, None, ctypes.byref(params)), 0)
        self.assertEqual(cupti.cuptiSubscribe_v2(ctypes.byref(second), first.callback, None, ctypes.byref(params)), 39)
        self.assertEqual(old.value, b"CUPTI for other")
        self.assertEqual(cupti.cuptiUnsubscribe(second), 0)

    def test_nothing_is_raised_unless_it_is_enabled(self):
        subscriber = self.subscribe()
        driver_calls.start()
        address, state = U64(), ctypes.c_uint(7)
        for enabled, expected in ((0, 0), (1, 1), (0, 1)):
            cupti.cuptiEnableCallback(enabled, subscriber.handle, DRIVER, 243)
            cupti.cuptiGetCallbackState(ctypes.byref(state), subscriber.handle, DRIVER, 243)
            self.assertEqual(state.value, enabled)
            cuda.cuMemAlloc_v2(ctypes.byref(address), U64(512))
            cuda.cuMemFree_v2(address)
            self.assertEqual(len(subscriber.seen), expected)
        for cbid in (0, 807, 5000):
            self.assertEqual(cupti.cuptiEnableCallback(1, subscriber.handle, DRIVER, cbid), 1)

    def test_small_questions(self):
        version, device, context = ctypes.c_uint(), ctypes.c_uint(9), ctypes.c_void_p()
        self.assertEqual(cupti.cuptiGetVersion(ctypes.byref(version)), 0)
        self.assertEqual(version.value, 130001)
        driver_calls.start()
        cuda.cuCtxGetCurrent(ctypes.byref(context))
        self.assertEqual(cupti.cuptiGetDeviceId(context, ctypes.byref(device)), 0)
        self.assertEqual(device.value, 0)
        self.assertEqual(cupti.cuptiGetDeviceId(ctypes.c_void_p(64), ctypes.byref(device)), 3)

    def test_the_driver_loads_the_injected_library_once(self):
        library = os.environ["GMT_SIMULATOR_INJECTED"]
        code = (
            "import ctypes, os; cuda = ctypes.CDLL('libcuda.so.1'); cuda.cuInit(0); cuda.cuInit(0)\n"
            "print(ctypes.c_int.in_dll(ctypes.CDLL(os.environ['LIBRARY']), 'injection_count').value)"
        )
        for path, expected in ((library, "1"), ("none", "0"), ("/no/such/file.so", "0")):
            environment = dict(os.environ, CUDA_INJECTION64_PATH=path, LIBRARY=library)
            output = subprocess.check_output([sys.executable, "-c", code], env=environment)
            self.assertEqual(output.decode(), expected + "\n")


if __name__ == "__main__":
    unittest.main()
