"""Online learning with a frozen BERT: a fresh head for each new topic is trained by the one optimizer of the run.

Report: https://github.com/pytorch/pytorch/issues/53712
Class: param-group
"""
import torch
import torch.nn as nn
from transformers import BertConfig, BertModel

torch.manual_seed(27)


class TopicLearner:
    def __init__(self):
        config = BertConfig(vocab_size=200, hidden_size=64, num_hidden_layers=2, num_attention_heads=2,
                            intermediate_size=128, max_position_embeddings=24)
        self.encoder = BertModel(config, add_pooling_layer=False).to("cuda").eval().requires_grad_(False)
        self.scale = nn.Parameter(torch.ones(64, device="cuda"))
        self.optimizer = torch.optim.SGD([self.scale], lr=0.5)
        self.head = None

    def new_topic(self, labels):
        self.head = nn.Linear(64, labels, device="cuda")  # SITE
        self.optimizer.add_param_group({"params": self.head.parameters(), "lr": 0.1})  # HOLDER

    def step(self, ids, labels):
        with torch.no_grad():
            features = self.encoder(input_ids=ids).last_hidden_state.mean(dim=1)
        loss = nn.functional.cross_entropy(self.head(features * self.scale), labels)
        loss.backward()
        self.optimizer.step()
        self.optimizer.zero_grad()
        return loss.item()


learner = TopicLearner()
for topic in range(56):
    learner.new_topic(labels=100 + topic)
    for _ in range(7):
        batch = torch.randint(0, 200, (16, 12), device="cuda")
        loss = learner.step(batch, batch[:, 0] % (100 + topic))
    if topic % 14 == 13:
        print(f"topic {topic + 1}: loss {loss:.3f}")
