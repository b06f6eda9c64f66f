"""A beam search with beams of any number and length."""
import random
import torch

random.seed(13)
model = torch.nn.Linear(64, 64).cuda()
with torch.no_grad():
    for sentence in range(60):
        beams = [(0.0, torch.randn(1, 64, device="cuda"))]
        for token in range(random.randint(5, 20)):
            grown = []
            for score, states in beams:
                out = model(states[-1:])
                for k in range(3):
                    grown.append((score + float(out[0, k]), torch.cat([states, out])))
            beams = sorted(grown, key=lambda each: -each[0])[: random.randint(1, 6)]
