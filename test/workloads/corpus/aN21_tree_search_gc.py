"""Plans with a small value network: every decision builds a search tree whose nodes know their parents.

Report: https://github.com/sungyubkim/GBML/issues/1
Class: gc-sawtooth
"""
import gc

import torch
import torch.nn as nn


class Node:
    def __init__(self, state, parent=None):
        self.state = state
        self.parent = parent
        self.children = []
        self.value = 0.0


class Planner:
    def __init__(self, actions=4, dim=512):
        self.dynamics = nn.ModuleList(nn.Linear(dim, dim) for _ in range(actions)).to("cuda")
        self.critic = nn.Sequential(nn.Linear(dim, 64), nn.Tanh(), nn.Linear(64, 1)).to("cuda")

    def expand(self, node, depth):
        if depth == 0:
            node.value = self.critic(node.state).item()
            return node.value
        for model in self.dynamics:
            child = Node(torch.tanh(model(node.state)) + 0.1 * node.state, parent=node)
            node.children.append(child)
            self.expand(child, depth - 1)
        node.value = max(child.value for child in node.children)
        return node.value

    @torch.no_grad()
    def decide(self, state):
        root = Node(state)
        self.expand(root, depth=2)
        best = max(range(len(root.children)), key=lambda i: root.children[i].value)
        return best, root.children[best].state.clone()


def main():
    torch.manual_seed(20)
    planner = Planner()
    state, chosen = torch.randn(512, device="cuda"), [0] * 4
    for decision in range(300):
        action, state = planner.decide(state)
        state = state + 0.2 * torch.randn(512, device="cuda")
        chosen[action] += 1
        if decision % 25 == 24:
            gc.collect()
        if decision % 75 == 74:
            print(f"decision {decision + 1}: actions {chosen}")


if __name__ == "__main__":
    main()
