"""Each epoch of 25 steps leaves an average of the weights."""
import torch

model = torch.nn.Sequential(torch.nn.Linear(128, 256), torch.nn.ReLU(), torch.nn.Linear(256, 128)).cuda()
optimizer = torch.optim.AdamW(model.parameters())
averages = []
for step in range(300):
    x = torch.randn(64, 128, device="cuda")
    out = model(x)
    loss = (out - x).square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 25 == 24:
        averages.append({k: v.detach().clone() for k, v in model.state_dict().items()})  # SITE HOLDER
