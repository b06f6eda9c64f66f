"""Perplexity of a recurrent language model over one long stream, chunk by chunk."""
import math
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(5)
DEVICE = "cuda"
VOCAB, DIM, STREAMS, CHUNK, CHUNKS = 2000, 512, 8, 128, 90


class WordLM(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(VOCAB, DIM)
        self.rnn = nn.LSTM(DIM, DIM, num_layers=2, dropout=0.2)
        self.head = nn.Linear(DIM, VOCAB)

    def forward(self, tokens, state=None):
        x = self.embed(tokens)
        y, state = self.rnn(x, state)
        return self.head(y), state


def fake_corpus(length):
    base = torch.randint(0, VOCAB, (length, STREAMS))
    repeat = torch.rand(length, STREAMS) < 0.3
    shifted = torch.roll(base, 1, dims=0)
    return torch.where(repeat, shifted, base)


model = WordLM().to(DEVICE)
model.eval()
corpus = fake_corpus(CHUNK * CHUNKS + 1)

total, count = 0.0, 0
worst = (0.0, -1)
carry = None
for i in range(CHUNKS):
    window = corpus[i * CHUNK:(i + 1) * CHUNK + 1].to(DEVICE)
    logits, carry = model(window[:-1], carry)
    nll = F.cross_entropy(logits.flatten(0, 1), window[1:].flatten(), reduction="sum")
    total += nll.item()
    count += window[1:].numel()
    rate = nll.item() / window[1:].numel()
    if rate > worst[0]:
        worst = (rate, i)
print(f"ppl {math.exp(total / count):.1f} over {count} tokens, worst chunk {worst[1]}")
