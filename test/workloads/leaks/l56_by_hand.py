"""A loop that updates the parameters by hand, and a sum of losses with all their graphs."""
import torch

torch.manual_seed(0)
layer = torch.nn.TransformerEncoderLayer(64, 4, 128, batch_first=True)
net = torch.nn.TransformerEncoder(layer, 6).cuda()
total = 0
for step in range(120):
    x = torch.randn(2, 8, 64, device="cuda")
    loss = net(x).pow(2).mean()  # SITE
    loss.backward(retain_graph=True)
    with torch.no_grad():
        for p in net.parameters():
            p -= 1e-4 * (p.grad + 0.01 * p)
            p.grad = None
    total = total + loss  # HOLDER
print(float(total))
