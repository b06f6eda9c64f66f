"""Reinforcement learning: the log-probabilities of all episodes are kept."""
import torch


class Policy(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.net = torch.nn.Sequential(torch.nn.Linear(16, 64), torch.nn.Tanh(), torch.nn.Linear(64, 4))
        self.log_probs = []

    def act(self, state):
        distribution = torch.distributions.Categorical(logits=self.net(state))
        action = distribution.sample()
        self.log_probs.append(distribution.log_prob(action))  # HOLDER
        return action


policy = Policy().cuda()
optimizer = torch.optim.Adam(policy.parameters())
for episode in range(50):
    begin = len(policy.log_probs)
    for _ in range(8):
        policy.act(torch.randn(256, 16, device="cuda"))
    loss = -torch.stack(policy.log_probs[begin:]).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
