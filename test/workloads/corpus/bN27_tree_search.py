"""Tree search with a value network; the nodes of a tree know their parent and their children, one tree for each move.
Report: https://github.com/sungyubkim/GBML/issues/1
Class: gc-sawtooth
"""
import gc
import math

import torch
from torch import nn


class Node:
    def __init__(self, state, parent=None, action=None):
        self.state, self.parent, self.action = state, parent, action
        self.children = []
        self.visits, self.value = 0, 0.0

    def best_child(self):
        def score(child):
            explore = math.sqrt(math.log(self.visits + 1) / (child.visits + 1e-3))
            return child.value / max(child.visits, 1) + 0.7 * explore
        return max(self.children, key=score)


class Search:
    def __init__(self, net, dynamics):
        self.net, self.dynamics = net, dynamics

    @torch.no_grad()
    def run(self, state, simulations):
        root = Node(state)
        for _ in range(simulations):
            node = root
            while node.children:
                node = node.best_child()
            next_states = torch.tanh(node.state @ self.dynamics).unbind(0)
            node.children = [Node(s.clone(), node, a) for a, s in enumerate(next_states)]
            value = self.net(node.state).item()
            while node is not None:
                node.visits += 1
                node.value += value
                node = node.parent
        return max(root.children, key=lambda child: child.visits).action


def main():
    torch.manual_seed(151)
    dim, actions = 256, 4
    net = nn.Sequential(nn.Linear(dim, 128), nn.ReLU(), nn.Linear(128, 1), nn.Tanh()).to("cuda")
    dynamics = torch.randn(actions, dim, dim, device="cuda") / dim ** 0.5 * 1.4
    search = Search(net, dynamics)
    state = torch.randn(dim, device="cuda")
    played = []
    for move in range(96):
        action = search.run(state, simulations=40)
        state = torch.tanh(state @ dynamics[action])
        played.append(action)
        if move % 8 == 7:
            gc.collect()  # the trees of the last moves
            print(f"move {move}: value {net(state).item():.3f}, last actions {played[-8:]}")


if __name__ == "__main__":
    main()
