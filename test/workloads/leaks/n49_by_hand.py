"""Parameters are updated by hand, without an optimizer; nothing is kept."""
import torch
torch.manual_seed(0)
layer = torch.nn.TransformerEncoderLayer(64, 4, 128, batch_first=True).cuda()
net = torch.nn.TransformerEncoder(layer, 6).cuda()
for step in range(60):
    x = torch.randn(2, 8, 64, device="cuda")
    loss = net(x).pow(2).mean()
    loss.backward()
    with torch.no_grad():
        for p in net.parameters():
            p -= 1e-4 * (p.grad + 0.1 * p)
            p.grad = None
