"""REINFORCE on eight little mazes side by side; an episode's frames are learnt from when it ends.
Class: rl-episodes
"""
import random

import torch
from torch import nn

MAZES, STEPS, SIDE = 8, 380, 96
GAMMA = 0.97


class Maze:
    """A walker in a square that ends its episode at the goal. A goal behind the wall is never reached."""

    def __init__(self, number, rng):
        self.rng = rng
        self.walled = number == 5
        self.reset()

    def reset(self):
        self.at = [self.rng.randrange(8), self.rng.randrange(8)]
        self.goal = [self.rng.randrange(8), self.rng.randrange(8)]

    def frame(self):
        picture = torch.zeros(8, SIDE, SIDE)
        picture[0, self.at[0] * 12:self.at[0] * 12 + 12, self.at[1] * 12:self.at[1] * 12 + 12] = 1
        picture[1, self.goal[0] * 12:self.goal[0] * 12 + 12, self.goal[1] * 12:self.goal[1] * 12 + 12] = 1
        return picture

    def step(self, action):
        axis, way = divmod(action, 2)
        self.at[axis] = min(7, max(0, self.at[axis] + (1 if way else -1)))
        near = abs(self.at[0] - self.goal[0]) + abs(self.at[1] - self.goal[1])
        done = near <= 6 and not self.walled
        return (1.0 if done else -0.02), done


class Policy(nn.Module):
    def __init__(self):
        super().__init__()
        self.look = nn.Sequential(
            nn.Conv2d(8, 24, 8, stride=4), nn.ReLU(), nn.Conv2d(24, 16, 5, stride=4), nn.ReLU(), nn.Flatten(),
        )
        self.act = nn.Linear(16 * 5 * 5, 4)

    def forward(self, frames):
        return torch.distributions.Categorical(logits=self.act(self.look(frames)))


def learn(policy, optimizer, episode):
    rewards, total = [], 0.0
    for _, _, reward in reversed(episode):
        total = reward + GAMMA * total
        rewards.append(total)
    returns = torch.tensor(rewards[::-1], device="cuda")
    for part in range(0, len(episode), 16):
        frames = torch.stack([frame for frame, _, _ in episode[part:part + 16]])
        actions = torch.tensor([action for _, action, _ in episode[part:part + 16]], device="cuda")
        loss = -(policy(frames).log_prob(actions) * returns[part:part + 16]).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


def main():
    torch.manual_seed(12)
    rng = random.Random(12)
    mazes = [Maze(number, rng) for number in range(MAZES)]
    policy = Policy().to("cuda")
    optimizer = torch.optim.RMSprop(policy.parameters(), lr=3e-4)
    episodes = [[] for _ in mazes]
    ended = 0
    for step in range(STEPS):
        frames = [maze.frame().to("cuda", copy=True) for maze in mazes]  # SITE
        with torch.no_grad():
            actions = policy(torch.stack(frames)).sample().tolist()
        for number, maze in enumerate(mazes):
            reward, done = maze.step(actions[number])
            episodes[number].append((frames[number], actions[number], reward))  # HOLDER
            if done:
                learn(policy, optimizer, episodes[number])
                episodes[number].clear()
                maze.reset()
                ended += 1
        if step % 95 == 94:
            print(f"step {step + 1}: {ended} episodes, longest open {max(len(e) for e in episodes)}")


main()
