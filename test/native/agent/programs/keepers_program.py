"""A graph that a global object carries on, looked at while a function has variables whose graphs hold it too; one of these is made of
its own old value, as the object's is."""

import torch
import tracing


class Memory:
    def __init__(self):
        self.state = torch.Tensor(0x8000)

    def update(self, address):
        node = self.state.grad_fn
        self.state = torch.Tensor(0x8100, node=torch.Node(address, *([node] if node else [])))  # CARRIED


def mix(value, other):
    return torch.Tensor(0x8200, node=torch.Node(0x8300, other.grad_fn))


def feed(told):
    z = torch.Tensor(0x8400)
    z = mix(z, memory.state)
    right = torch.Tensor(0x8500, node=torch.Node(0x8600, memory.state.grad_fn))
    return tracing.ask(1, "holders", addresses=told, budgetMs=10000) and z and right


assert tracing.begin()
memory = Memory()
addresses = [0xB0000 + 0x1000 * step for step in range(12)]
for address in addresses:
    memory.update(address)
assert feed([[hex(address), 512, 0, [[__file__, 17]]] for address in addresses])
