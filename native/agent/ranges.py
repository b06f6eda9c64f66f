"""Ranges of `torch.profiler.record_function`, which PyTorch does not report while no profiler runs."""

import sys
import types

objects = load("objects")


def watch():
    """Sees to it that they are reported. True: there is nothing more to do."""
    profiler = sys.modules.get("torch.autograd.profiler")
    kind = objects.of_module("torch.autograd.profiler", "record_function")
    if not objects.is_class(kind):
        return False
    write = natives["range"]
    built_in = getattr(sys.modules.get("torch"), "_C", None)
    active = getattr(getattr(built_in, "_autograd", None), "_profiler_type", None)
    nvtx = getattr(getattr(getattr(built_in, "_profiler", None), "ActiveProfilerType", None), "NVTX", None)
    if active is not None and nvtx is not None:

        def write(text):
            if active() != nvtx:  # `emit_nvtx` makes NVTX ranges of them, which are reported too
                natives["range"](text)

    for name, around in (("__enter__", begins), ("__exit__", ends)):
        original = objects.CLASS_DICT(kind).get(name)
        if type(original) is types.FunctionType and original.__code__.co_filename == profiler.__file__:
            setattr(kind, name, in_place_of(original, around(original, write)))
    return True


def begins(original, write):
    def __enter__(self):
        found = original(self)
        write(self.name or "range")
        return found

    return __enter__


def ends(original, write):
    def __exit__(self, *exception):
        write("")
        return original(self, *exception)

    return __exit__


def in_place_of(original, function):
    """The function with all by which TorchScript, which compiles this class from its source, finds that of the original."""
    code = function.__code__.replace(co_filename=original.__code__.co_filename, co_firstlineno=original.__code__.co_firstlineno)
    made = types.FunctionType(code, original.__globals__, original.__name__, original.__defaults__, function.__closure__)
    made.__dict__.update(original.__dict__, __wrapped__=original)
    made.__qualname__, made.__module__, made.__doc__ = original.__qualname__, original.__module__, original.__doc__
    made.__annotations__ = original.__annotations__
    return made
