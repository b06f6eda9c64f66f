"""One base model serves many tenants, each with a LoRA adapter; only a few adapters stay loaded at a time.

Report: https://github.com/huggingface/peft/issues/957
Class: adapter-lru
"""
import random
from collections import OrderedDict

import torch
from peft import LoraConfig, get_peft_model
from transformers import BertConfig, BertModel


class TenantServer:
    def __init__(self, loaded=8):
        base = BertModel(BertConfig(vocab_size=200, hidden_size=96, num_hidden_layers=2, num_attention_heads=4,
                                    intermediate_size=192, max_position_embeddings=24)).to("cuda")
        self.model = get_peft_model(base, self.lora(), adapter_name="default").eval()
        self.limit = loaded
        self.recent = OrderedDict()

    @staticmethod
    def lora():
        return LoraConfig(r=8, lora_alpha=8, target_modules=["query", "value", "dense"])

    def use(self, tenant):
        name = f"tenant{tenant}"
        if name not in self.recent:
            if len(self.recent) >= self.limit:
                oldest, _ = self.recent.popitem(last=False)
                self.model.delete_adapter(oldest)
            self.model.add_adapter(name, self.lora())
            self.recent[name] = tenant
        self.recent.move_to_end(name)
        self.model.set_adapter(name)

    @torch.no_grad()
    def request(self, tenant, ids):
        self.use(tenant)
        vector = self.model(input_ids=ids).pooler_output.mean(dim=0)
        self.model.set_adapter("default")
        return vector.norm().item()


def main():
    torch.manual_seed(12)
    rng = random.Random(12)
    server = TenantServer()
    mean = 0.0
    for request in range(140):
        tenant = min(rng.randrange(30), rng.randrange(30))
        ids = torch.randint(0, 200, (rng.randint(1, 8), 20), device="cuda")
        mean += (server.request(tenant, ids) - mean) / (request + 1)
        if request % 35 == 34:
            print(f"request {request + 1}: {len(server.recent)} tenants loaded, mean norm {mean:.3f}")


if __name__ == "__main__":
    main()
