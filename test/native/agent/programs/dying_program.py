"""An object whose deallocation has begun, and has let other threads run, is still among those of the collector: nobody may hold it.
Prints its count of references before, and after the agent looked at all objects."""

import ctypes
import gc
import json
import sys

import torch
import tracing


def count():
    return ctypes.c_uint32.from_address(address)


gc.disable()  # it takes such an object for garbage
dying = torch.Tensor(0xABC000)
address = id(dying)
ctypes.pythonapi.Py_IncRef(ctypes.py_object(dying))
del dying
count().value = 0
assert tracing.begin()
told = [count().value]
assert tracing.ask(1, "holders", addresses=[["0xabc000", 512, 0]], budgetMs=10000)
told.append(count().value)
count().value = 1
ctypes.pythonapi.Py_DecRef(ctypes.c_void_p(address))
json.dump(told, sys.stdout)
