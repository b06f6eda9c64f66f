"""Continual learning: one LoRA adapter for each task that arrives, on top of one frozen GPT-2.

Report: https://github.com/WuYichen-97/SD-Lora-CL/issues/11
Class: adapters
"""
import torch
from peft import LoraConfig, get_peft_model
from transformers import GPT2Config, GPT2LMHeadModel, logging

logging.set_verbosity_error()


def lora():
    return LoraConfig(r=16, lora_alpha=16, target_modules=["c_attn", "c_fc"], fan_in_fan_out=True,
                      task_type="CAUSAL_LM")


def train_task(model, task, steps=6):
    parameters = [p for p in model.parameters() if p.requires_grad]
    optimizer = torch.optim.AdamW(parameters, lr=5e-3)
    for _ in range(steps):
        start = torch.randint(0, 100, (8, 1), device="cuda")
        ids = (start + (task + 1) * torch.arange(16, device="cuda")).remainder(100)
        loss = model(input_ids=ids, labels=ids, use_cache=False).loss
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
    return loss.item()


def main():
    torch.manual_seed(4)
    config = GPT2Config(vocab_size=100, n_positions=16, n_embd=64, n_layer=2, n_head=4, bos_token_id=0, eos_token_id=0)
    base = GPT2LMHeadModel(config).to("cuda")
    model = get_peft_model(base, lora(), adapter_name="warmup")
    train_task(model, 0)
    for task in range(1, 31):
        name = f"task{task}"
        model.add_adapter(name, lora())  # SITE HOLDER
        model.set_adapter(name)
        loss = train_task(model, task)
        if task % 6 == 0:
            print(f"task {task}: loss {loss:.3f}")


if __name__ == "__main__":
    main()
