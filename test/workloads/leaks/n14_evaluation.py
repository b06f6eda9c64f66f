"""An evaluation and a better copy of the weights after each epoch."""
import torch

net = torch.nn.Linear(512, 512).cuda()
opt = torch.optim.AdamW(net.parameters())
best = None
for epoch in range(6):
    for i in range(25):
        x = torch.randn(64, 512, device="cuda")
        loss = (net(x) - x).pow(2).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
    with torch.no_grad():
        outs = [net(torch.randn(64, 512, device="cuda")) for _ in range(30)]
        score = torch.cat(outs).pow(2).mean().item()
    if best is None or score < best[0]:
        best = (score, {k: v.clone() for k, v in net.state_dict().items()})
