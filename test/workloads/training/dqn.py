"""Learns to balance many poles at once by deep Q-learning, with a replay buffer and a target network."""

import argparse
import copy
import random

import torch
import torch.nn.functional as F
from torch import nn


class Poles:
    """Carts with poles, all moved in one go; a pole that falls starts again."""

    def __init__(self, count, device, generator):
        self.count, self.device, self.generator = count, device, generator
        self.state = self.fresh()

    def fresh(self):
        return (0.1 * torch.rand(self.count, 4, generator=self.generator) - 0.05).to(self.device)

    def step(self, actions):
        place, speed, angle, turn = self.state.unbind(dim=1)
        force = 20.0 * actions - 10.0
        push = (force + 0.05 * turn.square() * angle.sin()) / 1.1
        bend = (9.8 * angle.sin() - angle.cos() * push) / (0.5 * (4 / 3 - 0.1 * angle.cos().square() / 1.1))
        slide = push - 0.05 * bend * angle.cos() / 1.1
        moved = torch.stack([place + 0.02 * speed, speed + 0.02 * slide, angle + 0.02 * turn, turn + 0.02 * bend], dim=1)
        done = (moved[:, 0].abs() > 2.4) | (moved[:, 2].abs() > 0.21)
        self.state = torch.where(done.unsqueeze(1), self.fresh(), moved)
        return moved, torch.ones_like(place), done


class ReplayBuffer:
    """The newest transitions, in tensors that are made once."""

    def __init__(self, capacity, device):
        self.capacity, self.size, self.next = capacity, 0, 0
        self.states = torch.zeros(capacity, 4, device=device)
        self.next_states = torch.zeros(capacity, 4, device=device)
        self.actions = torch.zeros(capacity, dtype=torch.long, device=device)
        self.rewards, self.done = torch.zeros(capacity, device=device), torch.zeros(capacity, device=device)

    def add(self, states, actions, rewards, next_states, done):
        places = (self.next + torch.arange(len(states), device=states.device)) % self.capacity
        self.states[places], self.next_states[places] = states, next_states
        self.actions[places], self.rewards[places], self.done[places] = actions, rewards, done.float()
        self.next = (self.next + len(states)) % self.capacity
        self.size = min(self.capacity, self.size + len(states))

    def sample(self, count):
        places = torch.randint(self.size, (count,)).to(self.states.device)
        return tuple(each[places] for each in (self.states, self.actions, self.rewards, self.next_states, self.done))


class Agent:
    def __init__(self, args):
        net = nn.Sequential(nn.Linear(4, args.width), nn.ReLU(), nn.Linear(args.width, args.width), nn.ReLU(), nn.Linear(args.width, 2))
        self.net, self.gamma = net.to(args.device), args.gamma
        self.target = copy.deepcopy(self.net).requires_grad_(False)
        self.optimizer = torch.optim.Adam(self.net.parameters(), lr=args.lr)
        self.q_values, self.losses = [], []

    def act(self, states, epsilon):
        q = self.net(states)
        self.q_values.append(q.max(dim=1).values.mean())
        greedy = q.argmax(dim=1)
        explore = (torch.rand(len(states)) < epsilon).to(states.device)
        return torch.where(explore, torch.randint(2, (len(states),)).to(states.device), greedy)

    def learn(self, batch):
        states, actions, rewards, next_states, done = batch
        with torch.no_grad():
            wanted = rewards + self.gamma * (1 - done) * self.target(next_states).max(dim=1).values
        q = self.net(states).gather(1, actions.unsqueeze(1)).squeeze(1)
        loss = F.smooth_l1_loss(q, wanted)
        self.optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_value_(self.net.parameters(), 10.0)
        self.optimizer.step()
        self.losses.append(loss.item())

    def follow(self, rate):
        with torch.no_grad():
            for slow, fast in zip(self.target.parameters(), self.net.parameters()):
                slow.lerp_(fast, rate)


@torch.no_grad()
def evaluate(agent, poles, steps):
    """How many steps a pole stands, by the share of those that fall."""
    falls = 0
    for _ in range(steps):
        _, _, done = poles.step(agent.net(poles.state).argmax(dim=1))
        falls += int(done.sum())
    return steps * poles.count / max(falls, 1)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--steps", type=int, default=1500)
    parser.add_argument("--envs", type=int, default=256)
    parser.add_argument("--batch-size", type=int, default=256)
    parser.add_argument("--buffer", type=int, default=20_000)
    parser.add_argument("--width", type=int, default=128)
    parser.add_argument("--gamma", type=float, default=0.98)
    parser.add_argument("--lr", type=float, default=1e-3)
    parser.add_argument("--log-every", type=int, default=100)
    parser.add_argument("--seed", type=int, default=5)
    parser.add_argument("--device", default="cuda" if torch.cuda.is_available() else "cpu")
    args = parser.parse_args()
    random.seed(args.seed)
    torch.manual_seed(args.seed)

    poles = Poles(args.envs, args.device, torch.Generator().manual_seed(args.seed))
    buffer, agent = ReplayBuffer(args.buffer, args.device), Agent(args)
    for step in range(1, args.steps + 1):
        states = poles.state
        actions = agent.act(states, epsilon=max(0.05, 1 - step / 200))
        next_states, rewards, done = poles.step(actions)
        buffer.add(states, actions, rewards, next_states, done)
        agent.learn(buffer.sample(args.batch_size))
        agent.follow(0.01)
        if step % args.log_every == 0:
            q = sum(agent.q_values[-args.log_every :]).item() / args.log_every
            loss = sum(agent.losses[-args.log_every :]) / args.log_every
            print(f"step {step}: loss {loss:.4f} q {q:.2f}", flush=True)
    print(f"steps a pole stands: {evaluate(agent, poles, 200):.1f}")


if __name__ == "__main__":
    main()
