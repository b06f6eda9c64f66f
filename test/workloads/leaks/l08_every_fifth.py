"""A copy of the weights each fifth step."""
import torch

model = torch.nn.Sequential(torch.nn.Linear(256, 512), torch.nn.ReLU(), torch.nn.Linear(512, 256)).cuda()
optimizer = torch.optim.AdamW(model.parameters())

best = {}
for step in range(150):
    x = torch.randn(256, 256, device="cuda")
    loss = (model(x) - x).square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 5 == 0:
        best[step] = {k: v.clone() for k, v in model.state_dict().items()}  # SITE HOLDER
