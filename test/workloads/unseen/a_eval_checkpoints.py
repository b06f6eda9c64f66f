"""Evaluate a series of checkpoints: full score matrices first, then ranking measures per checkpoint."""
import io
import time

import torch
import torch.nn as nn

torch.manual_seed(14)
CHECKPOINTS, BATCHES = 14, 8


def make_checkpoint(index):
    torch.manual_seed(500 + index)
    net = nn.Sequential(nn.Linear(256, 768), nn.ReLU(), nn.Linear(768, 1000))
    buffer = io.BytesIO()
    torch.save(net.state_dict(), buffer)
    buffer.seek(0)
    return buffer


class Evaluation:
    def __init__(self):
        self.scores = []
        self.targets = []

    def add(self, scores, targets):
        self.scores.append(scores)
        self.targets.append(targets)

    def finish(self):
        scores = torch.cat(self.scores)
        targets = torch.cat(self.targets)
        rank = (scores > scores.gather(1, targets[:, None])).sum(1) + 1
        self.scores.clear()
        self.targets.clear()
        return (1.0 / rank.float()).mean().item(), (rank <= 10).float().mean().item()


def main():
    net = nn.Sequential(nn.Linear(256, 768), nn.ReLU(), nn.Linear(768, 1000)).to("cuda")
    evaluation = Evaluation()
    results = []
    for index in range(CHECKPOINTS):
        net.load_state_dict(torch.load(make_checkpoint(index), map_location="cuda"))
        net.eval()
        for batch in range(BATCHES):
            gen = torch.Generator().manual_seed(batch)
            x = torch.randn(256, 256, generator=gen).to("cuda")
            y = torch.randint(0, 1000, (256,), generator=gen).to("cuda")
            with torch.no_grad():
                evaluation.add(net(x), y)
            time.sleep(0.02)
        results.append(evaluation.finish())
    best = max(results)
    print(f"checkpoints {len(results)} best mrr {best[0]:.5f} hit10 {best[1]:.5f}")


if __name__ == "__main__":
    main()
