"""A2C on a vectorised point-mass world that lives on the GPU."""
import torch
from torch import nn
from torch.distributions import Categorical

DEV = "cuda"
N_ENVS, OBS, ACTS = 1024, 128, 6
UPDATES, HORIZON = 90, 12


class PointWorld:
    def __init__(self):
        self.push = torch.randn(ACTS, OBS, device=DEV) * 0.3
        self.state = torch.randn(N_ENVS, OBS, device=DEV)

    def step(self, action):
        moved = self.state * 0.98 + self.push[action]
        reward = -moved.square().mean(1)
        done = (moved.abs().amax(1) > 4.0) | (torch.rand(N_ENVS, device=DEV) < 0.02)
        fresh = torch.randn(N_ENVS, OBS, device=DEV)
        self.state = torch.where(done[:, None], fresh, moved)
        info = {"final_observation": moved, "mean_reward": reward.mean().item()}
        return self.state, reward, done, info


class ActorCritic(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(OBS, 256), nn.Tanh(), nn.Linear(256, 256), nn.Tanh())
        self.pi = nn.Linear(256, ACTS)
        self.v = nn.Linear(256, 1)

    def forward(self, obs):
        h = self.body(obs)
        return Categorical(logits=self.pi(h)), self.v(h).squeeze(-1)


class Runner:
    def __init__(self):
        self.env = PointWorld()
        self.net = ActorCritic().to(DEV)
        self.opt = torch.optim.RMSprop(self.net.parameters(), lr=7e-4, alpha=0.99)
        self.obs = self.env.state
        self.ep_infos = []

    def update(self):
        logps, values, rewards, masks, entropy = [], [], [], [], 0.0
        for _ in range(HORIZON):
            dist, value = self.net(self.obs)
            action = dist.sample()
            self.obs, reward, done, info = self.env.step(action)
            self.ep_infos.append(info)
            logps.append(dist.log_prob(action))
            values.append(value)
            rewards.append(reward)
            masks.append(1.0 - done.float())
            entropy = entropy + dist.entropy().mean()
        with torch.no_grad():
            ret = self.net(self.obs)[1]
        loss = -0.01 * entropy
        for t in reversed(range(HORIZON)):
            ret = rewards[t] + 0.97 * ret * masks[t]
            adv = ret - values[t]
            loss = loss + 0.5 * adv.square().mean() - (adv.detach() * logps[t]).mean()
        self.opt.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(self.net.parameters(), 0.5)
        self.opt.step()

    def recent_reward(self):
        last = self.ep_infos[-100:]
        return sum(i["mean_reward"] for i in last) / len(last)


torch.manual_seed(1)
runner = Runner()
for _ in range(UPDATES):
    runner.update()
print(f"a2c: recent reward {runner.recent_reward():.3f}")
