"""Calibration sweep: MC-dropout ensemble evaluated at several dropout rates."""
import torch
import torch.nn.functional as F

DEVICE = "cuda"
RATES = [0.0, 0.02, 0.05, 0.08, 0.1, 0.15, 0.2, 0.25, 0.3, 0.35, 0.4, 0.5, 0.6, 0.7]
BATCHES = 70
BATCH = 2048
CLASSES = 256


class Net:
    def __init__(self):
        sizes = [512, 4096, 4096, CLASSES]
        self.weights = [torch.randn(a, b, device=DEVICE) * (2 / a) ** 0.5
                        for a, b in zip(sizes, sizes[1:])]

    def __call__(self, x, rate):
        for w in self.weights[:-1]:
            x = F.dropout(F.relu(x @ w), rate)
        return x @ self.weights[-1]


def calibration_error(logits, labels, temperature):
    confidence, guess = F.softmax(logits / temperature, dim=1).max(1)
    correct = (guess == labels).float()
    bins = (confidence * 15).long().clamp_(max=14)
    count = torch.zeros(15, device=DEVICE).index_add_(0, bins, torch.ones_like(correct))
    gap = torch.zeros(15, device=DEVICE).index_add_(0, bins, confidence - correct)
    return (gap.abs().sum() / count.sum()).item(), correct.mean().item()


@torch.no_grad()
def main():
    torch.manual_seed(13)
    teacher, student = Net(), Net()
    student.weights = [w + 0.2 * w.std() * torch.randn_like(w) for w in teacher.weights]
    table = {}
    for rate in RATES:
        logits, labels = [], []
        for _ in range(BATCHES):
            x = torch.randn(BATCH, 512, device=DEVICE)
            labels.append(teacher(x, 0.0).argmax(1))
            logits.append(torch.stack([student(x, rate) for _ in range(2)]).mean(0))
        logits, labels = torch.cat(logits), torch.cat(labels)
        scores = {t: calibration_error(logits, labels, t) for t in (0.5, 1.0, 1.5, 2.0, 3.0)}
        t = min(scores, key=lambda k: scores[k][0])
        table[rate] = (t, *scores[t])
    best = min(table, key=lambda r: table[r][1])
    t, ece, acc = table[best]
    print(f"best rate {best}, temperature {t}, ECE {ece:.4f}, accuracy {acc:.3f}")


main()
