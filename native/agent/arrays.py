"""Arrays that other libraries than PyTorch have on GPUs: where each lies, and which there are.

CuPy's allocator is listened to, the allocations of Numba and RMM are the driver's. JAX tells nobody: its arrays are looked at now and then, and what is new
or gone since the last look is told then."""

import os
import sys
import time
import weakref

objects = load("objects")
of_module = objects.of_module
NOTE_LOOKS = 15
NOWHERE = (0, 0, None)  # address, bytes, index of the GPU
SHARE, LEAST_MS, HANDOVER_MS = 0.01, 50, 0.1  # of the program's time for looks; milliseconds between two of them; what a turn takes besides
PLATFORMS = ("gpu", "cuda", "cpu" if os.environ.get("GPU_MEMTRACE_AGENT_DEVICES") == "all" else "cuda")  # cpu: for tests
LOOKS = "JAX arrays are sampled, at most 20 times per second. Their times and steps are those of the samples, and arrays that lived only between two samples are not recorded."
known = {}  # id of an array of JAX -> (weak reference to it, [(address, bytes, index of the GPU)])
users = {}  # (address, index of the GPU) -> how many arrays have it
state = {"cupy": False, "jax": False, "told": False}


def kinds():
    """[(class, how an array of it shows where it lies, what brings it to the CPU)] of the libraries that are there."""
    found = [
        (of_module("cupy", "ndarray"), of_cupy, ".get()"),
        (of_module("jaxlib._jax", "ArrayImpl") or of_module("jaxlib.xla_extension", "ArrayImpl"), lambda array: (places(array) or [NOWHERE])[0], "jax.device_get(…)"),
        (of_module("numba.cuda.cudadrv.devicearray", "DeviceNDArrayBase"), of_numba, ".copy_to_host()"),
        (of_module("rmm.pylibrmm.device_buffer", "DeviceBuffer"), of_rmm, ".copy_to_host()"),
    ]
    return [each for each in found if objects.is_class(each[0])]


def kind_of(thing):
    """The one of `kinds` that an array is of; of none with nothing that brings it to the CPU."""
    return next((each for each in kinds() if objects.is_kind(thing, each[0])), (None, lambda thing: NOWHERE, None))


def place(thing):
    """(address, bytes, index of the GPU) of an array's memory; NOWHERE: it is none, or not known where it lies."""
    try:
        return kind_of(thing)[1](thing)
    except (AttributeError, TypeError, ValueError, ReferenceError):
        return NOWHERE


def part(thing, name):
    """What a library's class made in C has under this name."""
    for kind in objects.CLASS_MRO(type(thing)):
        slot = objects.CLASS_DICT(kind).get(name)
        if objects.exactly(slot, objects.GETSET, objects.MEMBER):
            return slot.__get__(thing)
    raise AttributeError(name)


def of_cupy(array):
    memory = part(part(array, "data"), "mem")
    return part(memory, "ptr"), part(memory, "size"), part(memory, "device_id")


def of_rmm(buffer):
    """Its GPU is recorded nowhere: the process's first one, as with one process a GPU."""
    return part(buffer, "ptr"), part(buffer, "size"), 0


def places(array):
    """All of what an array of JAX has: a place on each of its GPUs."""
    found = known.get(id(array))
    return found[1] if found is not None and found[0]() is array else []


def referent(thing):
    """What a weak proxy stands for: a method that is read from it is bound to that."""
    return thing.__repr__.__self__ if type(thing) is weakref.ProxyType else thing


def of_numba(array):
    """A part of an array has the memory of all of it."""
    memory = objects.attribute(array, "gpu_data")
    memory = referent(objects.attribute(memory, "_mem") or memory)
    pointer = objects.attribute(memory, "device_pointer")
    simple = objects.CLASS_MRO(of_module("ctypes", "c_size_t"))[1]
    address = objects.CLASS_DICT(simple)["value"].__get__(pointer) if objects.is_kind(pointer, simple) else int(pointer)
    device = referent(objects.attribute(referent(objects.attribute(memory, "context")), "device"))
    return address or 0, objects.attribute(memory, "size"), objects.attribute(device, "id")


def watch():
    """Begins to watch what is there by now. CuPy's allocator is called by ours (native/inject/agent/arrays.cpp)."""
    pooled, cuda = of_module("cupy.cuda.memory", "PooledMemory"), of_module("cupy", "cuda")
    if not state["cupy"] and objects.is_class(pooled) and of_module("cupy", "get_default_memory_pool"):
        state["cupy"] = True
        natives["cupy_watch"](pooled, cuda.get_allocator())
        cuda.set_allocator(natives["cupy_allocate"])
    if not state["jax"] and of_module("jax._src.xla_bridge", "_backends") is not None:
        state["jax"] = True
        natives["look"](1)


def live_arrays():
    """Of all backends that JAX has made, the oldest first."""
    clients = of_module("jax._src.xla_bridge", "_backends") or {}
    return [each for client in list(clients.values()) if client.platform in PLATFORMS for each in reversed(client.live_arrays())]


def look():
    """Tells which arrays of JAX came and went since the last look, and when the next one is due."""
    if not state["jax"] or natives["asleep"]():
        return
    begun = time.perf_counter()
    natives["look"](20 * LEAST_MS)  # also where this one fails
    alive, new = {}, []
    for array in live_arrays():
        found = known.get(id(array))
        if found is not None and found[0]() is array:
            alive[id(array)] = found
        else:
            new.append(array)
    for number in known.keys() - alive.keys():
        for address, size, device in known.pop(number)[1]:
            users[address, device] -= 1
            if users[address, device] == 0:
                del users[address, device]
                natives["array"](address, size, device)
    if new and not state["told"]:
        state["told"] = natives["note"](NOTE_LOOKS, LOOKS) is None
    # A buffer cannot be given away for good by another thread while its place is read.
    alone = len(sys._current_frames()) <= 2
    for array in new:
        try:
            enter(array, alone)
        except Exception:  # one that a newer JAX describes otherwise is not queried again
            known[id(array)] = (weakref.ref(array), [])
    natives["look"](int(max(LEAST_MS if alive or new else 20 * LEAST_MS, ((time.perf_counter() - begun) * 1000 + HANDOVER_MS) / SHARE)))


def enter(array, alone):
    """An array that is not ready yet is left for the next look: asking would wait for it."""
    if id(array) in known or array.is_deleted() or not array.is_ready():
        return
    pieces = []
    if array.sharding.memory_kind in (None, "device") and array.on_device_size_in_bytes():
        # Of several made by this, where they were not requested before: they live as long as the array.
        pieces = array._arrays if len(array.sharding.device_set) > 1 else [array]
    known[id(array)] = (weakref.ref(array), [place_of(each, alone) for each in pieces])
    for address, size, device in places(array):
        users[address, device] = users.get((address, device), 0) + 1
        if users[address, device] == 1:
            natives["array"](address, size, device, *(array.traceback.raw_frames() if array.traceback is not None else ([], [])))


def place_of(array, alone):
    (device,) = array.sharding.device_set
    return array.unsafe_buffer_pointer() if alone else id(array), array.on_device_size_in_bytes(), device.local_hardware_id
