"""An average of the weights that begins late, and the last two copies."""
import copy
import torch

net = torch.nn.Sequential(torch.nn.Linear(512, 512), torch.nn.ReLU(), torch.nn.Linear(512, 512)).cuda()
opt = torch.optim.AdamW(net.parameters())
ema = None
snapshots = []
for step in range(140):
    x = torch.randn(64, 512, device="cuda")
    loss = (net(x) - x).pow(2).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
    if step == 50:
        ema = copy.deepcopy(net)
    if step > 50:
        with torch.no_grad():
            for a, b in zip(ema.parameters(), net.parameters()):
                a.lerp_(b, 0.01)
    if step % 20 == 19:
        snapshots = (snapshots + [{k: v.clone() for k, v in net.state_dict().items()}])[-2:]
