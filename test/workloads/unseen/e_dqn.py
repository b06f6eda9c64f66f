"""Double DQN on batched random MDPs; transitions stay on the GPU in a bounded replay memory."""
import copy
import random
from collections import deque

import torch
import torch.nn.functional as F
from torch import nn

DEV = "cuda"
ENVS, OBS, ACTS = 512, 128, 8
STEPS, CAPACITY = 1300, 500


class Memory:
    def __init__(self, capacity):
        self.chunks = deque(maxlen=capacity)

    def add(self, *transition):
        self.chunks.append(transition)

    def sample(self, n):
        picked = random.sample(self.chunks, n)
        return [torch.cat(parts) for parts in zip(*picked)]


class QNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(OBS, 256), nn.ReLU(), nn.Linear(256, 256), nn.ReLU())
        self.adv, self.val = nn.Linear(256, ACTS), nn.Linear(256, 1)

    def forward(self, s):
        h = self.body(s)
        a = self.adv(h)
        return self.val(h) + a - a.mean(1, keepdim=True)


def main():
    random.seed(0)
    torch.manual_seed(0)
    push = torch.randn(ACTS, OBS, device=DEV) * 0.2
    goal = torch.randn(OBS, device=DEV)
    online = QNet().to(DEV)
    target = copy.deepcopy(online).requires_grad_(False)
    opt = torch.optim.Adam(online.parameters(), lr=3e-4)
    memory = Memory(CAPACITY)
    state = torch.randn(ENVS, OBS, device=DEV)
    for step in range(STEPS):
        eps = max(0.05, 1 - step / 400)
        with torch.no_grad():
            action = online(state).argmax(1)
            explore = torch.rand(ENVS, device=DEV) < eps
            action = torch.where(explore, torch.randint(0, ACTS, (ENVS,), device=DEV), action)
            nxt = 0.95 * state + push[action] + 0.05 * torch.randn_like(state)
            reward = -(nxt - goal).square().mean(1)
        memory.add(state, action, reward, nxt)
        state = nxt
        if step < 8:
            continue
        s, a, r, s2 = memory.sample(4)
        with torch.no_grad():
            best = online(s2).argmax(1, keepdim=True)
            y = r + 0.95 * target(s2).gather(1, best).squeeze(1)
        loss = F.smooth_l1_loss(online(s).gather(1, a[:, None]).squeeze(1), y)
        opt.zero_grad()
        loss.backward()
        opt.step()
        with torch.no_grad():
            for p, q in zip(target.parameters(), online.parameters()):
                p.lerp_(q, 0.01)
    print(f"ddqn: reward {reward.mean().item():.3f} td {loss.item():.4f}")


main()
