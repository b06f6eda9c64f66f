"""40 steps that keep each step's output in a list, and its graph in a function's variable."""

import torch
import tracing


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.first = torch.nn.Parameter(0x2000)
        self.second = torch.nn.Parameter(0x3000)


model = Net()
optimizer = torch.optim.Optimizer()
outputs = []


def train():
    node = None
    for step in range(40):
        node = torch.Node(0x100000 + 0x1000 * step, *([node] if node else []))
        total = torch.Tensor(0x4000, node=node)
        outputs.append(torch.Tensor(0x200000 + 0x1000 * step))
        optimizer.step()
    return total is None


assert tracing.begin()
train()
