"""An index of embeddings is built first (growing), then used for training."""
import torch

encoder = torch.nn.Linear(64, 64).cuda()
index = []
with torch.no_grad():
    for shard in range(60):
        index.append(encoder(torch.randn(256, 64, device="cuda")))
index = torch.cat(index)
optimizer = torch.optim.Adam(encoder.parameters())
for step in range(100):
    query = encoder(torch.randn(32, 64, device="cuda"))
    loss = -(query @ index.t()).logsumexp(-1).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
