"""Token streaming server: every session is a generator that yields token ids."""
import random

import torch
import torch.nn.functional as F

DEVICE = "cuda"
CLIENTS = 260
LAYERS, HEADS, HEAD_DIM, VOCAB = 4, 8, 64, 8192
WIDTH = HEADS * HEAD_DIM
MAX_LEN = 384


class Engine:
    def __init__(self):
        scale = WIDTH ** -0.5
        self.embed = torch.randn(VOCAB, WIDTH, device=DEVICE) * scale
        self.qkv = torch.randn(LAYERS, WIDTH, 3 * WIDTH, device=DEVICE) * scale
        self.out = torch.randn(LAYERS, WIDTH, WIDTH, device=DEVICE) * scale
        self.sessions = {}

    def generate(self, prompt):
        cache = torch.zeros(LAYERS, 2, HEADS, MAX_LEN, HEAD_DIM, device=DEVICE)
        token, pos = prompt, 0
        while pos < MAX_LEN - 1:
            x = self.embed[token].unsqueeze(0)
            for layer in range(LAYERS):
                q, k, v = (x @ self.qkv[layer]).view(3, HEADS, HEAD_DIM)
                cache[layer, 0, :, pos] = k
                cache[layer, 1, :, pos] = v
                keys, values = cache[layer, :, :, : pos + 1]
                mixed = F.scaled_dot_product_attention(q.unsqueeze(1), keys, values)
                x = F.rms_norm(x + mixed.reshape(1, WIDTH) @ self.out[layer], (WIDTH,))
            token = int((x @ self.embed.T).argmax())
            pos += 1
            yield token
            if token % 97 == 0:
                return

    def open(self, client, prompt):
        stream = self.generate(prompt)
        self.sessions[client] = stream
        return stream

    def close(self, client):
        self.sessions.pop(client).close()


with torch.inference_mode():
    torch.manual_seed(1)
    rng = random.Random(1)
    engine = Engine()
    sent = dropped = 0
    for client in range(CLIENTS):
        patience = rng.choice([12, 24, 60, 200])
        for n, token in enumerate(engine.open(client, rng.randrange(VOCAB))):
            sent += 1
            if n >= patience:          # the browser tab went away
                dropped += 1
                break
            if n >= 40:                # our own length limit
                engine.close(client)
                break
        else:
            engine.close(client)
    print(f"{CLIENTS} clients, {sent} tokens sent, {dropped} disconnected early")
