"""Batches copied on a stream of their own."""
import torch

net = torch.nn.Linear(512, 512).cuda()
opt = torch.optim.Adam(net.parameters())
side = torch.cuda.Stream()
for step in range(120):
    host = torch.randn(64, 512).pin_memory()
    with torch.cuda.stream(side):
        x = host.to("cuda", non_blocking=True)
    torch.cuda.current_stream().wait_stream(side)
    x.record_stream(torch.cuda.current_stream())
    loss = (net(x) - x).pow(2).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
