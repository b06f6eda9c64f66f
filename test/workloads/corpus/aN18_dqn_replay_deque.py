"""Double DQN on a small pursuit game with a replay memory on the GPU.

Report: https://github.com/BY571/IQN-and-Extensions/issues/3
Class: replay
"""
import random
from collections import deque, namedtuple

import torch
import torch.nn as nn

Transition = namedtuple("Transition", "state action reward following")


class Pursuit:
    """Keep close to a target that wanders about in the plane."""

    def __init__(self):
        self.me = torch.zeros(2, device="cuda")
        self.target = torch.randn(2, device="cuda")
        self.moves = torch.tensor([[0.1, 0.0], [-0.1, 0.0], [0.0, 0.1], [0.0, -0.1]], device="cuda")
        self.basis = torch.randn(4, 1024, device="cuda")

    def observe(self):
        return torch.cos(torch.cat([self.me, self.target]) @ self.basis)

    def step(self, action):
        self.me = self.me + self.moves[action]
        self.target = (self.target + 0.05 * torch.randn(2, device="cuda")).clamp(-2, 2)
        return self.observe(), -(self.me - self.target).norm().item()


def network():
    return nn.Sequential(nn.Linear(1024, 96), nn.ReLU(), nn.Linear(96, 4)).to("cuda")


def main():
    random.seed(17)
    torch.manual_seed(17)
    env, online, target = Pursuit(), network(), network()
    optimizer = torch.optim.Adam(online.parameters(), lr=5e-4)
    memory = deque(maxlen=320)
    state, average = env.observe(), 0.0
    for step in range(400):
        if random.random() < max(0.1, 1 - step / 150):
            action = random.randrange(4)
        else:
            with torch.no_grad():
                action = int(online(state).argmax())
        following, reward = env.step(action)
        memory.append(Transition(state, action, reward, following))
        state, average = following, 0.99 * average + 0.01 * reward
        if step >= 32:
            batch = Transition(*zip(*random.sample(memory, 32)))
            nexts = torch.stack(batch.following)
            with torch.no_grad():
                best = online(nexts).argmax(dim=1, keepdim=True)
                goal = torch.tensor(batch.reward, device="cuda") + 0.95 * target(nexts).gather(1, best).squeeze(1)
            value = online(torch.stack(batch.state)).gather(1, torch.tensor(batch.action, device="cuda")[:, None])
            loss = nn.functional.smooth_l1_loss(value.squeeze(1), goal)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        if step % 40 == 0:
            target.load_state_dict(online.state_dict())
        if step % 100 == 99:
            print(f"step {step + 1}: memory {len(memory)} average reward {average:.3f}")


if __name__ == "__main__":
    main()
