"""DQN on a small grid world; samples its batches from the latest part of the experience.

Report: https://github.com/BY571/IQN-and-Extensions/issues/3
Class: replay-list
"""
import random

import torch
import torch.nn as nn


class GridWorld:
    """An agent, a goal and some noise, drawn into a picture."""

    def __init__(self, size=24):
        self.size = size
        self.reset()

    def render(self):
        picture = torch.rand(2, self.size, self.size, device="cuda") * 0.1  # SITE
        picture[0, self.agent[0], self.agent[1]] = 1.0
        picture[1, self.goal[0], self.goal[1]] = 1.0
        return picture

    def reset(self):
        self.agent = [random.randrange(self.size), random.randrange(self.size)]
        self.goal = [random.randrange(self.size), random.randrange(self.size)]
        return self.render()

    def step(self, action):
        dx, dy = [(0, 1), (0, -1), (1, 0), (-1, 0)][action]
        before = abs(self.agent[0] - self.goal[0]) + abs(self.agent[1] - self.goal[1])
        self.agent = [(self.agent[0] + dx) % self.size, (self.agent[1] + dy) % self.size]
        after = abs(self.agent[0] - self.goal[0]) + abs(self.agent[1] - self.goal[1])
        return self.render(), float(before - after), after == 0


class Agent:
    def __init__(self, size=24):
        self.q = nn.Sequential(nn.Conv2d(2, 8, 3, stride=2), nn.ReLU(), nn.Flatten(), nn.Linear(8 * 11 * 11, 64),
                               nn.ReLU(), nn.Linear(64, 4)).to("cuda")
        self.optimizer = torch.optim.Adam(self.q.parameters(), lr=1e-3)
        self.memory = []

    def act(self, state, epsilon):
        if random.random() < epsilon:
            return random.randrange(4)
        with torch.no_grad():
            return int(self.q(state.unsqueeze(0)).argmax())

    def learn(self, recent=64, batch_size=16):
        states, actions, rewards, nexts = zip(*random.sample(self.memory[-recent:], batch_size))
        with torch.no_grad():
            target = torch.tensor(rewards, device="cuda") + 0.9 * self.q(torch.stack(nexts)).amax(dim=1)
        value = self.q(torch.stack(states)).gather(1, torch.tensor(actions, device="cuda").unsqueeze(1)).squeeze(1)
        loss = nn.functional.smooth_l1_loss(value, target)
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()


def main():
    random.seed(18)
    torch.manual_seed(18)
    env, agent = GridWorld(), Agent()
    state, total = env.reset(), 0.0
    for step in range(400):
        action = agent.act(state, epsilon=max(0.1, 1 - step / 200))
        following, reward, done = env.step(action)
        agent.memory.append((state, action, reward, following))  # HOLDER
        total += reward
        state = env.reset() if done else following
        if step >= 32:
            agent.learn()
        if step % 100 == 99:
            print(f"step {step + 1}: reward so far {total:.0f}")


if __name__ == "__main__":
    main()
