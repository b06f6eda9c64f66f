"""A CUDA graph for each shape, kept with its pool."""
import torch

net = torch.nn.Linear(256, 256).cuda()
graphs = {}


def run(step):
    x = torch.randn(64 + step, 256, device="cuda")
    g = torch.cuda.CUDAGraph()
    s = torch.cuda.Stream()
    s.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(s):
        net(x)
    torch.cuda.current_stream().wait_stream(s)
    with torch.cuda.graph(g):
        y = net(x)  # SITE
    graphs[step] = (g, x, y)  # HOLDER
    g.replay()


for step in range(120):  # so many that they are no set-up
    run(step)
