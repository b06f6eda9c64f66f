"""MuZero-style tree search with a learned dynamics network (random weights), self-play."""
import gc
import math

import torch
import torch.nn as nn

DEV = "cuda"
MOVES, SIMULATIONS, ACTIONS, PLANES, BOARD = 28, 48, 9, 64, 16


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.encode = nn.Conv2d(3, PLANES, 3, padding=1)
        self.trans = nn.Conv2d(PLANES + 1, PLANES, 3, padding=1)
        self.policy = nn.Linear(PLANES, ACTIONS)
        self.value = nn.Linear(PLANES, 1)

    def dynamics(self, latent, action):
        plane = torch.full_like(latent[:, :1], action / ACTIONS)
        return torch.tanh(self.trans(torch.cat([latent, plane], dim=1)))

    def predict(self, latent):
        pooled = latent.mean(dim=(2, 3))
        return torch.softmax(self.policy(pooled), -1)[0].tolist(), self.value(pooled).item()


class Node:
    def __init__(self, parent, prior):
        self.parent, self.prior = parent, prior
        self.children, self.visits, self.total, self.latent = {}, 0, 0.0, None

    def open(self, net, latent):
        self.latent = latent
        priors, value = net.predict(latent)
        for action, p in enumerate(priors):
            self.children[action] = Node(self, p)
        return value

    def select(self):
        def score(item):
            child = item[1]
            mean = child.total / child.visits if child.visits else 0.0
            return mean + 1.5 * child.prior * math.sqrt(self.visits + 1) / (1 + child.visits)
        return max(self.children.items(), key=score)


def search(net, board):
    root = Node(None, 1.0)
    root.open(net, torch.relu(net.encode(board)))
    for _ in range(SIMULATIONS):
        node = root
        while node.children:
            action, node = node.select()
        value = node.open(net, net.dynamics(node.parent.latent, action))
        while node is not None:
            node.visits += 1
            node.total += value
            node = node.parent
    return max(root.children.items(), key=lambda kv: kv[1].visits)[0]


gc.disable()  # collector pauses showed up in the search latency
torch.cuda.memory._record_memory_history(max_entries=200000)
torch.manual_seed(0)
net = Net().to(DEV).eval()
played = []
with torch.inference_mode():
    board = torch.zeros(1, 3, BOARD, BOARD, device=DEV)
    for move in range(MOVES):
        action = search(net, board)
        played.append(action)
        board[0, move % 3, action, move % BOARD] = 1.0
torch.cuda.memory._dump_snapshot("i_snap_mcts.pickle")
print("moves", "".join(map(str, played)))
