"""Every driver call that gives or takes memory, once or more, through ctypes: also calls that fail.

Prints the calls in order with what came out, so that a test can compare them with a trace. On a real GPU the list
says what happened there: a call that this driver does not export stands under "absent".
"""

import ctypes
import json
import os
import subprocess
import sys

MIB = 1 << 20
U64, I32, U32 = ctypes.c_uint64, ctypes.c_int, ctypes.c_uint
POINTER = ctypes.c_void_p


class Location(ctypes.Structure):
    _fields_ = [("type", I32), ("id", I32)]


class AllocationProp(ctypes.Structure):
    _fields_ = [("type", I32), ("handle_types", I32), ("location", Location), ("win32", POINTER), ("flags", U64)]


class PoolProps(ctypes.Structure):
    _fields_ = [
        ("type", I32),
        ("handle_types", I32),
        ("location", Location),
        ("win32", POINTER),
        ("max_size", U64),
        ("rest", ctypes.c_char * 56),
    ]


class ArrayDescriptor(ctypes.Structure):
    _fields_ = [("width", U64), ("height", U64), ("format", I32), ("channels", U32)]


class Array3DDescriptor(ctypes.Structure):
    _fields_ = [("width", U64), ("height", U64), ("depth", U64), ("format", I32), ("channels", U32), ("flags", U32)]


class AllocNode(ctypes.Structure):
    _fields_ = [("pool", PoolProps), ("access", POINTER), ("count", U64), ("bytes", U64), ("address", U64)]


class NodeBody(ctypes.Union):
    _fields_ = [("padding", ctypes.c_longlong * 29), ("alloc", AllocNode), ("free", U64)]


class NodeParams(ctypes.Structure):
    _fields_ = [("type", I32), ("reserved", I32 * 3), ("body", NodeBody), ("end", ctypes.c_longlong)]


class ExternalMemory(ctypes.Structure):
    _fields_ = [
        ("type", I32),
        ("pad", I32),
        ("fd", I32),
        ("rest_of_handle", I32 * 3),
        ("bytes", U64),
        ("flags", U32),
        ("rest", U32 * 16),
    ]


class ExternalBuffer(ctypes.Structure):
    _fields_ = [("offset", U64), ("bytes", U64), ("flags", U32), ("rest", U32 * 16)]


class IpcHandle(ctypes.Structure):
    _fields_ = [("bytes", ctypes.c_char * 64)]


class Driver:
    """Calls functions of libcuda by name and keeps the list of the calls that count."""

    def __init__(self):
        try:
            self.library = ctypes.CDLL("libcuda.so.1")
        except OSError:
            sys.exit("No libcuda.so.1 here: run the script with `gpu-memtrace run --simulate-gpu -- ...`.")
        self.calls = []
        self.absent = []

    def quiet(self, name, *arguments):
        """A call that is not of the table; must succeed."""
        result = getattr(self.library, name)(*arguments)
        if result != 0:
            sys.exit("%s failed with CUresult %d" % (name, result))

    def call(self, name, *arguments, address=None, size=None):
        """A call of the table. `address` and `size` are read after it: numbers, or ctypes objects with a value."""
        function = getattr(self.library, name, None)
        if function is None:
            self.absent.append(name)
            return None
        before = value_of(address) if not isinstance(address, (U64, POINTER)) else None
        result = function(*arguments)
        seen = before if before is not None else value_of(address)
        self.calls.append({"call": name, "result": result, "address": "0x%x" % (seen or 0), "bytes": value_of(size)})
        return result


def value_of(number):
    return number.value if hasattr(number, "value") else number


def ref(thing):
    return ctypes.byref(thing)


def device_memory(driver):
    address, pitch = U64(), U64()
    for size in (3 * MIB, 1000):
        driver.call("cuMemAlloc_v2", ref(address), U64(size), address=address, size=size)
        driver.call("cuMemFree_v2", U64(address.value), address=address.value)
    driver.call("cuMemAlloc_v2", ref(address), U64(1 << 46), address=0, size=1 << 46)
    driver.call("cuMemFree_v2", U64(0x123000), address=0x123000)
    driver.call(
        "cuMemAllocPitch_v2", ref(address), ref(pitch), U64(1000), U64(64), U32(4), address=address, size=0
    )
    if driver.calls[-1]["result"] == 0:
        driver.calls[-1]["bytes"] = pitch.value * 64
    driver.call("cuMemFree_v2", U64(address.value), address=address.value)
    driver.call("cuMemAllocManaged", ref(address), U64(4 * MIB), U32(1), address=address, size=4 * MIB)
    driver.call("cuMemFree_v2", U64(address.value), address=address.value)


def pools(driver):
    address, pool, none = U64(), POINTER(), POINTER()
    for twin in ("", "_ptsz"):
        driver.call("cuMemAllocAsync" + twin, ref(address), U64(5 * MIB), none, address=address, size=5 * MIB)
        driver.call("cuMemFreeAsync" + twin, U64(address.value), none, address=address.value)
    props = PoolProps(type=1, handle_types=1, location=Location(1, 0))
    driver.call("cuMemPoolCreate", ref(pool), ref(props), address=pool)
    for twin in ("", "_ptsz"):
        name = "cuMemAllocFromPoolAsync" + twin
        driver.call(name, ref(address), U64(700), pool, none, address=address, size=700)
        if twin == "":
            import_pool_pointer(driver, pool, address.value)
        driver.call("cuMemFreeAsync", U64(address.value), none, address=address.value)
    driver.call("cuMemPoolTrimTo", pool, U64(0), address=pool.value, size=0)
    driver.call("cuMemPoolDestroy", pool, address=pool.value)


def import_pool_pointer(driver, pool, address):
    shared, imported, data, pointer = I32(), POINTER(), IpcHandle(), U64()
    driver.quiet("cuMemPoolExportToShareableHandle", ref(shared), pool, I32(1), U64(0))
    driver.quiet("cuMemPoolImportFromShareableHandle", ref(imported), POINTER(shared.value), I32(1), U64(0))
    driver.quiet("cuMemPoolExportPointer", ref(data), U64(address))
    driver.call("cuMemPoolImportPointer", ref(pointer), imported, ref(data), address=pointer)
    if driver.calls[-1]["result"] == 0:
        driver.call("cuMemFreeAsync", U64(pointer.value), POINTER(), address=pointer.value)
    driver.call("cuMemPoolDestroy", imported, address=imported.value)


def virtual_memory(driver):
    size = 4 * MIB
    handle, again, imported, place, shared = U64(), U64(), U64(), U64(), I32()
    prop = AllocationProp(type=1, handle_types=1, location=Location(1, 0))
    driver.call("cuMemAddressReserve", ref(place), U64(4 * size), U64(0), U64(0), U64(0), address=place, size=4 * size)
    driver.call("cuMemCreate", ref(handle), U64(size), ref(prop), U64(0), address=handle, size=size)
    driver.call("cuMemCreate", ref(again), U64(size + 1), ref(prop), U64(0), address=0, size=size + 1)
    driver.call("cuMemMap", place, U64(size), U64(0), handle, U64(0), address=place.value, size=size)
    driver.call("cuMemRetainAllocationHandle", ref(again), POINTER(place.value), address=again)
    driver.call("cuMemRelease", again, address=again.value)
    driver.quiet("cuMemExportToShareableHandle", ref(shared), handle, I32(1), U64(0))
    driver.call(
        "cuMemImportFromShareableHandle", ref(imported), POINTER(shared.value), I32(1), address=imported
    )
    driver.call("cuMemRelease", imported, address=imported.value)
    driver.call("cuMemRelease", handle, address=handle.value)  # before the unmap: the memory stays until then
    driver.call("cuMemUnmap", place, U64(size), address=place.value, size=size)
    driver.call("cuMemUnmap", place, U64(size), address=place.value, size=size)  # ends nothing
    driver.call("cuMemAddressFree", place, U64(4 * size), address=place.value, size=4 * size)


def arrays(driver):
    array = POINTER()
    flat = ArrayDescriptor(256, 128, 0x20, 4)
    deep = Array3DDescriptor(64, 64, 16, 0x02, 2, 0)
    driver.call("cuArrayCreate_v2", ref(array), ref(flat), address=array, size=256 * 128 * 16)
    driver.call("cuArrayDestroy", array, address=array.value)
    driver.call("cuArray3DCreate_v2", ref(array), ref(deep), address=array, size=64 * 64 * 16 * 4)
    driver.call("cuArrayDestroy", array, address=array.value)
    driver.call("cuMipmappedArrayCreate", ref(array), ref(deep), U32(3), address=array)
    driver.call("cuMipmappedArrayDestroy", array, address=array.value)


def host_memory(driver):
    pointer = POINTER()
    driver.call("cuMemAllocHost_v2", ref(pointer), U64(MIB), address=pointer, size=MIB)
    driver.call("cuMemFreeHost", pointer, address=pointer.value)
    for name in ("cuMemHostAlloc", "cuMemHostAlloc_v2"):
        if driver.call(name, ref(pointer), U64(2 * MIB), U32(0), address=pointer, size=2 * MIB) == 0:
            driver.call("cuMemFreeHost", pointer, address=pointer.value)
    buffer = ctypes.create_string_buffer(3 * MIB)
    start = (ctypes.addressof(buffer) + 4095) // 4096 * 4096
    for name in ("cuMemHostRegister_v2", "cuMemHostRegister"):
        if driver.call(name, POINTER(start), U64(MIB), U32(0), address=start, size=MIB) == 0:
            driver.call("cuMemHostUnregister", POINTER(start), address=start)
    driver.call("cuMemHostUnregister", POINTER(start), address=start)  # fails


def graphs(driver):
    graph, node = POINTER(), POINTER()
    driver.quiet("cuGraphCreate", ref(graph), U32(0))
    alloc = AllocNode(pool=PoolProps(type=1, location=Location(1, 0)), bytes=6 * MIB)
    none, zero = POINTER(), U64(0)
    driver.call("cuGraphAddMemAllocNode", ref(node), graph, none, zero, ref(alloc), address=0, size=6 * MIB)
    driver.calls[-1]["address"] = "0x%x" % alloc.address
    after = (POINTER * 1)(node)
    driver.call("cuGraphAddMemFreeNode", ref(node), graph, after, U64(1), U64(alloc.address), address=alloc.address)
    for name, extra in (("cuGraphAddNode", ()), ("cuGraphAddNode_v2", (none,))):
        params = NodeParams(type=10)
        params.body.alloc = AllocNode(pool=PoolProps(type=1, location=Location(1, 0)), bytes=7 * MIB)
        arguments = (ref(node), graph, none) + extra + (zero, ref(params))
        if driver.call(name, *arguments, address=0, size=7 * MIB) is None:
            continue
        address = params.body.alloc.address
        driver.calls[-1]["address"] = "0x%x" % address
        params = NodeParams(type=11)
        params.body.free = address
        arguments = (ref(node), graph, (POINTER * 1)(node)) + extra + (U64(1), ref(params))
        driver.call(name, *arguments, address=address)
    driver.quiet("cuGraphDestroy", graph)


def imports(driver):
    script = [sys.executable, os.path.abspath(__file__), "--export"]
    child = subprocess.Popen(script, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    handle = IpcHandle.from_buffer_copy(bytes.fromhex(child.stdout.readline().decode().strip()))
    address = U64()
    for name in ("cuIpcOpenMemHandle_v2", "cuIpcOpenMemHandle"):
        function = getattr(driver.library, name, None)
        if function is not None:
            function.argtypes = [POINTER, IpcHandle, U32]
        if driver.call(name, ref(address), handle, U32(1), address=address) == 0:
            driver.call("cuIpcCloseMemHandle", U64(address.value), address=address.value)
    child.communicate(b"done\n")
    external, buffer = POINTER(), ExternalBuffer(bytes=2 * MIB)
    descriptor = ExternalMemory(type=1, fd=os.open("/dev/null", os.O_RDONLY), bytes=2 * MIB)
    driver.library.cuImportExternalMemory(ref(external), ref(descriptor))  # fails on a real GPU: no such memory
    if external.value:
        name = "cuExternalMemoryGetMappedBuffer"
        driver.call(name, ref(address), external, ref(buffer), address=address, size=2 * MIB)
        driver.call("cuMemFree_v2", U64(address.value), address=address.value)
        driver.quiet("cuDestroyExternalMemory", external)
    resource, size = POINTER(), U64()
    if driver.library.cuGraphicsGLRegisterBuffer(ref(resource), U32(1), U32(0)) == 0:
        name = "cuGraphicsResourceGetMappedPointer_v2"
        driver.call(name, ref(address), ref(size), resource, address=address, size=size)
        driver.quiet("cuGraphicsUnregisterResource", resource)


def bulk_frees(driver):
    """Memory that ends with its context."""
    address, context = U64(), POINTER()
    driver.quiet("cuCtxCreate_v2", ref(context), U32(0), I32(0))
    driver.call("cuMemAlloc_v2", ref(address), U64(8 * MIB), address=address, size=8 * MIB)
    driver.call("cuCtxDestroy_v2", context, address=context.value)
    driver.call("cuMemAlloc_v2", ref(address), U64(9 * MIB), address=address, size=9 * MIB)
    driver.call("cuDevicePrimaryCtxReset_v2", I32(0), address=0)
    driver.call("cuDevicePrimaryCtxRelease_v2", I32(0), address=0)
    driver.call("cuDevicePrimaryCtxRelease_v2", I32(0), address=0)  # fails: released already


def export():
    """The other process of the IPC calls: shows a handle and keeps the memory until it is told."""
    driver = start()
    address, handle = U64(), IpcHandle()
    driver.quiet("cuMemAlloc_v2", ref(address), U64(2 * MIB))
    driver.quiet("cuIpcGetMemHandle", ref(handle), address)
    print(bytes(handle).hex(), flush=True)
    sys.stdin.readline()


def start():
    driver = Driver()
    context = POINTER()
    driver.quiet("cuInit", U32(0))
    driver.quiet("cuDevicePrimaryCtxRetain", ref(context), I32(0))
    driver.quiet("cuCtxSetCurrent", context)
    return driver


def main():
    if sys.argv[1:] == ["--export"]:
        return export()
    driver = start()
    for part in (device_memory, pools, virtual_memory, arrays, host_memory, graphs, imports, bulk_frees):
        part(driver)
    facts = {"workload": "driver_calls", "pid": os.getpid(), "absent": driver.absent, "calls": driver.calls}
    print(json.dumps(facts), flush=True)


if __name__ == "__main__":
    main()
