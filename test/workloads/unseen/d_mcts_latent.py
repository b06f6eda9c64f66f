"""Latent-space tree search on one long game."""
import math
import random

import torch
import torch.nn.functional as F

DEVICE = "cuda"
MOVES = 28
SIMULATIONS = 320
ACTIONS = 6
PLANES, SIZE = 24, 24


class Model:
    def __init__(self):
        self.kernel = torch.randn(PLANES, PLANES + 1, 3, 3, device=DEVICE) * 0.08
        self.policy = torch.randn(PLANES, ACTIONS + 1, device=DEVICE)
        self.planes = torch.linspace(-1, 1, ACTIONS, device=DEVICE)
        self.mix = torch.randn(3, PLANES, PLANES, 3, 3, device=DEVICE) * 0.08

    def step(self, state, action):
        plane = self.planes[action].expand(1, 1, SIZE, SIZE)
        hidden = F.conv2d(torch.cat([state, plane], 1), self.kernel, padding=1)
        for kernel in self.mix:
            hidden = hidden + F.relu(F.conv2d(hidden, kernel, padding=1))
        return torch.tanh(hidden)

    def evaluate(self, state):
        out = (state.mean((2, 3)) @ self.policy).squeeze(0)
        return F.softmax(out[:-1], 0).tolist(), math.tanh(out[-1].item())


class Node:
    def __init__(self, state, prior, parent=None):
        self.state = state
        self.prior = prior
        self.parent = parent
        self.children = {}
        self.visits = 0
        self.total = 0.0

    def best(self):
        def ucb(item):
            child = item[1]
            q = child.total / child.visits if child.visits else 0.0
            return q + 1.5 * child.prior * math.sqrt(self.visits + 1) / (1 + child.visits)
        return max(self.children.items(), key=ucb)


def simulate(model, root, rng):
    node = root
    while node.children:
        action, node = node.best()
    if node.state is None:
        node.state = model.step(node.parent.state, action)
    priors, value = model.evaluate(node.state)
    for a, p in enumerate(priors):
        node.children[a] = Node(None, p + 0.02 * rng.random(), node)
    while node is not None:
        node.visits += 1
        node.total += value
        node = node.parent


torch.set_grad_enabled(False)
torch.manual_seed(4)
rng = random.Random(4)
model = Model()
root = Node(torch.randn(1, PLANES, SIZE, SIZE, device=DEVICE), 1.0)
game = []
for _ in range(MOVES):
    for _ in range(SIMULATIONS):
        simulate(model, root, rng)
    action, root = max(root.children.items(), key=lambda kv: kv[1].visits)
    game.append(action)
print(f"played {''.join(map(str, game))}, value {root.total / root.visits:.3f}")
