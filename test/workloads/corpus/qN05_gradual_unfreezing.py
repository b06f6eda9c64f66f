"""Fine-tunes a tiny BERT by unfreezing it from the top to the bottom in stages."""
import torch
from transformers import BertConfig, BertForSequenceClassification

STAGE = 22
STEPS = 220


def build():
    config = BertConfig(
        vocab_size=400,
        hidden_size=96,
        num_hidden_layers=3,
        num_attention_heads=4,
        intermediate_size=192,
        max_position_embeddings=48,
        num_labels=4,
        hidden_dropout_prob=0.0,
        attention_probs_dropout_prob=0.0,
    )
    model = BertForSequenceClassification(config).to("cuda")
    for p in model.bert.parameters():
        p.requires_grad_(False)
    return model


class Unfreezer:
    def __init__(self, model, optimizer, lr):
        self.optimizer = optimizer
        self.lr = lr
        layers = list(model.bert.encoder.layer)
        self.queue = [model.bert.pooler] + layers[::-1] + [model.bert.embeddings]

    def next_stage(self):
        if not self.queue:
            return 0
        part = self.queue.pop(0)
        params = list(part.parameters())
        for p in params:
            p.requires_grad_(True)
        self.lr *= 0.8
        self.optimizer.add_param_group({"params": params, "lr": self.lr})
        return sum(p.numel() for p in params)


def main():
    torch.manual_seed(50)
    model = build()
    optimizer = torch.optim.AdamW(model.classifier.parameters(), lr=1e-3)
    unfreezer = Unfreezer(model, optimizer, 1e-3)
    tokens = torch.randint(0, 400, (256, 24))
    labels = tokens[:, 0] % 4
    running = 0.0
    for step in range(STEPS):
        if step and step % STAGE == 0:
            added = unfreezer.next_stage()
            print(f"step {step}: {added} parameters added, loss {running:.4f}, groups {len(optimizer.param_groups)}")
        pick = torch.randint(0, 256, (12,))
        out = model(input_ids=tokens[pick].to("cuda"), labels=labels[pick].to("cuda"))
        optimizer.zero_grad()
        out.loss.backward()
        optimizer.step()
        running = 0.95 * running + 0.05 * out.loss.item()
    print(f"final loss {running:.4f}")


main()
