"""What one deed frees. Each is done only when a person asks for it: it changes what the program does."""

import gc
import sys

tensors = load("tensors")
core = tensors.core
LAST_ERROR = ("last_exc", "last_value", "last_traceback", "last_type")


def allocator_figures():
    return tensors.allocator_figures("allocated_bytes", "reserved_bytes") or []


def figures(devices):
    told = allocator_figures()
    found = [{"device": each, "allocated": told[each][0], "reserved": told[each][1]} for each in devices]
    for each in found:
        free, total = tensors.torch.cuda.mem_get_info(each["device"])
        each["driver"] = total - free
    return found


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
    # Those on which PyTorch holds memory; asking for others would make a context there.
    devices = [device for device, (_, reserved) in enumerate(allocator_figures()) if reserved > 0]
    if not devices and what in NEEDS_GPU:
        return {"ok": False, "error": "PyTorch holds no GPU memory in this process."}
    if devices:
        core._cuda_setDevice(devices[0])  # of this thread: else the first GPU, which the program may not use
    before = figures(devices)
    told = DEEDS[what]() or {}
    return dict(told, ok=True, do=what, before=before, after=figures(devices))
