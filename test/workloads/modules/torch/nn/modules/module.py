"""How PyTorch calls its modules, without PyTorch: the names of file and functions are what the tracer knows them by."""
import os

class Module:
    def _wrapped_call_impl(self, *args, **kwargs):
        return self._call_impl(*args, **kwargs)

    def _call_impl(self, *args, **kwargs):
        return self.forward(*args, **kwargs)

    __call__ = _wrapped_call_impl


if os.environ.get("GMT_TORCH") == "2.0":  # up to here, one function less
    Module.__call__ = Module._call_impl
