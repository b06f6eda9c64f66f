import random
from collections import deque

import torch
from torch import nn
import torch.nn.functional as F

torch.manual_seed(18)
random.seed(18)
device = "cuda"
ENVS, OBS, ACT, EPISODES = 256, 160, 4, 200


class Memory:
    def __init__(self, rollouts=60):
        self.rollouts = deque(maxlen=rollouts)
        self.returns = deque(maxlen=10)

    def add(self, obs, act, ret):
        self.rollouts.append((obs, act, ret))
        self.returns.append(ret.mean())

    def draw(self):
        return random.choice(self.rollouts)


actor = nn.Sequential(nn.Linear(OBS, 128), nn.Tanh(), nn.Linear(128, ACT)).to(device)
critic = nn.Sequential(nn.Linear(OBS, 128), nn.Tanh(), nn.Linear(128, 1)).to(device)
opt = torch.optim.Adam([*actor.parameters(), *critic.parameters()], lr=7e-4)
dyn = torch.randn(OBS, OBS, device=device) / OBS ** 0.5
effect = torch.randn(ACT, OBS, device=device)
memory = Memory()


@torch.no_grad()
def rollout(length=4):
    state = torch.randn(ENVS, OBS, device=device)
    seen, acts, rewards = [], [], []
    for _ in range(length):
        action = torch.distributions.Categorical(logits=actor(state)).sample()
        seen.append(state)
        acts.append(action)
        state = torch.tanh(state @ dyn + 0.5 * effect[action])
        rewards.append(state[:, :3].mean(1))
    ret, out = torch.zeros(ENVS, device=device), []
    for r in reversed(rewards):
        ret = r + 0.95 * ret
        out.insert(0, ret)
    return torch.cat(seen), torch.cat(acts), torch.cat(out)


for episode in range(EPISODES):
    memory.add(*rollout())
    for _ in range(3):
        obs, act, ret = memory.draw()
        pick = torch.randint(0, len(obs), (128,), device=device)
        value = critic(obs[pick]).squeeze(1)
        logp = F.log_softmax(actor(obs[pick]), 1).gather(1, act[pick, None]).squeeze(1)
        adv = (ret[pick] - value).detach()
        loss = -(logp * adv).mean() + 0.5 * F.mse_loss(value, ret[pick])
        opt.zero_grad()
        loss.backward()
        opt.step()
print(f"return {torch.stack(list(memory.returns)).mean().item():.4f} loss {loss.item():.4f}")
