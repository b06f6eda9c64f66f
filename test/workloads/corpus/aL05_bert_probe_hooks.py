"""Fine-tunes a small BERT classifier and probes the last layer's representation once in each evaluation round.

Report: https://github.com/NeuroBench/neurobench/issues/184
Class: hooks
"""
import torch
from transformers import BertConfig, BertForSequenceClassification


def first_activation(model):
    """Attaches a probe to the last layer; the first activation it sees is found in the returned dict."""
    captured = {}

    def hook(module, inputs, output):
        if not captured:
            captured["hidden"] = output[0] if isinstance(output, tuple) else output

    model.bert.encoder.layer[-1].register_forward_hook(hook)  # HOLDER
    return captured


@torch.no_grad()
def evaluate(model, ids, labels):
    model.eval()
    captured = first_activation(model)
    logits = model(input_ids=ids).logits  # SITE
    accuracy = (logits.argmax(-1) == labels).float().mean().item()
    spread = captured["hidden"].std(dim=(0, 1)).mean().item()
    model.train()
    return accuracy, spread


def main():
    torch.manual_seed(5)
    config = BertConfig(vocab_size=150, hidden_size=64, num_hidden_layers=2, num_attention_heads=2,
                        intermediate_size=128, max_position_embeddings=32, num_labels=4)
    model = BertForSequenceClassification(config).to("cuda")
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    val_ids = torch.randint(0, 150, (32, 20), device="cuda")
    val_labels = val_ids[:, 0] % 4

    for step in range(150):
        ids = torch.randint(0, 150, (16, 20), device="cuda")
        loss = model(input_ids=ids, labels=ids[:, 0] % 4).loss
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step % 3 == 0:
            accuracy, spread = evaluate(model, val_ids, val_labels)
            if step % 30 == 0:
                print(f"step {step}: loss {loss.item():.3f} accuracy {accuracy:.2f} spread {spread:.3f}")


main()
