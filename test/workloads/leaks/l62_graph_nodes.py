"""The last node of each step's graph is kept for a drawing of it."""
import torch

net = torch.nn.Sequential(torch.nn.Linear(256, 256), torch.nn.Tanh(), torch.nn.Linear(256, 16)).cuda()
opt = torch.optim.SGD(net.parameters(), lr=0.01)
graphs = {}
for step in range(80):
    x = torch.randn(64, 256, device="cuda")
    hidden = net(x)  # SITE
    loss = hidden.square().mean()
    opt.zero_grad()
    loss.backward(retain_graph=True)
    opt.step()
    graphs[step] = loss.grad_fn  # HOLDER
