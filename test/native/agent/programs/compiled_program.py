"""What torch.compile leaves behind: a file of code with the lines that it stands for, the graph that was traced, a second compilation."""

import os
import sys
import types

import torch
import tracing

CODE = """# AOT ID: ['0_forward']
def call(args):
        buf0 = empty_strided_cuda((4, 4), (4, 1), torch.float32)
        buf1 = empty_strided_cuda((4, 4), (4, 1), torch.float32)
        # Topologically Sorted Source Nodes: [x, norm, div], Original ATen: [aten.add, aten.norm]
        triton_add_norm_0.run(arg0, buf0, buf1)
        # Topologically Sorted Source Nodes: [attention], Original ATen: [aten.attention]
        buf2 = torch.ops.aten.attention.default(buf0)
        buf3 = buf2[0]
        buf4 = buf1; del buf1  # reuse
        # Topologically Sorted Source Nodes: [h], Original ATen: [aten.gelu]
        triton_gelu_1.run(buf3, buf4)
        # Topologically Sorted Source Nodes: [unknown], Original ATen: [aten.mm]
        buf5 = empty_strided_cuda((4, 4), (4, 1), torch.float32)
        # Topologically Sorted Source Nodes: [other], Original ATen: [aten.mm]
        extern_kernels.mm(buf4, arg1, out=buf5)
        return (buf0, buf3, buf4, buf5, )
"""
STACK = '  File "/u/model.py", line 52, in forward\n    x = layer(x)\n  File "/u/model.py", line 41, in forward\n    h = gelu(x)\n'


class Node:
    op = "call_function"

    def __init__(self, name, *stack):
        self.name = name
        self.meta = {"nn_module_stack": {key: (path, object) for key, path in stack}} if stack else {}


class Graph:
    def __init__(self, *nodes):
        self.nodes = nodes


torch.fx = types.SimpleNamespace(Graph=Graph)
top = ("1", "L['self']")
graph = Graph(
    Node("x", top), Node("norm", top, ("2", "L['self'].layers.0.norm")), Node("attention", top, ("3@1", "L['fn'].attention")),
    Node("h", top, ("4", "L['self']._modules['layers']._modules['0']")), Node("other", top),
)  # fmt: skip
backward = Graph(Node("tangents_1"), Node("h", ("5", "L['self'].wrong")), Node("norm", ("5", "L['self'].wrong")))
elsewhere = Graph(Node("h", ("5", "L['self'].wrong")), Node("y", top))
path = os.path.join(os.environ["GPU_MEMTRACE_DIR"], "code.py")
with open(path, "w") as file:
    file.write(CODE)
cache = types.ModuleType("torch._inductor.codecache")
cache.PyCodeCache = type("PyCodeCache", (), {"linemaps": {path: [(4, 12), (STACK, None)], "/kernel.py": []}})
utils = types.ModuleType("torch._dynamo.utils")
first = types.SimpleNamespace(recompile_reason=None, start_time=1.5, co_firstlineno=16, co_name="forward", co_filename="/u/model.py", compile_id="0/0")
again = types.SimpleNamespace(**dict(vars(first), recompile_reason="0/0: tensor 'x'\nmore", start_time=2.5, compile_id="0/1"))
utils._compilation_metrics = [first, again]
sys.modules.update({cache.__name__: cache, utils.__name__: utils})
assert tracing.begin()
os.unlink(path)
