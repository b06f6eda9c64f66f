"""Python reads this at its start where this folder is on PYTHONPATH: what imports PyTorch gets the stand-in of a GPU with it (as_gpu.py)."""

import ctypes
import importlib.abc
import importlib.util
import sys


class AfterTorch(importlib.abc.MetaPathFinder):
    def find_spec(self, name, path=None, target=None):
        if name != "torch":
            return None
        sys.meta_path.remove(self)
        spec = importlib.util.find_spec(name)
        if spec is None:
            return None
        load = spec.loader.exec_module

        def exec_module(module):
            load(module)
            import as_gpu  # noqa: F401

            driver = ctypes.CDLL("libcuda.so.1")
            driver.cuInit(0)
            driver.cuDevicePrimaryCtxRetain(ctypes.byref(ctypes.c_void_p()), 0)

        spec.loader.exec_module = exec_module
        return spec


sys.meta_path.insert(0, AfterTorch())
