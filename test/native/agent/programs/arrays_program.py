"""Arrays of a library without PyTorch: `arrays_program.py jax|threads|cupy|numba|unused`. Prints {"bits": what came out, "addresses": {name: address}}. JAX
computes on the CPU; CuPy and Numba have no GPU here, so their own classes are given addresses that nobody reads."""

import ctypes
import json
import sys
import threading
import time
import types
import weakref

import tracing

numbers = iter(range(0x10000000, 0x7FFFFFFFFF, 1 << 20))
kept, later, backs = [], [], []


class Keeper:
    def __init__(self):
        self.history = {}


def with_jax():
    import jax
    import jax.numpy as jnp

    devices = jax.devices()
    sharding = jax.sharding.NamedSharding(jax.sharding.Mesh(devices, ("x",)), jax.sharding.PartitionSpec("x"))

    def make(number):  # MAKES jax
        return jnp.arange(1024.0) * number

    def spread():
        return jax.device_put(jnp.ones(4096), sharding)

    return make, spread, lambda array: array.unsafe_buffer_pointer(), lambda array: float(array.sum())


def with_threads():
    """As with_jax, while another thread runs Python: it could give a buffer away that is asked for its address."""
    make, spread, _address_of, bits_of = with_jax()
    threading.Thread(target=time.sleep, args=(60,), daemon=True).start()
    return make, lambda: None, id, bits_of


def with_cupy():
    import cupy
    from cupy.cuda import memory

    def allocate(size):
        chunk = memory._Chunk(memory.UnownedMemory(next(numbers), 1 << 20, None, 0), 0, -(-size // 512) * 512, 0)
        return memory.MemoryPointer(memory.PooledMemory(chunk, lambda: None), 0)

    cupy.cuda.set_allocator(allocate)

    def make(number):  # MAKES cupy
        return cupy.ndarray((1024,), dtype="f4")

    return make, lambda: None, lambda array: array.data.mem.ptr, lambda array: array.size


def with_numba():
    from numba.cuda.cudadrv.devicearray import DeviceNDArray
    from numba.cuda.cudadrv.driver import AutoFreePointer, binding

    pointer = binding.CUdeviceptr if hasattr(binding, "CUdeviceptr") else ctypes.c_size_t
    backs.append(Keeper())
    backs.append(Keeper())
    backs[1].id = 0
    backs[0].device = weakref.proxy(backs[1])  # as Numba 0.68 has it

    def make(number):  # MAKES numba
        memory = AutoFreePointer(weakref.proxy(backs[0]), pointer(next(numbers)), 4096, finalizer=list)
        backs.append(memory)  # as its context does
        return DeviceNDArray((1024,), (4,), "f4", gpu_data=memory.own())

    make(0)  # what frees them at exit is registered with the first one: it comes behind the agent's last look
    return make, lambda: None, lambda array: array.gpu_data._mem.device_ctypes_pointer.value, lambda array: array.size


def unused():
    """JAX is there, and has nothing to do with a GPU."""
    from jax._src import xla_bridge

    import jax  # noqa: F401

    if tracing.FOLDER:
        tracing.begin()
        time.sleep(1)
    print(json.dumps({"bits": list(xla_bridge._backends), "addresses": {}}))


def run(make, spread, address_of, bits_of):
    traced = tracing.FOLDER and tracing.begin()
    time.sleep(0.3 if traced else 0)  # the agent has found the library by then
    keeper = Keeper()
    bits = []
    for number in range(20):
        out = make(number)
        bits.append(bits_of(out))
        kept.append(out)  # HOLD list
        keeper.history[number] = make(-number)  # HOLD attribute
        later.append(lambda out=make(2 * number): out)  # HOLD closure
    wide = spread()
    thread = threading.Thread(target=lambda: [make(number) for number in range(3)])
    thread.start()
    thread.join()
    addresses = {"list": address_of(kept[3]), "attribute": address_of(keeper.history[3]), "closure": address_of(later[3]())}
    if wide is not None:
        addresses["wide"] = address_of(wide.addressable_data(2))
    del out
    if traced:
        time.sleep(0.3)
        asked = [[hex(address), 4096, 0] for address in addresses.values()]
        assert tracing.ask(1, "holders", addresses=asked, budgetMs=20000)
        del kept[10:]
        time.sleep(0.3)
    print(json.dumps({"bits": bits, "addresses": addresses}))


if __name__ == "__main__":
    what = sys.argv[1]
    unused() if what == "unused" else run(*{"jax": with_jax, "threads": with_threads, "cupy": with_cupy, "numba": with_numba}[what]())
