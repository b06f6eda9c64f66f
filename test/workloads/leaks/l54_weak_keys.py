"""Statistics by module in a WeakKeyDictionary: the modules live on."""
import weakref
import torch

stats = weakref.WeakKeyDictionary()


def remember(module, args, output):
    stats.setdefault(module, []).append(output.detach() * 1)  # SITE HOLDER


net = torch.nn.Sequential(torch.nn.Linear(64, 128), torch.nn.ReLU(), torch.nn.Linear(128, 64)).cuda()
net[1].register_forward_hook(remember)
opt = torch.optim.Adam(net.parameters())
for step in range(60):
    x = torch.randn(128, 64, device="cuda")
    loss = (net(x) - x).pow(2).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
