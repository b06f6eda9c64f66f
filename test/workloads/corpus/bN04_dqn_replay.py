"""DQN on a small corridor world as a LightningModule with a replay memory on the device.
Report: https://github.com/oxwhirl/pymarl/pull/73
Class: replay-buffer
"""
import collections
import logging
import random
import warnings

import lightning.pytorch as pl
import torch
from torch import nn
from torch.utils.data import DataLoader

DEVICE = "cuda"
logging.getLogger("lightning.pytorch").setLevel(logging.ERROR)
warnings.filterwarnings("ignore")

Transition = collections.namedtuple("Transition", "obs action reward next_obs")
FRAME = 32 * 32


class Corridor:
    """Walk right to the goal; what the agent sees is a noisy picture of where it is."""

    def __init__(self):
        self.position = 0

    def observe(self, device):
        frame = 0.1 * torch.randn(FRAME, device=device)
        frame[self.position * 64:(self.position + 1) * 64] += 1.0
        return frame

    def step(self, action):
        self.position = min(15, max(0, self.position + (1 if action == 1 else -1)))
        done = self.position == 15
        if done:
            self.position = 0
        return 1.0 if done else -0.01


class Dqn(pl.LightningModule):
    def __init__(self, capacity=800):
        super().__init__()
        self.automatic_optimization = False
        self.q = nn.Sequential(nn.Linear(FRAME, 64), nn.ReLU(), nn.Linear(64, 2))
        self.target = nn.Sequential(nn.Linear(FRAME, 64), nn.ReLU(), nn.Linear(64, 2)).requires_grad_(False)
        self.memory = collections.deque(maxlen=capacity)
        self.env = Corridor()

    @torch.no_grad()
    def play(self, steps, epsilon):
        obs = self.env.observe(self.device)
        for _ in range(steps):
            action = random.randrange(2) if random.random() < epsilon else int(self.q(obs).argmax())
            reward = self.env.step(action)
            next_obs = self.env.observe(self.device)
            self.memory.append(Transition(obs, action, reward, next_obs))
            obs = next_obs

    def training_step(self, batch, batch_idx):
        self.play(steps=4, epsilon=max(0.1, 1.0 - batch_idx / 150))
        if batch_idx % 25 == 0:
            self.target.load_state_dict(self.q.state_dict())
        picked = random.sample(self.memory, min(32, len(self.memory)))
        obs, next_obs = torch.stack([t.obs for t in picked]), torch.stack([t.next_obs for t in picked])
        action = torch.tensor([t.action for t in picked], device=self.device)
        reward = torch.tensor([t.reward for t in picked], device=self.device)
        goal = reward + 0.95 * self.target(next_obs).amax(dim=1)
        loss = nn.functional.smooth_l1_loss(self.q(obs).gather(1, action[:, None]).squeeze(1), goal)
        optimizer = self.optimizers()
        optimizer.zero_grad()
        self.manual_backward(loss)
        optimizer.step()
        if batch_idx % 80 == 0:
            print(f"step {batch_idx}: loss {loss.item():.4f}, {len(self.memory)} transitions")

    def configure_optimizers(self):
        return torch.optim.Adam(self.q.parameters(), lr=1e-3)


pl.seed_everything(13, verbose=False)
trainer = pl.Trainer(
    accelerator="cpu" if DEVICE == "cpu" else "gpu", devices=1, max_epochs=1,
    logger=False, enable_checkpointing=False, enable_progress_bar=False, enable_model_summary=False,
)
trainer.fit(Dqn(), DataLoader(range(400), batch_size=1))
