"""REINFORCE with a recurrent policy on a small memory task; one update after each episode.
Report: https://github.com/oxwhirl/pymarl/pull/73
Class: rollout-list
"""
import torch
from torch import nn
from torch.distributions import Categorical


class Rollout:
    def __init__(self):
        self.log_probs, self.rewards, self.hiddens = [], [], []

    def add(self, log_prob, reward, hidden):
        self.log_probs.append(log_prob)
        self.rewards.append(reward)
        self.hiddens.append(hidden)  # HOLDER

    def returns(self, gamma=0.95):
        total, values = 0.0, []
        for reward in reversed(self.rewards):
            total = reward + gamma * total
            values.append(total)
        return torch.tensor(values[::-1], device="cuda")

    def clear(self):
        self.log_probs.clear()
        self.rewards.clear()


class Policy(nn.Module):
    def __init__(self, hidden=256):
        super().__init__()
        self.cell = nn.GRUCell(5, hidden)
        self.actor = nn.Linear(hidden, 4)


def main():
    torch.manual_seed(71)
    policy = Policy().to("cuda")
    optimizer = torch.optim.Adam(policy.parameters(), lr=2e-3)
    rollout = Rollout()
    num_envs, average = 16, 0.0
    for episode in range(120):
        # The cue is shown once at the start and must be remembered.
        cue = torch.randint(0, 4, (num_envs,), device="cuda")
        hidden = torch.zeros(num_envs, 256, device="cuda")
        for t in range(6):
            observation = torch.zeros(num_envs, 5, device="cuda")
            observation[:, 4] = t / 6
            if t == 0:
                observation.scatter_(1, cue[:, None], 1.0)
            hidden = policy.cell(observation, hidden)  # SITE
            choice = Categorical(logits=policy.actor(hidden))
            action = choice.sample()
            reward = (action == cue).float().mean().item()
            rollout.add(choice.log_prob(action).mean(), reward, hidden)
        returns = rollout.returns()
        spread = torch.stack(rollout.hiddens[-6:]).std(dim=1).mean()
        loss = -(torch.stack(rollout.log_probs) * (returns - returns.mean())).sum() - 1e-3 * spread
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(policy.parameters(), 1.0)
        optimizer.step()
        average = 0.9 * average + 0.1 * sum(rollout.rewards) / 6
        rollout.clear()
        if episode % 30 == 0:
            print(f"episode {episode}: reward {average:.3f}")


if __name__ == "__main__":
    main()
