"""Rollouts of growing length, dropped after each update."""
import torch

policy = torch.nn.Sequential(torch.nn.Linear(8, 64), torch.nn.Tanh(), torch.nn.Linear(64, 2)).cuda()
opt = torch.optim.Adam(policy.parameters())
for update in range(60):
    log_probs, rewards = [], []
    for t in range(5 + update // 4):
        d = torch.distributions.Categorical(logits=policy(torch.randn(64, 8, device="cuda")))
        a = d.sample()
        log_probs.append(d.log_prob(a))
        rewards.append(torch.randn(64, device="cuda"))
    loss = -(torch.stack(log_probs) * torch.stack(rewards)).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
