"""Each step makes a closure for later that sees the batch."""
import torch

todo = []


def make_report(batch, output):
    def report():
        return float((batch - output).abs().max())

    return report


net = torch.nn.Linear(128, 128).cuda()
opt = torch.optim.SGD(net.parameters(), lr=0.01)
for step in range(60):
    x = torch.randn(128, 128, device="cuda")
    y = net(x)
    loss = (y - x).pow(2).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
    todo.append(make_report(x, y.detach()))  # HOLDER
