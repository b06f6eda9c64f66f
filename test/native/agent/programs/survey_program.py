"""40 steps that keep each step's output in a list, its graph in a function's variable, and something in the parts of a module: in a
hook's closure and in a list of the module's own."""

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
