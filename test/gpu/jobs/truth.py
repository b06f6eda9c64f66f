"""What a job itself knows of its GPU memory, written where the suite reads it (GMT_TRUTH, one JSON document)."""
import json
import os


def memory_stats():
    import torch

    stats = torch.cuda.memory_stats()
    names = ["allocation.all", "allocated_bytes.all", "segment.all", "reserved_bytes.all"]
    return {n: {k: stats.get(f"{n}.{k}") for k in ("allocated", "freed", "current", "peak")} for n in names}


def write(**facts):
    with open(os.environ["GMT_TRUTH"] + os.environ.get("RANK", ""), "w") as out:
        json.dump({"pid": os.getpid(), **facts}, out)
