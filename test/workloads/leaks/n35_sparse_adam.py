"""Embeddings with sparse gradients; words come up in random numbers."""
import random
import torch

random.seed(3)
table = torch.nn.Embedding(5000, 32, sparse=True).cuda()
optimizer = torch.optim.SparseAdam(list(table.parameters()))
for step in range(100):
    words = torch.randint(0, 5000, (random.randint(64, 512),), device="cuda")
    loss = table(words).square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
