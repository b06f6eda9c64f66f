"""Tensors and their storages, through functions of PyTorch that hand nothing to a subclass's own code; and arrays of other libraries."""

import contextlib
import os
import sys
import time
import types

objects = load("objects")
arrays = load("arrays")


def no_torch():
    """Stands in for PyTorch in a program without it: nothing is a tensor, and a getter of a tensor refuses all."""
    names, space = ("grad", "grad_fn", "is_leaf", "is_cuda", "requires_grad", "_version", "output_nr"), types.SimpleNamespace
    tensor = type("Tensor", (), dict.fromkeys(names, property(objects.MODULE_DICT)))
    core = space(TensorBase=tensor, DisableTorchFunctionSubclass=contextlib.nullcontext)
    return space(_C=core, Tensor=tensor, nn=space(Parameter=tensor), optim=space(), cuda=space(is_initialized=bool))


torch = sys.modules["torch"] if hasattr(sys.modules.get("torch"), "_C") else no_torch()
core = torch._C
base = getattr(core, "TensorBase", None) or core._TensorBase
quiet = getattr(core, "DisableTorchFunctionSubclass", None) or core.DisableTorchFunction
HAS_STORAGE = hasattr(base, "untyped_storage")
storage_pointer = getattr(getattr(core, "StorageBase", None), "data_ptr", None)
storage_bytes = getattr(getattr(core, "StorageBase", None), "nbytes", None)
get_grad, get_node = base.grad.__get__, base.grad_fn.__get__
is_leaf, is_cuda, needs_grad = base.is_leaf.__get__, base.is_cuda.__get__, base.requires_grad.__get__
version = base._version.__get__
output = base.output_nr.__get__  # which one of its node's outputs a tensor is
NO_DEVICE = 255
ELSEWHERE = 0 if os.environ.get("GPU_MEMTRACE_AGENT_DEVICES") == "all" else NO_DEVICE  # all: for tests, which have no GPU
LEAST_PINNED = 4096  # bytes: a page; the driver is queried for each such tensor
dispatching = {}  # id of a class -> whether it dispatches
NO_STORAGE = (RuntimeError, NotImplementedError, ValueError, TypeError, AttributeError)


def types_of(kind):
    """A class and all classes below it."""
    seen, found, left = set(), [], [kind]
    while left:
        each = left.pop()
        if id(each) not in seen:
            seen.add(id(each))
            found.append(each)
            left += type.__subclasses__(each)
    return found


def dispatches(kind):
    """Whether a class of tensors answers itself what its tensors are (DTensor, say): then even their device comes from its code."""
    known = dispatching.get(id(kind))
    if known is None:
        line = []
        for each in objects.CLASS_MRO(kind):
            if each is torch.Tensor or each is base:
                break
            line.append(each)
        known = dispatching[id(kind)] = any("__torch_dispatch__" in objects.CLASS_DICT(each) for each in line)
    return known


def all_tensors(things):
    """Those of the things that are tensors with a storage of their own: what lies in others comes as tensors too."""
    kinds = [kind for kind in types_of(base) if not dispatches(kind)]
    return natives["pick"](things, kinds + [kind for each, _, _ in arrays.kinds() for kind in types_of(each)])


def plain(tensor):
    """The tensor, or the one inside it that has the storage; None: it is none, or not known where it has it."""
    if not objects.is_kind(tensor, base):
        return None
    if not dispatches(type(tensor)):
        return tensor
    inner = objects.attribute(tensor, "_local_tensor")
    return inner if objects.is_kind(inner, base) and not dispatches(type(inner)) else None


def address(tensor):
    """Where a tensor's storage begins; 0 where it has none."""
    try:
        if HAS_STORAGE and storage_pointer:
            return storage_pointer(base.untyped_storage(tensor))
        return base.data_ptr(tensor) - base.storage_offset(tensor) * base.element_size(tensor)
    except NO_STORAGE:
        return arrays.place(tensor)[0]


def size(tensor):
    """Bytes of a tensor's storage."""
    try:
        if HAS_STORAGE and storage_bytes:
            return storage_bytes(base.untyped_storage(tensor))
        return base.numel(tensor) * base.element_size(tensor)
    except NO_STORAGE:
        return arrays.place(tensor)[1]


def device(tensor):
    """Index of the tensor's GPU; NO_DEVICE: none."""
    try:
        return base.get_device(tensor) if is_cuda(tensor) else ELSEWHERE
    except NO_STORAGE:
        index = arrays.place(tensor)[2]
        return NO_DEVICE if index is None else index


def pinned():
    """A function that decides whether a tensor lies in pinned host memory, which the driver keeps count of."""
    if not hasattr(base, "is_pinned") or not torch.cuda.is_initialized():  # asking earlier may begin to use the GPU
        return lambda tensor: False

    def is_pinned(tensor):
        try:
            return not on_gpu(tensor) and size(tensor) >= LEAST_PINNED and base.is_pinned(tensor)
        except NO_STORAGE:
            return False

    return is_pinned


def on_gpu(tensor):
    return device(tensor) != NO_DEVICE


def allocator_figures(*names):
    """What PyTorch's allocator counts by these names, by GPU; None: it does not report them, or the query would make a context."""
    if not hasattr(core, "_cuda_memoryStats") or not torch.cuda.is_initialized():
        return None
    every = [core._cuda_memoryStats(each) for each in range(core._cuda_getDeviceCount())]
    return [[stats.get(name, {}).get("all", {}).get("current", 0) for name in names] for stats in every]


def node(tensor):
    """The node of the graph that made the tensor. Not of a view that was changed in place: PyTorch would make a new one for the query."""
    try:
        if is_leaf(tensor) or (base._is_view(tensor) and version(tensor)):
            return None
        return get_node(tensor)
    except NO_STORAGE:
        return None


def nodes(things):
    """Those of the things that are nodes of graphs: PyTorch has a class of its own for each sort, and one for those of the program."""
    kinds = [each for each in type.__subclasses__(object) if "next_functions" in objects.CLASS_DICT(each)]
    own = getattr(core, "_FunctionBase", None)
    return natives["pick"](things, kinds + (types_of(own) if own is not None else []))


def is_trained(tensor):
    try:
        return is_leaf(tensor) and needs_grad(tensor)
    except NO_STORAGE:
        return False


def has_graph(tensor):
    """Whether what is made from the tensor has a graph: it was not made under no_grad, and was not detached."""
    try:
        return bool(needs_grad(tensor))
    except NO_STORAGE:
        return True


def gradients(things):
    """The gradients of leaves (of others PyTorch warns), in the order of the tensors; None each while a backward pass runs anywhere."""
    gradients = natives["gradients"](get_grad, sys._current_frames, [each if is_trained(each) else None for each in things])
    return [plain(each) if each is not None else None for each in gradients] if gradients is not None else [None] * len(things)


def gradient(tensor):
    return gradients([tensor])[0] if is_trained(tensor) else None


def graphs_rest():
    """No backward pass runs, which would free graphs while they are walked."""
    return natives["backward_runs"](sys._current_frames) == 0


class Deadline:
    """Time that is left to one thread, of the processor's: on a busy machine all takes longer. Says whether something was cut short."""

    def __init__(self, milliseconds):
        self.begun = time.perf_counter()
        self.until = time.thread_time() + milliseconds / 1000
        self.cut = False

    def late(self):
        late = time.thread_time() > self.until
        self.cut |= late
        return late

    def left_ms(self, share=1.0):
        """At least one."""
        return max(1, int((self.until - time.thread_time()) * 1000 * share))

    def elapsed_ms(self):
        return round((time.perf_counter() - self.begun) * 1000, 1)
