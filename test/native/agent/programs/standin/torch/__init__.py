"""As much of PyTorch as the agent asks, in Python alone: for interpreters that have no PyTorch. Storages are numbers."""

import ctypes
import sys
import types


class Storage:
    def __init__(self, address, size):
        self.address, self.size = address, size

    def data_ptr(self):
        return self.address

    def nbytes(self):
        return self.size


class Hidden:
    """Holds an object as C++ does: the collector does not see it."""

    def __init__(self, thing):
        self.address = id(thing)
        ctypes.pythonapi.Py_IncRef(ctypes.py_object(thing))

    def get(self):
        return ctypes.cast(self.address, ctypes.py_object).value

    def __del__(self):
        ctypes.pythonapi.Py_DecRef(ctypes.cast(self.address, ctypes.py_object))


class Slot:
    """A descriptor like those of a C type: its `__get__` takes the tensor alone."""

    def __init__(self, name):
        self.name = name

    def __get__(self, thing, kind=None):
        return self if thing is None else thing.__dict__[self.name].get()

    def __set__(self, thing, value):
        thing.__dict__[self.name] = Hidden(value)


class TensorBase:
    grad, grad_fn, is_leaf, is_cuda = Slot("_grad"), Slot("_node"), Slot("_leaf"), Slot("_cuda")
    requires_grad, _version, output_nr = Slot("_needs"), Slot("_changes"), Slot("_output")

    def __init__(self, address, size=512, node=None, needs_grad=False):
        hidden = {"grad": None, "grad_fn": node, "is_leaf": node is None, "is_cuda": True, "_version": 0, "output_nr": 0}
        for name, value in dict(hidden, requires_grad=needs_grad or node is not None).items():
            TensorBase.__dict__[name].__set__(self, value)
        self.__dict__["_storage"] = Storage(address, size)

    def untyped_storage(self):
        return self.__dict__["_storage"]

    def numel(self):
        return self.__dict__["_storage"].size // 4

    def get_device(self):
        return 0

    def _is_view(self):
        return False


class Tensor(TensorBase):
    pass


class SavedTensor:
    """What a node saved: there is no tensor object until somebody asks for one."""

    def __init__(self, address, on_gpu=True):
        self.address, self.on_gpu = address, on_gpu

    @property
    def data(self):
        tensor = Tensor(self.address)
        tensor.is_cuda = self.on_gpu
        return tensor


class Node:
    """What a computation leaves for the backward pass, a number on the CPU too."""

    next_functions, _raw_saved_self, _raw_saved_other = Slot("_next"), Slot("_saved"), Slot("_other")

    def __init__(self, saved, *following):
        self.next_functions, self._raw_saved_self = tuple((each, 0) for each in following), SavedTensor(saved)
        self._raw_saved_other = SavedTensor(0x7000000000 + saved, on_gpu=False)


class Ended(Slot):
    """What is no longer told once the graph has gone."""

    def __get__(self, thing, kind=None):
        if thing is None:
            return self
        raise AttributeError("Attribute %s is invalid for this instance." % self.name)


class FunctionBase:
    """A context of the program's own function that outlived its node."""

    next_functions, _raw_saved_tensors = Ended("next_functions"), Ended("_raw_saved_tensors")


class Quiet:
    def __enter__(self):
        pass

    def __exit__(self, *error):
        pass


class Module:
    def __init__(self):
        self.__dict__.update(_parameters={}, _buffers={}, _modules={}, _forward_hooks={})

    def __setattr__(self, name, value):
        where = self._modules if isinstance(value, Module) else self._parameters if type(value) is Parameter else self.__dict__
        where[name] = value

    def __getattr__(self, name):
        for part in ("_modules", "_parameters", "_buffers"):
            if name in self.__dict__[part]:
                return self.__dict__[part][name]
        raise AttributeError(name)

    def _call_impl(self):
        pass

    def register_forward_hook(self, hook):
        self._forward_hooks[len(self._forward_hooks)] = hook


class Parameter(Tensor):
    pass


def stat(current):
    return {"all": {"current": current}}


# By device; a built-in function gives them, as PyTorch's own does.
allocator_stats = {0: {"allocated_bytes": stat(512), "active_bytes": stat(512)}}
_C = types.SimpleNamespace(TensorBase=TensorBase, DisableTorchFunctionSubclass=Quiet, StorageBase=Storage, _FunctionBase=FunctionBase)
_C._cuda_memoryStats = allocator_stats.__getitem__
_C._cuda_getDeviceCount = lambda: len(allocator_stats)
nn = types.ModuleType("torch.nn")
nn.Module, nn.Parameter = Module, Parameter
compiler = types.SimpleNamespace(is_compiling=lambda: False)
cuda = types.SimpleNamespace(is_initialized=lambda: False)
sys.modules["torch.nn"] = nn

from torch import optim  # noqa: E402
