"""Trains with Accelerate: gradient accumulation, clipping, evaluation phases and a checkpoint that is replaced.
Report: https://github.com/ray-project/ray/pull/40940
Class: gradient-accumulation
"""
import torch
from accelerate import Accelerator
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

DEVICE = "cuda"


def evaluate(accelerator, model, loader):
    model.eval()
    predictions, targets = [], []
    with torch.no_grad():
        for x, y in loader:
            p, t = accelerator.gather_for_metrics((model(x), y))
            predictions.append(p)
            targets.append(t)
    model.train()
    return nn.functional.l1_loss(torch.cat(predictions), torch.cat(targets)).item()


def main():
    torch.manual_seed(167)
    accelerator = Accelerator(cpu=DEVICE == "cpu", gradient_accumulation_steps=4)
    x = torch.randn(3072, 48)
    y = torch.stack([x[:, i] * x[:, i + 1] for i in range(24)], dim=1)
    train = DataLoader(TensorDataset(x[:2048], y[:2048]), batch_size=32, shuffle=True)
    test = DataLoader(TensorDataset(x[2048:], y[2048:]), batch_size=128)
    model = nn.Sequential(nn.Linear(48, 320), nn.GELU(), nn.Linear(320, 320), nn.GELU(), nn.Linear(320, 24))
    optimizer = torch.optim.AdamW(model.parameters(), lr=2e-3)
    scheduler = torch.optim.lr_scheduler.OneCycleLR(optimizer, max_lr=3e-3, total_steps=6 * 64)
    model, optimizer, train, test, scheduler = accelerator.prepare(model, optimizer, train, test, scheduler)
    best, checkpoint = float("inf"), None
    for epoch in range(6):
        epoch_loss = torch.zeros((), device=accelerator.device)
        for inputs, labels in train:
            with accelerator.accumulate(model):
                loss = nn.functional.mse_loss(model(inputs), labels)
                accelerator.backward(loss)
                if accelerator.sync_gradients:
                    accelerator.clip_grad_norm_(model.parameters(), 1.0)
                optimizer.step()
                scheduler.step()
                optimizer.zero_grad()
            epoch_loss += loss.detach()
        error = evaluate(accelerator, model, test)
        if error < best:
            best, checkpoint = error, {k: v.clone() for k, v in accelerator.get_state_dict(model).items()}
        print(f"epoch {epoch}: loss {epoch_loss.item() / len(train):.4f}, test error {error:.4f}")
    accelerator.unwrap_model(model).load_state_dict(checkpoint)


if __name__ == "__main__":
    main()
