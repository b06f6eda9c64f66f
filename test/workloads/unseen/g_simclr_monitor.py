"""SimCLR on random images, with a collapse monitor on the encoder's output."""
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(3)
dev = torch.device("cuda")
STEPS, BATCH, SIZE = 200, 256, 32

encoder = nn.Sequential(
    nn.Conv2d(3, 64, 3, 2, 1), nn.BatchNorm2d(64), nn.ReLU(),
    nn.Conv2d(64, 128, 3, 2, 1), nn.BatchNorm2d(128), nn.ReLU(),
    nn.Conv2d(128, 256, 3, 2, 1), nn.BatchNorm2d(256), nn.ReLU(),
    nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(256, 512)).to(dev)
projector = nn.Sequential(nn.Linear(512, 512), nn.ReLU(), nn.Linear(512, 128)).to(dev)
opt = torch.optim.SGD([*encoder.parameters(), *projector.parameters()], lr=0.05, momentum=0.9)


def augment(x):
    if torch.rand(()) < 0.5:
        x = x.flip(-1)
    x = x * (0.6 + 0.8 * torch.rand(len(x), 1, 1, 1, device=dev))
    return x + 0.1 * torch.randn_like(x)


def nt_xent(a, b, tau=0.2):
    z = F.normalize(torch.cat([a, b]), dim=1)
    sim = z @ z.t() / tau
    sim.fill_diagonal_(-1e4)
    n = len(a)
    target = torch.cat([torch.arange(n, 2 * n), torch.arange(n)]).to(dev)
    return F.cross_entropy(sim, target)


def capture(module):
    """Gives a dict in which the module's next output will be found."""
    found = {}

    def grab(mod, args, out):
        found.setdefault("out", out.detach())

    module.register_forward_hook(grab)
    return found


images = torch.randn(2048, 3, SIZE, SIZE, device=dev)
spread = 0.0
for step in range(STEPS):
    idx = torch.randint(len(images), (BATCH,), device=dev)
    x = images[idx]
    seen = capture(encoder)
    za = projector(encoder(augment(x)))
    zb = projector(encoder(augment(x)))
    loss = nt_xent(za, zb)
    opt.zero_grad()
    loss.backward()
    opt.step()
    spread = 0.95 * spread + 0.05 * F.normalize(seen["out"], dim=1).std(0).mean().item()
print(f"loss {loss.item():.4f} spread {spread:.4f}")
