"""Trains LoRA adapters on several clients and averages them on a server each round."""
import random

import torch
from peft import LoraConfig, get_peft_model, get_peft_model_state_dict, set_peft_model_state_dict
from transformers import BertConfig, BertForSequenceClassification

DEVICE = "cuda"
ROUNDS = 60


class Server:
    def __init__(self, start):
        self.weights = start
        self.rounds = []

    def aggregate(self, updates):
        total = sum(size for _, size in updates)
        self.weights = {
            key: sum(update[key] * (size / total) for update, size in updates) for key in self.weights
        }
        self.rounds.append(updates)  # HOLDER

    def movement(self):
        first, last = self.rounds[0][0][0], self.rounds[-1][0][0]
        return sum((last[key] - first[key]).norm().item() for key in first)


class Client:
    def __init__(self, seed):
        gen = torch.Generator().manual_seed(seed)
        self.ids = torch.randint(0, 120, (16 + 4 * seed, 20), generator=gen).to(DEVICE)
        self.labels = ((self.ids[:, 0] + seed) % 2).to(DEVICE)

    def train(self, model, weights):
        set_peft_model_state_dict(model, weights)
        opt = torch.optim.SGD([p for p in model.parameters() if p.requires_grad], lr=0.05)
        for _ in range(2):
            opt.zero_grad()
            loss = model(input_ids=self.ids, labels=self.labels).loss
            loss.backward()
            opt.step()
        opt.zero_grad()
        state = get_peft_model_state_dict(model)
        return {key: value.detach().clone() for key, value in state.items()}, len(self.ids), loss.item()  # SITE


def main():
    torch.manual_seed(14)
    rng = random.Random(14)
    config = BertConfig(
        vocab_size=120, hidden_size=64, num_hidden_layers=2, num_attention_heads=2,
        intermediate_size=128, max_position_embeddings=32, hidden_dropout_prob=0.0,
        attention_probs_dropout_prob=0.0,
    )
    lora = LoraConfig(r=8, target_modules=["query", "value"], task_type="SEQ_CLS")
    model = get_peft_model(BertForSequenceClassification(config), lora).to(DEVICE)
    server = Server({k: v.detach().clone() for k, v in get_peft_model_state_dict(model).items()})
    clients = [Client(seed) for seed in range(5)]
    for number in range(1, ROUNDS + 1):
        updates, losses = [], []
        for client in rng.sample(clients, 2):
            state, size, loss = client.train(model, server.weights)
            updates.append((state, size))
            losses.append(loss)
        server.aggregate(updates)
        if number % 12 == 0:
            print(f"round {number}: loss {sum(losses) / 2:.4f}, moved {server.movement():.4f}")


main()
