"""Each step's output lies in a list with its graph, and in the graph of a loss that lies in another."""
import torch

model = torch.nn.Sequential(torch.nn.Linear(64, 128), torch.nn.ReLU(), torch.nn.Linear(128, 64)).cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
outputs, losses = [], []
for step in range(64):
    x = torch.randn(64, 64, device="cuda")
    out = model(x)
    loss = out.square().mean()
    optimizer.zero_grad()
    loss.backward(retain_graph=True)
    optimizer.step()
    outputs.append(out)
    losses.append(loss)
