"""DQN: an actor thread plays, the learner in the main thread trains from a replay."""
import copy
import queue
import random
import threading
from collections import deque

import torch
from torch import nn
import torch.nn.functional as F

DEV = "cuda"
N_ENV, SIDE, N_ACT = 64, 36, 5


def make_net():
    return nn.Sequential(nn.Conv2d(4, 32, 5, 2), nn.ReLU(), nn.Conv2d(32, 32, 3, 2), nn.ReLU(),
                         nn.Flatten(), nn.Linear(32 * 7 * 7, 256), nn.ReLU(), nn.Linear(256, N_ACT)).to(DEV)


class Catch:
    """A dot falls, the paddle moves; drawn with four frames of history."""

    def __init__(self):
        self.grid = torch.arange(SIDE, device=DEV).float()
        self.dot = torch.rand(N_ENV, 2, device=DEV) * SIDE
        self.pad = torch.full((N_ENV,), SIDE / 2, device=DEV)
        self.frames = torch.zeros(N_ENV, 4, SIDE, SIDE, device=DEV)

    def step(self, act):
        self.pad = (self.pad + (act - N_ACT // 2)).clamp(0, SIDE - 1)
        self.dot[:, 1] = (self.dot[:, 1] + 1) % SIDE
        row = torch.exp(-(self.grid - self.dot[:, :1]) ** 2)
        col = torch.exp(-(self.grid - self.dot[:, 1:]) ** 2)
        img = row[:, :, None] * col[:, None, :]
        img[:, :, -1] += torch.exp(-(self.grid - self.pad[:, None]) ** 2)
        self.frames = torch.cat([self.frames[:, 1:], img[:, None]], 1)
        reward = ((self.dot[:, 1] > SIDE - 2) & ((self.dot[:, 0] - self.pad).abs() < 3)).float()
        return self.frames, reward


def actor(net, out, n_steps):
    env = Catch()
    obs = env.frames
    for t in range(n_steps):
        with torch.no_grad():
            act = net(obs).argmax(1)
        rnd = torch.rand(N_ENV, device=DEV) < max(0.05, 1 - t / 300)
        act = torch.where(rnd, torch.randint(0, N_ACT, (N_ENV,), device=DEV), act)
        nxt, rew = env.step(act)
        out.put((obs, act, rew, nxt))
        obs = nxt
    out.put(None)


if __name__ == "__main__":
    torch.manual_seed(0)
    random.seed(0)
    net = make_net()
    target = copy.deepcopy(net)
    opt = torch.optim.Adam(net.parameters(), lr=2e-4)
    feed = queue.Queue(maxsize=8)
    replay = deque(maxlen=220)
    player = threading.Thread(target=actor, args=(target, feed, 800))
    player.start()
    returns = 0.0
    while (item := feed.get()) is not None:
        replay.append(item)
        returns = 0.99 * returns + 0.01 * item[2].mean().item()
        for obs, act, rew, nxt in random.sample(list(replay), min(2, len(replay))):
            with torch.no_grad():
                goal = rew + 0.97 * target(nxt).max(1).values
            loss = F.smooth_l1_loss(net(obs).gather(1, act[:, None])[:, 0], goal)
            opt.zero_grad()
            loss.backward()
            opt.step()
        target.load_state_dict(net.state_dict())
    player.join()
    print(f"replay {len(replay)}, loss {loss.item():.5f}, mean reward {returns:.4f}")
