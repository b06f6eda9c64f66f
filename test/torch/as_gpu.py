"""Imported by a job behind `import torch`: from here on its tensors on the CPU are reported as ones of GPU 0, and what the job calls of
torch.cuda does nothing. GMT_AS_GPU names the library, GMT_AS_GPU_BYTES how many bytes that GPU has (0: no limit). With GMT_OLD_GRAPHS
nodes of graphs do not show what they saved, as up to PyTorch 2.9."""

import contextlib
import ctypes
import os

import torch

IDLE = ("synchronize", "empty_cache", "manual_seed", "manual_seed_all", "reset_peak_memory_stats", "set_device")
IDLE += ("set_per_process_memory_fraction",)


class Stream:
    def wait_stream(self, other):
        pass

    def synchronize(self):
        pass


def to_host(tensor, *words, **options):
    """A copy that is not the GPU's; one that belongs to a graph stays where it is, since the copy would not be of that graph."""
    if tensor.requires_grad or tensor.numel() == 0 or tensor.layout is not torch.strided:
        return stay(tensor, *words, **options)
    room = bytearray(tensor.numel() * tensor.element_size())
    return torch.frombuffer(room, dtype=tensor.dtype).view(tensor.shape).copy_(tensor)


def same(thing, *_words, **_options):
    return thing


def idle():
    """A function of its own for each name: PyTorch's compiler has a rule for each function of torch.cuda."""
    return lambda *_words, **_options: None


if "GPU_MEMTRACE_ROUNDS" not in os.environ:  # the long run alone has PyTorch's compiler
    import no_compiler  # noqa: F401
allocator = ctypes.CDLL(os.environ["GMT_AS_GPU"], ctypes.RTLD_GLOBAL)
allocator.cpu_as_gpu(ctypes.c_size_t(int(os.environ["GMT_AS_GPU_BYTES"])))
for name in IDLE:
    setattr(torch.cuda, name, idle())
torch.cuda.Stream = Stream
torch.cuda.current_stream = lambda *_words: Stream()
torch.cuda.stream = lambda stream: contextlib.nullcontext()
stay, torch.Tensor.cpu = torch.Tensor.cpu, to_host
torch.Tensor.cuda = torch.nn.Module.cuda = same
torch.Tensor.record_stream = idle()
if "GMT_OLD_GRAPHS" in os.environ and hasattr(torch._C._autograd.SavedTensor, "data"):
    del torch._C._autograd.SavedTensor.data
if "GMT_BACKWARD_THREAD" in os.environ:
    passes = ctypes.CDLL(os.environ["GMT_BACKWARD_THREAD"])
    # As on a GPU: the backward pass runs on a thread that has no Python code.
    torch.Tensor.backward = lambda tensor: passes.backward_on_a_thread(ctypes.c_void_p(tensor._cdata))


def blocks():
    """[address, bytes] of all blocks that are handed out."""
    room = 1 << 16
    words = (ctypes.c_uint64 * (2 * room))()
    count = allocator.cpu_as_gpu_blocks(words, ctypes.c_size_t(room))
    assert count <= room
    return [[words[2 * at], words[2 * at + 1]] for at in range(count)]


def allocated_bytes():
    return sum(size for _, size in blocks())


def memory_stats(*_device):
    """What the allocator counted, under the names of torch.cuda.memory_stats()."""
    counts = (ctypes.c_uint64 * 4)()
    allocator.cpu_as_gpu_counted(counts)
    live = [size for _, size in blocks()]
    told = {}
    for name, allocated, current, peak in (
        ("allocation", counts[0], len(live), counts[2]),
        ("allocated_bytes", counts[1], sum(live), counts[3]),
    ):
        words = {"allocated": allocated, "freed": allocated - current, "current": current, "peak": peak}
        told.update({f"{name}.all.{word}": value for word, value in words.items()})
    return told


def snapshot(*_pool):
    """As the GPU's allocator tells it; where its segments lie is nowhere, as with expandable ones."""
    told = [{"address": at, "size": size, "state": "active_allocated"} for at, size in blocks()]
    reserved = allocator.cpu_as_gpu_reserved
    reserved.restype = ctypes.c_uint64
    return [{"device": 0, "address": 0, "total_size": reserved(), "is_expandable": True, "blocks": told}]


def tell_blocks():
    """From here on PyTorch's snapshot of its memory is there."""
    torch._C._cuda_memorySnapshot = snapshot
    torch._C._cuda_isHistoryEnabled = lambda: False
    torch._C._cuda_memoryStats = lambda _device: {}
    torch._C._cuda_getDeviceCount = lambda: 1
    torch.cuda.is_initialized = lambda: True


torch.cuda.memory_stats = memory_stats
torch.cuda.memory_snapshot = snapshot
