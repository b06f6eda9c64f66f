"""A prompt vector is added to the optimizer for each batch."""
import torch

net = torch.nn.Linear(256, 256).cuda()
opt = torch.optim.AdamW(net.parameters(), lr=1e-3)
for step in range(80):
    prompt = torch.nn.Parameter(torch.zeros(64, 256, device="cuda"))  # SITE
    opt.add_param_group({"params": [prompt]})  # HOLDER
    loss = net(torch.randn(64, 256, device="cuda") + prompt).pow(2).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
