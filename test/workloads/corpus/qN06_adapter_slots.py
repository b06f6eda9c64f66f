"""Personalises a base model for a stream of users with a handful of low-rank adapters in memory."""
import random
from collections import OrderedDict

import torch
from peft import LoraConfig, get_peft_model
from transformers import GPT2Config, GPT2LMHeadModel

SLOTS = 4


class AdapterSlots:
    def __init__(self, base, lora):
        self.lora = lora
        self.model = get_peft_model(base, lora, adapter_name="base")
        self.users = OrderedDict()
        self.loads = 0

    def activate(self, user):
        if user in self.users:
            self.users.move_to_end(user)
        else:
            self.model.add_adapter(user, self.lora)
            self.users[user] = 0
            self.loads += 1
        self.model.set_adapter(user)
        if len(self.users) > SLOTS:
            oldest, _ = self.users.popitem(last=False)
            self.model.delete_adapter(oldest)

    def tune(self, user, ids):
        self.activate(user)
        params = [p for p in self.model.parameters() if p.requires_grad]
        loss = self.model(input_ids=ids, labels=ids).loss
        for p, g in zip(params, torch.autograd.grad(loss, params)):
            p.data.add_(g, alpha=-0.1)
        self.users[user] += 1
        return loss.item()


def main():
    torch.manual_seed(29)
    rng = random.Random(29)
    base = GPT2LMHeadModel(GPT2Config(vocab_size=100, n_positions=32, n_embd=96, n_layer=2, n_head=4)).to("cuda")
    lora = LoraConfig(r=8, lora_alpha=16, target_modules=["c_attn"], fan_in_fan_out=True, lora_dropout=0.0)
    slots = AdapterSlots(base, lora)
    user, losses = 0, []
    for request in range(130):
        if rng.random() < 0.5:
            user += 1
        who = max(0, user - rng.choice([0, 0, 1, 2]))
        ids = torch.randint(0, 100, (2, 28)).to("cuda")
        losses.append(slots.tune(f"user{who}", ids))
        if request % 26 == 25:
            print(f"request {request + 1}: loads {slots.loads} mean loss {sum(losses[-26:]) / 26:.4f}")


if __name__ == "__main__":
    main()
