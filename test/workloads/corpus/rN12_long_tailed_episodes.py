"""Actor-critic on twelve pendulums of very different patience; an episode is learnt from at its end, or after a limit.
Report: https://github.com/pytorch/rl/pull/50
Class: rl-episodes
"""
import torch
from torch import nn

POLES, STEPS, LIMIT, HIDDEN = 12, 420, 90, 128


class Poles:
    """Carts with poles that fall the sooner the lower the number."""

    def __init__(self):
        self.gen = torch.Generator().manual_seed(3)
        self.state = torch.zeros(POLES, 4)
        self.force = torch.linspace(1.6, 0.25, POLES)
        for number in range(POLES):
            self.reset(number)

    def reset(self, number):
        self.state[number] = 0.05 * torch.randn(4, generator=self.gen)

    def picture(self):
        """What the camera sees: the angle as a blurred line."""
        rows = torch.linspace(-1, 1, 64)
        line = rows[None, :] * self.state[:, 2:3]
        at = (self.state[:, :1] + line)[:, :, None] - torch.linspace(-2, 2, 96)
        return torch.exp(-60 * at.square())

    def step(self, actions):
        push = (actions.float() * 2 - 1) * 0.3 + self.force * 0.4 * torch.randn(POLES, generator=self.gen)
        x, v, a, w = self.state.unbind(1)
        w = w + 0.1 * (3 * a + push)
        self.state = torch.stack([x + 0.05 * v, v + 0.05 * push, a + 0.1 * w, 0.95 * w], dim=1)
        return (self.state[:, 2].abs() > 0.9) | (self.state[:, 0].abs() > 2)


class ActorCritic(nn.Module):
    def __init__(self):
        super().__init__()
        self.eye = nn.Sequential(
            nn.Conv2d(2, 12, 5, stride=3), nn.ReLU(), nn.Conv2d(12, 16, 5, stride=3), nn.ReLU(), nn.Flatten(),
            nn.Linear(16 * 6 * 9, HIDDEN), nn.ReLU(),
        )
        self.both = nn.Linear(HIDDEN, 3)

    def forward(self, pictures):
        out = self.both(self.eye(pictures))
        return torch.distributions.Categorical(logits=out[:, :2]), out[:, 2]


def learn(model, optimizer, episode):
    pictures = torch.stack([picture for picture, _ in episode])
    actions = torch.tensor([action for _, action in episode], device="cuda")
    returns = torch.arange(len(episode), 0, -1, device="cuda") / LIMIT
    for part in torch.arange(len(episode)).split(24):
        where = part.to("cuda")
        policy, value = model(pictures[where])
        gain = returns[where] - value
        loss = (gain.square() - policy.log_prob(actions[where]) * gain.detach()).mean() - 0.01 * policy.entropy().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


def main():
    torch.manual_seed(3)
    world, model = Poles(), ActorCritic().to("cuda")
    optimizer = torch.optim.Adam(model.parameters(), lr=5e-4)
    open_episodes = {number: [] for number in range(POLES)}
    before, lengths = world.picture().to("cuda"), []
    for step in range(1, STEPS + 1):
        now = world.picture().to("cuda")
        pictures = torch.stack([before, now], dim=1)
        with torch.no_grad():
            actions = model(pictures)[0].sample()
        fallen = world.step(actions.cpu())
        for number, episode in open_episodes.items():
            episode.append((pictures[number].clone(), int(actions[number])))
            if fallen[number] or len(episode) >= LIMIT:
                lengths.append(len(episode))
                learn(model, optimizer, episode)
                open_episodes[number] = []
                world.reset(number)
        before = now
        if step % 84 == 0:
            print(f"step {step}: {len(lengths)} episodes, mean length {sum(lengths[-30:]) / len(lengths[-30:]):.1f}")


main()
