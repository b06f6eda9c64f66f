import random

import torch
from torch import nn
import torch.nn.functional as F

torch.manual_seed(17)
random.seed(17)
device = "cuda"
ENVS, OBS, ACTIONS, ITERS = 512, 256, 6, 160


class ReplayBuffer:
    def __init__(self, capacity=10_000):
        self.capacity = capacity
        self.items = []

    def push(self, *transition):
        self.items.append(transition)  # HOLDER
        if len(self.items) > self.capacity:
            self.items.pop(0)

    def sample(self, n=64):
        s, a, r, s2 = random.choice(self.items)
        pick = torch.randint(0, ENVS, (n,), device=device)
        return s[pick], a[pick], r[pick], s2[pick]


class VectorEnv:
    def __init__(self):
        self.dyn = torch.randn(OBS, OBS, device=device) / OBS ** 0.5
        self.push = torch.randn(ACTIONS, OBS, device=device)
        self.state = torch.randn(ENVS, OBS, device=device)

    def step(self, action):
        drive = self.state @ self.dyn + 0.3 * self.push[action]
        self.state = torch.tanh(drive)  # SITE
        return self.state, self.state[:, :4].sum(1)


def q_net():
    return nn.Sequential(nn.Linear(OBS, 128), nn.ReLU(), nn.Linear(128, ACTIONS))


online, target = q_net().to(device), q_net().to(device)
target.load_state_dict(online.state_dict())
opt = torch.optim.Adam(online.parameters(), lr=5e-4)
env, memory = VectorEnv(), ReplayBuffer()

for it in range(ITERS):
    state = env.state
    with torch.no_grad():
        action = online(state).argmax(1)
    explore = torch.rand(ENVS, device=device) < 0.1
    action = torch.where(explore, torch.randint(0, ACTIONS, (ENVS,), device=device), action)
    nxt, reward = env.step(action)
    memory.push(state, action, reward, nxt)
    for _ in range(8):
        s, a, r, s2 = memory.sample()
        with torch.no_grad():
            goal = r + 0.97 * target(s2).max(1).values
        loss = F.smooth_l1_loss(online(s).gather(1, a[:, None]).squeeze(1), goal)
        opt.zero_grad()
        loss.backward()
        opt.step()
    if it % 20 == 0:
        target.load_state_dict(online.state_dict())
print(f"reward {reward.mean().item():.3f} td {loss.item():.4f}")
