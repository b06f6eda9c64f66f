"""40 steps that keep each step's output in a list, its graph in a function's variable, and something in the parts of a module: in a
hook's closure and in a list of the module's own. Of a list, a part lies in pinned host memory."""

import torch
import tracing


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.first = torch.nn.Parameter(0x2000)
        self.second = torch.nn.Parameter(0x3000)
        self.block = Block()


class Block(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = torch.nn.Parameter(0x5000)
        self.outputs = []
        self._buffers["memory"] = torch.Tensor(0x500000, 1 << 17)


def watch(block):
    seen = []
    block._forward_hooks[0] = lambda address: seen.append(torch.Tensor(address))


model = Net()
optimizer = torch.optim.Optimizer()
outputs = []
watch(model.block)
torch._C.TensorBase.is_pinned = lambda tensor: not tensor.is_cuda
experts = [torch.Tensor(0x800000 + 0x10000 * place, 5000 if place % 2 else 512) for place in range(40)]
for place in range(1, 40, 2):
    experts[place].is_cuda = False


def train():
    node = None
    for step in range(40):
        node = torch.Node(0x100000 + 0x1000 * step, *([node] if node else []))
        total = torch.Tensor(0x4000, node=node)
        outputs.append(torch.Tensor(0x200000 + 0x1000 * step))
        model.block._forward_hooks[0](0x300000 + 0x1000 * step)
        model.block.outputs.append(torch.Tensor(0x400000 + 0x1000 * step))
        if step == 38:
            model._parameters["late"] = torch.nn.Parameter(0x6000)
        optimizer.step()
    return total is None


assert tracing.begin()
train()
torch.cuda.is_initialized = lambda: True  # pinned memory is looked for only then
