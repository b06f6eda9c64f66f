"""Compares hidden activations of a language model before and after quantising its weights, prompt by prompt."""
import torch
from transformers import GPTNeoXConfig, GPTNeoXForCausalLM

DEVICE = "cuda"
LENGTH = 48


class Inspector:
    def __init__(self, model):
        self.model = model
        self.layer = model.gpt_neox.layers[-1].mlp
        self.drift = {}

    def reference(self, ids):
        grabbed = []
        handle = self.layer.register_forward_hook(lambda module, args, out: grabbed.append(args[0] * 1.0))  # SITE
        self.model(input_ids=ids)
        handle.remove()
        return grabbed.pop()

    def watch(self, name, ids):
        before = self.reference(ids)

        def compare(module, args, out):
            if name not in self.drift:
                self.drift[name] = (args[0] - before).abs().mean().item()

        self.layer.register_forward_hook(compare)  # HOLDER

    def probe(self, name, ids, bits):
        self.watch(name, ids)
        originals = {}
        for key, p in self.model.named_parameters():
            if p.dim() == 2:
                originals[key] = p.clone()
                scale = p.abs().max() / (2 ** (bits - 1) - 1)
                p.copy_((p / scale).round() * scale)
        self.model(input_ids=ids)
        for key, p in self.model.named_parameters():
            if key in originals:
                p.copy_(originals[key])
        return self.drift[name]


@torch.no_grad()
def main():
    torch.manual_seed(6)
    config = GPTNeoXConfig(
        vocab_size=160,
        hidden_size=96,
        num_hidden_layers=2,
        num_attention_heads=4,
        intermediate_size=192,
        max_position_embeddings=64,
    )
    inspector = Inspector(GPTNeoXForCausalLM(config).to(DEVICE).eval())
    sums = {4: 0.0, 8: 0.0}
    for prompt in range(90):
        bits = 4 if prompt % 2 else 8
        ids = torch.randint(0, 160, (6, LENGTH), device=DEVICE)
        sums[bits] += inspector.probe(f"prompt{prompt}", ids, bits)
        if prompt % 18 == 17:
            print(prompt + 1, {bits: round(value, 5) for bits, value in sums.items()})


main()
