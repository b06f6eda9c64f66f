"""Actor thread feeds a bounded queue; the learner fills a replay memory and trains a Q network."""
import queue
import random
import threading

import torch
import torch.nn as nn
import torch.nn.functional as F

OBS, ACT, ENVS, CAPACITY = 192, 6, 512, 110


class Env:
    """A batch of linear systems that must be steered to the origin."""

    def __init__(self):
        self.a = torch.eye(OBS, device="cuda") * 0.98 + torch.randn(OBS, OBS, device="cuda") * 0.004
        self.b = torch.randn(ACT, OBS, device="cuda") * 0.2
        self.s = torch.randn(ENVS, OBS, device="cuda")

    def step(self, action):
        self.s = self.s @ self.a + self.b[action]
        reward = -self.s.pow(2).mean(1)
        lost = reward < -6
        self.s = torch.where(lost[:, None], torch.randn_like(self.s), self.s)
        return self.s, reward.clamp_min(-6), lost


def q_net():
    return nn.Sequential(nn.Linear(OBS, 512), nn.ReLU(), nn.Linear(512, 512), nn.ReLU(), nn.Linear(512, ACT)).to("cuda")


class Replay:
    def __init__(self, capacity):
        self.capacity, self.slots, self.cursor = capacity, [], 0

    def add(self, item):
        if len(self.slots) < self.capacity:
            self.slots.append(item)
        else:
            self.slots[self.cursor] = item
            self.cursor = (self.cursor + 1) % self.capacity

    def sample(self):
        return self.slots[random.randrange(len(self.slots))]


def actor(policy, out, rounds):
    env = Env()
    for r in range(rounds):
        s = env.s
        with torch.no_grad():
            act = policy(s).argmax(1)
        explore = torch.rand(ENVS, device="cuda") < max(0.05, 1 - r / 150)
        act = torch.where(explore, torch.randint(0, ACT, (ENVS,), device="cuda"), act)
        s2, rew, lost = env.step(act)
        out.put((s, act, rew, s2.clone(), lost))


def main():
    torch.manual_seed(8)
    random.seed(8)
    online, target = q_net(), q_net()
    target.load_state_dict(online.state_dict())
    opt = torch.optim.Adam(online.parameters(), lr=5e-4)
    pipe, replay = queue.Queue(maxsize=4), Replay(CAPACITY)
    threading.Thread(target=actor, args=(online, pipe, 380), daemon=True).start()
    rewards = []
    for r in range(380):
        item = pipe.get()
        rewards.append(item[2].mean().item())
        replay.add(item)
        for _ in range(4):
            s, a, rew, s2, lost = replay.sample()
            with torch.no_grad():
                goal = rew + 0.95 * target(s2).max(1).values * ~lost
            loss = F.smooth_l1_loss(online(s).gather(1, a[:, None]).squeeze(1), goal)
            opt.zero_grad()
            loss.backward()
            opt.step()
        if r % 25 == 24:
            target.load_state_dict(online.state_dict())
    print(f"reward {sum(rewards[:40]) / 40:.3f} -> {sum(rewards[-40:]) / 40:.3f}, replay {len(replay.slots)}")


main()
