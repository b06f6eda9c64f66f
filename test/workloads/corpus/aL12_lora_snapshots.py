"""Fine-tunes a LoRA classifier and takes a copy of the adapter weights every twelfth step, to roll back if needed.

Class: snapshots
"""
import torch
from peft import LoraConfig, TaskType, get_peft_model, get_peft_model_state_dict
from transformers import RobertaConfig, RobertaForSequenceClassification


class RollbackTraining:
    def __init__(self):
        config = RobertaConfig(vocab_size=200, hidden_size=64, num_hidden_layers=2, num_attention_heads=4,
                               intermediate_size=128, max_position_embeddings=40, num_labels=5, pad_token_id=1)
        peft_config = LoraConfig(task_type=TaskType.SEQ_CLS, r=8, lora_alpha=16, target_modules=["query", "value"])
        self.model = get_peft_model(RobertaForSequenceClassification(config), peft_config).to("cuda")
        trainable = [p for p in self.model.parameters() if p.requires_grad]
        self.optimizer = torch.optim.AdamW(trainable, lr=3e-3)
        self.rollback_points = []

    def snapshot(self, step):
        weights = get_peft_model_state_dict(self.model)
        copies = {name: value.clone() for name, value in weights.items()}  # SITE
        self.rollback_points.append((step, copies))  # HOLDER

    def step(self):
        ids = torch.randint(2, 200, (16, 18), device="cuda")
        loss = self.model(input_ids=ids, labels=ids[:, 1] % 5).loss
        self.optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(self.model.parameters(), 1.0)
        self.optimizer.step()
        return loss.item()


def main():
    torch.manual_seed(8)
    run = RollbackTraining()
    average = None
    for step in range(240):
        loss = run.step()
        average = loss if average is None else 0.95 * average + 0.05 * loss
        if step % 12 == 0:
            run.snapshot(step)
        if step % 60 == 59:
            print(f"step {step + 1}: smoothed loss {average:.3f}")


if __name__ == "__main__":
    main()
