"""ExitStack in a loop keeps callbacks with tensors."""
import contextlib
import torch

model = torch.nn.Linear(128, 128).cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
stack = contextlib.ExitStack()
for step in range(60):
    x = torch.randn(256, 128, device="cuda")  # SITE
    stack.callback(print, "release", x)  # HOLDER
    loss = model(x).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
stack.pop_all()
