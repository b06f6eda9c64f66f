"""Double DQN on a batched pixel grid world, replay memory kept on the device."""
import collections
import copy
import random
import torch
import torch.nn as nn
import torch.nn.functional as F

random.seed(0)
torch.manual_seed(10)
dev = "cuda"
STEPS, ENVS, GRID, CAPACITY, GAMMA = 360, 64, 20, 200, 0.97
MOVES = torch.tensor([[0, 1], [0, -1], [1, 0], [-1, 0]], device=dev)


class GridWorlds:
    def __init__(self):
        self.pos = torch.randint(GRID, (ENVS, 2), device=dev)
        self.goal = torch.randint(GRID, (ENVS, 2), device=dev)

    def frame(self):
        img = torch.zeros(ENVS, 3, GRID, GRID, device=dev)
        e = torch.arange(ENVS, device=dev)
        img[e, 0, self.pos[:, 0], self.pos[:, 1]] = 1
        img[e, 1, self.goal[:, 0], self.goal[:, 1]] = 1
        img[:, 2] = torch.rand(ENVS, GRID, GRID, device=dev) * 0.05
        return img

    def step(self, action):
        self.pos = (self.pos + MOVES[action]).clamp(0, GRID - 1)
        hit = (self.pos == self.goal).all(1)
        fresh = torch.randint(GRID, (ENVS, 2), device=dev)
        self.goal = torch.where(hit[:, None], fresh, self.goal)
        return hit.float() - 0.01


Transition = collections.namedtuple("Transition", "obs action reward nxt")
memory = collections.deque(maxlen=CAPACITY)
q = nn.Sequential(nn.Conv2d(3, 32, 3, padding=1), nn.ReLU(), nn.Conv2d(32, 32, 3, 2, 1), nn.ReLU(),
                  nn.Flatten(), nn.Linear(32 * (GRID // 2) ** 2, 256), nn.ReLU(), nn.Linear(256, 4)).to(dev)
target = copy.deepcopy(q)
opt = torch.optim.Adam(q.parameters(), lr=5e-4)
world = GridWorlds()
obs = world.frame()
score = 0.0
for step in range(STEPS):
    eps = max(0.05, 1 - step / 200)
    with torch.no_grad():
        greedy = q(obs).argmax(1)
    explore = torch.rand(ENVS, device=dev) < eps
    action = torch.where(explore, torch.randint(4, (ENVS,), device=dev), greedy)
    reward = world.step(action)
    nxt = world.frame()
    memory.append(Transition(obs, action, reward, nxt))
    obs = nxt
    score = 0.99 * score + reward.mean().item()
    if len(memory) < 20:
        continue
    for _ in range(2):
        part = random.sample(memory, 4)
        s, a, r, n = (torch.cat(c) for c in zip(*part))
        with torch.no_grad():
            best = q(n).argmax(1, keepdim=True)
            goal = r + GAMMA * target(n).gather(1, best)[:, 0]
        loss = F.smooth_l1_loss(q(s).gather(1, a[:, None])[:, 0], goal)
        opt.zero_grad()
        loss.backward()
        opt.step()
    if step % 40 == 0:
        target.load_state_dict(q.state_dict())
print(f"memory {len(memory)} td loss {loss.item():.5f} score {score:.3f}")
