"""Plays a toy board game with a tree search over latent states predicted by a small network."""
import gc
import math

import torch
from torch import nn

ACTIONS, LATENT = 4, 4096


class World(nn.Module):
    def __init__(self):
        super().__init__()
        self.shift = nn.Parameter(torch.randn(ACTIONS, LATENT) * 0.3)
        self.value = nn.Linear(LATENT, 1)

    def forward(self, latent, action):
        return torch.tanh(latent + self.shift[action])


class Node:
    def __init__(self, latent, parent=None):
        self.latent = latent
        self.parent = parent
        self.children = {}
        self.visits = 0
        self.total = 0.0

    def best(self):
        def bound(child):
            return child.total / child.visits + 0.7 * math.sqrt(math.log(self.visits + 1) / child.visits)

        return max(self.children.items(), key=lambda item: bound(item[1]))


class Search:
    def __init__(self, world, simulations):
        self.world = world
        self.simulations = simulations

    def choose(self, latent):
        root = Node(latent)
        for _ in range(self.simulations):
            node = root
            while len(node.children) == ACTIONS:
                _, node = node.best()
            action = len(node.children)
            child = Node(self.world(node.latent, action), parent=node)
            node.children[action] = child
            value = self.world.value(child.latent).item()
            while child is not None:
                child.visits += 1
                child.total += value
                child = child.parent
        return max(root.children, key=lambda a: root.children[a].visits)


@torch.no_grad()
def main():
    torch.manual_seed(38)
    world = World().to("cuda").eval()
    search = Search(world, simulations=48)
    latent = torch.zeros(LATENT, device="cuda")
    moves = []
    for move in range(1, 501):
        action = search.choose(latent)
        latent = world(latent, action) + 0.05 * torch.sin(torch.arange(LATENT, device="cuda") * 0.01 * move)
        moves.append(action)
        if move % 25 == 0:
            gc.collect()
        if move % 125 == 0:
            print(f"move {move}: last {moves[-12:]} value {world.value(latent).item():.4f}")


main()
