"""Forward and backward work of a stand-in for PyTorch: prints the numbers that a trace must have of it."""

import ctypes
import json
import os
import sys

folder, torch_folder = sys.argv[1:3]
allocator = ctypes.CDLL(os.path.join(folder, "libc10_cuda.so"))
allocator.tell.argtypes = [ctypes.c_uint64, ctypes.c_int64] + [ctypes.c_uint64] * 3
if sys.argv[3:] == ["late"]:
    allocator.tell(0x900, 512, 0, 0, 1)  # GPU memory is in use before PyTorch comes
torch = ctypes.CDLL(os.path.join(torch_folder, "libtorch_cpu.so"))
torch.make_node.restype = ctypes.c_uint64
torch.run_backward.restype = ctypes.c_long
torch.run_backward.argtypes = [ctypes.c_void_p, ctypes.c_uint64, ctypes.c_uint64, ctypes.c_int]
tell = ctypes.cast(allocator.tell, ctypes.c_void_p)


def forward():
    return [torch.make_node() for _ in range(3)]


unseen = torch.make_node()  # before the first use of CUDA
allocator.tell(0x1000, 512, 0, 0, 1)
nodes = forward()
allocator.tell(0x2000, 512, 0, 0, 1)
references = [torch.run_backward(tell, 6, 0x3000, 3), torch.run_backward(tell, 0, 0x4000, 1)]
references.append(torch.run_backward(tell, (1 << 64) - 1, 0x5000, 1))
torch.run_nested.argtypes = [ctypes.c_void_p] + [ctypes.c_uint64] * 3
torch.run_nested(tell, 9, 10, 0x6000)
torch.run_in_and_out.argtypes = torch.run_backward.argtypes
torch.run_in_and_out(tell, 7, 0x100000, 20000)  # several chunks
if sys.argv[3:] == ["asked"]:
    torch.times_asked.restype = ctypes.c_long
    print(torch.times_asked(), file=sys.stderr)
print(json.dumps({"unseen": unseen, "nodes": nodes, "references": references}))
