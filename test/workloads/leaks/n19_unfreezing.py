"""Layer after layer is trained too."""
import torch

layers = torch.nn.ModuleList(torch.nn.Linear(256, 256) for _ in range(10)).cuda()
for p in layers.parameters():
    p.requires_grad_(False)
opt = torch.optim.AdamW([torch.nn.Parameter(torch.zeros(1, device="cuda"))])
for step in range(150):
    if step % 15 == 0:
        layer = layers[9 - step // 15]
        for p in layer.parameters():
            p.requires_grad_(True)
        opt.add_param_group({"params": list(layer.parameters())})
    x = torch.randn(64, 256, device="cuda")
    y = x
    for layer in layers:
        y = torch.relu(layer(y))
    loss = (y - x).pow(2).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
