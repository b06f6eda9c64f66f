"""Fine-tunes a tiny text classifier with Accelerate and validates every fifth step."""
import torch
from accelerate import Accelerator
from accelerate.utils import set_seed
from torch.utils.data import DataLoader, TensorDataset
from transformers import DistilBertConfig, DistilBertForSequenceClassification

set_seed(5)
accelerator = Accelerator()

config = DistilBertConfig(
    vocab_size=300, dim=64, n_layers=2, n_heads=4, hidden_dim=128, max_position_embeddings=64, num_labels=3
)
model = DistilBertForSequenceClassification(config)
tokens = torch.randint(0, 300, (480, 40))
labels = tokens[:, :5].sum(1) % 3
train = DataLoader(TensorDataset(tokens[:400], labels[:400]), batch_size=8, shuffle=True)
held_out = DataLoader(TensorDataset(tokens[400:], labels[400:]), batch_size=16)
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
model, optimizer, train, held_out = accelerator.prepare(model, optimizer, train, held_out)

val_total, val_batches = 0.0, 0


def validation_stream(loader):
    while True:
        yield from loader


def validate(batches):
    global val_total, val_batches
    model.eval()
    ids, target = next(batches)
    out = model(input_ids=ids, labels=target)  # SITE
    val_total = val_total + out.loss  # HOLDER
    val_batches += 1
    model.train()
    return float(val_total) / val_batches


held = validation_stream(held_out)
step = 0
for epoch in range(4):
    for ids, target in train:
        loss = model(input_ids=ids, labels=target).loss
        accelerator.backward(loss)
        accelerator.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        optimizer.zero_grad()
        step += 1
        if step % 5 == 0:
            mean = validate(held)
            if step % 40 == 0:
                accelerator.print(f"epoch {epoch} step {step}: train {loss.item():.4f} validation {mean:.4f}")
