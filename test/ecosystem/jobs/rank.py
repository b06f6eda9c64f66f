"""A rank of a job, with a leak and a peak of its own. `mesh`: has a place in a device mesh of torch.distributed; `busy`: more events than a rank may
keep that is not recorded in full, and prints what its trace takes; `stops HOST`: on that host it stands still after 40 steps, as if the network did."""

import ctypes
import os
import subprocess
import sys
import time

MB = 1 << 20
STEPS = 60
words = sys.argv[1:]
if "mesh" in words:
    import torch.distributed as dist
    from torch.distributed.device_mesh import init_device_mesh

    dist.init_process_group("gloo")
    init_device_mesh("cpu", (1, 2, 2), mesh_dim_names=("pp", "dp", "tp"))
    rank = dist.get_rank()
else:
    rank = next(int(os.environ[name]) for name in ("RANK", "OMPI_COMM_WORLD_RANK", "SLURM_PROCID") if name in os.environ)

import gpu


library = gpu._library  # itself, which is faster
library.sim_torch_empty.restype, library.sim_torch_empty.argtypes = ctypes.c_void_p, [ctypes.c_uint64, ctypes.c_int]


def train(rank):
    kept = []
    for number in range(STEPS):
        passing = gpu.empty((16 + 2 * rank) * MB)  # whole pages of 2 MB
        kept.append(gpu.empty((1 + rank) * MB // 4))
        del passing
        if "busy" in words:
            for _ in range(15_000):
                library.sim_torch_free(library.sim_torch_empty(512, 0))
        ctypes.PyDLL(None).gpu_memtrace_step()
        time.sleep(0.01)
        if number == 40 and "stops" in words and os.uname().nodename == words[-1]:
            often()
            time.sleep(1000)
    if "busy" in words:
        folder = os.environ["GPU_MEMTRACE_DIR"]
        print(rank, sum(os.stat(os.path.join(folder, name)).st_blocks * 512 for name in os.listdir(folder)), flush=True)
    return kept


def often():
    """Nobody waits three minutes for the next copy: it is made as the recorder makes it."""
    directory = os.environ["GPU_MEMTRACE_DIR"]
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open("/proc/%s/cmdline" % pid) as file:
                words = file.read().split("\0")
            if words[1:2] == [directory] and "--every" in words:
                subprocess.run(["/proc/%s/exe" % pid, directory, "--copy", words[words.index("--copy") + 1]], env={})
        except OSError:
            pass  # it ended


if __name__ == "__main__":
    kept = train(rank)
    if "mesh" in words:
        dist.barrier()
        dist.destroy_process_group()
