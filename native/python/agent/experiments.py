"""What one deed frees. Each is done only when a person asks for it: it changes what the program does."""

import gc
import sys

tensors = load("tensors")
core = tensors.core
LAST_ERROR = ("last_exc", "last_value", "last_traceback", "last_type")


def used_devices():
    """The GPUs on which PyTorch holds memory; asking for others would make a context there."""
    if not hasattr(core, "_cuda_memoryStats") or not tensors.torch.cuda.is_initialized():
        return []
    return [each for each in range(core._cuda_getDeviceCount()) if figures(each)["reserved"] > 0]


def figures(device):
    stats = core._cuda_memoryStats(device)
    return {
        "device": device,
        "allocated": stats["allocated_bytes"]["all"]["current"],
        "reserved": stats["reserved_bytes"]["all"]["current"],
    }


def with_driver(device):
    told = figures(device)
    free, total = tensors.torch.cuda.mem_get_info(device)
    told["driver"] = total - free
    return told


def drop_exception():
    dropped = [vars(sys).pop(name, None) is not None for name in LAST_ERROR]
    return {"dropped": sum(dropped) + load("cells").drop_exception()}


# What each gives is added to the answer.
DEEDS = {
    "collect": lambda: {"collected": gc.collect()},
    "drop-exception": drop_exception,
    "empty-cache": lambda: tensors.torch.cuda.empty_cache(),
    "workspaces": lambda: core._cuda_clearCublasWorkspaces(),
    "ipc-collect": lambda: tensors.torch.cuda.ipc_collect(),
}
NEEDS_GPU = ("empty-cache", "workspaces", "ipc-collect")


def answer(what):
    devices = used_devices()
    if not devices and what in NEEDS_GPU:
        return {"ok": False, "error": "PyTorch holds no GPU memory in this process."}
    if devices:
        core._cuda_setDevice(devices[0])  # of this thread: else the first GPU, which the program may not use
    before = [with_driver(each) for each in devices]
    told = DEEDS[what]() or {}
    return dict(told, ok=True, do=what, before=before, after=[with_driver(each) for each in devices])
