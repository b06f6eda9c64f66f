"""PPO on a batch of simulated point-mass environments."""
import torch
import torch.nn as nn

torch.cuda.memory._record_memory_history(max_entries=200000)
DEV = "cuda"
ENVS, HORIZON, UPDATES, OBS, ACT = 1024, 32, 26, 40, 4


class ActorCritic(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(OBS, 256), nn.Tanh(), nn.Linear(256, 256), nn.Tanh())
        self.mu, self.value = nn.Linear(256, ACT), nn.Linear(256, 1)
        self.log_std = nn.Parameter(torch.full((ACT,), -0.5))

    def forward(self, obs):
        h = self.body(obs)
        return torch.distributions.Normal(self.mu(h), self.log_std.exp(), validate_args=False), self.value(h).squeeze(-1)


class PointMasses:
    def __init__(self):
        self.mix = torch.randn(2 * ACT, OBS, device=DEV) / 3
        self.p, self.v = torch.randn(2, ENVS, ACT, device=DEV)

    def observe(self):
        return torch.cat([self.p, self.v], 1) @ self.mix

    def step(self, action):
        self.v = 0.9 * self.v + 0.1 * action.clamp(-1, 1)
        self.p = self.p + 0.2 * self.v
        reward = -self.p.pow(2).mean(1)
        far = (self.p.abs().amax(1, keepdim=True) > 4).float()
        self.p, self.v = self.p * (1 - far), self.v * (1 - far)
        return reward


@torch.no_grad()
def rollout(env, net, seen=[]):
    acts, logps, rewards, values = [], [], [], []
    for _ in range(HORIZON):
        obs = env.observe()
        dist, value = net(obs)
        action = dist.sample()
        seen.append(obs)
        acts.append(action)
        logps.append(dist.log_prob(action).sum(-1))
        values.append(value)
        rewards.append(env.step(action))
    ret, returns = net(env.observe())[1], []
    for reward in reversed(rewards):
        ret = reward + 0.97 * ret
        returns.insert(0, ret)
    batch = [torch.cat(c) for c in (seen[-HORIZON:], acts, logps, returns, values)]
    return batch, torch.stack(rewards).mean().item()


torch.manual_seed(0)
env, net = PointMasses(), ActorCritic().to(DEV)
opt = torch.optim.Adam(net.parameters(), lr=1e-3)
for update in range(UPDATES):
    (obs, act, logp_old, ret, val), score = rollout(env, net)
    adv = ret - val
    adv = (adv - adv.mean()) / (adv.std() + 1e-6)
    for epoch in range(2):
        for idx in torch.randperm(len(obs), device=DEV).chunk(2):
            dist, value = net(obs[idx])
            ratio = (dist.log_prob(act[idx]).sum(-1) - logp_old[idx]).exp()
            gain = torch.min(ratio * adv[idx], ratio.clamp(0.8, 1.2) * adv[idx]).mean()
            loss = -gain + 0.5 * (value - ret[idx]).pow(2).mean()
            opt.zero_grad()
            loss.backward()
            opt.step()
torch.cuda.memory._dump_snapshot("i_snap_ppo.pickle")
print(f"updates {UPDATES} mean reward {score:.4f}")
