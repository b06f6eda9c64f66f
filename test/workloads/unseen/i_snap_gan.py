"""Small DCGAN with a feature-matching term for the generator."""
import torch
import torch.nn as nn
import torch.nn.functional as F

DEV = "cuda"
ROUNDS, BATCH, NOISE = 90, 64, 64


class Generator(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(NOISE, 128 * 8 * 8)
        self.up1 = nn.ConvTranspose2d(128, 64, 4, 2, 1)
        self.up2 = nn.ConvTranspose2d(64, 3, 4, 2, 1)

    def forward(self, z):
        h = F.relu(self.fc(z).view(-1, 128, 8, 8))
        return torch.tanh(self.up2(F.relu(self.up1(h))))


class Critic(nn.Module):
    def __init__(self):
        super().__init__()
        self.c1 = nn.Conv2d(3, 64, 4, 2, 1)
        self.c2 = nn.Conv2d(64, 64, 4, 2, 1)
        self.act = nn.LeakyReLU(0.2)
        self.fc = nn.Linear(64 * 8 * 8, 1)

    def forward(self, x):
        h = self.act(self.c1(x))
        h = self.c2(h)
        return self.fc(F.leaky_relu(h, 0.2).flatten(1))


def real_batch():
    lin = torch.linspace(-3, 3, 32, device=DEV)
    f = torch.rand(BATCH, 3, 1, 1, device=DEV) + 0.5
    return torch.sin(f * lin.view(1, 1, 1, -1)) * torch.cos(f * lin.view(1, 1, -1, 1))


def match_features(critic, target, terms):
    """Compare the activations of the coming generator pass with those of the real images."""

    def compare(module, args, output):
        if not terms:
            terms.append(F.mse_loss(output.mean(0), target.mean(0)))

    critic.c2.register_forward_hook(compare)


torch.manual_seed(0)
gen, critic = Generator().to(DEV), Critic().to(DEV)
g_opt = torch.optim.Adam(gen.parameters(), lr=2e-4, betas=(0.5, 0.999))
c_opt = torch.optim.Adam(critic.parameters(), lr=2e-4, betas=(0.5, 0.999))
torch.cuda.memory._record_memory_history(max_entries=200000)

for r in range(ROUNDS):
    real, fake = real_batch(), gen(torch.randn(BATCH, NOISE, device=DEV))
    c_loss = F.softplus(-critic(real)).mean() + F.softplus(critic(fake.detach())).mean()
    c_opt.zero_grad()
    c_loss.backward()
    c_opt.step()

    with torch.no_grad():
        target = critic.c2(critic.act(critic.c1(real)))
    terms = []
    match_features(critic, target, terms)
    g_loss = F.softplus(-critic(fake)).mean() + terms[0]
    g_opt.zero_grad()
    g_loss.backward()
    g_opt.step()
    terms[0] = terms[0].detach()

torch.cuda.memory._dump_snapshot("i_snap_gan.pickle")
print(f"critic {c_loss.item():.3f} generator {g_loss.item():.3f}")
