"""Fine-tunes a frozen encoder layer by layer: another layer is unfrozen every few steps, from the top down.

Report: https://github.com/pytorch/pytorch/pull/2374
Class: unfreezing
"""
import torch
from transformers import DistilBertConfig, DistilBertForSequenceClassification


def unfreeze(optimizer, module, lr):
    parameters = list(module.parameters())
    for parameter in parameters:
        parameter.requires_grad_(True)
    optimizer.add_param_group({"params": parameters, "lr": lr})


def main():
    torch.manual_seed(6)
    config = DistilBertConfig(vocab_size=200, dim=96, n_layers=6, n_heads=4, hidden_dim=192,
                              max_position_embeddings=16, num_labels=5)
    model = DistilBertForSequenceClassification(config).to("cuda")
    model.distilbert.requires_grad_(False)
    waiting = [model.distilbert.embeddings, *model.distilbert.transformer.layer]
    head = [p for p in model.parameters() if p.requires_grad]
    optimizer = torch.optim.AdamW(head, lr=2e-3)
    for step in range(200):
        if waiting and step % 14 == 13:
            unfreeze(optimizer, waiting.pop(), lr=1e-3)
        ids = torch.randint(0, 200, (16, 16), device="cuda")
        loss = model(input_ids=ids, labels=ids[:, 0] % 5).loss
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step % 50 == 49:
            print(f"step {step + 1}: loss {loss.item():.3f}, {len(optimizer.param_groups)} groups, "
                  f"{len(waiting)} modules frozen")


if __name__ == "__main__":
    main()
