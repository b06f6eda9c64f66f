"""Cross-validates LoRA on a small BERT; a cached function lists the adapter's parameters, emptied after each fold.
Report: https://github.com/meta-pytorch/torchtune/issues/904
Class: function-cache
"""
import functools
import gc

import torch
from peft import LoraConfig, get_peft_model
from transformers import BertConfig, BertForTokenClassification

FOLDS, EPOCHS, BATCH, LENGTH, WORDS = 12, 3, 12, 32, 300


@functools.lru_cache(maxsize=None)
def groups_of(model):
    """The adapter's parameters, the A matrices apart from all others."""
    first = tuple(p for name, p in model.named_parameters() if p.requires_grad and "lora_A" in name)
    rest = tuple(p for name, p in model.named_parameters() if p.requires_grad and "lora_A" not in name)
    return first, rest


def build():
    config = BertConfig(
        vocab_size=WORDS, hidden_size=128, num_hidden_layers=2, num_attention_heads=4, intermediate_size=256,
        max_position_embeddings=48, num_labels=3,
    )
    lora = LoraConfig(r=8, lora_alpha=16, target_modules=["query", "key", "value"], task_type="TOKEN_CLS")
    return get_peft_model(BertForTokenClassification(config), lora).to("cuda")


def sentences():
    gen = torch.Generator().manual_seed(33)
    ids = torch.randint(3, WORDS, (FOLDS * 8, LENGTH), generator=gen)
    return ids.to("cuda"), (ids % 3).to("cuda")


def run_fold(fold, ids, labels):
    held = torch.arange(len(ids), device="cuda") % FOLDS == fold
    model = build()
    first, rest = groups_of(model)
    optimizer = torch.optim.AdamW([{"params": first, "lr": 2e-3}, {"params": rest, "lr": 8e-3}])
    train_ids, train_labels = ids[~held], labels[~held]
    for epoch in range(EPOCHS):
        order = torch.randperm(len(train_ids), generator=torch.Generator().manual_seed(fold * 10 + epoch))
        for part in order.split(BATCH):
            where = part.to("cuda")
            loss = model(input_ids=train_ids[where], labels=train_labels[where]).loss
            optimizer.zero_grad()
            loss.backward()
            torch.nn.utils.clip_grad_norm_(sum(groups_of(model), ()), 1.0)
            optimizer.step()
    model.eval()
    with torch.no_grad():
        logits = model(input_ids=ids[held]).logits
    right = float((logits.argmax(-1) == labels[held]).float().mean())
    groups_of.cache_clear()
    return loss.item(), right


def main():
    torch.manual_seed(33)
    ids, labels = sentences()
    rights = []
    for fold in range(FOLDS):
        loss, right = run_fold(fold, ids, labels)
        gc.collect()
        rights.append(right)
        if fold % 3 == 2:
            print(f"fold {fold + 1}: loss {loss:.4f} right {right:.3f} mean {sum(rights) / len(rights):.3f}")


main()
