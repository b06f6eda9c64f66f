"""Driver calls on two devices with streams, pools, own contexts and failures; prints what a trace must say of them.

Each line of the output is [call, address, bytes, device, stream, object, offset, result]; null where it does not matter.
"""

import ctypes
import json
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "..", "workloads"))
from driver_calls import AllocationProp, Location, PoolProps  # noqa: E402

MIB = 1 << 20
U64, U32, I32, POINTER, ref = ctypes.c_uint64, ctypes.c_uint, ctypes.c_int, ctypes.c_void_p, ctypes.byref
driver = ctypes.CDLL("libcuda.so.1")


def must(name, *arguments):
    result = getattr(driver, name)(*arguments)
    assert result == 0, (name, result)


def tell(call, address=0, size=0, device=0, stream=0, thing=0, offset=0, result=0):
    print(json.dumps([call, address, size, device, stream, thing, offset, result]))


def on_device(device):
    context = POINTER()
    must("cuDevicePrimaryCtxRetain", ref(context), I32(device))
    must("cuCtxSetCurrent", context)
    address = U64()
    must("cuMemAlloc_v2", ref(address), U64((device + 1) * MIB))
    tell("cuMemAlloc_v2", address.value, (device + 1) * MIB, device)
    return context, address.value


def streams():
    stream, pool, address = POINTER(), POINTER(), U64()
    must("cuStreamCreate", ref(stream), U32(0))
    must("cuMemAllocAsync", ref(address), U64(3 * MIB), stream)
    tell("cuMemAllocAsync", address.value, 3 * MIB, 1, stream.value)
    must("cuMemFreeAsync", address, stream)
    tell("cuMemFreeAsync", address.value, 0, 1, stream.value)
    props = PoolProps(type=1, location=Location(1, 1))
    must("cuMemPoolCreate", ref(pool), ref(props))
    tell("cuMemPoolCreate", pool.value, 0, 1)
    must("cuMemAllocFromPoolAsync", ref(address), U64(5000), pool, stream)
    tell("cuMemAllocFromPoolAsync", address.value, 5000, 1, stream.value, pool.value)
    must("cuMemFreeAsync", address, stream)
    tell("cuMemFreeAsync", address.value, 0, 1, stream.value)


def virtual_memory():
    """Physical memory of device 0 with device 1 current, mapped at an offset."""
    handle, place = U64(), U64()
    prop = AllocationProp(type=1, location=Location(1, 0))
    must("cuMemAddressReserve", ref(place), U64(8 * MIB), U64(0), U64(0), U64(0))
    tell("cuMemAddressReserve", place.value, 8 * MIB, 1)
    must("cuMemCreate", ref(handle), U64(4 * MIB), ref(prop), U64(0))
    tell("cuMemCreate", handle.value, 4 * MIB, 0)
    result = driver.cuMemMap(U64(place.value + 2 * MIB), U64(2 * MIB), U64(2 * MIB), handle, U64(0))
    tell("cuMemMap", place.value + 2 * MIB if result == 0 else None, 2 * MIB, 1, 0, handle.value, 2 * MIB, result)
    if result == 0:
        must("cuMemUnmap", U64(place.value + 2 * MIB), U64(2 * MIB))
        tell("cuMemUnmap", place.value + 2 * MIB, 2 * MIB, 1)


def failures():
    address = U64()
    result = driver.cuMemAlloc_v2(ref(address), U64(1 << 45))
    tell("cuMemAlloc_v2", 0, 1 << 45, 1, result=result)
    result = driver.cuMemFree_v2(U64(0x1234500))
    tell("cuMemFree_v2", 0x1234500, 0, 1)
    tell("undone", 0x1234500, 32, 1, result=result)  # 32 = GMT_FREE, the kind that did not happen
    must("cuMemFree_v2", U64(0))  # does nothing, so nothing is told


def host_memory():
    pointer = POINTER()
    must("cuMemHostAlloc", ref(pointer), U64(MIB), U32(0))
    tell("cuMemHostAlloc", pointer.value, MIB, 255)
    must("cuMemFreeHost", pointer)
    tell("cuMemFreeHost", pointer.value, 0, 255)


def own_context():
    """Its end frees what is in it: one mark, not a free for each block."""
    context, address = POINTER(), U64()
    must("cuCtxCreate_v2", ref(context), U32(0), I32(0))
    for size in (MIB, 2 * MIB):
        must("cuMemAlloc_v2", ref(address), U64(size))
        tell("cuMemAlloc_v2", address.value, size, 0)
    must("cuCtxDestroy_v2", context)
    tell("context", context.value, 0, 0)


def main():
    must("cuInit", U32(0))
    on_device(0)
    second, address = on_device(1)
    streams()
    virtual_memory()
    failures()
    host_memory()
    must("cuMemFree_v2", U64(address))
    tell("cuMemFree_v2", address, 0, 1)
    own_context()
    must("cuCtxSetCurrent", second)
    for device in (0, 1):
        must("cuDevicePrimaryCtxRelease_v2", I32(device))
        tell("released", None, 0, device)


main()
