"""Tries LoRA settings on many folds; which parameters belong to the adapter is asked for through a cached function.
Report: https://github.com/meta-pytorch/torchtune/issues/904
Class: function-cache
"""
import functools
import random

import torch
from peft import LoraConfig, get_peft_model
from transformers import BertConfig, BertForSequenceClassification

FOLDS, STEPS, BATCH, LENGTH, WORDS = 60, 4, 16, 24, 400


@functools.cache  # HOLDER
def adapter_parameters(model):
    """The parameters of the adapter and of the head, by name; walks over all modules, so it is kept."""
    return {name: p for name, p in model.named_parameters() if "lora_" in name or "classifier" in name}


def build(rank):
    config = BertConfig(
        vocab_size=WORDS, hidden_size=96, num_hidden_layers=2, num_attention_heads=4, intermediate_size=192,
        max_position_embeddings=64, num_labels=2,
    )
    lora = LoraConfig(r=rank, lora_alpha=2 * rank, target_modules=["query", "value"], task_type="SEQ_CLS")
    return get_peft_model(BertForSequenceClassification(config), lora).to("cuda")  # SITE


def norm_of_adapter(model):
    return float(sum(p.detach().square().sum() for p in adapter_parameters(model).values())) ** 0.5


def batch(fold, step, held_out):
    gen = torch.Generator().manual_seed(1000 * fold + step + (500 if held_out else 0))
    ids = torch.randint(5, WORDS, (BATCH, LENGTH), generator=gen)
    labels = (ids < WORDS // 2).float().mean(1).gt(0.5).long()
    return ids.to("cuda"), labels.to("cuda")


def train(model, fold, rate):
    optimizer = torch.optim.SGD(adapter_parameters(model).values(), lr=rate)
    for step in range(STEPS):
        ids, labels = batch(fold, step, held_out=False)
        loss = model(input_ids=ids, labels=labels).loss
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()


@torch.no_grad()
def evaluate(model, fold):
    model.eval()
    ids, labels = batch(fold, 0, held_out=True)
    return float((model(input_ids=ids).logits.argmax(1) == labels).float().mean())


def main():
    torch.manual_seed(40)
    rng = random.Random(40)
    best = (0.0, None)
    for fold in range(FOLDS):
        rank, rate = rng.choice([2, 4, 8]), 10 ** rng.uniform(-2, -0.5)
        model = build(rank)
        train(model, fold, rate)
        score = evaluate(model, fold)
        best = max(best, (score, (rank, round(rate, 4), round(norm_of_adapter(model), 3))))
        if fold % 15 == 14:
            print(f"fold {fold + 1}: best accuracy {best[0]:.3f} with rank, rate and norm {best[1]}")


main()
