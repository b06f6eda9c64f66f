"""transformers' Trainer on a small model; `traced`: with the callback. Prints what the trainer logged, and on a GPU what PyTorch's allocator says."""

import json
import sys

import torch
from transformers import GPT2Config, GPT2LMHeadModel, Trainer, TrainingArguments, set_seed

traced = "traced" in sys.argv
gpu = torch.cuda.is_available()
torch.use_deterministic_algorithms(True, warn_only=True)
set_seed(0)
model = GPT2LMHeadModel(GPT2Config(vocab_size=64, n_positions=32, n_embd=32, n_layer=2, n_head=2))
words = [[(i * 7 + j) % 64 for j in range(32)] for i in range(64)]
data = [{"input_ids": line, "labels": line} for line in words]
arguments = TrainingArguments(
    output_dir="traced" if traced else "plain",
    max_steps=12,
    per_device_train_batch_size=4,
    logging_steps=4,
    eval_strategy="steps",
    eval_steps=6,
    save_steps=6,
    report_to=["tensorboard"] if not gpu else [],
    disable_tqdm=True,
    use_cpu=not gpu,
)
trainer = Trainer(model=model, args=arguments, train_dataset=data, eval_dataset=data[:8])
if traced:
    from gpu_memtrace.integrations.transformers import GpuMemtraceCallback

    trainer.add_callback(GpuMemtraceCallback(trainer))
trainer.train()
told = {"log": trainer.state.log_history}
if gpu and traced:
    import gpu_memtrace

    told["metrics"], told["stats"] = gpu_memtrace.metrics(), torch.cuda.memory_stats()
print(json.dumps(told))
