"""Serves many tenants from one base model, each with its own low-rank adapter."""
import random

import torch
from peft import LoraConfig, get_peft_model
from transformers import GPT2Config, GPT2LMHeadModel


class TenantServer:
    def __init__(self, base, lora):
        self.lora = lora
        self.model = get_peft_model(base, lora, adapter_name="shared")
        self.model.eval()
        self.seen = {"shared"}

    def ensure(self, tenant):
        if tenant not in self.seen:
            self.model.add_adapter(tenant, self.lora)  # SITE HOLDER
            self.seen.add(tenant)
        self.model.set_adapter(tenant)

    @torch.no_grad()
    def score(self, tenant, ids):
        self.ensure(tenant)
        logits = self.model(input_ids=ids).logits
        return logits[:, -1].argmax(-1)


def requests(count, rng):
    tenants = 0
    for _ in range(count):
        if tenants and rng.random() < 0.3:
            yield f"tenant{rng.randrange(max(0, tenants - 4), tenants)}"
        else:
            yield f"tenant{tenants}"
            tenants += 1


def main():
    torch.manual_seed(21)
    rng = random.Random(21)
    base = GPT2LMHeadModel(GPT2Config(vocab_size=128, n_positions=32, n_embd=128, n_layer=2, n_head=4)).to("cuda")
    lora = LoraConfig(r=16, lora_alpha=16, target_modules=["c_attn", "c_fc"], fan_in_fan_out=True)
    server = TenantServer(base, lora)
    total = 0
    for number, tenant in enumerate(requests(100, rng)):
        ids = torch.randint(0, 128, (4, 24)).to("cuda")
        total += int(server.score(tenant, ids).sum())
        if number % 25 == 24:
            print(number + 1, "requests,", len(server.seen) - 1, "tenants, sum", total)


if __name__ == "__main__":
    main()
