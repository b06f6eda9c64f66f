"""A toy chat server: four worker threads take requests off a queue."""
import itertools
import queue
import threading

import torch
import torch.nn.functional as F

DEV = "cuda"
D, H, T, VOCAB = 512, 8, 224, 4000

torch.manual_seed(0)
emb = torch.randn(VOCAB, D, device=DEV) * 0.05
wqkv = torch.randn(D, 3 * D, device=DEV) * D ** -0.5
wo = torch.randn(D, D, device=DEV) * D ** -0.5

jobs = queue.Queue(maxsize=32)
done = queue.Queue()
_tls = threading.local()


def conversation(sid):
    """The keys and values of a conversation, so that a follow-up can go on."""
    if not hasattr(_tls, "sessions"):
        _tls.sessions = {}
    if sid not in _tls.sessions:
        kv = torch.zeros(2, H, T, D // H, device=DEV)
        _tls.sessions[sid] = kv
    return _tls.sessions[sid]


def attend(kv, x, pos):
    q, k, v = (x @ wqkv).view(len(x), 3, H, D // H).permute(1, 2, 0, 3)
    kv[0, :, pos:pos + len(x)] = k
    kv[1, :, pos:pos + len(x)] = v
    end = pos + len(x)
    out = F.scaled_dot_product_attention(q, kv[0, :, :end], kv[1, :, :end])
    return x + out.transpose(0, 1).reshape(len(x), D) @ wo


def answer(sid, prompt, n_new):
    kv = conversation(sid)
    x = attend(kv, emb[prompt], 0)
    tokens, pos = [], len(prompt)
    for _ in range(n_new):
        nxt = (x[-1:] @ emb.T).argmax(1)
        tokens.append(nxt)
        x = attend(kv, emb[nxt], pos)
        pos += 1
    return torch.cat(tokens).tolist()


def worker():
    with torch.inference_mode():
        while True:
            sid, prompt, n_new = jobs.get()
            done.put((sid, answer(sid, prompt, n_new)))
            jobs.task_done()


if __name__ == "__main__":
    for _ in range(4):
        threading.Thread(target=worker, daemon=True).start()
    ids = itertools.count(1000)
    for i in range(320):
        prompt = torch.randint(0, VOCAB, (60 + i % 100,), device=DEV)
        jobs.put((next(ids), prompt, 40))
    jobs.join()
    lengths = [len(done.get()[1]) for _ in range(done.qsize())]
    print(f"{len(lengths)} answers, {sum(lengths)} tokens")
