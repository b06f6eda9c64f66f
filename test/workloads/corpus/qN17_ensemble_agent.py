"""Trains an ensemble of value functions in parallel with torch.func on experience from a toy control task."""
import copy
import random
from collections import deque

import torch
from torch import nn
from torch.func import functional_call, grad_and_value, stack_module_state, vmap

ENSEMBLE, GAMMA = 5, 0.9


def make_net():
    return nn.Sequential(nn.Linear(6, 48), nn.Tanh(), nn.Linear(48, 3))


class Cart:
    def __init__(self, count):
        self.state = torch.randn(count, 6, device="cuda")

    def step(self, action):
        push = (action - 1).float()[:, None] * 0.2
        before = self.state
        self.state = 0.95 * torch.roll(before, 1, dims=1) + push + 0.05 * torch.randn_like(before)
        return before, action, -self.state.abs().mean(1), self.state


class Agent:
    def __init__(self):
        nets = [make_net().to("cuda") for _ in range(ENSEMBLE)]
        self.skeleton = copy.deepcopy(nets[0]).to("meta")
        self.params, _ = stack_module_state(nets)
        self.params = {k: v.detach() for k, v in self.params.items()}
        self.target = dict(self.params)
        self.memory = deque(maxlen=60)

    def values(self, params, x):
        return vmap(lambda p: functional_call(self.skeleton, p, (x,)))(params)

    def learn(self, rng):
        before, action, reward, after = rng.choice(self.memory)
        goal = reward + GAMMA * self.values(self.target, after).max(-1).values

        def loss(p, g):
            q = functional_call(self.skeleton, p, (before,)).gather(1, action[:, None]).squeeze(1)
            return nn.functional.smooth_l1_loss(q, g)

        grads, losses = vmap(grad_and_value(loss))(self.params, goal)
        self.params = {k: v - 0.05 * grads[k] for k, v in self.params.items()}
        return losses.mean().item()


def main():
    torch.manual_seed(65)
    rng = random.Random(65)
    agent, cart = Agent(), Cart(256)
    rewards = []
    for step in range(1, 501):
        q = agent.values(agent.params, cart.state).mean(0)
        action = q.argmax(-1)
        explore = torch.rand(256, device="cuda") < 0.1
        action = torch.where(explore, torch.randint(0, 3, (256,), device="cuda"), action)
        agent.memory.append(cart.step(action))
        rewards.append(agent.memory[-1][2].mean().item())
        loss = agent.learn(rng)
        if step % 20 == 0:
            agent.target = dict(agent.params)
        if step % 100 == 0:
            print(f"step {step}: loss {loss:.5f} reward {sum(rewards[-100:]) / 100:.4f}")


main()
